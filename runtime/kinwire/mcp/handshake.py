"""The server's side of the handshake: what may be asked before and after it (MCP, Lifecycle)."""

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

    A method that nobody handles is unknown before the handshake as after it, so that a client that
    tries a newer protocol first learns at once to fall back.
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
        """What the client said of itself, None before the handshake."""
        self.open = False
        """Whether `initialize` has been answered well."""
        self.initialized = False
        """Whether the client has said that the handshake is done."""
        self.routes: dict[str, Route] = {INITIALIZE.name: Route(_HANDSHAKE, self._initialize)}
        self._handlers = handlers
        for route in handlers.routes.values():
            self.learn(route)

    def skip(self, session: Session) -> None:
        """Open a session that goes without: nothing is known of the client, nothing asked of it."""
        self.negotiation.settle(session, client={}, server=self._answer()["capabilities"])
        self.initialized = True
        self._open()

    def session_routes(self) -> Mapping[str, Route]:
        """Return the routes to open the session with."""
        return self.negotiation.routes(self.routes)

    def learn(self, route: Route) -> None:
        """Serve a method from now on."""
        if route.method.name == NOTIFICATIONS_INITIALIZED.name:
            route = Route(route.method, partial(self._initialized, route.handler))
        if not self.open and route.method.name != PING.name:
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
        answer = self._answer()
        client, server = to_wire(params.capabilities), answer["capabilities"]
        self.negotiation.offer(server, client)
        self.negotiation.settle(request.session, client=client, server=server)
        self._open()
        return answer

    def _open(self) -> None:
        self.open = True
        for route in self._handlers.routes.values():
            self.learn(route)  # nothing stands between from now on

    async def _initialized(self, handler: Handler, params: Any, request: Request) -> Any:
        self.initialized = True
        return await handler(params, request)


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
