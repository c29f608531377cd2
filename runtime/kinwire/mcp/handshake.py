"""The server's side of the handshake: which requests are allowed before and after it.

MCP, Lifecycle.
"""

from __future__ import annotations

__all__ = ("ServerHandshake",)

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from kinwire.mcp.handlers import HandlerTable
from kinwire.mcp.negotiation import Negotiation, SpokenProtocols
from kinwire.rpc.request import Request
from kinwire.rpc.routes import Handler, Route
from kinwire.rpc.session import Session
from kinwire_protocols.base import JsonObject, to_wire
from kinwire_protocols.jsonrpc.errors import InvalidRequestError
from kinwire_protocols.mcp.methods import INITIALIZE, NOTIFICATIONS_INITIALIZED, PING
from kinwire_protocols.mcp.models import InitializeRequestParams

# What comes behind the handshake waits for it, even if both were sent in one write.
_HANDSHAKE = replace(INITIALIZE, serial=True)


class ServerHandshake:
    """One session's view of the handlers: closed until `initialize` has been answered.

    A method without a handler is unknown before the handshake too, so that a client that tries a
    newer protocol first falls back immediately.
    """

    def __init__(
        self,
        handlers: HandlerTable,
        answer: Callable[[], JsonObject],
        spoken: SpokenProtocols,
    ) -> None:
        """Prepare a session; `answer` makes the result of `initialize`."""
        self._answer = answer
        self.negotiation = Negotiation(spoken)
        self.client: InitializeRequestParams | None = None
        """The params of the client's `initialize`, None before the handshake."""
        self.open = False
        """Whether `initialize` has been answered with a result."""
        self.initialized = False
        """Whether the client has sent `notifications/initialized`."""
        self.routes: dict[str, Route] = {INITIALIZE.name: Route(_HANDSHAKE, self._initialize)}
        self._handlers = handlers
        for route in handlers.routes.values():
            self.add_route(route)

    def skip(self, session: Session) -> None:
        """Open a session without a handshake: the client is unknown, and has no capabilities."""
        self.negotiation.settle(session, client={}, server=self._answer()["capabilities"])
        self.initialized = True
        self._open()

    def session_routes(self) -> Mapping[str, Route]:
        """Return the routes to open the session with."""
        return self.negotiation.routes(self.routes)

    def add_route(self, route: Route) -> None:
        """Serve a method from now on, or after the handshake."""
        if route.method.name == NOTIFICATIONS_INITIALIZED.name:
            in_turn = partial(self._initialized, route.handler)
            route = Route(route.method, in_turn, partial(self._initialized_at_once, route))
        if not self.open and route.method.name != PING.name:
            route = Route(route.method, _Closed(self, route).handle)
        self.routes[route.method.name] = route

    def remove_route(self, name: str) -> None:
        """Stop serving a method, unless the handlers still have a route for it."""
        del self.routes[name]
        if name in self._handlers.routes:
            self.add_route(self._handlers.routes[name])

    def release(self) -> None:
        """Let go of the routes, which refer to this, when the session is over."""
        self.routes.clear()

    async def _initialize(self, params: InitializeRequestParams, request: Request) -> JsonObject:
        if self.client is not None:
            raise InvalidRequestError(
                "initialize: the session is open already. Continue with it, or connect again."
            )
        self.client = params
        answer = self._answer()
        client, server = to_wire(params.capabilities), answer["capabilities"]
        self.negotiation.offer(server, client)
        self.negotiation.settle(request.session, client=client, server=server)
        self._open()
        return answer

    def _open(self) -> None:
        self.open = True
        for route in self._handlers.routes.values():
            self.add_route(route)  # without the stand-in

    async def _initialized(self, handler: Handler, params: Any, request: Request) -> Any:
        self.initialized = True
        return await handler(params, request)

    def _initialized_at_once(self, route: Route, params: Any, request: Request) -> Handler | None:
        self.initialized = True
        return route.handler if route.at_once is None else route.at_once(params, request)


class _Closed:
    """A route while its session is closed; a request may have come just behind `initialize`."""

    def __init__(self, handshake: ServerHandshake, route: Route) -> None:
        self._handshake = handshake
        self._route = route

    async def handle(self, params: Any, request: Request) -> Any:
        if self._handshake.open:
            return await request.run(self._route, params)
        if request.id is None:
            return None  # a notification that comes too early means nothing
        raise InvalidRequestError(
            f"{self._route.method.name}: the session is not open. Send initialize first."
        )
