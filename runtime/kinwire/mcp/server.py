"""A server: its registry, its handlers, and the sessions that it serves (MCP).

`registry.py` has the decorators, `handlers.py` what `on` accepts, `handshake.py` the beginning of a
session, and `server_session.py` the state of its client.
"""

from __future__ import annotations

__all__ = ("Server",)

import signal
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, Never, get_args

import anyio

from kinwire.mcp.context import Context
from kinwire.mcp.extension import Extension, ExtensionBase, extensions_kind
from kinwire.mcp.handlers import HandlerTable
from kinwire.mcp.handshake import ServerHandshake, ServerRoutes
from kinwire.mcp.log_messages import LEVELS
from kinwire.mcp.negotiation import SpokenProtocols
from kinwire.mcp.registry import Registry, Rows
from kinwire.mcp.resources import not_found
from kinwire.mcp.rules.pagination import ListName
from kinwire.mcp.server_session import ServerSession
from kinwire.rpc.limits import Limits
from kinwire.rpc.routes import Handler
from kinwire.rpc.transport import TRANSPORT_KIND, Transport
from kinwire.support.arguments import (
    FLAG,
    TEXT,
    ArgumentCheck,
    count_from,
    instance_of,
    list_of,
    one_of,
    shown_argument,
)
from kinwire_protocols import mcp
from kinwire_protocols.base import JsonObject, to_wire
from kinwire_protocols.jsonrpc.errors import InvalidParamsError
from kinwire_protocols.mcp.methods import (
    LOGGING_SET_LEVEL,
    NOTIFICATIONS_RESOURCES_UPDATED,
    PROTOCOL,
)
from kinwire_protocols.peer import Method

if TYPE_CHECKING:
    from kinwire.mcp.http.app import HttpApp
    from kinwire.mcp.http.session import HttpServerSession
    from kinwire.support.watchdog import Grace, Watchdog
    from kinwire.transports.http.guard import Authenticate
    from kinwire.transports.http.limits import HttpLimits

_LAST_STEPS = 0.5  # seconds for the event loop to end, with what handlers have left running

_SERVER = ArgumentCheck(
    "Server",
    'Server("notes", "1.0")',
    {"name": TEXT, "version": TEXT},
    instructions=TEXT.or_none,
    limits=instance_of(Limits, "Limits", "Limits(request_timeout=5)"),
    extensions=extensions_kind("McplServer(feature_sets={...})"),
    offers=list_of(one_of(*get_args(ListName)), "several names of lists"),
    page_size=count_from(1),
    log_level=one_of(*LEVELS).or_none,
)
_RESOURCE_UPDATED = ArgumentCheck(
    "Server.resource_updated", 'server.resource_updated("notes://all")', {"uri": TEXT}
)
_REMOVE_HANDLER = ArgumentCheck(
    "Server.remove_handler",
    "server.remove_handler(TOOLS_LIST)",
    {"method": instance_of(Method, "a method of kinwire_protocols.mcp.methods", "TOOLS_LIST")},
)
_SERVE = ArgumentCheck(
    "Server.serve", "await server.serve(transport)", {"transport": TRANSPORT_KIND}, handshake=FLAG
)


