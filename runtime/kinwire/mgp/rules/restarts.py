"""Whether, and when, a server that ended is started again (MGP 0.2.0 section 11.5).

A decision is a pure function of the rules, what happened before, how the server ended, the time and
a random number.
"""

from __future__ import annotations

__all__ = ("RestartDecision", "RestartHistory", "ServerEnd", "decide_restart")

from dataclasses import dataclass, replace
from typing import Final, Literal

from kinwire.mgp.rules.restart_rules import RestartRules
from kinwire.support.backoff import Backoff

_SPREAD: Final = 0.1  # the largest part by which a delay grows at random


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerEnd:
    """How one run of a server ended."""

    reason: str | None = None
    """Why this kernel shut it down (MGP 0.2.0 section 11.4); None if this kernel did not."""
    failed: bool = False
    """Whether it ended with an error: it crashed, did not start, or did not answer."""
    then: Literal["again", "stay"] | None = None
    """What somebody wants next; None to leave that to the policy."""
    cause: str = ""
    """What happened, in one word, where `reason` is None."""
    detail: str = ""
    """What happened, in words."""
    connected_for: float = 0.0
    """For how many seconds it was connected."""


@dataclass(frozen=True, slots=True)
class RestartHistory:
    """The restarts of a server that still count."""

    times: tuple[float, ...] = ()
    """When they were made, or will be, in seconds since 1970; the oldest first."""
    streak: int = 0
    """How many there were since the server was healthy: the next delay grows with it."""


@dataclass(frozen=True, slots=True)
class RestartDecision:
    """What happens to a server that ended."""

    action: Literal["stay", "on_call", "restart", "give_up"]
    """`on_call`: it stays down until somebody calls it."""
    history: RestartHistory
    delay: float = 0.0
    """How long a restart waits, in seconds."""


def decide_restart(
    rules: RestartRules, history: RestartHistory, end: ServerEnd, now: float, jitter: float
) -> RestartDecision:
    """Decide about a server that ended at `now`; `jitter` is a random number from 0 to 1.

    A restart that somebody asked for comes immediately and does not count. After an operator's
    stop, and when the kernel ends, the server stays down under every policy. One that was idle, and
    that the policy does not start again, is started by the next call. Of two delays in a
    row the later one is never shorter, unless the server was healthy between them: connected for
    as long as the window.
    """
    history = _counting(rules, history, end, now)
    if end.then == "again":
        return RestartDecision("restart", history)
    if end.then == "stay" or not _is_wanted(rules, end):
        was_idle = end.then is None and end.reason == "idle_timeout"
        return RestartDecision("on_call" if was_idle else "stay", history)
    if _counts(end) and len(history.times) >= rules.max_restarts:
        return RestartDecision("give_up", history)
    delay = _delay(rules, history.streak, jitter)
    if _counts(end):
        history = RestartHistory((*history.times, now + delay), history.streak + 1)
    return RestartDecision("restart", history, delay)


def _counting(
    rules: RestartRules, history: RestartHistory, end: ServerEnd, now: float
) -> RestartHistory:
    """Return what of a history still counts; a kernel before may have had a clock that was wrong.

    No restart lies further ahead than the longest delay.
    """
    latest = now + rules.backoff_max
    recent = tuple(time for time in history.times if now - time < rules.window and time <= latest)
    healthy = end.connected_for >= (rules.window or rules.backoff_max)
    return RestartHistory(recent, 0) if healthy else replace(history, times=recent)


def _is_wanted(rules: RestartRules, end: ServerEnd) -> bool:
    """Return whether the policy starts the server again."""
    if end.reason in ("operator_request", "kernel_shutdown") or rules.policy == "never":
        return False
    return rules.policy == "always" or end.failed or end.reason == "resource_limit"


def _counts(end: ServerEnd) -> bool:
    """Return whether a restart says something about the server: an idle one did nothing wrong."""
    return end.reason != "idle_timeout"


def _delay(rules: RestartRules, streak: int, jitter: float) -> float:
    backoff = Backoff(first=rules.backoff_base, longest=rules.backoff_max, spread=_SPREAD)
    return min(rules.backoff_max, backoff.delay(streak + 1, jitter=jitter))
