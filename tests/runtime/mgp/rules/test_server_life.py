"""The state of a supervised server: whatever happens, it follows the table."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from kinwire.mgp.rules.lifecycle import StateChange, next_state, refusal_in
from kinwire.mgp.rules.restart_rules import RestartRules
from kinwire.mgp.rules.restarts import ServerEnd
from kinwire.mgp.rules.server_life import ServerLife
from kinwire_protocols.mgp.models import ServerState
from kinwire_protocols.mgp.tables import SERVER_LIFECYCLE, SERVER_STATES, SHUTDOWN_REASONS

GUIDE = Path(__file__).parents[4] / "docs" / "mgp-lifecycle.md"
RULES = RestartRules(max_restarts=2, window=100, backoff_base=1, backoff_max=10)


def life(policy: str = "on_failure") -> ServerLife:
    rules = RestartRules(
        policy=policy,  # type: ignore[arg-type]
        max_restarts=RULES.max_restarts,
        window=RULES.window,
        backoff_base=RULES.backoff_base,
        backoff_max=RULES.backoff_max,
    )
    return ServerLife("s", rules, 0.0)


def ways(changes: Sequence[StateChange]) -> list[str]:
    return [f"{one.previous} {one.new}" for one in changes]


@pytest.mark.spec("mgp-11.2-9", "mgp-11.2-10", "mgp-11.2-11")
def test_a_life_goes_the_ways_that_are_drawn() -> None:
    one = life("always")
    assert ways(one.connecting(1)) == ["registered connecting"]
    assert ways(one.connected(2)) == ["connecting connected"]
    assert ways(one.ended(ServerEnd(failed=True), 3, 0).changes) == [
        "connected error",
        "error restarting",
    ]
    assert ways(one.connecting(4)) == ["restarting connecting"]
    one.connected(5)
    assert ways(one.draining("idle_timeout", 6)) == ["connected draining"]
    assert ways(one.ended(ServerEnd(reason="idle_timeout"), 7, 0).changes) == [
        "draining restarting"
    ]
    one.connecting(8)
    one.connected(9)
    one.draining("operator_request", 10)
    gone = one.ended(ServerEnd(reason="operator_request", then="stay"), 11, 0)
    assert ways(gone.changes) == ["draining disconnected"]
    assert [change.reason for change in gone.changes] == ["operator_request"]
    assert ways(one.connecting(12)) == ["disconnected connecting"]


@pytest.mark.spec("mgp-11.2-7", "mgp-11.5-6")
def test_a_server_that_is_given_up_is_in_error_whatever_its_end() -> None:
    for end, last in (
        (ServerEnd(failed=True, cause="ended"), ["connected error"]),
        (ServerEnd(cause="announced"), ["draining restarting", "restarting error"]),
    ):
        one = life("always")
        for _time in range(2):
            one.connecting(0)
            one.connected(0)
            one.ended(ServerEnd(failed=True), 0, 0)
        one.connecting(0)
        one.connected(0)
        if end.cause == "announced":
            one.draining("announced", 0)
        step = one.ended(end, 0, 0)
        assert ways(step.changes) == last
        assert step.changes[-1].reason == "restart_limit_exceeded"
        assert (one.state, step.decision.action) == ("error", "give_up")
        assert ways(one.connecting(1)) == ["error restarting", "restarting connecting"]


def test_calls_are_taken_in_one_state_and_refused_by_code_in_the_others() -> None:
    expected = {
        "registered": (2000, False),
        "connecting": (2000, True),
        "draining": (2001, False),
        "disconnected": (2000, False),
        "error": (2000, False),
        "restarting": (2002, True),
    }
    states: list[ServerState] = list(SERVER_LIFECYCLE.states)
    found = {}
    for state in states:
        error = refusal_in(state, "s", retry_after=1.5)
        if error is not None:
            found[state] = (error.code, error.data["_mgp"]["retryable"])
            assert error.data["_mgp"]["details"] == {"server_id": "s", "state": state}
    assert found == expected
    restarting = refusal_in("restarting", "s", retry_after=1.5)
    assert restarting is not None
    assert restarting.data["_mgp"]["retry_after_ms"] == 1500


@pytest.mark.spec("mgp-11.2-1")
def test_what_the_table_does_not_have_is_refused() -> None:
    events = sorted({event for _, event in SERVER_LIFECYCLE.transitions})
    for state in SERVER_LIFECYCLE.states:
        for event in events:
            to = SERVER_LIFECYCLE.transitions.get((state, event))
            if to is None:
                with pytest.raises(ValueError, match="leads nowhere"):
                    next_state(state, event)  # type: ignore[arg-type]
            else:
                assert next_state(state, event) == to  # type: ignore[arg-type]


def test_the_guide_draws_the_table() -> None:
    text = GUIDE.read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)` \| (\w+) \| `(\w+)` \|", text, re.MULTILINE)
    assert rows == [
        (start, event, end) for (start, event), end in SERVER_LIFECYCLE.transitions.items()
    ]
    assert re.findall(r"^\| `(\w+)` \| [A-Z]", text, re.MULTILINE) == list(SERVER_STATES)


class LifeAgainstRules(RuleBasedStateMachine):
    """One server to which anything happens, with a clock of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0
        self.policy = "always"
        self.life = life()
        self.state: str = "registered"
        self.due: float | None = None
        self.stopped = True
        self.counted: list[float] = []
        self.delay = 0.0

    def took(self, changes: Sequence[StateChange]) -> None:
        for change in changes:
            assert change.previous == self.state
            assert SERVER_LIFECYCLE.allows(change.previous, change.new)
            self.state = change.new

    @rule(seconds=st.floats(0, 150))
    def wait(self, seconds: float) -> None:
        self.now += seconds

    @rule(policy=st.sampled_from(("never", "on_failure", "always")))
    def configure(self, policy: str) -> None:
        self.policy = policy
        self.life.rules = life(policy).rules

    @precondition(lambda self: self.state in ("registered", "disconnected", "error"))
    @rule()
    def start(self) -> None:
        self.stopped = False
        self.life.forget_restarts()
        self.counted, self.delay, self.due = [], 0.0, None
        self.took(self.life.connecting(self.now, "operator_request"))
        assert not self.life.on_call

    @precondition(lambda self: self.due is not None)
    @rule()
    def restart(self) -> None:
        assert self.due is not None
        self.now, self.due = max(self.now, self.due), None
        self.took(self.life.connecting(self.now))

    @precondition(lambda self: self.state == "connecting")
    @rule()
    def answer(self) -> None:
        self.took(self.life.connected(self.now))

    @precondition(lambda self: self.state == "connected")
    @rule(reason=st.sampled_from((*SHUTDOWN_REASONS, "announced")))
    def drain(self, reason: str) -> None:
        self.took(self.life.draining(reason, self.now))

    @precondition(lambda self: self.state not in ("connected", "draining"))
    @rule()
    def stop(self) -> None:
        self.took(self.life.stopped("operator_request", self.now))
        self.stopped, self.due = True, None
        assert not self.life.on_call

    @precondition(lambda self: self.state in ("connecting", "connected", "draining"))
    @rule(
        failed=st.booleans(),
        reason=st.sampled_from((None, *SHUTDOWN_REASONS)),
        then=st.sampled_from((None, "again", "stay")),
        jitter=st.floats(0, 1),
    )
    def end(self, failed: bool, reason: str | None, then: str | None, jitter: float) -> None:
        connected = self.state != "connecting"
        healthy = connected and self.life.since <= self.now - RULES.window
        said = ServerEnd(failed=failed, reason=reason, then=then)  # type: ignore[arg-type]
        changes, decision = self.life.ended(said, self.now, jitter)
        self.took(changes)
        self.delay = 0.0 if healthy else self.delay
        if decision.action == "restart":
            self.due = self.now + decision.delay
            assert self.state == "restarting"
            assert reason not in ("operator_request", "kernel_shutdown") or then == "again"
            if then is None and reason != "idle_timeout":
                self.counted.append(self.due)
                assert min(self.delay, RULES.backoff_max) <= decision.delay
                self.delay = decision.delay
        elif decision.action == "give_up":
            assert self.state == "error"
        else:
            assert self.state in ("error", "disconnected")
            assert self.life.on_call is (reason == "idle_timeout" and then is None)
        self.stopped = self.stopped or reason == "operator_request"

    @invariant()
    def the_state_is_what_was_reported(self) -> None:
        assert self.life.state == self.state
        assert (self.due is not None) == (self.state == "restarting")

    @invariant()
    def a_window_has_no_more_restarts_than_it_may(self) -> None:
        for end in self.counted:
            inside = [one for one in self.counted if end - RULES.window < one <= end]
            assert len(inside) <= RULES.max_restarts


TestLifeAgainstRules = LifeAgainstRules.TestCase
