"""Which methods the handshake allows. Pure: the capabilities of both sides in, a decision out.

A gate is `side:path`. `server:resources.subscribe` and `client:sampling` ask what that side
declared in the handshake; `mcpl:pushEvents` asks what both sides offered of that extension.

Gates apply to what this side sends, and to what it serves of an extension. What it serves of MCP
depends on its handlers alone: they may be added while a session is open, after capabilities were
declared, and a `list_changed` or a log message that the peer never announced is still handled.
"""

from __future__ import annotations

__all__ = ("Gates", "Negotiated", "at_path", "put_at_path")

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple, cast

from kinwire.rpc.codec import is_object
from kinwire.support.bounded import LruDict
from kinwire_protocols.base import JsonObject
from kinwire_protocols.peer import Method, ProtocolTable

Side = Literal["client", "server"]

_MOST_KNOWN = 16  # outcomes of handshakes that are kept for the next one
_LONGEST_KEY = 2000  # characters of the capabilities of both sides


@dataclass(frozen=True, slots=True)
class Negotiated:
    """The outcome of a handshake. It is made once and does not change."""

    client: JsonObject
    """The client's capabilities."""
    server: JsonObject
    """The server's capabilities."""
    extensions: Mapping[str, str | None] = field(default_factory=dict[str, str | None])
    """The extensions of this side: the path of each protocol's offer, None if it has no offer."""
    sent: frozenset[str] = frozenset()
    """The allowed methods that this side sends, by wire name. Rows of the user are not listed."""
    received: frozenset[str] = frozenset()
    """The allowed methods that this side receives, by wire name."""

    def denial_reason(self, row: Method[Any, Any]) -> str | None:
        """Return why `row` was not negotiated, as a clause; None if it was.

        A method without a gate is negotiated if its extension is. Rows of a protocol that no
        extension of this side speaks are the caller's own business, unless they have a gate.
        """
        if row.protocol in self.extensions:
            reason = self._not_offered(row.protocol)
            if reason is not None:
                return reason
        if row.gate is None:
            return None
        side, _, path = row.gate.partition(":")
        if side in ("client", "server"):
            declared = self.client if side == "client" else self.server
            return None if _grants(declared, path) else f"the {side} did not declare it"
        if side not in self.extensions:
            return f"this side has no extension for {side}"
        return self._not_offered(side, path)

    def _not_offered(self, protocol: str, path: str = "") -> str | None:
        capability = self.extensions[protocol]
        if capability is None:  # it has no offer: both sides take it for granted
            return f"{protocol} has no capabilities" if path else None
        for side, declared in (("client", self.client), ("server", self.server)):
            offer = at_path(declared, capability)
            if not is_object(offer):
                return f"the {side} did not offer {protocol}"
            if path and not _grants(offer, path):
                return f"the {side} did not offer it"
        return None


class Gates:
    """The methods that one side may send and receive, grouped by gate.

    Made once for all sessions of a server or host, so that a handshake decides each gate once.
    """

    def __init__(self, side: Side, protocols: Iterable[ProtocolTable]) -> None:
        """Group the methods of `protocols`; all but the first are extensions."""
        own, *extensions = protocols
        self._extensions = {table.name: table.capability for table in extensions}
        other = "server" if side == "client" else "client"
        groups: dict[tuple[str, str | None], _Group] = {}
        for table in (own, *extensions):
            for row in table.methods.values():
                group = groups.setdefault((row.protocol, row.gate), _Group(row, set(), set()))
                if row.sender != other:
                    group.sent.update(row.names)
                if row.sender != side:
                    group.received.update(row.names)
        self._groups = list(groups.values())
        self._known: LruDict[str, Negotiated] = LruDict(_MOST_KNOWN)

    def negotiated(self, client: JsonObject, server: JsonObject) -> Negotiated:
        """Return what the capabilities of both sides allow."""
        key = f"{client} {server}"  # most clients of a server are of few kinds
        found = self._known.get(key)
        if found is None:
            found = self._decide(client, server)
            if len(key) <= _LONGEST_KEY:
                self._known.put(key, found)
        return found

    def _decide(self, client: JsonObject, server: JsonObject) -> Negotiated:
        found = Negotiated(client, server, self._extensions)
        allowed = [one for one in self._groups if found.denial_reason(one.row) is None]
        sent = frozenset[str]().union(*(one.sent for one in allowed))
        received = frozenset[str]().union(*(one.received for one in allowed))
        return replace(found, sent=sent, received=received)


class _Group(NamedTuple):
    """The methods of one protocol that have the same gate, with one of their rows."""

    row: Method[Any, Any]
    sent: set[str]
    received: set[str]


def at_path(value: object, path: str) -> object:
    """Return what `value`, decoded JSON, has at the dotted `path`; None if it has nothing."""
    for name in path.split("."):
        value = value.get(name) if is_object(value) else None
    return value


def put_at_path(value: JsonObject, path: str, new: object) -> None:
    """Put `new` at the dotted `path` of `value`, with new objects around it where necessary."""
    *parents, name = path.split(".")
    for parent in parents:
        value = value.setdefault(parent, {})
    value[name] = new


def _grants(declared: object, path: str) -> bool:
    # True stands for everything below it, a list for the names in it, null for absent.
    for name in path.split("."):
        if declared is True:
            return True
        if is_object(declared):
            declared = declared.get(name)
        else:
            declared = isinstance(declared, list) and name in cast("list[object]", declared)
    return declared is not None and declared is not False