class Server(Registry):
    """A server of any number of sessions at the same time: `server = Server("notes", "1.0")`.

    `@server.tool`, `@server.resource("notes://all")` and `@server.prompt` register functions, and
    `server.run()` serves over stdio, `server.asgi()` over HTTP.

    - `name` and `version` are what clients see.
    - `instructions="..."` explain to clients, and to their models, how to use the server.
    - `limits=Limits(...)` bound what a client can make this side keep and how long calls wait.
    - `extensions=[McplServer(...)]` are other protocols, spoken with clients that speak them, too.
    - `offers=["tools", "resources", "prompts"]` are lists that are offered although they are empty:
      a session in which a list was not offered at the start never sees what is added to it later.
    - `page_size=500` is the most entries of a page of a list; a page has about a megabyte, too.
    - `log_level="info"` is the least severe level of log message that a client gets until it
      chooses a level; with None the server does not offer log messages.
    """

    def __init__(  # noqa: PLR0913 - one for each property of a server
        self,
        name: str,
        version: str,
        *,
        instructions: str | None = None,
        limits: Limits = Limits(),
        extensions: Iterable[Extension] = (),
        offers: Collection[ListName] = (),
        page_size: int = 500,
        log_level: mcp.LoggingLevel | None = "info",
    ) -> None:
        _SERVER.check(
            name=name,
            version=version,
            instructions=instructions,
            limits=limits,
            extensions=extensions,
            offers=offers,
            page_size=page_size,
            log_level=log_level,
        )
        super().__init__(page_size)
        self.info = mcp.Implementation(name=name, version=version)
        self.instructions = instructions
        self.limits = limits
        self.on = mcp.ServerOn(self._add_handler)
        """Decorators that register handlers, one for each method: `@server.on.resources_list`.

        Handlers are `async` functions of (params) or of (params, context).
        """
        self._handlers = HandlerTable()
        self._served: set[Method[Any, Any]] = set()  # by the registry
        self._own: dict[str, Handler] = {}
        self._log_level: mcp.LoggingLevel = log_level or "emergency"
        if log_level is not None:
            self._handlers.add_default(LOGGING_SET_LEVEL, self._set_level)
        self._routes = ServerRoutes(self._handlers.routes.values())
        self._capabilities = self._handlers.capabilities("server")
        self._spoken = SpokenProtocols("server", extensions)
        self._sessions: set[ServerSession] = set()
        self._serve_lists(offers)
        for extension in self._spoken.extensions:
            if isinstance(extension, ExtensionBase):
                extension.served_by(self)

    def resource_updated(self, uri: str) -> None:
        """Notify the clients that have subscribed to `uri` that this resource has changed.

        A client gets one notification for changes that follow each other faster than it reads. Call
        this in the thread of the event loop, or in a worker thread of anyio.
        """
        _RESOURCE_UPDATED.check(uri=uri)
        for session in list(self._sessions):
            if uri in session.subscribed_uris:
                session.announce(NOTIFICATIONS_RESOURCES_UPDATED, {"uri": uri})

    def remove_handler(self, method: Method[Any, Any]) -> None:
        """Remove the handler of a method, also from open sessions.

        Raises:
            KeyError: the method has no handler.
        """
        _REMOVE_HANDLER.check(method=method)
        self._handlers.remove(method)
        self._served.discard(method)
        self._own.pop(method.name, None)
        self._routes.remove(method.name)
        if method.name in self._handlers.routes:  # the default
            self._routes.add(self._handlers.routes[method.name])
        self._capabilities = self._handlers.capabilities("server")

    @property
    def own_handlers(self) -> Mapping[str, Handler]:
        """The handlers, by method, that a program has registered by `on`; it follows each change.

        Those of the decorators, such as `tool`, are not among them.
        """
        return self._own

    async def serve(self, transport: Transport, *, handshake: bool = True) -> None:
        """Serve one session until either side ends it.

        Without a `handshake` the session is open immediately: for transports where a session is
        one request.
        """
        _SERVE.check(transport=transport, handshake=handshake)
        await self._serve(transport, handshake=handshake)

    async def _serve(self, transport: Transport, *, handshake: bool) -> None:
        session = self._new_session(transport, handshake=handshake)
        try:
            async with session:
                await session.handshake.negotiation.attend(session, session.adopt)
        finally:
            self._sessions.discard(session)

    def _begin(self, transport: HttpServerSession, over: Callable[[], None]) -> None:
        """Begin a session that has no extensions, and call `over` when it is over."""
        session = self._new_session(transport, handshake=transport.handshake)
        session.on_close(partial(self._sessions.discard, session))
        session.on_close(over)
        session.begin()

    def _new_session(self, transport: Transport, *, handshake: bool) -> ServerSession:
        opening = ServerHandshake(self._routes, self._greeting, self._spoken)
        session = ServerSession(transport, opening, limits=self.limits, log_level=self._log_level)
        if not handshake:
            opening.skip(session)
        self._sessions.add(session)
        return session

    def asgi(  # noqa: PLR0913 - all that a listener is made of
        self,
        *,
        path: str | None = None,
        health: str | None = None,
        allowed_hosts: Iterable[str] = (),
        allowed_origins: Iterable[str] = (),
        authenticate: Authenticate | None = None,
        resource_metadata: str | None = None,
        stateless: bool = False,
        insecure: bool = False,
        limits: HttpLimits | None = None,
    ) -> HttpApp:
        """Return this server as an ASGI application, for uvicorn or to mount in another one.

        It serves `path`, by default "/mcp", and where it is mounted in another application its
        mount point; requests for other paths get 404. A `path` that is given holds in both cases,
        below the mount point. `health`, such as "/healthz", is a path that answers every GET with
        200, without a session, a token or a check of the `Host` header.

        It answers requests for the names of this machine and for `allowed_hosts` ("name" or
        "name:port"), and requests of web pages whose origin is in `allowed_origins`. `authenticate`
        is an `async` or a plain function that gets the bearer token of each request and returns the
        principal, None if the token is not valid; a session belongs to the principal that began it.
        `resource_metadata` is the URL of the document that says where clients get a token. A
        `stateless` server keeps no sessions: each request is independent, and the server cannot
        send requests to clients. Over a network without TLS it answers only if `insecure` is set,
        because a proxy does TLS or the network is trusted. `limits` (`kinwire.HttpLimits`) bound
        what all clients together may use.

        Raises:
            ValueError: invalid host or origin in the lists, or a path without its slash.
            TypeError: a list is a string.
        """
        from kinwire.mcp.http.app import ENDPOINT, HttpApp
        from kinwire.transports.http.guard import LISTENER_KINDS, Guard
        from kinwire.transports.http.limits import HttpLimits
        from kinwire.transports.http.paths import PATH_KIND, ServedPaths
        from kinwire.transports.http.security import AccessRules

        kinds = {**LISTENER_KINDS, "path": PATH_KIND.or_none, "health": PATH_KIND.or_none}
        ArgumentCheck("Server.asgi", "server.asgi()", {}, stateless=FLAG, **kinds).check(
            path=path,
            health=health,
            allowed_hosts=allowed_hosts,
            allowed_origins=allowed_origins,
            authenticate=authenticate,
            resource_metadata=resource_metadata,
            stateless=stateless,
            insecure=insecure,
            limits=limits,
        )
        limits = limits or HttpLimits()
        guard = Guard(
            AccessRules(allowed_hosts, allowed_origins),
            limits,
            insecure=insecure,
            authenticate=authenticate,
            resource_metadata=resource_metadata,
        )

        async def serve(session: HttpServerSession) -> None:
            await self._serve(session, handshake=session.handshake)

        return HttpApp(
            serve,
            None if self._spoken.extensions else self._begin,
            frame_size=self.limits.frame_size,
            limits=limits,
            guard=guard,
            stateless=stateless,
            paths=ServedPaths(path, ENDPOINT, health),
            grace=self._grace(),
        )

    def run(self, transport: Literal["stdio"] = "stdio", **options: Never) -> None:
        """Serve one session over stdin and stdout until the input ends: the last line of a program.

        For HTTP write `server.asgi().run()`, or pass `server.asgi()` to an ASGI server.

        A client stops its server by closing the input. This returns then, or exits the process with
        0 if a running thread would keep it alive. SIGTERM and SIGHUP have the same effect: handlers
        get `Limits.drain` to finish. A second signal ends the process immediately. A handler that
        blocks the event loop then, or swallows its cancellation, does not keep the process alive
        for longer than `Limits.drain` and `Limits.stop`: it is logged, and the process exits.

        Raises:
            SystemExit: the user pressed Ctrl-C.
            OSError: writing to stdout failed, as on a full disk. A closed pipe is not an error.
            TypeError: another transport is named, or an option is passed.
        """
        _check_run(transport, options)
        from kinwire.support.watchdog import exit_despite_threads

        try:
            with self._watchdog() as watchdog:
                anyio.run(self._serve_stdio, watchdog, _LAST_STEPS)
        except KeyboardInterrupt:
            exit_despite_threads(130)
            raise SystemExit(130) from None
        exit_despite_threads(0)

    async def serve_stdio(self) -> None:
        """Serve one session over stdin and stdout, in a program with an event loop of its own.

        It returns when the input ends, or after SIGTERM or SIGHUP, which it handles as `run` does.
        A program that opens a store around it writes `anyio.run(main)` in the place of `run`.

        Raises:
            OSError: writing to stdout failed, as on a full disk. A closed pipe is not an error.
        """
        with self._watchdog() as watchdog:
            await self._serve_stdio(watchdog)

    async def _serve_stdio(self, watchdog: Watchdog, last_steps: float | None = None) -> None:
        """Serve; the process ends at most `last_steps` seconds later, if that is not None."""
        from kinwire.support.signals import on_end_signal
        from kinwire.transports.stdio import OwnStdio

        def heed(number: int) -> None:
            watchdog.heed(130 if number == signal.SIGINT else 0)

        stdio = OwnStdio(watchdog)
        try:
            with on_end_signal(stdio.stop, heed):
                await self.serve(stdio)
        finally:
            if last_steps is not None:
                watchdog.over(last_steps)
        if stdio.refused is not None:
            raise stdio.refused

    def _watchdog(self) -> Watchdog:
        from kinwire.support.watchdog import Watchdog

        return Watchdog(self._grace())

    def _grace(self) -> Grace:
        from kinwire.support.watchdog import Grace

        return Grace(self.limits.drain + self.limits.stop, self._running)

    def _running(self) -> list[str]:
        """Return what is being handled, in all sessions."""
        return [work.label for session in list(self._sessions) for work in session.requests]

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> object:
            from kinwire.mcp.habits import SERVER_NAMES, no_attribute  # only after a mistake

            raise no_attribute(self, name, SERVER_NAMES)

    def _serve_rows(self, rows: Rows, sent: Method[Any, Any] | None = None) -> None:
        missing = [row for row in rows if row not in self._served]
        self._handlers.must_be_free(missing)
        for row in missing:
            self._route(row, rows[row])
            self._served.add(row)
        if missing and sent is not None:
            self._handlers.add_sent(sent)
            self._capabilities = self._handlers.capabilities("server")

    def _announce(self, row: Method[Any, Any]) -> None:
        for session in list(self._sessions):
            session.announce(row, {})

    async def _subscribe(self, params: mcp.SubscribeRequestParams, context: Context) -> JsonObject:
        if not self._resources.has(params.uri):
            raise not_found(params.uri)
        try:
            _session_of(context).subscribed_uris.add(params.uri)
        except ValueError as error:
            raise InvalidParamsError(f"resources/subscribe: {error}") from None
        return {}

    async def _unsubscribe(
        self, params: mcp.UnsubscribeRequestParams, context: Context
    ) -> JsonObject:
        _session_of(context).subscribed_uris.discard(params.uri)
        return {}

    async def _set_level(self, params: mcp.SetLevelRequestParams, context: Context) -> JsonObject:
        _session_of(context).log_level = params.level
        return {}

    def _add_handler(self, method: Method[Any, Any], handler: Callable[..., Any]) -> None:
        self._route(method, handler)
        self._own[method.name] = self._handlers.routes[method.name].handler

    def _route(self, method: Method[Any, Any], handler: Callable[..., Any]) -> None:
        self._handlers.add(method, handler)
        self._routes.add(self._handlers.routes[method.name])
        self._capabilities = self._handlers.capabilities("server")

    def _greeting(self) -> JsonObject:
        """Return the result of `initialize`: this version, whichever the client offered."""
        result: JsonObject = {
            "protocolVersion": PROTOCOL.version,
            "capabilities": {name: {**members} for name, members in self._capabilities.items()},
            "serverInfo": to_wire(self.info),
        }
        if self.instructions is not None:
            result["instructions"] = self.instructions
        return result


def _check_run(transport: object, options: Collection[str]) -> None:
    """Answer the call of FastMCP, where `run` serves over HTTP as well."""
    problem = f"expected no options, got {', '.join(options)}" if options else None
    if transport != "stdio":
        problem = f"transport: expected 'stdio', got {shown_argument(transport)}"
    if problem is not None:
        raise TypeError(
            f"Server.run: {problem}. "
            "Write server.run() for stdio, and server.asgi().run(host=..., port=...) for HTTP"
        )


def _session_of(context: Context) -> ServerSession:
    session = context.session
    assert isinstance(session, ServerSession)
    return session
