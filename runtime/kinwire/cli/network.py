"""Serves over HTTP or WebSocket under uvicorn, which the extra [http] brings."""

from __future__ import annotations

__all__ = ("ADDRESSES", "PORT", "Place", "listen")

import socket
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from kinwire.cli.failure import UsageError
from kinwire.cli.layout import printable

if TYPE_CHECKING:
    from kinwire.server import Server

PORT = 8000
_DRAIN = 5  # seconds that running requests get at the end

ADDRESSES = {"http": "http://{}/mcp", "sse": "http://{}/sse", "ws": "ws://{}/mcp"}
"""What clients are to be given, by the transport; host and port stand for the braces."""


class Place(NamedTuple):
    """Where to listen, and who may come."""

    transport: str
    host: str
    port: int
    names: list[str]
    """What the machine is called besides."""
    insecure: bool


def listen(server: Server, place: Place) -> None:
    """Serve until the user or the system says that this is to end.

    Raises:
        UsageError: nobody can listen there.
        InsecureAddressError: `host` can be reached from other machines.
    """
    import uvicorn

    from kinwire.cli.uvicorn_server import SessionsFirst
    from kinwire.transports.http.security import must_be_secure

    must_be_secure(place.host, tls=False, insecure=place.insecure, doing="listen on")
    try:
        app = server.asgi(allowed_hosts=_names(place), insecure=place.insecure)
    except ValueError as error:
        raise UsageError(f"--allow-host: {error}") from None
    config = uvicorn.Config(
        app,
        log_level="warning",
        timeout_graceful_shutdown=_DRAIN,
        # Names of headers are what a client chose, so nothing of a request is logged.
        access_log=False,
        server_header=False,
    )
    with _bound(place.host, place.port) as listener:
        where = _url(place.transport, listener)
        print(f"serving {printable(server.info.name)} at {where}", file=sys.stderr, flush=True)
        with suppress(KeyboardInterrupt):  # to be told so is how it ends: no fault
            SessionsFirst(config, app).run([listener])


def _names(place: Place) -> list[str]:
    """Return what clients may call this machine: a page that points its own name here may not."""
    host = f"[{place.host}]" if ":" in place.host else place.host
    return place.names if host in ("0.0.0.0", "[::]") else [*place.names, host]


def _bound(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=2048)
    except (OSError, OverflowError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise UsageError(
            f"Cannot listen on {host}, port {port}: {why}.", "--port 0 takes a free one."
        ) from None


def _url(transport: str, listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return ADDRESSES[transport].format(f"[{host}]:{port}" if ":" in host else f"{host}:{port}")
