"""The server's side of the handshake: what may be asked before and after it (MCP, Lifecycle)."""

from __future__ import annotations

__all__ = ("ServerHandshake",)

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from kinwire._handlers import HandlerTable
from kinwire.calls import Route
from kinwire.request import Request
from kinwire_protocols.base import JsonObject
from kinwire_protocols.jsonrpc.errors import InvalidRequestError
from kinwire_protocols.mcp.methods import INITIALIZE, PING
from kinwire_protocols.mcp.models import InitializeRequestParams

# What comes behind the handshake waits for it, even if both were sent in one write.
_HANDSHAKE = replace(INITIALIZE, serial=True)


class ServerHandshake:
    """One session's view of the handlers: closed until `initialize` has been answered.

    A method that nobody handles is unknown before the handshake as after it, so that a client that
    tries a newer protocol first learns at once to fall back.
    """

    def __init__(self, handlers: HandlerTable, answer: Callable[[], JsonObject]) -> None:
        """Prepare a session; `answer` makes the result of `initialize`."""
        self._answer = answer
        self.client: InitializeRequestParams | None = None
        """What the client said of itself, None before the handshake."""
        self.routes: dict[str, Route] = {INITIALIZE.name: Route(_HANDSHAKE, self._initialize)}
        self._handlers = handlers
        for route in handlers.routes.values():
            self.learn(route)

    def learn(self, route: Route) -> None:
        """Serve a method from now on."""
        if self.client is None and route.method.name != PING.name:
            route = Route(route.method, _Closed(self, route).handle)
        self.routes[route.method.name] = route

    def forget(self, name: str) -> None:
        """Serve a method no longer, unless the handlers still do."""
        del self.routes[name]
        if name in self._handlers.routes:
            self.learn(self._handlers.routes[name])

    async def _initialize(self, params: InitializeRequestParams, request: Request) -> JsonObject:
        if self.client is not None:
            raise InvalidRequestError(
                "initialize: the session is open already. Go on with it, or connect anew."
            )
        self.client = params
        self.routes.update(self._handlers.routes)  # nothing stands between from now on
        return self._answer()


class _Closed:
    """A route while its session is closed; a request may have come just behind `initialize`."""

    def __init__(self, handshake: ServerHandshake, route: Route) -> None:
        self._handshake = handshake
        self._route = route

    async def handle(self, params: Any, request: Request) -> Any:
        if self._handshake.client is not None:
            return await self._route.handler(params, request)
        if request.id is None:
            return None  # a notification that comes too early means nothing
        raise InvalidRequestError(
            f"{self._route.method.name}: the session is not open. Send initialize first."
        )
