"""The server's side of the handshake: which requests are allowed before and after it.

MCP, Lifecycle.
"""

from __future__ import annotations

__all__ = ("ServerHandshake", "ServerRoutes")

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from kinwire.mcp.extension import ExtensionBase
from kinwire.mcp.negotiation import Negotiation, SpokenProtocols
from kinwire.rpc.request import Request
from kinwire.rpc.routes import Handler, Route
from kinwire.rpc.session import Session
from kinwire_protocols.base import JsonObject, RpcError, to_wire
from kinwire_protocols.jsonrpc.errors import InvalidRequestError
from kinwire_protocols.mcp.methods import INITIALIZE, NOTIFICATIONS_INITIALIZED, PING
from kinwire_protocols.mcp.models import InitializeRequestParams

# What comes behind the handshake waits for it, even if both were sent in one write.
_HANDSHAKE = replace(INITIALIZE, serial=True)


class ServerHandshake:
    """The handshake of one session, which is closed until `initialize` has been answered."""

    def __init__(
        self, routes: ServerRoutes, answer: Callable[[], JsonObject], spoken: SpokenProtocols
    ) -> None:
        """Prepare a session; `answer` makes the result of `initialize`."""
        self._routes = routes
        self._answer = answer
        self.negotiation = Negotiation(spoken)
        self.client: InitializeRequestParams | None = None
        """The params of the client's `initialize`, None before the handshake."""
        self.open = False
        """Whether `initialize` has been answered with a result."""
        self.initialized = False
        """Whether the client has sent `notifications/initialized`."""

    def skip(self, session: Session) -> None:
        """Open a session without a handshake: the client is unknown, and has no capabilities."""
        self.negotiation.settle(session, client={}, server=self._answer()["capabilities"])
        self.open = self.initialized = True

    def too_early(self, method: str) -> RpcError:
        """Return the error for a request before `initialize`: MCP's, or an extension's."""
        extensions = self.negotiation.spoken.extensions
        kinds = (one.early_error for one in extensions if isinstance(one, ExtensionBase))
        kind = next((one for one in kinds if one is not None), InvalidRequestError)
        return kind(f"{method}: the session is not open. Send initialize first.")

    def session_routes(self) -> Mapping[str, Route]:
        """Return the routes to open the session with."""
        return self.negotiation.routes(self._routes.closed, self._routes.open)

    def initialize(self, params: InitializeRequestParams, session: Session) -> JsonObject:
        """Open the session, and return the result of `initialize`.

        Raises:
            InvalidRequestError: it is open already.
        """
        if self.client is not None:
            raise InvalidRequestError(
                "initialize: the session is open already. Continue with it, or connect again."
            )
        self.client = params
        answer = self._answer()
        client, server = to_wire(params.capabilities), answer["capabilities"]
        self.negotiation.offer(server, client)
        try:
            self.negotiation.settle(session, client=client, server=server)
        except Exception:
            session.replace_routes(self._routes.closed)
            raise
        self.open = True
        return answer


class ServerRoutes:
    """What all sessions of one server serve, by wire name: before their handshake, and after it.

    A method without a handler is unknown before the handshake too, so that a client that tries a
    newer protocol first falls back immediately.
    """

    def __init__(self, routes: Iterable[Route]) -> None:
        handshake = {INITIALIZE.name: Route(_HANDSHAKE, _initialize, _initialize_at_once)}
        self.closed: dict[str, Route] = {**handshake}
        self.open: dict[str, Route] = {**handshake}
        for route in routes:
            self.add(route)

    def add(self, route: Route) -> None:
        """Serve a method from now on, in open sessions too."""
        name = route.method.name
        if name == NOTIFICATIONS_INITIALIZED.name:
            in_turn, at_once = partial(_initialized, route), partial(_initialized_at_once, route)
            route = Route(route.method, in_turn, at_once)
        early = name == PING.name
        self.open[name] = route
        self.closed[name] = route if early else Route(route.method, partial(_when_open, route))

    def remove(self, name: str) -> None:
        """Stop serving a method, in open sessions too."""
        del self.open[name], self.closed[name]


def _of(request: Request) -> ServerHandshake:
    session: Any = request.session  # a `ServerSession`
    handshake: ServerHandshake = session.handshake
    return handshake


def _initialize_at_once(params: InitializeRequestParams, request: Request) -> JsonObject:
    return _of(request).initialize(params, request.session)


async def _initialize(params: InitializeRequestParams, request: Request) -> JsonObject:
    return _initialize_at_once(params, request)


async def _initialized(route: Route, params: Any, request: Request) -> Any:
    _of(request).initialized = True
    return await route.handler(params, request)


def _initialized_at_once(route: Route, params: Any, request: Request) -> Handler | None:
    _of(request).initialized = True
    if route.at_once is None:
        return route.handler
    handler: Handler | None = route.at_once(params, request)
    return handler


async def _when_open(route: Route, params: Any, request: Request) -> Any:
    """Handle what came while its session was closed, perhaps just behind `initialize`."""
    if _of(request).open:
        return await request.run(route, params)
    if request.id is None:
        return None  # a notification that comes too early means nothing
    raise _of(request).too_early(route.method.name)
