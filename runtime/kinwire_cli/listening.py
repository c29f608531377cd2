"""A transport that also keeps what a session drops: stray lines, and answers to nothing."""

from __future__ import annotations

__all__ = ("Listening", "other_ids_reported")

import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from functools import partial

from kinwire.rpc.codec import FrameError, OutgoingFrame, decode
from kinwire.rpc.errors import RequestTimeoutError
from kinwire.rpc.transport import SessionCallbacks, Transport
from kinwire_cli.failure import UnreachableError
from kinwire_cli.target import Target
from kinwire_protocols.base import JsonObject
from kinwire_protocols.problems import shown

_KEPT = 100  # messages, and lines: a server may write without end
_SHOWN = 200  # bytes of a line


class Listening:
    """A transport whose server is listened to; `passes` hands stray lines on to the session too."""

    peer_may_emit_noise = True

    def __init__(self, transport: Transport, *, passes: bool = False) -> None:
        self.address = transport.address
        self._transport = transport
        self._passes = passes
        self._waiting: dict[object, None] = {}  # ids that were asked and are not answered
        self.strays: list[str] = []
        """The first of the stray lines, shortened."""
        self.stray_count = 0
        self.overlong_count = 0
        self.unasked: list[JsonObject] = []
        """The first requests and notifications of the server."""
        self.foreign_ids: list[object] = []
        """The first ids of answers for which no request of ours waited."""

    @property
    def other_id(self) -> str:
        """Return a message if an answer came with an id that was not asked, else ""."""
        if not self.foreign_ids or not self._waiting:
            return ""
        asked = next(iter(self._waiting))
        return f"answered another id: {shown(self.foreign_ids[0])}, asked {asked}"

    async def run(self, callbacks: SessionCallbacks, /) -> None:
        """See `Transport.run`."""
        overlong, answer, take = callbacks.overlong, callbacks.answer, callbacks.take_frames

        def too_long(head: bytes) -> None:
            self.overlong_count += 1
            overlong(head)

        def hear_answer(frame: bytes, reply_to: int) -> None:
            self._hear(lambda heard: answer(heard, reply_to), frame)

        def taken() -> list[OutgoingFrame]:
            frames = take()
            self._waiting.update((frame.id, None) for frame in frames if frame.kind == "request")
            return frames

        callbacks.feed, callbacks.overlong = partial(self._hear, callbacks.feed), too_long
        callbacks.answer, callbacks.take_frames = hear_answer, taken
        callbacks.take = lambda: [frame.data for frame in taken()]
        await self._transport.run(callbacks)

    def wake(self) -> None:
        """See `Transport.wake`."""
        self._transport.wake()

    def resume(self) -> None:
        """See `Transport.resume`."""
        self._transport.resume()

    async def aclose(self) -> None:
        """See `Transport.aclose`."""
        await self._transport.aclose()

    def _hear(self, feed: Callable[[bytes], None], frame: bytes) -> None:
        try:
            message = decode(frame)
        except FrameError as refused:
            if refused.id is None:
                self._keep_stray(frame)
                if not self._passes:  # for the session it is noise, which it would log
                    return
        else:
            self._keep(message)
        feed(frame)

    def _keep_stray(self, frame: bytes) -> None:
        if not frame.strip():
            return
        self.stray_count += 1
        if len(self.strays) < _KEPT:
            self.strays.append(frame[:_SHOWN].decode(errors="replace").rstrip("\r"))

    def _keep(self, message: JsonObject) -> None:
        if "method" in message:
            if len(self.unasked) < _KEPT:
                self.unasked.append(message)
            return
        identifier = message.get("id")
        if type(identifier) is int and identifier in self._waiting:  # for Python 1.0 is 1
            del self._waiting[identifier]
        elif len(self.foreign_ids) < _KEPT:
            self.foreign_ids.append(identifier)


@asynccontextmanager
async def other_ids_reported(target: Target) -> AsyncGenerator[Target]:
    """Yield `target`; if no answer comes from a program, stderr says whether one had another id."""
    if target.child is None:  # over a network a transport looks at the ids itself
        yield target
        return
    heard = Listening(target.transport, passes=True)
    try:
        yield target._replace(transport=heard)
    except (RequestTimeoutError, UnreachableError):  # at any request, or at the handshake
        if heard.other_id:
            print(f"note: the server {heard.other_id}", file=sys.stderr)
        raise
