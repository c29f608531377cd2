"""When a server that ended is started again: tables, and properties of the delays."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, strategies as st

from kinwire.mgp.rules.restart_rules import RestartRules
from kinwire.mgp.rules.restarts import (
    RestartDecision,
    RestartHistory,
    ServerEnd,
    decide_restart,
)
from kinwire_protocols.mgp.models import RestartPolicy
from kinwire_protocols.mgp.tables import RESTART_POLICIES, SHUTDOWN_REASONS

NOTHING = RestartHistory()
CRASH = ServerEnd(failed=True, cause="ended")
CLEAN = ServerEnd(cause="ended")

POLICIES: list[tuple[ServerEnd, str]] = [
    # what happened, and whether it is started again: with never, on_failure, always;
    # - is no, + is yes, and c is when somebody calls it
    (CRASH, "-++"),
    (ServerEnd(failed=True, cause="start_failed"), "-++"),
    (ServerEnd(failed=True, cause="unresponsive"), "-++"),
    (CLEAN, "--+"),
    (ServerEnd(cause="announced"), "--+"),
    (ServerEnd(failed=True, cause="announced"), "-++"),
    (ServerEnd(reason="idle_timeout"), "cc+"),
    (ServerEnd(reason="idle_timeout", then="stay"), "---"),
    (ServerEnd(reason="resource_limit"), "-++"),
    (ServerEnd(reason="operator_request"), "---"),
    (ServerEnd(reason="kernel_shutdown"), "---"),
    (ServerEnd(reason="configuration_change", then="again"), "+++"),
    (ServerEnd(reason="operator_request", then="again"), "+++"),
    (ServerEnd(reason="configuration_change", then="stay"), "---"),
    (ServerEnd(reason="operator_request", then="stay", failed=True), "---"),
]


def decided(policy: RestartPolicy, end: ServerEnd) -> RestartDecision:
    return decide_restart(RestartRules(policy=policy), NOTHING, end, 0.0, 0.0)


@pytest.mark.spec("mgp-11.5-2", "mgp-11.5-3", "mgp-11.5-4")
def test_policies_decide_by_how_a_server_ended() -> None:
    """`always` covers graceful ends too; only a stop of an operator or the kernel's end hold."""
    for end, expected in POLICIES:
        got = "".join(
            {"stay": "-", "on_call": "c", "restart": "+"}[decided(policy, end).action]
            for policy in ("never", "on_failure", "always")
        )
        assert got == expected, end
    assert list(RESTART_POLICIES) == ["never", "on_failure", "always"]
    assert {end.reason for end, _ in POLICIES} - {None} == set(SHUTDOWN_REASONS)


def ends(rules: RestartRules, *crashes: float, jitter: float = 0.0) -> list[RestartDecision]:
    """Return what follows each of several crashes; each number is how long the server ran."""
    now, history, made = 0.0, NOTHING, []
    for ran in crashes:
        now += ran
        end = ServerEnd(failed=True, connected_for=ran)
        decision = decide_restart(rules, history, end, now, jitter)
        made.append(decision)
        history = decision.history
        now += decision.delay
    return made


def test_a_server_that_dies_at_once_is_given_up_after_its_restarts() -> None:
    """Supervisor/supervisor#1285."""
    rules = RestartRules(max_restarts=3, window=300, backoff_base=0.1, backoff_max=1)
    made = ends(rules, 0, 0, 0, 0)
    assert [one.action for one in made] == ["restart"] * 3 + ["give_up"]
    assert [one.delay for one in made[:3]] == [0.1, 0.2, 0.4]


@pytest.mark.spec("mgp-11.5-6")
def test_zero_and_one_restarts_are_what_they_say() -> None:
    """ochinchina/supervisord#115."""
    for most in (0, 1, 2):
        for window in (0.5, 300):
            made = ends(RestartRules(max_restarts=most, window=window, backoff_base=0), *[0] * 4)
            assert [one.action for one in made[: most + 1]] == ["restart"] * most + ["give_up"]


