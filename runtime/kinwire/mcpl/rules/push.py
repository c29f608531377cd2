"""Pushed events: how many are taken, how repeats are answered, and when to retry (MCPL 9)."""

from __future__ import annotations

__all__ = (
    "AT_ONCE",
    "BACKPRESSURE",
    "CONTENT_SIZE",
    "NOT_IN_TIME",
    "REUSED",
    "TOO_LARGE",
    "body_digest",
    "is_duplicate",
    "may_be_accepted_later",
    "push_backoff",
)

from functools import lru_cache

from kinwire.support.backoff import Backoff
from kinwire.support.json_values import short_digest
from kinwire_protocols.base import JsonObject
from kinwire_protocols.mcpl.models import PushEventResult

_MOST_WAITED = 30.0  # seconds between two attempts

AT_ONCE = 1000
"""The largest number of events of one server that are under way."""

CONTENT_SIZE = 64 * 1024
"""The longest payload of an event, in characters of JSON."""

BACKPRESSURE = PushEventResult(accepted=False, reason="backpressure")
"""The answer to an event while there is no room: the server sends it again later."""

NOT_IN_TIME = PushEventResult(accepted=False, reason="it was not taken in time")
"""The answer to an event that the host did not take within its timeout."""

TOO_LARGE = PushEventResult(
    accepted=False,
    reason=f"the payload has more than {CONTENT_SIZE} characters: push an address of it instead",
)
"""The answer to an event with too large a payload."""

REUSED = PushEventResult(
    accepted=False, reason="the eventId was used for another event: give each event its own"
)
"""The answer to another event under an id that is known."""


def body_digest(event: JsonObject) -> str:
    """Return a digest of the params of an event; a retry has the same one, at whatever time."""
    return short_digest({**event, "timestamp": None})


@lru_cache(maxsize=8)  # an event that is taken at the first attempt needs no new one
def push_backoff(first_delay: float) -> Backoff:
    """Return the delays of a pushed event, each at most `first_delay` or a multiple of it.

    Jitter takes up to half of a delay, so that servers that were refused together do not all come
    back at the same time.
    """
    return Backoff(first=first_delay / 2, longest=_MOST_WAITED / 2, spread=1.0)


def may_be_accepted_later(answer: PushEventResult) -> bool:
    """Return whether the host refused the event only for the moment."""
    return not answer.accepted and answer.reason in (BACKPRESSURE.reason, NOT_IN_TIME.reason)


def is_duplicate(answer: PushEventResult) -> bool:
    """Return whether a refusal says that the host has the event already, as some hosts answer."""
    return not answer.accepted and answer.reason == "duplicate"
