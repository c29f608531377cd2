"""How well a server works, by what it answers to pings and questions (MGP 0.2.0 section 11.3).

A ping shows whether a server lives, and the status whether it is ready: one that lives and is not
ready is not dead.
"""

from __future__ import annotations

__all__ = ("ServerHealth", "after_answer", "after_miss", "after_status", "health_word")

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from kinwire_protocols.mgp.models import HealthStatus, HealthStatusResult

_WORDS: Final[dict[str, HealthStatus]] = {
    "healthy": "healthy",
    "degraded": "degraded",
    "unhealthy": "unhealthy",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerHealth:
    """What a kernel knows of the health of a server: `HealthMonitor.health`."""

    status: HealthStatus = "healthy"
    """How well it works by its last answer. With MCP alone, a server that answers is healthy."""
    misses: int = 0
    """How many pings in a row had no answer in time."""
    answered_at: float | None = None
    """When the last ping was answered, in seconds since 1970; None before the first answer."""
    round_trip: float | None = None
    """How long the last answer took, in seconds."""
    checks: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """What the server has checked, by names of its own; empty if it says nothing."""
    resources: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """What the server uses, by names of its own; empty if it says nothing."""


def health_word(word: str | None) -> HealthStatus:
    """Return the status that a word of a server stands for.

    A word that is not known counts as `degraded`, and so does none at all.
    """
    return _WORDS.get(word or "", "degraded")


def after_answer(
    health: ServerHealth, status: HealthStatus, now: float, round_trip: float
) -> ServerHealth:
    """Return the health of a server that has answered a ping at `now`."""
    return replace(health, status=status, misses=0, answered_at=now, round_trip=round_trip)


def after_miss(health: ServerHealth) -> ServerHealth:
    """Return the health of a server that has left a ping unanswered: one miss more."""
    return replace(health, misses=health.misses + 1)


def after_status(health: ServerHealth, said: HealthStatusResult | None) -> ServerHealth:
    """Return the health of a server by its answer about its readiness, None if it gave none.

    Without an answer it is not ready, so it is at best degraded; that does not count as a miss.
    """
    if said is None:
        status = "unhealthy" if health.status == "unhealthy" else "degraded"
        return replace(health, status=health_word(status), checks={}, resources={})
    return replace(
        health,
        status=health_word(said.status),
        checks=dict(said.checks or {}),
        resources=dict(said.resources or {}),
    )
