"""Was a method negotiated? Pure: the capabilities of both sides in, the reason why not out.

A gate is `side:path`. `server:resources.subscribe` and `client:sampling` are asked of what that
side declared in the handshake; `mcpl:pushEvents` of what both sides offered of that extension.

Gates bind what this side sends, and what it serves of an extension. What it serves of MCP is bound
by its handlers alone: they may be added while a session is open, after capabilities were declared,
and a `list_changed` or a log message that the peer never announced is news all the same.
"""

from __future__ import annotations

__all__ = ("Agreement", "at_path", "why_not")

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from kinwire.rpc.codec import is_object
from kinwire_protocols.base import JsonObject
from kinwire_protocols.peer import Method


@dataclass(frozen=True, slots=True)
class Agreement:
    """What the two sides told each other in the handshake."""

    client: JsonObject
    """The client's capabilities."""
    server: JsonObject
    """The server's."""
    extensions: Mapping[str, str | None] = field(default_factory=dict[str, str | None])
    """The extensions of this side: where each protocol's offer sits in both, None for nowhere."""


def why_not(row: Method[Any, Any], agreement: Agreement) -> str | None:
    """Return why `row` was not negotiated, as a clause; None if it was.

    A method without a gate is negotiated if its extension is. Rows of a protocol that no extension
    of this side speaks are the caller's own business, unless they have a gate.
    """
    if row.protocol in agreement.extensions:
        reason = _not_offered(row.protocol, agreement)
        if reason is not None:
            return reason
    if row.gate is None:
        return None
    side, _, path = row.gate.partition(":")
    if side in ("client", "server"):
        declared = agreement.client if side == "client" else agreement.server
        return None if _grants(declared, path) else f"the {side} did not declare it"
    if side not in agreement.extensions:
        return f"this side has no extension for {side}"
    return _not_offered(side, agreement, path)


def at_path(value: object, path: str) -> object:
    """Return what `value`, decoded JSON, has at the dotted `path`; None if there is nothing."""
    for name in path.split("."):
        value = value.get(name) if is_object(value) else None
    return value


def _not_offered(protocol: str, agreement: Agreement, path: str = "") -> str | None:
    capability = agreement.extensions[protocol]
    if capability is None:  # it has no offer: both sides take it for granted
        return f"{protocol} has no capabilities" if path else None
    for side, declared in (("client", agreement.client), ("server", agreement.server)):
        offer = at_path(declared, capability)
        if not is_object(offer):
            return f"the {side} did not offer {protocol}"
        if path and not _grants(offer, path):
            return f"the {side} did not offer it"
    return None


def _grants(declared: object, path: str) -> bool:
    # True stands for all below it, a list for the names in it, null for absent.
    for name in path.split("."):
        if declared is True:
            return True
        if is_object(declared):
            declared = declared.get(name)
        else:
            declared = isinstance(declared, list) and name in cast("list[object]", declared)
    return declared is not None and declared is not False
