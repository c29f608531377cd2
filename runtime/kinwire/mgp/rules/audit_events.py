"""Audit events: which types there are, and their form on the wire (MGP 6.3, 6.4)."""

from __future__ import annotations

__all__ = (
    "AUDIT_DAMAGED",
    "TOOL_RETRIED",
    "TOOL_STARTED",
    "SecurityEvent",
    "is_event_type",
    "timestamp",
)

import re
from datetime import UTC, datetime
from typing import Final, NamedTuple

from kinwire_protocols.base import JsonObject
from kinwire_protocols.mgp.models import AuditActorType, AuditOutcome
from kinwire_protocols.mgp.tables import AUDIT_EVENT_TYPES

OWN_TYPES = "io.kinwire."
TOOL_STARTED: Final = f"{OWN_TYPES}tool_started"
"""A dangerous call is about to be sent: written first, so that no such call is without a trace."""
TOOL_RETRIED: Final = f"{OWN_TYPES}tool_retried"
"""A call failed and is tried again."""
AUDIT_DAMAGED: Final = f"{OWN_TYPES}audit_damaged"
"""The end of the log was not a record of the chain when writing went on."""

_STANDARD = frozenset(AUDIT_EVENT_TYPES)
_LABEL = r"[A-Za-z0-9](?:[A-Za-z0-9_-]{0,62}[A-Za-z0-9_])?"
_REVERSE_DOMAIN = re.compile(rf"{_LABEL}(?:\.{_LABEL}){{2,9}}", re.ASCII)


class SecurityEvent(NamedTuple):
    """An event of the kernel. Its texts come from the kernel, or are masked when it is written."""

    event_type: str
    """A standard type, or one in reverse-domain notation."""
    actor_type: AuditActorType
    actor_id: str
    server_id: str | None
    """The server that it is about, by the kernel's name for it."""
    tool_name: str | None
    result: AuditOutcome
    details: JsonObject
    trace_id: str

    def params(self, at: float) -> JsonObject:
        """Return the params of `notifications/mgp.audit`. `at` is in seconds since 1970."""
        params: JsonObject = {
            "timestamp": timestamp(at),
            "trace_id": self.trace_id,
            "event_type": self.event_type,
            "actor": {"type": self.actor_type, "id": self.actor_id},
        }
        if self.server_id is not None:
            params["target"] = {"server_id": self.server_id}
            if self.tool_name is not None:
                params["target"]["tool_name"] = self.tool_name
        params["result"] = self.result
        params["details"] = self.details
        return params


def is_event_type(name: str) -> bool:
    """Return whether `name` is a standard type, or a type in reverse-domain notation (MGP 6.4).

    The latter has at least three labels: `com.example.custom_event`.
    """
    return name in _STANDARD or _REVERSE_DOMAIN.fullmatch(name) is not None


def timestamp(at: float) -> str:
    """Return a time, in seconds since 1970, as RFC 3339 text in UTC, to the millisecond."""
    text = datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds")
    return text.replace("+00:00", "Z")
