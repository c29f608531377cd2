"""A transport whose frames are noted, as its session sees them."""

from __future__ import annotations

__all__ = ("Recorded",)

import json
from typing import Any

from kinwire.rpc.codec import OutgoingFrame
from kinwire.rpc.transport import SessionCallbacks, Transport


class Recorded:
    """Passes everything on, and keeps each message with who sent it."""

    def __init__(self, inner: Transport) -> None:
        self._inner = inner
        self.peer_may_emit_noise = inner.peer_may_emit_noise
        self.address = inner.address
        self.wake, self.resume, self.aclose = inner.wake, inner.resume, inner.aclose
        self.messages: list[tuple[str, Any]] = []

    async def run(self, callbacks: SessionCallbacks, /) -> None:
        """See `Transport.run`."""
        feed, answer, take = callbacks.feed, callbacks.answer, callbacks.take_frames

        def fed(frame: bytes) -> None:
            self.messages.append(("server", json.loads(frame)))
            feed(frame)

        def answered(frame: bytes, id: int) -> None:
            self.messages.append(("server", json.loads(frame)))
            answer(frame, id)

        def taken() -> list[OutgoingFrame]:
            frames = take()
            self.messages += [("client", json.loads(frame.data)) for frame in frames]
            return frames

        callbacks.feed, callbacks.answer, callbacks.take_frames = fed, answered, taken
        callbacks.take = lambda: [frame.data for frame in taken()]
        await self._inner.run(callbacks)
