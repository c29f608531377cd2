"""A server of MCP-lite as a command line names it: by a URL that says so, or with --protocol."""

from __future__ import annotations

__all__ = (
    "LITE_URL",
    "PROTOCOLS",
    "add_protocol",
    "is_lite",
    "lite_client",
    "reaching",
)

from argparse import ArgumentParser, Namespace
from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from kinwire_cli.failure import UnreachableError, UsageError, wants_to_know_who
from kinwire_cli.target import is_url, says_lite

if TYPE_CHECKING:
    from kinwire.mcplite import LiteClient

LITE_URL = "Write http://127.0.0.1:8000/mcp-lite/v1/ or grpc://127.0.0.1:50051."
PROTOCOLS = ("mcp", "mcp-lite")
_NOT_REACHED = "Is it running there? Look at the host and the port of the URL."


def add_protocol(parser: ArgumentParser) -> None:
    """Add the option that says what a URL speaks."""
    text = (
        "what the URL speaks (default: mcp-lite if it begins with grpc:// or ends with "
        "/mcp-lite/v1/, else mcp)"
    )
    parser.add_argument("--protocol", choices=PROTOCOLS, help=text)


def is_lite(word: str | None, arguments: Namespace) -> bool:
    """Return whether `word` is the URL of a server of MCP-lite.

    Raises:
        UsageError: --protocol says so, but it is not a URL.
    """
    protocol: str | None = arguments.protocol
    named = word is not None and is_url(word)
    if protocol == "mcp-lite" and not named:
        raise UsageError("--protocol mcp-lite is for a URL.", LITE_URL)
    if word is None or not named or protocol == "mcp":
        return False
    return protocol == "mcp-lite" or says_lite(word)


@contextmanager
def reaching() -> Generator[None]:
    """Raise an UnreachableError, with a hint for MCP-lite, if the block finds no connection."""
    from kinwire.rpc.errors import ConnectionClosedError

    try:
        yield
    except ConnectionClosedError as error:
        if wants_to_know_who(error):
            raise
        failure = UnreachableError(error.reason, _NOT_REACHED)
    else:
        return
    raise failure


def lite_client(url: str, arguments: Namespace) -> LiteClient:
    """Return the client of the server at `url`, with the options of the command line.

    Raises:
        UsageError: the URL or an option cannot be used.
        InsecureAddressError: others could read what is sent there.
    """
    from kinwire.mcplite import LiteClient
    from kinwire_cli.headers import headers_from

    if arguments.command is not None:
        raise UsageError("Two servers are named.", "Leave out the URL or the command after --.")
    try:
        return LiteClient(
            url,
            timeout=arguments.timeout,
            answer_size=arguments.frame_size,
            headers=headers_from(arguments.header),
            proxy=arguments.proxy,
            insecure=arguments.insecure,
        )
    except ValueError as error:
        raise UsageError(str(error)) from None
