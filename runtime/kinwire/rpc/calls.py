"""What handlers are, and a request of this side under way. `request.py` has the peer's."""

from __future__ import annotations

__all__ = ("AtOnce", "Handler", "OnId", "Outbound", "ProgressCallback", "Route")

from collections.abc import Awaitable, Callable
from math import inf
from typing import TYPE_CHECKING, Any, NamedTuple

from kinwire_protocols.peer import Method

if TYPE_CHECKING:
    from kinwire_protocols.mcp.models import ProgressNotificationParams

Handler = Callable[[Any, Any], Awaitable[Any]]
"""Takes params and `Request`; returns the result, as its model or as a JSON object."""

ProgressCallback = Callable[["ProgressNotificationParams"], object]
"""Takes a progress report of the peer. It is called at once, so it is a plain function."""


OnId = Callable[[int], object]
"""Takes the id of a request of this side, before it leaves: a plain function, called at once."""

AtOnce = Callable[[Any, Any], "Handler | None"]
"""Takes params and `Request` of a notification; returns the handler that goes on with it."""


class Route(NamedTuple):
    """Which handler serves a method.

    `at_once` acts on a notification the moment it arrives, however many are being handled: for
    what must not be lost, and is done in no time. Where something stands around it or before it,
    `handler` does all of it in its turn.
    """

    method: Method[Any, Any]
    handler: Handler
    at_once: AtOnce | None = None


class Outbound:
    """A request of this side, from the call until its answer."""

    __slots__ = (
        "deadline",
        "frame",
        "id",
        "method",
        "name",
        "on_progress",
        "over",
        "sent",
        "slot",
        "timeout",
    )

    def __init__(
        self,
        name: str,
        method: Method[Any, Any] | None,
        slot: Any,
        timeout: float | None,
        on_progress: ProgressCallback | None,
    ) -> None:
        self.name = name
        self.method = method  # None for a raw call
        self.slot = slot  # the driver's: where the caller waits
        self.timeout = timeout
        self.on_progress = on_progress
        self.id = 0
        self.frame = b""
        self.deadline = inf
        self.sent = False
        self.over = False
