"""Which handler serves a method: routes, and the layers of them that a session serves."""

from __future__ import annotations

__all__ = ("AtOnce", "Handler", "LayeredRoutes", "Route", "routes_of")

from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping
from typing import Any, NamedTuple, TypeVar, overload

from kinwire.support.arguments import ArgumentCheck, instance_of
from kinwire_protocols.peer import Handlers, Method

T = TypeVar("T")

_ROUTES_OF = ArgumentCheck(
    "routes_of",
    "routes_of(Editor())",
    {"handlers": instance_of(Handlers, "an object of a class of handlers", "Editor()")},
)

Handler = Callable[[Any, Any], Awaitable[Any]]
"""Takes params and `Request`; returns the result, as its model or as a JSON object."""

AtOnce = Callable[[Any, Any], Any]
"""Takes params and `Request`, and waits for nothing.

Of a request it returns the result, of a notification the handler that goes on with it, or None.
"""


class Route(NamedTuple):
    """Which handler serves a method.

    `at_once` acts on a message the moment it arrives, without a task: for what takes no time, and
    for notifications that must not be lost, however many are being handled. Where interceptors or
    earlier messages come first, `handler` does all of it in its turn.
    """

    method: Method[Any, Any]
    handler: Handler
    at_once: AtOnce | None = None
    ahead: bool = False
    """Whether `at_once` also acts where interceptors or earlier messages would come first, and
    however many messages are being handled: for notifications that come in bursts and must not be
    dropped, and for requests that are answered under any load. No function of the user is reached
    there."""


def routes_of(handlers: Handlers) -> dict[str, Route]:
    """Return the routes of a generated class of handlers, for a `Session`.

    Methods that the class does not override answer "method not found".

    Raises:
        TypeError: `handlers` is not an object of such a class.
    """
    _ROUTES_OF.check(handlers=handlers)
    routes: dict[str, Route] = {}
    for row in handlers.rows.values():
        function = getattr(handlers, row.attribute)
        routes |= dict.fromkeys(row.names, Route(row, _without_request(function)))
    return routes


def _without_request(function: Callable[[Any], Awaitable[Any]]) -> Handler:
    return lambda params, request: function(params)


class LayeredRoutes(Mapping[str, Route]):
    """What a side serves itself, and below it what its extensions serve as far as negotiated."""

    def __init__(
        self,
        own: Mapping[str, Route],
        allowed: Collection[str] = (),
        permits: Callable[[Method[Any, Any]], bool] = lambda method: True,
    ) -> None:
        """Serve `own`; of layers what is in `allowed`, and else what `permits` allows."""
        self._own = own
        self._allowed = allowed
        self._permits = permits
        self._layers: list[Mapping[str, Route]] = []

    def add(self, routes: Mapping[str, Route]) -> None:
        """Put `routes`, which may change, below those that are there."""
        self._layers.append(routes)

    @overload
    def get(self, key: str, /) -> Route | None: ...
    @overload
    def get(self, key: str, /, default: Route | T) -> Route | T: ...
    def get(self, key: str, /, default: object = None) -> object:
        """Return the route of the first layer that has one; every message comes through here."""
        route = self._own.get(key)
        if route is not None:
            return route
        for layer in self._layers:
            route = layer.get(key)
            if route is not None and (key in self._allowed or self._permits(route.method)):
                return route
        return default

    def __getitem__(self, key: str) -> Route:
        route = self.get(key)
        if route is None:
            raise KeyError(key)
        return route

    def __iter__(self) -> Iterator[str]:
        names = {name for layer in (self._own, *self._layers) for name in layer}
        return (name for name in names if name in self)

    def __len__(self) -> int:
        return sum(1 for _ in self)
