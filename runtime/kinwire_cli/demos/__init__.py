"""Servers to try: what `kinwire serve demo` serves, and `kinwire demo` plays with."""

from __future__ import annotations

__all__ = ("SERVERS", "server_of")

from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kinwire.mcp.server import Server

SERVERS: Mapping[str, tuple[str, ...]] = {
    "mcp": (),
    "mcpl": ("memory", "redaction", "notes", "chat"),
    "mgp": ("workshop", "archive"),
    "mcpe": ("project", "bookings"),
    "mcp-lite": (),
}
"""By protocol the servers that may be chosen; without a choice there is one that is all of them."""


def server_of(protocol: str, name: str | None = None) -> Server:
    """Return the server of a protocol that goes by `name`, or the one that is all of them.

    Raises:
        KeyError: the protocol or the server does not exist.
    """
    names = SERVERS[protocol]
    if name is not None and name not in names:
        raise KeyError(name)
    module = f"kinwire_cli.demos.{protocol.replace('-', '')}"
    if names:
        module += f".{name or 'everything'}"
    found: Server = import_module(module).server
    return found
