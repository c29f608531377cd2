"""Routes in which a notification is seen at the moment when it arrives."""

from __future__ import annotations

__all__ = ("ObservedRoutes",)

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from kinwire.rpc.request import Request
from kinwire.rpc.routes import Handler, Route
from kinwire_protocols.peer import Method


class ObservedRoutes(Mapping[str, Route]):
    """The routes of a session; `see` gets each notification of a method before it is handled.

    A task that handles the notification may run after what came behind it: the answer to the call
    to which it belongs.
    """

    def __init__(
        self,
        method: Method[Any, Any],
        see: Callable[[Request], None],
        routes: Mapping[str, Route],
    ) -> None:
        self._method = method
        self._see = see
        self._routes = routes

    def __getitem__(self, name: str) -> Route:
        route = self._routes[name]
        if name != self._method.name:
            return route
        return Route(route.method, route.handler, self._act, ahead=True)

    def __iter__(self) -> Iterator[str]:
        return iter(self._routes)

    def __len__(self) -> int:
        return len(self._routes)

    def get(self, key: str, /, default: Any = None) -> Any:
        """Return the route of a method; every message comes through here."""
        if key != self._method.name:
            return self._routes.get(key, default)
        return self[key] if key in self._routes else default

    def _act(self, params: Any, request: Request) -> Handler:
        self._see(request)
        handler: Handler = request.handler
        return handler
