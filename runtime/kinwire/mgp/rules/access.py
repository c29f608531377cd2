"""Who may use which tool: entries, and the decision (MGP 5.2, 5.3, 5.5)."""

from __future__ import annotations

__all__ = (
    "MOST_ENTRIES",
    "NAME_SIZE",
    "REASON_SIZE",
    "AccessDecision",
    "AccessGrant",
    "AccessStep",
    "AccessSubject",
    "AgentAccess",
    "decide",
    "grant_from_json",
    "is_name",
)

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from kinwire_protocols.base import JsonObject
from kinwire_protocols.mgp.models import (
    AccessEntryType,
    AccessPermission,
    AccessSource,
    DefaultPolicy,
)

NAME_SIZE = 256
"""The longest name of an agent, a server or a tool, in characters."""
REASON_SIZE = 1000
"""The longest justification, in characters."""
MOST_ENTRIES = 1000
"""The most entries of one agent for one server."""


def is_name(value: object) -> bool:
    """Return whether a value can be the name of an agent, a server or a tool."""
    return isinstance(value, str) and 0 < len(value) <= NAME_SIZE and value.isprintable()


@dataclass(frozen=True, slots=True)
class AccessSubject:
    """What an entry is about: an agent and a server, or one tool of the server."""

    agent: str
    server: str
    tool: str | None = None
    """None: all tools of the server."""

    @property
    def entry_type(self) -> AccessEntryType:
        """The type of an entry about it (MGP 5.3)."""
        return "server_grant" if self.tool is None else "tool_grant"


@dataclass(frozen=True, slots=True)
class AccessGrant:
    """An entry: it allows or denies. Times are in seconds since 1970."""

    subject: AccessSubject
    permission: AccessPermission
    granted_by: str
    granted_at: float
    expires_at: float | None = None
    """When it ends; None for never. At that time it has already ended."""
    justification: str | None = None

    def holds(self, now: float) -> bool:
        """Return whether it has not ended yet."""
        return self.expires_at is None or now < self.expires_at

    def to_json(self) -> JsonObject:
        """Return what is stored of it."""
        stored: JsonObject = {
            "tool": self.subject.tool,
            "permission": self.permission,
            "granted_by": self.granted_by,
            "granted_at": self.granted_at,
        }
        if self.expires_at is not None:
            stored["expires_at"] = self.expires_at
        if self.justification is not None:
            stored["justification"] = self.justification
        return stored


@dataclass(frozen=True, slots=True)
class AccessDecision:
    """Whether an agent may use a tool, and what decided."""

    permission: AccessPermission
    source: AccessSource
    entry: AccessGrant | None = None
    """The entry that decided; None if the default did."""

    @property
    def allowed(self) -> bool:
        """Whether the agent may use the tool."""
        return self.permission == "allow"


@dataclass(frozen=True, slots=True)
class AccessStep:
    """What one level of the order says about an agent and a tool (MGP 5.2)."""

    source: AccessSource
    permission: AccessPermission | None
    """None: it says nothing, and the next level decides."""
    entry: AccessGrant | None = None
    """The entry of this level, also one that has ended."""


def decide(
    entries: Iterable[AccessGrant], tool: str, default: DefaultPolicy, now: float
) -> AccessDecision:
    """Return the decision about a tool from the entries of one agent for one server.

    An entry for the tool outranks one for the server, and that the default. Of several entries of
    the same rank one that denies outranks those that allow. An entry that has ended is ignored.
    """
    holding = [one for one in entries if one.subject.tool in (None, tool) and one.holds(now)]
    if not holding:
        return _BY_DEFAULT[default]
    best = min(holding, key=_rank)
    return AccessDecision(best.permission, best.subject.entry_type, best)


_BY_DEFAULT: Final[Mapping[DefaultPolicy, AccessDecision]] = {
    "opt-out": AccessDecision("allow", "default_policy"),
    "opt-in": AccessDecision("deny", "default_policy"),
}


