"""Approvals against a dull model: bound to all four of what they are for, and never revived."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule

from kinwire.managers.durable_map import text_codec
from kinwire.managers.grants import Decided, GrantStore, StoredDecisions
from kinwire.mcpl.rules.scopes import approval_key
from kinwire_protocols.mcpl import Scope
from tests.runtime.mcpl.fixtures_long_runs import BRIEF, long_run

pytestmark = pytest.mark.spec("mcpl-7.6-4")

SERVERS, SETS, LABELS = st.sampled_from("ab"), st.sampled_from("xy"), st.sampled_from(["/p", "/q"])
PAYLOADS = st.sampled_from([None, {"mode": "r"}, {"mode": "w"}])


def test_the_key_distinguishes_all_that_an_approval_is_bound_to() -> None:
    keys = {
        approval_key(server, name, Scope(label=label, payload=payload))
        for server in "ab"
        for name in "xy"
        for label in ("/p", "/q")
        for payload in (None, {}, {"n": 1}, {"n": True}, {"n": "1"})
    }
    assert len(keys) == 2 * 2 * 2 * 5


def test_spelling_of_a_place_and_order_of_members_mean_nothing() -> None:
    one = approval_key("a", "x", Scope(label="/p/./q", payload={"a": 1, "b": 2}))
    assert one == approval_key("a", "x", Scope(label="/p//q", payload={"b": 2, "a": 1}))
    assert one.startswith(approval_key("a", "x"))
    assert one.startswith(approval_key("a"))
    assert not one.startswith(approval_key("b"))


class ApprovalsAgainstModel(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0
        self.loop = asyncio.Runner()
        codec = text_codec(str, str)
        self.real = GrantStore(
            None,
            approvals=StoredDecisions("approval/", codec),
            denials=StoredDecisions("denial/", codec),
            limit=100,
            clock=lambda: self.now,
        )
        self.model: dict[tuple[str, str, str, str], float] = {}

    def teardown(self) -> None:
        self.loop.close()

    @rule(seconds=st.integers(1, 8))
    def wait(self, seconds: int) -> None:
        self.now += seconds

    @rule(server=SERVERS, name=SETS, label=LABELS, payload=PAYLOADS, lasts=st.integers(1, 10))
    def approve(
        self, server: str, name: str, label: str, payload: dict[str, str] | None, lasts: int
    ) -> None:
        key = approval_key(server, name, Scope(label=label, payload=payload))
        self.loop.run(self.real.keep(key, Decided(True, "yes", lasts)))
        self.model[server, name, label, str(payload)] = self.now + lasts

    @rule(server=SERVERS, name=st.one_of(st.none(), SETS))
    def revoke(self, server: str, name: str | None) -> None:
        self.loop.run(self.real.take_back(approval_key(server, name)))
        for key in list(self.model):
            if key[0] == server and name in (None, key[1]):
                del self.model[key]

    @rule(server=SERVERS, name=SETS, label=LABELS, payload=PAYLOADS)
    def look(self, server: str, name: str, label: str, payload: dict[str, str] | None) -> None:
        key = approval_key(server, name, Scope(label=label, payload=payload))
        expected = self.model.get((server, name, label, str(payload)), 0.0) > self.now
        assert (self.real.remembered(key) is not None) == expected


TestApprovals = ApprovalsAgainstModel.TestCase
TestApprovals.settings = BRIEF
TestApprovalsAtLength = long_run(ApprovalsAgainstModel)