def test_old_failures_do_not_count_for_ever() -> None:
    """Supervisor/supervisor#1109: the delay begins again after a quiet window."""
    rules = RestartRules(max_restarts=3, window=2, backoff_base=0.05)
    made = ends(rules, 0, 0, 3, 0, 3, 0)
    assert [one.action for one in made] == ["restart"] * 6
    assert [one.delay for one in made] == [0.05, 0.1, 0.05, 0.1, 0.05, 0.1]


def test_restarts_of_a_kernel_whose_clock_was_ahead_do_not_count() -> None:
    """They were kept in records, and would count until the clock is there: for years."""
    rules = RestartRules(backoff_max=30)
    ahead = RestartHistory(tuple(1e9 + number for number in range(5)))
    assert decide_restart(rules, ahead, CRASH, 1e6, 0).action == "restart"
    due = RestartHistory(tuple(1e6 + number for number in range(26, 31)))
    assert decide_restart(rules, due, CRASH, 1e6, 0).action == "give_up"


def test_a_server_that_was_not_healthy_for_a_window_keeps_its_delay() -> None:
    rules = RestartRules(max_restarts=3, window=10, backoff_base=1, backoff_max=100)
    made = ends(rules, 0, 9.5, 9.5, 9.5, 10.0)
    assert [one.delay for one in made] == [1, 2, 4, 8, 1]


def test_a_window_of_zero_limits_nothing_but_zero_restarts() -> None:
    rules = RestartRules(max_restarts=1, window=0, backoff_base=1, backoff_max=4)
    assert [one.delay for one in ends(rules, 0, 0, 0, 0, 0)] == [1, 2, 4, 4, 4]
    assert [one.delay for one in ends(rules, 0, 0, 4, 3.9)] == [1, 2, 1, 2]


def test_what_somebody_asked_for_comes_immediately_and_does_not_count() -> None:
    full = RestartHistory((1.0, 2.0, 3.0, 4.0, 5.0), 5)
    for reason in SHUTDOWN_REASONS:
        end = ServerEnd(reason=reason, then="again")
        decision = decide_restart(RestartRules(), full, end, 6.0, 1.0)
        assert decision == RestartDecision("restart", full, 0.0)
    idle = ServerEnd(reason="idle_timeout", connected_for=400)
    decision = decide_restart(RestartRules(policy="always", max_restarts=0), full, idle, 6.0, 0.0)
    assert (decision.action, decision.history.times) == ("restart", full.times)


def test_decisions_do_not_depend_on_anything_else() -> None:
    made = [ends(RestartRules(), 0, 1, 400, 0, jitter=0.3) for _time in range(2)]
    assert made[0] == made[1]


RULES = st.builds(
    RestartRules,
    policy=st.sampled_from(("on_failure", "always")),
    max_restarts=st.integers(0, 6),
    window=st.floats(0, 100),
    backoff_base=st.floats(0, 20, allow_subnormal=False),
    backoff_max=st.floats(0, 60),
)
RUNS = st.lists(st.tuples(st.floats(0, 150), st.floats(0, 1)), max_size=30)


@given(rules=RULES, runs=RUNS)
def test_delays_grow_to_their_cap_and_windows_have_their_number(
    rules: RestartRules, runs: list[tuple[float, float]]
) -> None:
    """Jitter only adds, at most a tenth, before the cap; a delay never shrinks while it counts."""
    now, history = 0.0, NOTHING
    starts: list[float] = []
    delays: list[float] = []  # since the server was healthy
    for ran, jitter in runs:
        now += ran
        if ran >= (rules.window or rules.backoff_max):
            delays = []
        end = ServerEnd(failed=True, connected_for=ran)
        decision = decide_restart(rules, history, end, now, jitter)
        assert decision == decide_restart(rules, history, end, now, jitter)
        if decision.action == "give_up":
            return
        exact = min(rules.backoff_max, rules.backoff_base * 2 ** len(delays))
        most = min(rules.backoff_max, 1.1 * rules.backoff_base * 2 ** len(delays))
        assert exact <= decision.delay <= most * (1 + 1e-12)
        delays.append(decision.delay)
        assert all(one <= other for one, other in pairwise(delays))
        now += decision.delay
        starts.append(now)
        history = decision.history
        assert sum(one > now - rules.window for one in starts) <= max(rules.max_restarts, 1)
        assert len(history.times) <= rules.max_restarts or rules.window == 0
