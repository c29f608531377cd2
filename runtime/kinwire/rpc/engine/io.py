"""What the rules of a connection need from the event loop that they run on.

Every method returns immediately and does not call back into the rules. So the rules stay free of
I/O and clocks, and a test can record the calls.
"""

from __future__ import annotations

__all__ = ("ENDED", "EngineIO", "PauseReason", "Timer")

from math import inf
from typing import Literal, Protocol

from kinwire.rpc.calls import Outbound
from kinwire.rpc.errors import ConnectionClosedError
from kinwire.rpc.request import Request

PauseReason = Literal["unsent", "unread", "unbegun"]
"""Why reading pauses: too much has to be sent yet, or nobody takes what came."""


class EngineIO(Protocol):
    """What a driver does for the engine."""

    def wake_writer(self) -> None:
        """Note that the first frame waits: fetch it with `Engine.take()` when it can leave."""

    def start(self, work: Request, /) -> None:
        """Run the handler in a task, then call `Engine.finish()` or `Engine.fail()`."""

    def stop(self, work: Request, /) -> None:
        """Cancel the handler; it still ends by `finish` or `fail`."""

    def settle(self, call: Outbound, result: object, error: Exception | None, /) -> None:
        """Give the caller its result, or the error if it is not None."""

    def is_abandoned(self, call: Outbound, /) -> bool:
        """Return whether the caller was cancelled and its task has not run since."""
        ...

    def call_at(self, at: float, /) -> None:
        """Call `Engine.expire()` at that time; this replaces an earlier time."""

    def now(self) -> float:
        """Return the time in seconds, on a clock that only runs forward."""
        ...

    def pause_reading(self, why: PauseReason = "unsent", /) -> None:
        """Stop reading from the peer."""

    def resume_reading(self, why: PauseReason = "unsent", /) -> None:
        """Read from the peer again, unless there is another reason not to."""

    def room(self) -> None:
        """Let the callers go on that wait while `FrameOutbox.full`."""

    def end(self, why: ConnectionClosedError, /) -> None:
        """End the connection."""


class _Ended:
    """The event loop of a connection that is over: nothing is done any more."""

    def _ignore(self, *_: object) -> None:
        return None

    wake_writer = start = stop = settle = call_at = _ignore
    pause_reading = resume_reading = room = end = _ignore

    def is_abandoned(self, _: Outbound, /) -> bool:
        return True

    def now(self) -> float:
        return inf


ENDED: EngineIO = _Ended()
"""What the rules of a connection have in the place of a driver when it is over."""


class Timer:
    """One timer for every deadline of a connection, set to the earliest."""

    def __init__(self, io: EngineIO) -> None:
        self.io = io
        self.at = inf

    def schedule(self, at: float) -> None:
        """Have the engine check its deadlines at `at` or earlier."""
        if at < self.at:
            self.at = at
            self.io.call_at(at)

    def fired(self) -> None:
        """Forget the time: each owner of a deadline schedules it again."""
        self.at = inf
