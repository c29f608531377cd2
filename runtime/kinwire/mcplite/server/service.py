"""A server of MCP-lite: one registry of tools over HTTP and gRPC (MCP-lite 0.042)."""

from __future__ import annotations

__all__ = ("LiteServer",)

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from kinwire.mcplite.server.core import LiteCore

if TYPE_CHECKING:
    from kinwire.mcplite.server.http.app import LiteHttpApp
    from kinwire.transports.grpc.limits import GrpcLimits
    from kinwire.transports.http.guard import Authenticate
    from kinwire.transports.http.limits import HttpLimits


class LiteServer(LiteCore):
    """Serves the tools of an MCP `Server`, or of another source, over MCP-lite.

    - `records` store promises, so that any process with the same records can redeem them; without
      them they are in memory.
    - `secret` seals what goes with the questions of tools: processes that share it can open each
      other's. Without it a process draws one when it starts.
    - `limits` bound what is kept, and for how long.
    - `version` is what results name as the version of the server: that of the `Server` without it.
    - `may_call` takes the principal and the name of a tool, and says whether it may call the tool:
      one that it may not call does not exist for it.

    `asgi` serves them over HTTP, `serve_grpc` and `run_grpc` over gRPC.
    """

    def asgi(  # noqa: PLR0913 - all that a listener is made of
        self,
        *,
        path: str = "/mcp-lite/v1/",
        health: str | None = None,
        allowed_hosts: Iterable[str] = (),
        allowed_origins: Iterable[str] = (),
        authenticate: Authenticate | None = None,
        resource_metadata: str | None = None,
        insecure: bool = False,
        limits: HttpLimits | None = None,
    ) -> LiteHttpApp:
        """Return this server as an ASGI application, for uvicorn or to mount in another one.

        It serves the endpoints of section 4.2, `listtools` and `calltools`, with all their other
        names: below `path`, and without it, too. Every request is a POST of JSON and independent of
        all others. With `Accept: text/event-stream` the parts of a result come as events.

        `health`, such as "/healthz", is a path that answers every GET with 200. All other options
        are those of `Server.asgi`; `HttpLimits.sessions` bounds the calls in flight. Work whose
        client closes the connection is cancelled; that of promises goes on.

        Raises:
            ValueError: invalid host or origin in the lists, or a path without its slash.
            TypeError: a list is a string.
        """
        from kinwire.mcplite.server.http.app import app_of_service

        return app_of_service(
            self,
            path=path,
            health=health,
            allowed_hosts=allowed_hosts,
            allowed_origins=allowed_origins,
            authenticate=authenticate,
            resource_metadata=resource_metadata,
            insecure=insecure,
            limits=limits,
        )

    async def serve_grpc(  # noqa: PLR0913 - all that a listener is made of
        self,
        host: str = "127.0.0.1",
        port: int = 50051,
        *,
        authenticate: Authenticate | None = None,
        certfile: str | None = None,
        keyfile: str | None = None,
        insecure: bool = False,
        limits: GrpcLimits | None = None,
        started: Callable[[str], object] = lambda _: None,
    ) -> None:
        """Serve over gRPC until this is cancelled (section 5). It needs the extra `grpc`.

        Calls under way then get `limits.drain` seconds to end. `authenticate` gets the bearer token
        in the metadata `authorization` of each call. With `certfile`, and `keyfile` if the key is
        in another file, clients need TLS. `insecure` is your word that plain text is right on the
        network. `started` gets the address once clients can connect, as "grpc://127.0.0.1:50051";
        `port` 0 takes a free one. Reflection is for everybody who can connect.

        Raises:
            ImportError: the extra is not installed.
            KinwireError: another loop than asyncio's runs.
            InsecureAddressError: other machines could reach it in plain text.
            OSError: nobody can listen there, or the certificate cannot be read.
            TypeError, ValueError: an option is of the wrong type.
        """
        from kinwire.mcplite.server import grpc_service

        options = (host, port, authenticate, certfile, keyfile, insecure, limits)
        await grpc_service.serve(self, grpc_service.GrpcOptions(*options), started)

    def run_grpc(
        self,
        host: str = "127.0.0.1",
        port: int = 50051,
        *,
        authenticate: Authenticate | None = None,
        certfile: str | None = None,
        keyfile: str | None = None,
        insecure: bool = False,
        limits: GrpcLimits | None = None,
    ) -> None:
        """Do as `serve_grpc` until SIGTERM, SIGHUP or Ctrl-C, and `close`: a program's last line.

        The address is said on stderr. A second signal ends the process immediately.

        Raises:
            ImportError, InsecureAddressError, OSError, TypeError, ValueError: see `serve_grpc`.
            SystemExit: the user pressed Ctrl-C.
        """
        from kinwire.mcplite.server import grpc_service

        options = (host, port, authenticate, certfile, keyfile, insecure, limits)
        grpc_service.run(self, grpc_service.GrpcOptions(*options))
