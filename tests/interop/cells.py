"""Which method of MCP is tried with which program of another project, and why one is not.

A cell without a reason is tried: `test_methods.py` finds the method on the wire. One with a reason
must not be there. `docs/peers.md` shows all of it.
"""

from __future__ import annotations

__all__ = ("CLIENTS", "METHODS", "PEERS", "SERVERS", "Peer", "reason")

from collections.abc import Mapping
from typing import NamedTuple

from kinwire_protocols.mcp.methods import PROTOCOL
from tests.specified import specified

METHODS = tuple(specified(PROTOCOL))

RESOURCES = ("resources/list", "resources/templates/list", "resources/read")
SUBSCRIPTIONS = (
    "resources/subscribe",
    "resources/unsubscribe",
    "notifications/resources/updated",
)
PROMPTS = ("prompts/list", "prompts/get")
CHANGES = tuple(f"notifications/{name}/list_changed" for name in ("resources", "prompts", "tools"))
LOGS = ("logging/setLevel", "notifications/message")


class Peer(NamedTuple):
    """A program of another project, and what it has no part in."""

    title: str
    package: str
    """What `requirements-*.txt` and `package.json` pin."""
    without: Mapping[str, tuple[str, ...]]
    """The methods that are not tried, by the reason."""


CLIENTS = {
    "mcp1": Peer("mcp 1.x", "mcp 1", {}),
    "mcp2": Peer("mcp 2.x", "mcp 2", {}),
    "fastmcp": Peer("fastmcp", "fastmcp", {}),
    "typescript1": Peer("TypeScript 1.x", "@modelcontextprotocol/sdk", {}),
    "typescript2": Peer("TypeScript 2.x", "@modelcontextprotocol/client", {}),
    "ai_sdk": Peer(
        "AI SDK",
        "@ai-sdk/mcp",
        {
            "it asks for suggestions only where a capability of 2025-03-26 offers them": (
                "completion/complete",
            ),
            "it has no subscriptions": SUBSCRIPTIONS,
            "it hands on nothing that a server says unasked": CHANGES,
            "it asks for no progress": ("notifications/progress",),
            "it takes no request back, it only stops to wait": ("notifications/cancelled",),
            "it has no log messages": LOGS,
            "it offers no model": ("sampling/createMessage",),
            "it offers no roots": ("roots/list", "notifications/roots/list_changed"),
        },
    ),
    "inspector": Peer(
        "Inspector",
        "@modelcontextprotocol/inspector",
        {
            "its command line has no such method": (
                "completion/complete",
                "resources/subscribe",
                "resources/unsubscribe",
            ),
            "it ends with the answer to one call": (
                "notifications/cancelled",
                "notifications/roots/list_changed",
                "notifications/resources/updated",
                *CHANGES,
            ),
            "it asks for no progress": ("notifications/progress",),
            "its command line does not show them": ("notifications/message",),
            "its command line offers no model": ("sampling/createMessage",),
        },
    ),
}
"""They use our server."""

_TOOLS_ONLY = {
    "it has no prompts": (*PROMPTS, CHANGES[1]),
    "it suggests nothing": ("completion/complete",),
    "it has no log messages": LOGS,
    "its tools never change": (CHANGES[2],),
    "its tools report no progress": ("notifications/progress",),
    "its tools end at once": ("notifications/cancelled",),
    "it asks for no model": ("sampling/createMessage",),
}

SERVERS = {
    "mcp1": Peer("mcp 1.x", "mcp 1", {}),
    "mcp2": Peer("mcp 2.x", "mcp 2", {}),
    "fastmcp": Peer("fastmcp", "fastmcp", {"it has no subscriptions": SUBSCRIPTIONS}),
    "everything": Peer(
        "server-everything",
        "@modelcontextprotocol/server-everything",
        {"its prompts never change": (CHANGES[1],)},
    ),
    "filesystem": Peer(
        "server-filesystem",
        "@modelcontextprotocol/server-filesystem",
        {"it has no resources": (*RESOURCES, *SUBSCRIPTIONS, CHANGES[0]), **_TOOLS_ONLY},
    ),
    "memory": Peer(
        "server-memory",
        "@modelcontextprotocol/server-memory",
        {
            "it has one resource for ever": (CHANGES[0],),
            **_TOOLS_ONLY,
            "it asks for no roots": ("roots/list", "notifications/roots/list_changed"),
        },
    ),
}
"""Our host uses them."""

PEERS = {
    **{f"client {key}": peer for key, peer in CLIENTS.items()},
    **{f"server {key}": peer for key, peer in SERVERS.items()},
}


def reason(peer: Peer, method: str) -> str | None:
    """Return why `method` is not tried with `peer`, None if it is."""
    return next((why for why, methods in peer.without.items() if method in methods), None)
