"""When a server sends an event again (MCPL 9.4)."""

from __future__ import annotations

__all__ = ("is_final", "push_delay", "taken_before")

from kinwire.mcpl.rules.rate_limiter import BACKPRESSURE, NOT_IN_TIME
from kinwire_protocols.mcpl.models import PushEventResult


def push_delay(attempt: int, *, first: float, most: float, jitter: float) -> float:
    """Return the seconds before attempt number `attempt`, of which the first has none before it.

    `jitter` is 0.0 to 1.0 and drawn by the caller: servers that were refused together do not come
    back together.
    """
    grown = first * 2.0 ** min(attempt - 2, 32)
    return float(min(most, grown) * (1 + jitter) / 2)


def is_final(answer: PushEventResult) -> bool:
    """Return whether sending the event again would come to nothing else."""
    return answer.accepted or answer.reason not in (BACKPRESSURE.reason, NOT_IN_TIME.reason)


def taken_before(answer: PushEventResult, attempt: int) -> bool:
    """Return whether a refusal says that an earlier attempt was taken, as some hosts answer."""
    return attempt > 1 and not answer.accepted and answer.reason == "duplicate"
