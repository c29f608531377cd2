"""A server: its registry, its handlers, and the sessions that it serves (MCP).

`registry.py` has the decorators, `handlers.py` what `on` accepts, `handshake.py` the beginning of a
session, and `server_session.py` the state of its client.
"""

from __future__ import annotations

__all__ = ("Server",)

import logging
import os
import sys
import threading
import time
from collections.abc import Callable, Collection, Iterable
from typing import TYPE_CHECKING, Any

import anyio

from kinwire.mcp.context import Context
from kinwire.mcp.extension import Extension
from kinwire.mcp.handlers import HandlerTable
from kinwire.mcp.handshake import ServerHandshake
from kinwire.mcp.log_messages import at_least
from kinwire.mcp.negotiation import SpokenProtocols
from kinwire.mcp.registry import Registry, Rows
from kinwire.mcp.resources import not_found
from kinwire.mcp.rules.pagination import ListName
from kinwire.mcp.server_session import ServerSession
from kinwire.rpc.limits import Limits
from kinwire.rpc.transport import Transport
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
    from kinwire.transports.http.app import HttpApp
    from kinwire.transports.http.guard import Authenticate
    from kinwire.transports.http.limits import HttpLimits
    from kinwire.transports.http.session import HttpServerSession

_LAST_WORK = 0.2  # seconds for threads that are about to end anyway


