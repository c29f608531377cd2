"""Tools as a plain ASGI application: MCP-lite over HTTP (MCP-lite, 4). It needs no lifespan and no
middleware, and may be mounted in another application.

`request.py` has what happens with one request.
"""

from __future__ import annotations

__all__ = ("LiteHttpApp", "app_of_service")

import logging
from collections.abc import Iterable
from typing import TYPE_CHECKING

from kinwire.mcplite.server.http.calls import Calls
from kinwire.mcplite.server.http.paths import LitePaths
from kinwire.mcplite.server.http.request import respond
from kinwire.rpc.errors import ConnectionClosedError
from kinwire.rpc.limits import Limits
from kinwire.support.arguments import ArgumentCheck
from kinwire.support.background import running_loop
from kinwire.support.watchdog import Grace
from kinwire.transports.http.guard import LISTENER_KINDS, Authenticate, Guard
from kinwire.transports.http.limits import HttpLimits
from kinwire.transports.http.paths import PATH_KIND
from kinwire.transports.http.replies import HttpResponse, Receive, Scope, Send, send_response
from kinwire.transports.http.security import AccessRules
from kinwire.transports.http.serving import RUN_KINDS, run_app, serve_lifespan

if TYPE_CHECKING:
    from kinwire.mcplite.server.service import LiteServer

logger = logging.getLogger("kinwire.transports")

_STOPPING = ConnectionClosedError("The server is stopping.")

_FRAME_SIZE = Limits().frame_size

_ASGI = ArgumentCheck(
    "LiteServer.asgi",
    "lite.asgi()",
    {},
    path=PATH_KIND,
    health=PATH_KIND.or_none,
    **LISTENER_KINDS,
)
_RUN = ArgumentCheck("LiteHttpApp.run", "lite.asgi().run()", {}, **RUN_KINDS)


class LiteHttpApp:
    """Answers each request by itself. `LiteServer.asgi` makes it and says what is what."""

    has_sockets = False
    """See `StoppableApp`: MCP-lite has no WebSockets."""
    closing_cancels = True
    """See `StoppableApp`: MCP-lite has no other way to cancel (section 4.3)."""

    def __init__(
        self,
        service: LiteServer,
        *,
        frame_size: int,
        limits: HttpLimits,
        guard: Guard,
        paths: LitePaths,
    ) -> None:
        self.service = service
        self.frame_size = frame_size
        self.limits = limits
        self.guard = guard
        self.paths = paths
        self._open: Calls | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Respond to one request."""
        if scope["type"] == "http":
            try:
                row = self.paths.endpoint(scope)
                if isinstance(row, HttpResponse):
                    reply: HttpResponse | None = row
                else:
                    reply = await respond(self, row, scope, receive, send)
                if reply is not None:
                    await send_response(send, reply)
            except OSError:  # so say servers that the client has gone
                logger.debug("a client left before it had its response")
        elif scope["type"] == "lifespan":
            await serve_lifespan(receive, send, self.aclose)
        else:  # a server refuses a WebSocket that is closed before it is accepted
            await receive()
            await send({"type": "websocket.close", "code": 1000})

    def run(
        self,
        host: str = "127.0.0.1",
        port: int = 8000,
        *,
        certfile: str | None = None,
        keyfile: str | None = None,
    ) -> None:
        """Serve under uvicorn, which the extra `http` brings, until SIGINT or SIGTERM.

        `certfile` and `keyfile` are those of TLS. The address is said on stderr once all is ready;
        `port` 0 takes a free one.

        Raises:
            InsecureAddressError: other machines could reach it in plain text.
            OSError: nobody can listen there.
        """
        _RUN.check(host=host, port=port, certfile=certfile, keyfile=keyfile)
        run_app(
            self,
            self.paths.base,
            host=host,
            port=port,
            certfile=certfile,
            keyfile=keyfile,
            insecure=self.guard.insecure,
            grace=Grace(running=self.service.running_calls),
        )

    def stop(self) -> None:
        """Take no new calls; those under way have a moment to finish. This returns immediately."""
        self.calls.stop(_STOPPING)

    async def aclose(self) -> None:
        """Take no new calls, and return when those under way, and promises, have ended."""
        await self.calls.close(_STOPPING)
        await self.service.close()

    @property
    def abandoned(self) -> int:
        """See `StoppableApp`."""
        return self.calls.abandoned

    @property
    def calls(self) -> Calls:
        """Return what is under way on the running event loop."""
        if self._open is None or self._open.loop is not running_loop():
            self._open = Calls(self.limits)
        return self._open


def app_of_service(  # noqa: PLR0913 - all that a listener is made of
    service: LiteServer,
    *,
    path: str,
    health: str | None,
    allowed_hosts: Iterable[str],
    allowed_origins: Iterable[str],
    authenticate: Authenticate | None,
    resource_metadata: str | None,
    insecure: bool,
    limits: HttpLimits | None,
) -> LiteHttpApp:
    """Return the application that serves `service`; see `LiteServer.asgi`."""
    _ASGI.check(
        path=path,
        health=health,
        allowed_hosts=allowed_hosts,
        allowed_origins=allowed_origins,
        authenticate=authenticate,
        resource_metadata=resource_metadata,
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
    paths = LitePaths(path, health)
    return LiteHttpApp(service, frame_size=_FRAME_SIZE, limits=limits, guard=guard, paths=paths)
