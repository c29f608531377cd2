"""Approvals of scopes: for whom, for what exactly, and until when (MCPL 7.6).

One holds for a server, a feature set, a label and a payload together: another payload under an
approved label is another action. The time must never go back, else what has expired would hold
again.
"""

from __future__ import annotations

__all__ = ("MOST_APPROVALS", "Approval", "Approvals", "approval_key")

from dataclasses import dataclass

from kinwire.mcpl.rules.labels import normal_label
from kinwire.support.bounded import lru_put
from kinwire.support.json_values import digest, short_digest
from kinwire_protocols.base import JsonObject
from kinwire_protocols.mcpl.models import Scope

MOST_APPROVALS = 10_000
"""Approvals of one host; the oldest goes when there are more."""


@dataclass(frozen=True, slots=True)
class Approval:
    """Leave that was given."""

    until: float
    """In seconds since 1970."""
    payload: JsonObject | None
    """What goes back to the server in the place of its own; None for its own."""


def approval_key(server: str, feature_set: str | None = None, scope: Scope | None = None) -> str:
    """Return the key of an approval, or what those of a server or of one of its sets begin with."""
    key = f"{short_digest(server)}/"
    if feature_set is not None:
        key += f"{short_digest(feature_set)}/"
    if scope is not None:
        key += digest(normal_label(scope.label), scope.payload)
    return key


class Approvals:
    """What a host has approved, by key; the oldest first."""

    def __init__(self, *, limit: int = MOST_APPROVALS) -> None:
        self._limit = limit
        self._kept: dict[str, Approval] = {}

    def __len__(self) -> int:
        return len(self._kept)

    def keep(self, key: str, approval: Approval) -> list[str]:
        """Keep an approval, and return the keys of those that had to go."""
        return lru_put(self._kept, key, approval, limit=self._limit)

    def find(self, key: str, *, now: float) -> Approval | None:
        """Return the approval, None if there is none any more."""
        approval = self._kept.get(key)
        if approval is not None and now >= approval.until:
            del self._kept[key]
            return None
        return approval

    def forget(self, beginning: str) -> list[str]:
        """Take back the approvals whose key begins so, and return their keys."""
        gone = [key for key in self._kept if key.startswith(beginning)]
        for key in gone:
            del self._kept[key]
        return gone