def _step(source: AccessSource, entry: AccessGrant | None, now: float) -> AccessStep:
    if entry is None or not entry.holds(now):
        return AccessStep(source, None, entry)
    return AccessStep(source, entry.permission, entry)


def _rank(entry: AccessGrant) -> tuple[bool, bool]:
    return entry.subject.tool is None, entry.permission == "allow"


@dataclass(frozen=True)
class AgentAccess:
    """All entries of one agent for one server: one for each tool, and one for the server.

    It is stored as one record, so that a decision sees all of them as they were at one moment.
    """

    agent: str
    server: str
    entries: Mapping[str | None, AccessGrant] = field(default_factory=dict[str | None, AccessGrant])
    """By tool; None is the server."""

    def decide(self, tool: str, default: DefaultPolicy, now: float) -> AccessDecision:
        """Return the decision about a tool."""
        if not self.entries:
            return _BY_DEFAULT[default]
        found = (self.entries.get(tool), self.entries.get(None))
        return decide((one for one in found if one is not None), tool, default, now)

    def steps(self, tool: str, default: DefaultPolicy, now: float) -> list[AccessStep]:
        """Return what each level says about a tool, the highest first: the first answer counts."""
        return [
            _step("tool_grant", self.entries.get(tool), now),
            _step("server_grant", self.entries.get(None), now),
            AccessStep("default_policy", _BY_DEFAULT[default].permission),
        ]

    def with_grant(self, grant: AccessGrant) -> AgentAccess:
        """Return it with an entry in the place of the one about the same subject.

        Raises:
            ValueError: there are too many entries.
        """
        entries = {**self.entries, grant.subject.tool: grant}
        if len(entries) > MOST_ENTRIES:
            raise ValueError(
                f"expected at most {MOST_ENTRIES} entries of an agent for a server, got one more. "
                "Use an entry for the whole server."
            )
        return AgentAccess(self.agent, self.server, entries)

    def without(self, tool: str | None) -> AgentAccess:
        """Return it without the entry about a tool, or about the server."""
        entries = {key: one for key, one in self.entries.items() if key != tool}
        return AgentAccess(self.agent, self.server, entries)

    def current(self, now: float) -> AgentAccess:
        """Return it without the entries that have ended; itself if all hold."""
        holding = {key: one for key, one in self.entries.items() if one.holds(now)}
        if len(holding) == len(self.entries):
            return self
        return AgentAccess(self.agent, self.server, holding)

    def to_json(self) -> JsonObject:
        """Return what is stored of it."""
        entries = [one.to_json() for one in self.entries.values()]
        return {"agent": self.agent, "server": self.server, "entries": entries}

    @classmethod
    def from_json(cls, stored: Any) -> AgentAccess:
        """Return what was stored.

        Raises:
            KeyError, TypeError, ValueError: it was not written by `to_json`.
        """
        agent, server = _text(stored["agent"]), _text(stored["server"])
        entries = [grant_from_json(agent, server, one) for one in stored["entries"]]
        return cls(agent, server, {one.subject.tool: one for one in entries})


def grant_from_json(agent: str, server: str, stored: Any) -> AccessGrant:
    """Return an entry that was stored.

    Raises:
        KeyError, TypeError, ValueError: it was not written by `AccessGrant.to_json`. An entry
            that cannot be read must never be taken for one that allows.
    """
    tool, expires, why = stored["tool"], stored.get("expires_at"), stored.get("justification")
    permission = stored["permission"]
    if permission not in ("allow", "deny"):
        raise ValueError(f"expected allow or deny, got {permission!r:.60}")
    return AccessGrant(
        AccessSubject(agent, server, None if tool is None else _text(tool)),
        permission,
        _text(stored["granted_by"]),
        float(stored["granted_at"]),
        None if expires is None else float(expires),
        None if why is None else _text(why),
    )


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"expected a string, got {type(value).__name__}")
    return value
