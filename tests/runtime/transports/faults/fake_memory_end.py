"""One end of a memory transport, spoken from a thread in frames as they are."""

from __future__ import annotations

__all__ = ("MemoryEnd",)

from collections import deque
from collections.abc import Callable
from typing import Any

from anyio.from_thread import BlockingPortal

from kinwire.rpc.transport import SessionCallbacks
from kinwire.transports.memory import MemoryTransport


class MemoryEnd:
    """`got` is given each frame that arrives, None once the other end has closed."""

    def __init__(
        self, portal: BlockingPortal, end: MemoryTransport, got: Callable[[bytes | None], None]
    ) -> None:
        self._portal = portal
        self._end = end
        self._waiting: deque[bytes] = deque()
        self._callbacks = SessionCallbacks(
            feed=got,
            waiting=self._waiting,
            take=self._take,
            take_frames=list,
            write_with=lambda _, __: None,
            hold_back=_ignore,
            overlong=got,
            answer=_ignore,
            waits=lambda id: False,
            fail=_ignore,
            end=lambda why: got(None),
            ask_to_end=lambda why: got(None),
            frame_size=1 << 30,
            loop=None,
        )
        self._running = portal.start_task_soon(end.run, self._callbacks)

    def send(self, frame: bytes) -> None:
        """Send a frame."""
        self._portal.call(self._send, frame)

    def pause(self) -> None:
        """Take nothing any more."""
        self._callbacks.paused = True

    def close(self) -> None:
        """Leave."""
        self._portal.call(self._end.aclose)
        self._running.cancel()

    def _send(self, frame: bytes) -> None:
        self._waiting.append(frame)
        self._end.wake()

    def _take(self) -> list[bytes]:
        frames = [*self._waiting]
        self._waiting.clear()
        return frames


def _ignore(*_: Any) -> None: ...
