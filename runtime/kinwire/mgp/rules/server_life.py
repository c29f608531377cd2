"""The life of one supervised server: its state, its restarts, and what comes next (MGP 11.2, 11.5).

No clock, no process: the caller says what happened and when, and gets the changes of state.
"""

from __future__ import annotations

__all__ = ("LEASE_LOST", "LIMIT_EXCEEDED", "LifeStep", "ServerLife")

from collections.abc import Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from kinwire.mgp.rules.lifecycle import ServerEvent, StateChange, next_state
from kinwire.mgp.rules.restart_rules import RestartRules
from kinwire.mgp.rules.restarts import RestartDecision, RestartHistory, ServerEnd, decide_restart
from kinwire_protocols.mgp.models import ServerState
from kinwire_protocols.mgp.tables import SERVER_LIFECYCLE

LIMIT_EXCEEDED: Final = "restart_limit_exceeded"
"""Why a server is given up (MGP 0.2.0 section 11.5)."""
LEASE_LOST: Final = "lease_lost"
"""Why a server ends that another kernel may run now."""


class LifeStep(NamedTuple):
    """What the end of a run of a server leads to."""

    changes: Sequence[StateChange]
    decision: RestartDecision


class ServerLife:
    """The state of one server. Each method takes the time, in seconds since 1970."""

    def __init__(
        self,
        server: str,
        rules: RestartRules,
        now: float,
        history: RestartHistory | None = None,
    ) -> None:
        self.server = server
        self.rules = rules
        self.history = history or RestartHistory()
        self.state: ServerState = SERVER_LIFECYCLE.initial
        self.since = now
        """When it came into its state."""
        self.detail = ""
        """Why it is in its state, in words; empty if there is nothing to say."""
        self.on_call = False
        """Whether it is down because nobody called it, so that the next call starts it."""
        self._connected_at: float | None = None

    def connecting(self, now: float, reason: str | None = None) -> list[StateChange]:
        """Begin a start, from any state without an open connection."""
        self.on_call = False
        events: list[ServerEvent] = ["start"]
        if self.state == "error":
            events = ["restart", "start"]
        return self._take(events, reason, now)

    def connected(self, now: float) -> list[StateChange]:
        """Note that the handshake is complete."""
        self._connected_at = now
        self.detail = ""
        return self._take(["ready"], None, now)

    def draining(self, reason: str | None, now: float) -> list[StateChange]:
        """Begin a shutdown, which the kernel or the server itself has announced."""
        return self._take(["shutdown"], reason, now)

    def stopped(self, reason: str | None, now: float) -> list[StateChange]:
        """End a server that is neither connected nor draining; without effect on one that is down.

        Also a start that is under way ends so: what was started has to be gone already.
        """
        self._connected_at, self.on_call = None, False
        if self.state in ("registered", "disconnected"):
            return []
        return self._take(["stop"], reason, now)

    def lost(self, now: float) -> list[StateChange]:
        """End a server that another kernel may run now; its processes are gone."""
        changes: list[StateChange] = []
        if self.state == "connected":
            changes += self._take(["shutdown"], LEASE_LOST, now)
        if self.state == "draining":
            changes += self._take(["drained"], LEASE_LOST, now)
        return changes + self.stopped(LEASE_LOST, now)

    def ended(self, end: ServerEnd, now: float, jitter: float) -> LifeStep:
        """Note the end of a run, whose processes are gone, and decide what comes next.

        `end.connected_for` is filled in here. `jitter` is a random number from 0 to 1.
        """
        up = 0.0 if self._connected_at is None else max(0.0, now - self._connected_at)
        self._connected_at = None
        self.detail = end.detail
        end = replace(end, connected_for=up)
        decision = decide_restart(self.rules, self.history, end, now, jitter)
        self.history, self.on_call = decision.history, decision.action == "on_call"
        events = _events_of(decision, announced=self.state == "draining")
        reason = LIMIT_EXCEEDED if decision.action == "give_up" else end.reason or end.cause
        return LifeStep(self._take(events, reason or None, now), decision)

    def forget_restarts(self) -> None:
        """Begin to count again: an operator has started the server."""
        self.history = RestartHistory()

    def _take(
        self, events: Sequence[ServerEvent], reason: str | None, now: float
    ) -> list[StateChange]:
        changes: list[StateChange] = []
        for event in events:
            previous, self.state = self.state, next_state(self.state, event)
            changes.append(StateChange(self.server, previous, self.state, reason, now))
        self.since = now
        return changes


def _events_of(decision: RestartDecision, *, announced: bool) -> list[ServerEvent]:
    """Return what the end of a run means for the state; `announced` if the server was draining."""
    if announced:
        after: dict[str, list[ServerEvent]] = {
            "stay": ["drained"],
            "on_call": ["drained"],
            "restart": ["restart"],
            "give_up": ["restart", "fail"],
        }
        return after[decision.action]
    return ["fail", "restart"] if decision.action == "restart" else ["fail"]
