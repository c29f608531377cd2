"""What handlers are, and a request of this side under way. `request.py` has the peer's."""

from __future__ import annotations

__all__ = ("Handler", "Outbound", "ProgressCallback", "Route")

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


class Route(NamedTuple):
    """Which handler serves a method."""

    method: Method[Any, Any]
    handler: Handler


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