class Server(Registry):
    """What is served; any number of sessions at once.

    `instructions` tell clients, and their models, how the server is best used. `extensions` are the
    protocols that it speaks beside MCP, with clients that do too. `offers` are kinds of things that
    clients are told of even while there is none yet: what comes up later is new to open sessions
    only if they were told at the start. Lists go out in pages of `page_size` entries and about a
    megabyte at most. `log_level` is the least severe level of log message that goes to a client
    which has not chosen one; None offers no log messages at all.
    """

    def __init__(  # noqa: PLR0913 - all that a server is made of
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
        super().__init__(page_size)
        self.info = mcp.Implementation(name=name, version=version)
        self.instructions = instructions
        self.limits = limits
        self.on = mcp.ServerOn(self._add_handler)
        """Where handlers are registered, one attribute a method: `@server.on.resources_list`.

        They are `async` functions of (params) or of (params, context).
        """
        self._handlers = HandlerTable()
        self._served: set[Method[Any, Any]] = set()  # by what is inherited
        self._log_level: mcp.LoggingLevel = log_level or "emergency"
        if log_level is not None:
            at_least(log_level, log_level)
            self._handlers.add_default(LOGGING_SET_LEVEL, self._set_level)
        self._spoken = SpokenProtocols("server", extensions)
        self._sessions: set[ServerSession] = set()
        self._serve_lists(offers)

    def resource_updated(self, uri: str) -> None:
        """Tell the clients that have subscribed to the resource at `uri` that it has changed.

        A client that has not been told of the last change yet hears of both at once. As all that
        changes a server, call this where the event loop runs, or in a worker thread of anyio.
        """
        for session in list(self._sessions):
            if uri in session.subscribed_uris:
                session.announce(NOTIFICATIONS_RESOURCES_UPDATED, {"uri": uri})

    def remove_handler(self, method: Method[Any, Any]) -> None:
        """Withdraw the handler of a method, also from open sessions.

        Raises:
            KeyError: it has none.
        """
        self._handlers.remove(method)
        self._served.discard(method)
        for session in list(self._sessions):
            session.handshake.remove_route(method.name)

    async def serve(self, transport: Transport, *, handshake: bool = True) -> None:
        """Serve one session until either side ends it.

        Without a `handshake` it is open at once: for transports whose sessions are one request.
        """
        opening = ServerHandshake(self._handlers, self._greeting, self._spoken)
        session = ServerSession(transport, opening, limits=self.limits, log_level=self._log_level)
        if not handshake:
            opening.skip(session)
        self._sessions.add(session)
        try:
            async with session:
                await opening.negotiation.attend(session)
        finally:
            self._sessions.discard(session)

    def asgi(
        self,
        *,
        allowed_hosts: Iterable[str] = (),
        allowed_origins: Iterable[str] = (),
        authenticate: Authenticate | None = None,
        resource_metadata: str | None = None,
        stateless: bool = False,
        insecure: bool = False,
        limits: HttpLimits | None = None,
    ) -> HttpApp:
        """Return this server as an ASGI application, for uvicorn or to mount in another one.

        It goes by this machine's own names, and by `allowed_hosts` ("name" or "name:port"). Pages
        of other origins may call if they are among `allowed_origins`. `authenticate` gets the
        bearer token of each request and returns who it stands for, None if it is not valid; a
        session belongs to who began it. `resource_metadata` is the URL that tells clients where to
        get a token. A `stateless` server keeps no sessions: each request stands for itself, and
        there is nothing to ask clients for. Over a network without TLS it answers only if
        `insecure` says that a proxy has the TLS, or that the network is trusted.

        Raises:
            ValueError: an entry of the lists is no host, or no origin.
            TypeError: a list is one text.
        """
        from kinwire.transports.http.app import HttpApp
        from kinwire.transports.http.guard import Guard
        from kinwire.transports.http.limits import HttpLimits
        from kinwire.transports.http.security import AccessRules

        limits = limits or HttpLimits()
        guard = Guard(
            AccessRules(allowed_hosts, allowed_origins),
            limits,
            insecure=insecure,
            authenticate=authenticate,
            resource_metadata=resource_metadata,
        )

        async def serve(session: HttpServerSession) -> None:
            await self.serve(session, handshake=session.handshake)

        return HttpApp(
            serve,
            frame_size=self.limits.frame_size,
            limits=limits,
            guard=guard,
            stateless=stateless,
        )

    def run(self) -> None:
        """Serve one session over stdin and stdout until the input ends: the last line of a program.

        The end of the input is how a client stops its server. So the process ends here, with 0, if
        a thread is left that would keep it alive; else this returns. SIGTERM and SIGHUP end it
        in the same way: handlers get `Limits.drain` to finish. A second signal ends it at once.

        Raises:
            SystemExit: the user pressed Ctrl-C.
            OSError: stdout takes no answers, as on a full disk. A client that left is none.
        """
        try:
            anyio.run(self._serve_stdio)
        except KeyboardInterrupt:
            _leave_threads(130)
            raise SystemExit(130) from None
        _leave_threads(0)

    async def _serve_stdio(self) -> None:
        from kinwire.transports.stdio import OwnStdio
        from kinwire.transports.terminated import when_told_to_end

        stdio = OwnStdio()
        with when_told_to_end(stdio.stop):
            await self.serve(stdio)
        if stdio.refused is not None:
            raise stdio.refused

    def _serve_rows(self, rows: Rows, sent: Method[Any, Any] | None = None) -> None:
        missing = [row for row in rows if row not in self._served]
        self._handlers.must_be_free(missing)
        for row in missing:
            self._add_handler(row, rows[row])
            self._served.add(row)
        if missing and sent is not None:
            self._handlers.add_sent(sent)

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
        self._handlers.add(method, handler)
        for session in list(self._sessions):
            session.handshake.add_route(self._handlers.routes[method.name])

    def _greeting(self) -> JsonObject:
        """Return the result of `initialize`: this version, whichever the client offered."""
        result: JsonObject = {
            "protocolVersion": PROTOCOL.version,
            "capabilities": self._handlers.capabilities("server"),
            "serverInfo": to_wire(self.info),
        }
        if self.instructions is not None:
            result["instructions"] = self.instructions
        return result


def _session_of(context: Context) -> ServerSession:
    session = context.session
    assert isinstance(session, ServerSession)
    return session


def _leave_threads(exit_code: int) -> None:
    """End the process if a thread keeps it alive, such as a tool's that nobody can stop."""
    others = (thread for thread in threading.enumerate() if thread is not threading.main_thread())
    lasting = [thread for thread in others if not thread.daemon]
    deadline = time.monotonic() + _LAST_WORK
    for thread in lasting:
        thread.join(max(0.0, deadline - time.monotonic()))
    if any(thread.is_alive() for thread in lasting):
        logging.shutdown()  # the one handler at exit that matters to everybody
        sys.stdout.flush()
        os._exit(exit_code)
