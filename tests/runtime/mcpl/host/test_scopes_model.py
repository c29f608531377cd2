"""Scopes of one host against a dull model: lists, approvals, time, and sets that are switched."""

from __future__ import annotations

import asyncio
from itertools import product
from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from kinwire.mcpl import ScopeAnswer, ScopeRequest, Scopes
from kinwire.mcpl.host.scopes import ScopeGuard
from kinwire.mcpl.host.server_scopes import ServerScopes
from kinwire.mcpl.rules.feature_sets import FeatureSets
from kinwire.rpc.identity import PeerIdentity
from kinwire_protocols.mcpl import FeatureSetNotEnabledError, ScopeRules
from tests.runtime.mcpl.fixtures_long_runs import BRIEF, long_run
from tests.runtime.mcpl.fixtures_pairs import feature

pytestmark = pytest.mark.spec("mcpl-7.6-1", "mcpl-7.6-2", "mcpl-7.6-3")

SERVERS, SETS = ("a", "b"), ("files", "chat")
LABELS = ("/p/x", "/p/y", "/q/x", "/p/../q")
# What each pattern stands for, written down one by one; a black one also covers what lies below.
PATTERNS = {
    "/p/*": {"/p/x", "/p/y"},
    "**/x": {"/p/x", "/q/x"},
    "/q/x": {"/q/x"},
    "/q": set[str](),
}
BELOW = {**PATTERNS, "/q": {"/q/x"}}
PAYLOADS = (None, {"mode": "r"}, {"mode": "w"})

servers, names, labels = st.sampled_from(SERVERS), st.sampled_from(SETS), st.sampled_from(LABELS)
payloads = st.sampled_from(PAYLOADS)
patterns = st.lists(st.sampled_from(sorted(PATTERNS)), max_size=2)


class ScopesAgainstModel(RuleBasedStateMachine):
    """Every scope that is asked for, by a server or for a call, gets what the model says."""

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.Runner()
        self.now, self.answer, self.asked = 0.0, ScopeAnswer(False), list[ScopeRequest]()
        guard = ScopeGuard(Scopes(ask=self._ask), None, lambda: self.now)
        self.sets = {
            server: FeatureSets({name: feature(scoped=True) for name in SETS}, enabled=True)
            for server in SERVERS
        }
        self.real = {
            server: ServerScopes(
                "same", PeerIdentity(server), self.sets[server], guard, self._told, lambda: None
            )
            for server in SERVERS
        }
        self.lists: dict[tuple[str, str], ScopeRules] = {}
        self.approved: dict[tuple[str, str, str, str], float] = {}  # until when
        self.denied: dict[tuple[str, str, str, str], float] = {}

    async def _ask(self, request: ScopeRequest) -> ScopeAnswer:
        self.asked.append(request)
        return self.answer

    async def _told(self) -> None:
        """Send the server its lists: this host has no server."""

    def teardown(self) -> None:
        self.loop.close()

    @rule(seconds=st.integers(1, 8))
    def wait(self, seconds: int) -> None:
        self.now += seconds

    @rule(server=servers, name=names, white=patterns, black=patterns)
    def put_lists(self, server: str, name: str, white: list[str], black: list[str]) -> None:
        self.loop.run(self.real[server].set(name, whitelist=white, blacklist=black))
        self.lists[server, name] = ScopeRules(whitelist=white, blacklist=black)

    @rule(server=servers, name=st.none() | names)
    def revoke(self, server: str, name: str | None) -> None:
        self.loop.run(self.real[server].revoke(name))
        for answers in (self.approved, self.denied):
            for key in list(answers):
                if key[0] == server and name in (None, key[1]):
                    del answers[key]

    @rule(server=servers, name=names, on=st.booleans())
    def switch(self, server: str, name: str, on: bool) -> None:
        self.sets[server].switch(**{"enabled" if on else "disabled": [name]})

    @rule(
        server=servers,
        name=names,
        label=labels,
        payload=payloads,
        says=st.booleans(),
        lasts=st.sampled_from([0, 3, 9]),
        labelled=st.booleans(),
    )
    def ask(
        self,
        server: str,
        name: str,
        label: str,
        payload: Any,
        says: bool,
        lasts: int,
        labelled: bool,
    ) -> None:
        self.answer = ScopeAnswer(says, lasts=lasts)
        request = self.real[server].request(name, label, payload)
        is_asked = self.loop.run(self.check(request, labelled=labelled))
        if is_asked and lasts and labelled:
            answers = self.approved if says else self.denied
            answers[server, name, label, str(payload)] = self.now + lasts

    @invariant()
    def every_scope_gets_what_the_model_says(self) -> None:
        self.answer = ScopeAnswer(False, lasts=0)  # which leaves everything as it is
        self.loop.run(self.check_all())

    async def check_all(self) -> None:
        for one in product(SERVERS, SETS, LABELS, PAYLOADS[1:2]):
            await self.check(self.real[one[0]].request(*one[1:]), labelled=True)

    async def check(self, request: ScopeRequest, *, labelled: bool) -> bool:
        """Check what is said of a scope; return whether anybody was asked."""
        self.asked.clear()
        work = self.real[request.server_key].decide(request, labelled=labelled)
        if request.feature_set in self.sets[request.server_key].disabled:
            with pytest.raises(FeatureSetNotEnabledError):
                await work
            return False
        approved, is_asked = self.expected(request, self.answer.approved, labelled)
        answer = await work
        assert (answer.approved, bool(self.asked)) == (approved, is_asked)
        assert answer.payload == (request.payload if approved else None)
        return is_asked

    def expected(self, request: ScopeRequest, says: bool, labelled: bool) -> tuple[bool, bool]:
        """Return whether it is approved, and whether that is asked."""
        if not labelled:
            return says, True
        lists = self.lists.get((request.server_key, request.feature_set), ScopeRules())
        label = request.label
        if ".." in label or any(label in BELOW[one] for one in lists.blacklist or ()):
            return False, False
        if any(label in PATTERNS[one] for one in lists.whitelist or ()):
            return True, False
        key = (request.server_key, request.feature_set, label, str(request.payload))
        if self.approved.get(key, 0.0) > self.now:
            return True, False
        if self.denied.get(key, 0.0) > self.now:
            return False, False
        return says, True


TestScopes = ScopesAgainstModel.TestCase
TestScopes.settings = BRIEF
TestScopesAtLength = long_run(ScopesAgainstModel)
