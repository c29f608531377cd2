"""A session that ends gracefully: what it still serves, and how long its calls take (MGP 11.4)."""

from __future__ import annotations

__all__ = ("CallTimes", "DrainingRoutes")

from collections import deque
from collections.abc import Iterator, Mapping
from time import monotonic
from typing import Any, Final, Never, TypeVar, overload

from kinwire.mcp.extension import Next
from kinwire.mgp.errors import refusal
from kinwire.rpc.request import Request
from kinwire.rpc.routes import Route
from kinwire_protocols import mcp
from kinwire_protocols.base import Message
from kinwire_protocols.mcp.methods import PING
from kinwire_protocols.mgp.errors import ServerDrainingError
from kinwire_protocols.mgp.methods import (
    MGP_CALLBACK_RESPOND,
    MGP_HEALTH_PING,
    MGP_HEALTH_STATUS,
    MGP_PERMISSION_RESPONSE,
    MGP_STREAM_CANCEL,
)

T = TypeVar("T")

_MOST_KEPT = 100  # calls, whose times say how long one takes

STILL_SERVED: Final = frozenset(
    row.name
    for row in (
        PING,
        MGP_HEALTH_PING,
        MGP_HEALTH_STATUS,
        MGP_CALLBACK_RESPOND,
        MGP_PERMISSION_RESPONSE,
        MGP_STREAM_CANCEL,
    )
)
"""The requests that are served to the end: those about health, and those that calls wait for."""


class DrainingRoutes(Mapping[str, Route]):
    """The routes of a session that takes no new requests: they are refused with 2001.

    Notifications are served, and so is what is asked about health, or is about calls under way.
    """

    def __init__(self, routes: Mapping[str, Route]) -> None:
        self._routes = routes

    @overload
    def get(self, key: str, /) -> Route | None: ...
    @overload
    def get(self, key: str, /, default: Route | T) -> Route | T: ...
    def get(self, key: str, /, default: object = None) -> object:
        """Return the route of a method, with which a new request is refused."""
        route = self._routes.get(key)
        if route is None:
            return default
        if route.method.kind == "notification" or route.method.name in STILL_SERVED:
            return route
        return Route(route.method, _refuse_in_turn, _refuse, ahead=True)

    def __getitem__(self, key: str) -> Route:
        route = self.get(key)
        if route is None:
            raise KeyError(key)
        return route

    def __iter__(self) -> Iterator[str]:
        return iter(self._routes)

    def __len__(self) -> int:
        return len(self._routes)


def _refuse(params: Message, request: Request) -> Never:
    text = f"{request.method.name}: the server is shutting down and takes no new requests."
    raise refusal(ServerDrainingError, text)


async def _refuse_in_turn(params: Message, request: Request) -> Never:
    _refuse(params, request)


class CallTimes:
    """How long the calls of tools in one session take."""

    def __init__(self) -> None:
        self._began: dict[Request, float] = {}
        self._took: deque[float] = deque(maxlen=_MOST_KEPT)

    async def measure(
        self,
        params: mcp.CallToolRequestParams,
        request: Request,
        go_on: Next[mcp.CallToolRequestParams, mcp.CallToolResult],
    ) -> Any:
        """Go on with a call, and note how long it takes."""
        began = self._began[request] = monotonic()
        try:
            return await go_on(params)
        finally:
            del self._began[request]
            self._took.append(monotonic() - began)

    @property
    def longest(self) -> float | None:
        """How many seconds the slowest of the last calls took; None if none has ended."""
        return max(self._took, default=None)

    @property
    def ages(self) -> list[float]:
        """How many seconds the calls under way have run."""
        now = monotonic()
        return [now - began for began in self._began.values()]
