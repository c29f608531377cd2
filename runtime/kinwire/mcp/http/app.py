"""A server as a plain ASGI application: Streamable HTTP and, on the same URL, HTTP+SSE (MCP,
Transports). It needs no lifespan and no middleware, and may be mounted in another application.

`incoming.py` has what happens with one request.
"""

from __future__ import annotations

__all__ = ("ENDPOINT", "HttpApp")

import logging

from kinwire.mcp.http.incoming import IncomingHttpRequest
from kinwire.mcp.http.sessions import Begin, Serve, Sessions
from kinwire.rpc.errors import ConnectionClosedError
from kinwire.support.arguments import ArgumentCheck
from kinwire.support.background import running_loop
from kinwire.support.watchdog import Grace
from kinwire.transports.http.guard import Guard
from kinwire.transports.http.limits import HttpLimits
from kinwire.transports.http.paths import ServedPaths
from kinwire.transports.http.replies import Receive, Scope, Send, send_response
from kinwire.transports.http.serving import RUN_KINDS, run_app, serve_lifespan

logger = logging.getLogger("kinwire.transports")

ENDPOINT = "/mcp"
"""Where clients expect the endpoint."""

_STOPPING = ConnectionClosedError("The server is stopping.")

_RUN = ArgumentCheck("HttpApp.run", "server.asgi().run()", {}, **RUN_KINDS)


class HttpApp:
    """Serves each client in a session of its own. `Server.asgi` makes it and says what is what."""

    def __init__(  # noqa: PLR0913 - all that a listener is made of
        self,
        serve: Serve,
        begin: Begin | None,
        *,
        frame_size: int,
        limits: HttpLimits,
        guard: Guard,
        stateless: bool,
        paths: ServedPaths,
        grace: Grace,
    ) -> None:
        self._serve = serve
        self._begin = begin
        self._limits = limits
        self._open: Sessions | None = None
        self.frame_size = frame_size
        self.guard = guard
        self.stateless = stateless
        self.paths = paths
        self.grace = grace

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Respond to one request, or serve one WebSocket."""
        if scope["type"] == "http":
            try:
                reply = None
                if scope["path"] != self.paths.path:  # it may be the same one all the same
                    reply = self.paths.other_reply(scope)
                if reply is None:
                    reply = await IncomingHttpRequest(self, scope, receive, send).respond()
                if reply is not None:
                    await send_response(send, reply)
            except OSError:  # so say servers that the client has gone
                logger.debug("a client left before it had its response")
        elif scope["type"] == "lifespan":
            await serve_lifespan(receive, send, self.aclose)
        else:
            await self._serve_websocket(scope, receive, send)

    async def _serve_websocket(self, scope: Scope, receive: Receive, send: Send) -> None:
        from kinwire.transports.websocket import asgi

        reply = self.paths.other_reply(scope)
        if reply is not None:
            await asgi.refuse_websocket_scope(reply, scope, receive, send)
            return
        await asgi.serve_websocket_scope(
            self._serve, self.guard, self.sessions, scope, receive, send
        )

    def run(
        self,
        host: str = "127.0.0.1",
        port: int = 8000,
        *,
        certfile: str | None = None,
        keyfile: str | None = None,
    ) -> None:
        """Serve under uvicorn, which the extra `http` brings, until SIGINT, SIGTERM or SIGHUP.

        What keeps the process alive then for longer than `Limits.drain` and `Limits.stop` is
        logged, and the process exits with 0. A second signal ends it immediately. `certfile` and
        `keyfile` are those of TLS. The address is said on stderr once all is ready; `port` 0 takes
        a free one.

        Raises:
            InsecureAddressError: other machines could reach it in plain text.
            OSError: nobody can listen there.
            ImportError: the extra `http` is not installed.
        """
        _RUN.check(host=host, port=port, certfile=certfile, keyfile=keyfile)
        run_app(
            self,
            self.paths.path,
            host=host,
            port=port,
            certfile=certfile,
            keyfile=keyfile,
            insecure=self.guard.insecure,
            grace=self.grace,
        )

    closing_cancels = False
    """See `StoppableApp`: MCP has a message to cancel a request."""
    abandoned = 0
    """See `StoppableApp`: handlers belong to sessions, which do not wait for them in the end."""

    def stop(self) -> None:
        """Take no new sessions, and ask the existing ones to end. This returns immediately."""
        self.sessions.stop(_STOPPING)

    @property
    def has_sockets(self) -> bool:
        """Return whether a WebSocket is (still) open."""
        return bool(self.sessions.sockets)

    async def aclose(self) -> None:
        """End all sessions, and return when they have ended."""
        await self.sessions.close(_STOPPING)

    @property
    def sessions(self) -> Sessions:
        """Return the sessions on the running event loop."""
        if self._open is None or self._open.loop is not running_loop():
            self._open = Sessions(self._serve, self._begin, self._limits)
        return self._open
