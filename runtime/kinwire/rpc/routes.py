"""The routes of a session that has extensions, while its handshake goes on and after it."""

from __future__ import annotations

__all__ = ("EarlyRoutes", "LayeredRoutes")

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from kinwire.rpc.calls import Route
from kinwire.rpc.interceptors import handled
from kinwire_protocols.base import Message
from kinwire_protocols.jsonrpc.errors import MethodNotFoundError
from kinwire_protocols.peer import Method

if TYPE_CHECKING:
    import anyio

    from kinwire.rpc.request import Request

_PING = "ping"  # is answered at any time


class LayeredRoutes(Mapping[str, Route]):
    """What a side serves itself, and below it what its extensions serve as far as negotiated."""

    def __init__(
        self, own: Mapping[str, Route], negotiated: Callable[[Method[Any, Any]], bool]
    ) -> None:
        self._own = own
        self._negotiated = negotiated
        self._layers: list[Mapping[str, Route]] = []

    def add(self, routes: Mapping[str, Route]) -> None:
        """Put `routes` below those that are there."""
        self._layers.append(routes)

    def __getitem__(self, name: str) -> Route:
        route = self._own.get(name)
        if route is not None:
            return route
        for layer in self._layers:
            route = layer.get(name)
            if route is not None and self._negotiated(route.method):
                return route
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        names = {name for layer in (self._own, *self._layers) for name in layer}
        return (name for name in names if name in self)

    def __len__(self) -> int:
        return sum(1 for _ in self)


class EarlyRoutes(Mapping[str, Route]):
    """`own`, and until the handshake is over stand-ins for what cannot be decided before.

    A peer may send a message right behind the one that ends the handshake, so that both arrive at
    once: before any handler or interceptor of an extension is attached. A stand-in decides when it
    runs. `rows` are the methods that extensions may come to serve, and `over` is set when all are
    attached. With `waits` everything that arrives waits for that; else only what is held back
    behind the handshake anyway finds an extension, and `own` says itself what it refuses.
    """

    def __init__(
        self,
        own: Mapping[str, Route],
        rows: Mapping[str, Method[Any, Any]],
        over: anyio.Event,
        *,
        waits: bool,
    ) -> None:
        self._own = own
        self._rows = rows
        self._over = over
        self._waits = waits

    def __getitem__(self, name: str) -> Route:
        route = self._own.get(name)
        if self._over.is_set() or name == _PING or (route is not None and not self._waits):
            if route is None:
                raise KeyError(name)
            return route
        row = self._rows[name] if route is None else route.method
        return Route(row, self._decide)

    def __iter__(self) -> Iterator[str]:
        return iter(self._own if self._over.is_set() else {**self._own, **self._rows})

    def __len__(self) -> int:
        return sum(1 for _ in self)

    async def _decide(self, params: Message, request: Request) -> Any:
        if self._waits:
            await self._over.wait()
        name = request.method.name
        route = request.session.route(name) if self._over.is_set() else None
        if route is not None:
            return await handled(route, params, request)
        if request.id is None:
            return None  # nobody handles it: ignored
        raise MethodNotFoundError(f"Method not found: {name:.60}")
