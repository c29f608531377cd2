"""Which frames may reach a server twice without harm (MCP; RFC 9110, section 9.2.2)."""

from __future__ import annotations

__all__ = ("is_repeatable",)

from kinwire.rpc.codec import OutgoingFrame

_METHODS = frozenset(
    {
        "completion/complete",
        "initialize",
        "logging/setLevel",
        "ping",
        "prompts/get",
        "prompts/list",
        "resources/list",
        "resources/read",
        "resources/subscribe",
        "resources/templates/list",
        "resources/unsubscribe",
        "tools/list",
    }
)


def is_repeatable(message: OutgoingFrame) -> bool:
    """Return whether a frame may be sent again when it is unknown whether it has arrived.

    A server ignores a second response, and other methods such as `tools/call` may change things.
    """
    return message.kind != "request" or message.method in _METHODS
