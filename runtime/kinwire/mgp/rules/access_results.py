"""Access entries and decisions as they are sent (MGP 5.4)."""

from __future__ import annotations

__all__ = ("entry_of", "query_result")

from kinwire.mgp.rules.access import AccessDecision, AccessGrant
from kinwire.support.timestamps import timestamp_of
from kinwire_protocols.mgp.models import AccessEntry, AccessQueryResult


def entry_of(grant: AccessGrant) -> AccessEntry:
    """Return an entry as it is sent."""
    subject = grant.subject
    return AccessEntry(
        entry_type=subject.entry_type,
        agent_id=subject.agent,
        server_id=subject.server,
        tool_name=subject.tool,
        permission=grant.permission,
        granted_by=grant.granted_by,
        justification=grant.justification,
        expires_at=_time(grant.expires_at),
        granted_at=timestamp_of(grant.granted_at),
    )


def query_result(decision: AccessDecision) -> AccessQueryResult:
    """Return a decision as it is sent; without an entry the last three fields are null."""
    entry = decision.entry
    return AccessQueryResult(
        permission=decision.permission,
        source=decision.source,
        granted_by=None if entry is None else entry.granted_by,
        granted_at=None if entry is None else timestamp_of(entry.granted_at),
        expires_at=None if entry is None else _time(entry.expires_at),
    )


def _time(seconds: float | None) -> str | None:
    return None if seconds is None else timestamp_of(seconds)
