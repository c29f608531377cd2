"""Which method of MCP is tested with which program of another project, and why one is not.

A cell without a reason is tested: `test_methods.py` finds the method on the wire. One with a reason
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
    """A program of another project, and the methods that it does not use."""

    title: str
    package: str
    """What `requirements-*.txt` and `package.json` pin."""
    without: Mapping[str, tuple[str, ...]]
    """The methods that are not tested, by the reason."""


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
            "it requests completion only with a capability of MCP 2025-03-26": (
                "completion/complete",
            ),
            "it has no subscriptions": SUBSCRIPTIONS,
            "it does not pass on notifications": CHANGES,
            "it does not request progress": ("notifications/progress",),
            "it does not send cancellations, it only stops waiting": ("notifications/cancelled",),
            "it has no log messages": LOGS,
            "it does not offer a model": ("sampling/createMessage",),
            "it does not offer roots": ("roots/list", "notifications/roots/list_changed"),
        },
    ),
    "inspector": Peer(
        "Inspector",
        "@modelcontextprotocol/inspector",
        {
            "its command line does not have this method": (
                "completion/complete",
                "resources/subscribe",
                "resources/unsubscribe",
            ),
            "it exits after the answer to one call": (
                "notifications/cancelled",
                "notifications/roots/list_changed",
                "notifications/resources/updated",
                *CHANGES,
            ),
            "it does not request progress": ("notifications/progress",),
            "its command line does not show these messages": ("notifications/message",),
            "its command line does not offer a model": ("sampling/createMessage",),
        },
    ),
}
"""They use our server."""

_TOOLS_ONLY = {
    "it has no prompts": (*PROMPTS, CHANGES[1]),
    "it does not support completion": ("completion/complete",),
    "it has no log messages": LOGS,
    "its tools never change": (CHANGES[2],),
    "its tools do not report progress": ("notifications/progress",),
    "its tools finish immediately": ("notifications/cancelled",),
    "it does not request sampling": ("sampling/createMessage",),
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
            "its only resource never changes": (CHANGES[0],),
            **_TOOLS_ONLY,
            "it does not request roots": ("roots/list", "notifications/roots/list_changed"),
        },
    ),
}
"""Our host uses them."""

PEERS = {
    **{f"client {key}": peer for key, peer in CLIENTS.items()},
    **{f"server {key}": peer for key, peer in SERVERS.items()},
}


def reason(peer: Peer, method: str) -> str | None:
    """Return why `method` is not tested with `peer`, None if it is."""
    return next((why for why, methods in peer.without.items() if method in methods), None)
