"""Where MCP-lite is served, as a command line says it."""

from __future__ import annotations

__all__ = (
    "GRPC_PORT",
    "LITE_PATH",
    "LitePlace",
    "add_lite_address",
    "lite_place",
    "place_of_demo",
)

from argparse import ArgumentParser, Namespace
from typing import NamedTuple

from kinwire_cli.failure import UsageError
from kinwire_cli.network import PORT, ListenAddress

LITE_PATH = "/mcp-lite/v1/"
GRPC_PORT = 50051
_TRANSPORTS = ("http", "grpc")


class LitePlace(NamedTuple):
    """Where MCP-lite is served."""

    http: ListenAddress | None
    grpc_port: int | None
    host: str
    insecure: bool


def add_lite_address(parser: ArgumentParser) -> None:
    """Add the options that say where MCP-lite is served, without `--insecure`."""
    text = "how clients reach it; may be given twice (default: http)"
    parser.add_argument(
        "--transport", action="append", choices=_TRANSPORTS, default=None, help=text
    )
    text = "the address to listen on (default: 127.0.0.1)"
    parser.add_argument("--host", metavar="HOST", default="127.0.0.1", help=text)
    text = f"the port of HTTP (default: {PORT}); 0 takes a free one"
    parser.add_argument("--port", type=int, metavar="N", default=PORT, help=text)
    text = f"the port of gRPC (default: {GRPC_PORT}); 0 takes a free one"
    parser.add_argument("--grpc-port", type=int, metavar="N", default=GRPC_PORT, help=text)
    text = f"the base of the endpoints of HTTP (default: {LITE_PATH})"
    parser.add_argument("--path", metavar="PATH", default=LITE_PATH, help=text)
    text = "another name of this machine that clients may use (NAME or NAME:PORT)"
    parser.add_argument("--allow-host", action="append", default=[], metavar="NAME", help=text)


def lite_place(arguments: Namespace, *, knows_clients: bool) -> LitePlace:
    """Return where the options say that MCP-lite is served.

    Raises:
        UsageError: everybody on a network could call the tools.
        InsecureAddressError: other machines could reach it in plain text.
    """
    from kinwire.transports.http.security import is_loopback, must_be_secure

    host, insecure = arguments.host, arguments.insecure
    must_be_secure(host, tls=False, insecure=insecure, doing="listen on")
    if insecure and not knows_clients and not is_loopback(host):
        text = f"Everybody who reaches {host} could call the tools."
        raise UsageError(text, "Add --token NAME=VARIABLE for each client.")
    transports: list[str] = arguments.transport or ["http"]
    _must_be_installed(transports)
    http = ListenAddress(
        "http", host, arguments.port, arguments.allow_host, insecure, arguments.path
    )
    return LitePlace(
        http if "http" in transports else None,
        arguments.grpc_port if "grpc" in transports else None,
        host,
        insecure,
    )


def place_of_demo(arguments: Namespace) -> LitePlace:
    """Return where `kinwire serve demo mcp-lite` serves.

    Raises:
        UsageError: MCP-lite has no such transport, or an option is for another one.
    """
    transports: list[str] = arguments.transports or ["http"]
    other = [one for one in transports if one not in _TRANSPORTS]
    if other:
        raise UsageError(f"MCP-lite is not served over {other[0]}.", "Write http or grpc.")
    _must_be_used(arguments, transports)
    _must_be_installed(transports)
    host, names, insecure = arguments.host or "127.0.0.1", arguments.allow_host, arguments.insecure
    port = PORT if arguments.port is None else arguments.port
    grpc_port = GRPC_PORT if arguments.grpc_port is None else arguments.grpc_port
    http = ListenAddress("http", host, port, names, insecure, arguments.path or LITE_PATH)
    return LitePlace(
        http if "http" in transports else None,
        grpc_port if "grpc" in transports else None,
        host,
        insecure,
    )


def _must_be_installed(transports: list[str]) -> None:
    """Raise an ImportError, before anything is started, if gRPC is wanted without its extra."""
    from kinwire.transports.grpc.needed import need_grpc

    if "grpc" in transports:
        need_grpc()


def _must_be_used(arguments: Namespace, transports: list[str]) -> None:
    given = {"grpc": (arguments.grpc_port,), "http": (arguments.port, arguments.path)}
    for transport, options in given.items():
        if transport not in transports and any(one is not None for one in options):
            names = {"grpc": "--grpc-port", "http": "--port and --path"}[transport]
            raise UsageError(f"{names}: for {transport} alone.", f"Add --transport {transport}.")
