"""Serve over HTTP or WebSocket under uvicorn, which the extra [http] installs."""

from __future__ import annotations

__all__ = (
    "PATHS",
    "PORT",
    "BoundAddress",
    "ListenAddress",
    "add_address",
    "address_in",
    "announce",
    "application",
    "asgi_options",
    "listen",
    "listening",
    "names_of",
)

import ast
import socket
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote

from kinwire_cli.failure import UsageError
from kinwire_cli.layout import one_line

if TYPE_CHECKING:
    from kinwire.mcp.http.app import HttpApp
    from kinwire.mcp.server import Server
    from kinwire.transports.http.guard import Authenticate

PORT = 8000

PATHS = {"http": "/mcp", "sse": "/sse", "ws": "/mcp"}
"""Where clients expect the endpoint, by the transport."""

_SCHEMES = {"http": "http", "sse": "http", "ws": "ws"}


class ListenAddress(NamedTuple):
    """Where to listen, and under which names clients may connect."""

    transport: str
    host: str
    port: int
    names: list[str]
    """Further names of this machine."""
    insecure: bool
    path: str | None = None
    """The path of the endpoint; None: that of `PATHS`."""


class BoundAddress(NamedTuple):
    """A socket that listens, and what is served there."""

    place: ListenAddress
    socket: socket.socket
    url: str


def add_address(parser: ArgumentParser) -> None:
    """Add the options that say where a server listens."""
    text = "the address to listen on (default: 127.0.0.1)"
    parser.add_argument("--host", metavar="HOST", help=text)
    text = f"the port to listen on (default: {PORT})"
    parser.add_argument("--port", type=int, metavar="N", help=text)
    text = "the path of the endpoint (default: /mcp, for sse /sse); others get 404"
    parser.add_argument("--path", metavar="PATH", help=text)
    text = "another name of this machine that clients may use (NAME or NAME:PORT)"
    parser.add_argument("--allow-host", action="append", default=[], metavar="NAME", help=text)
    text = "let other machines reach it in plain text"
    parser.add_argument("--insecure", action="store_true", help=text)


def address_in(arguments: Namespace) -> ListenAddress | None:
    """Return where the options say that a server listens; None for stdin and stdout.

    Raises:
        UsageError: options for a network are given for stdin and stdout.
    """
    host: str | None = arguments.host
    port: int | None = arguments.port
    names, insecure, path = arguments.allow_host, arguments.insecure, arguments.path
    if arguments.transport != "stdio":
        place = host or "127.0.0.1", PORT if port is None else port
        return ListenAddress(arguments.transport, *place, names, insecure, path)
    if any(one is not None for one in (host, port, path)) or names or insecure:
        raise UsageError("stdio has no address to listen on.", "Add --transport http.")
    return None


def listen(server: Server, place: ListenAddress) -> None:
    """Serve until the user or the system says that this is to end.

    Raises:
        UsageError: nobody can listen there, or a name or the path is not valid.
        InsecureAddressError: `host` can be reached from other machines.
    """
    from kinwire.transports.http.running import run_on

    with listening(place) as listener:
        app = application(server, listener)
        ready = partial(announce, server, listener)
        run_on(app, listener.socket, started=ready, grace=app.grace)


@contextmanager
def listening(place: ListenAddress) -> Generator[BoundAddress]:
    """Yield a socket that listens there; who connects waits until it is served.

    Raises:
        UsageError, InsecureAddressError: see `listen`.
    """
    from kinwire.transports.http.paths import PATH_KIND
    from kinwire.transports.http.running import host_and_port
    from kinwire.transports.http.security import AccessRules, must_be_secure

    must_be_secure(place.host, tls=False, insecure=place.insecure, doing="listen on")
    path = _path(place)
    if not PATH_KIND.fits(path):
        raise UsageError(f"--path: expected {PATH_KIND.words}, got {path!r}.", "Write --path /mcp.")
    try:
        AccessRules(names_of(place))
    except ValueError as error:
        hint = "Write NAME or NAME:PORT, as in --allow-host tools.example.com."
        raise UsageError(f"--allow-host: {error}.", hint) from None
    with _bound(place) as found:
        where = f"{_SCHEMES[place.transport]}://{host_and_port(found)}{quote(path)}"
        yield BoundAddress(place, found, where)


def application(
    server: Server, listener: BoundAddress, authenticate: Authenticate | None = None
) -> HttpApp:
    """Return what serves there."""
    place = listener.place
    return server.asgi(
        path=_path(place),
        allowed_hosts=names_of(place),
        authenticate=authenticate,
        insecure=place.insecure,
    )


def announce(server: Server, listener: BoundAddress) -> None:
    """Print where clients can connect."""
    line = one_line(f"serving {server.info.name} at {listener.url}")
    print(line, file=sys.stderr, flush=True)


def _path(place: ListenAddress) -> str:
    return PATHS[place.transport] if place.path is None else place.path


def names_of(place: ListenAddress) -> list[str]:
    """Return what clients may call this machine: a page that points its own name here may not."""
    host = f"[{place.host}]" if ":" in place.host else place.host
    return place.names if host in ("0.0.0.0", "[::]") else [*place.names, host]


def _bound(place: ListenAddress) -> socket.socket:
    from kinwire.transports.http.running import bound

    try:
        return bound(place.host, place.port)
    except (OSError, OverflowError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise UsageError(
            f"Cannot listen on {place.host}, port {place.port}: {why}.",
            "--port 0 takes a free one.",
        ) from None


def asgi_options(source: bytes) -> Iterator[tuple[int, str]]:
    """Yield the line and the options, as `a=..., b=...`, of each call of a method `asgi`."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and node.keywords and _is_asgi(node.func):
            names = (f"{one.arg}=..." if one.arg else "**..." for one in node.keywords)
            yield node.lineno, ", ".join(names)


def _is_asgi(function: ast.expr) -> bool:
    return isinstance(function, ast.Attribute) and function.attr == "asgi"
