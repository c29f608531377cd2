"""What a person is shown before a call, and what a standing answer is bound to (MGP 4.4)."""

from __future__ import annotations

__all__ = ("ConfirmationRequest", "StandingAnswer", "escaped", "standing_key")

import json
from dataclasses import dataclass
from typing import Any

from kinwire.support.json_values import short_digest
from kinwire_protocols.base import JsonObject
from kinwire_protocols.mgp.models import RiskLevel

_HEAD, _TAIL = 1500, 500  # characters of a long text that are shown


@dataclass(frozen=True, slots=True)
class ConfirmationRequest:
    """A call that a person has to confirm."""

    agent: str
    """Who calls: set by the kernel."""
    server: str
    """The kernel's name for the server."""
    tool: str
    """The name of the tool, which the server has chosen."""
    arguments: JsonObject
    """A copy of the arguments: changing it does not change the call."""
    risk: RiskLevel
    definition: str
    """A digest of the tool's definition: another digest is another tool."""

    @property
    def shown(self) -> str:
        """The arguments as one line of JSON. Signs that are not visible are escaped."""
        return escaped(json.dumps(self.arguments, ensure_ascii=False))


@dataclass(frozen=True, slots=True)
class StandingAnswer:
    """An answer for all calls of one tool by one agent, until its definition changes."""

    agent: str
    server: str
    tool: str
    definition: str
    approved: bool
    by: str
    at: float
    """When, in seconds since 1970."""

    def to_json(self) -> JsonObject:
        """Return it as it is stored."""
        return {
            "agent": self.agent,
            "server": self.server,
            "tool": self.tool,
            "definition": self.definition,
            "by": self.by,
            "at": self.at,
        }

    @classmethod
    def from_json(cls, stored: Any, *, approved: bool) -> StandingAnswer:
        """Return the answer that `to_json` has written.

        Raises:
            ValueError, TypeError, KeyError: it is not one.
        """
        agent, server, tool, definition, by = (
            str(stored[name]) for name in ("agent", "server", "tool", "definition", "by")
        )
        return cls(agent, server, tool, definition, approved, by, float(stored["at"]))


def standing_key(agent: str, tool: str, definition: str) -> str:
    """Return what a standing answer is kept by, below the key of its server."""
    return short_digest(agent, tool, definition)


def escaped(text: str) -> str:
    """Return `text` on one line, with escapes for what is not visible or turns text around.

    Of a long text the middle is left out, never the end: that is where something may be hidden.
    """
    if len(text) > _HEAD + _TAIL:
        left_out = len(text) - _HEAD - _TAIL
        text = f"{text[:_HEAD]} ...({left_out} characters)... {text[-_TAIL:]}"
    return "".join(sign if sign.isprintable() else _escape(sign) for sign in text)


def _escape(sign: str) -> str:
    return json.dumps(sign)[1:-1] if ord(sign) != 0x7F else "\\u007f"
