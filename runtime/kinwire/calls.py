"""One request or notification under way, in either direction, as the rules see it."""

from __future__ import annotations

__all__ = ("Handler", "Inbound", "Outbound", "ProgressCallback", "Route")

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from kinwire.jsonrpc import Id, is_id, is_object
from kinwire_protocols.base import JsonObject, Message
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


class Inbound:
    """A request or notification of the peer, from its arrival until its handler has ended."""

    __slots__ = (
        "_raw",
        "cancelled",
        "ended",
        "handler",
        "id",
        "method",
        "params",
        "reported",
        "task",
    )

    def __init__(self, id: Id | None, route: Route, params: Message, raw: JsonObject) -> None:
        self.id = id
        """As the peer wrote it; None for a notification."""
        self.method, self.handler = route
        self.params = params
        self._raw = raw
        self.cancelled = False
        """Whether the peer took the request back. Threads may look, too."""
        self.ended = False
        self.reported: float | None = None  # the last progress value
        self.task: Any = None  # the driver's

    @property
    def progress_token(self) -> Id | None:
        """What the sender wants progress reports under; None if it wants none."""
        meta = self._raw.get("_meta")
        token = meta.get("progressToken") if is_object(meta) else None
        return token if is_id(token) else None


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
        self.deadline = float("inf")
        self.sent = False
        self.over = False
