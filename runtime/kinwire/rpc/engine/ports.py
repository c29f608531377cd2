"""What the rules of a connection ask of the event loop that they run on.

Every member returns at once and none calls back into the rules. So the rules stay free of
I/O and clocks, and a test can record what they ask for.
"""

from __future__ import annotations

__all__ = ("Alarm", "Ports")

from math import inf
from typing import Protocol

from kinwire.rpc.calls import Outbound
from kinwire.rpc.errors import ConnectionClosedError
from kinwire.rpc.request import Request


class Ports(Protocol):
    """What a driver does for the engine."""

    def wake_writer(self) -> None:
        """The first frame waits: fetch with `Engine.take()` when it can leave."""

    def start(self, work: Request, /) -> None:
        """Run the handler in a task, then call `Engine.finish()` or `Engine.fail()`."""

    def stop(self, work: Request, /) -> None:
        """Cancel the handler; it still ends by `finish` or `fail`."""

    def settle(self, call: Outbound, result: object, error: Exception | None, /) -> None:
        """Give the caller its result, or the error if it is not None."""

    def left(self, call: Outbound, /) -> bool:
        """Whether the caller is cancelled already and only has not said so yet."""
        ...

    def arm(self, at: float, /) -> None:
        """Call `Engine.expire()` at that time; this replaces an earlier wish."""

    def now(self) -> float:
        """Return the time in seconds, on a clock that only runs forward."""
        ...

    def hold(self) -> None:
        """Stop reading: far too much is unsent."""

    def release(self) -> None:
        """Read again."""

    def room(self) -> None:
        """Let the callers go on that wait while `Outbox.full`."""

    def end(self, why: ConnectionClosedError, /) -> None:
        """End the connection."""


class Alarm:
    """One timer for every deadline of a connection, set to the earliest."""

    def __init__(self, ports: Ports) -> None:
        self._ports = ports
        self.at = inf

    def by(self, at: float) -> None:
        """Have the engine look at its deadlines no later than `at`."""
        if at < self.at:
            self.at = at
            self._ports.arm(at)

    def rang(self) -> None:
        """Begin anew: whoever still has a deadline says so again."""
        self.at = inf
