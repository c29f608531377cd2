"""Which sets are on, against a dull model; and what a tagged message earns."""

from __future__ import annotations

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from kinwire.mcpl.rules.feature_sets import FeaturePolicy, FeatureSets
from kinwire_protocols.mcpl import FeatureSetNotEnabledError, UnknownFeatureSetError
from tests.each import each
from tests.runtime.mcpl.fixtures_long_runs import BRIEF, long_run
from tests.runtime.mcpl.fixtures_pairs import MEMORY, feature

pytestmark = pytest.mark.spec("mcpl-6.3-2", "mcpl-6.6-1")

NAMES = ["memory", "memory.retrieval", "memory.a.b", "memoryx.y"]


def four(*, enabled: bool = True) -> FeatureSets:
    return FeatureSets({name: feature("pushEvents") for name in NAMES}, enabled=enabled)


def test_a_wildcard_covers_all_below_a_name_and_no_neighbour() -> None:
    sets = four()
    sets.switch(disabled=["memory.*"])
    assert sets.enabled == ["memory", "memoryx.y"]
    assert isinstance(sets.refusal("memory.a.b", "pushEvents"), FeatureSetNotEnabledError)
    sets.switch(enabled=["*"])
    assert sets.enabled == sorted(NAMES)
    assert isinstance(sets.refusal("memory.c"), UnknownFeatureSetError)


def test_what_an_update_does_not_name_stays_and_what_it_names_twice_is_off() -> None:
    sets = four(enabled=False)
    sets.switch(enabled=["memory"])
    sets.switch(enabled=["memory.*"], disabled=["memory.a.b"])
    assert sets.enabled == ["memory", "memory.retrieval"]
    assert sets.disabled == ["memory.a.b", "memoryx.y"]


def test_an_invalid_pattern_matches_nothing() -> None:
    sets = four()
    sets.switch(disabled=["mem*", "", "**", "undeclared"])
    assert sets.enabled == sorted(NAMES)


def test_a_set_pushes_only_if_it_declares_that_it_does() -> None:
    sets = FeatureSets(MEMORY, enabled=True)
    assert sets.refusal("memory.proactive", "pushEvents") is None
    refusal = sets.refusal("memory.retrieval", "pushEvents")
    assert isinstance(refusal, FeatureSetNotEnabledError)
    assert refusal.data == {"featureSet": "memory.retrieval", "canEnable": False}
    assert "does not declare that it uses pushEvents" in str(refusal)


def test_what_is_forbidden_stays_off_and_says_so() -> None:
    policy = FeaturePolicy(enabled=("*",), disabled=("memory.a.b",), forbidden=("memoryx.*",))
    sets = FeatureSets({name: feature() for name in NAMES}, enabled=False, policy=policy)
    sets.obey_policy()
    assert sets.enabled == ["memory", "memory.retrieval"]
    sets.switch(enabled=["*"])
    assert sets.enabled == ["memory", "memory.a.b", "memory.retrieval"]
    refusal = sets.refusal("memoryx.y")
    assert refusal is not None
    assert refusal.data == {"featureSet": "memoryx.y", "canEnable": False}


def test_a_policy_with_an_invalid_pattern_is_refused() -> None:
    with pytest.raises(ValueError, match=r"expected a name, NAME\.\* or \*, got 'mem\*'"):
        FeaturePolicy(enabled=("mem*",))


def test_a_set_that_comes_is_off_also_if_it_was_there_and_on() -> None:
    sets = four()
    sets.change(added={"memory": feature(), "new": feature()}, removed=["memoryx.y"])
    assert sets.enabled == ["memory.a.b", "memory.retrieval"]
    assert isinstance(sets.refusal("memoryx.y"), UnknownFeatureSetError)


OVERRIDES = [
    pytest.param([("memory.*", False)], [], id="off by a wildcard"),
    pytest.param([("memory.a.b", False)], ["memory.retrieval"], id="off by name"),
    pytest.param([("*", False)], [], id="all off"),
    pytest.param([("memory.*", False), ("*", True)], ["memory.a.b", "memory.retrieval"], id="on"),
    pytest.param([("*", False), ("memory.a.b", True)], ["memory.a.b"], id="all but one off"),
    pytest.param(
        [("memory.a.b", True), ("memory.*", False)], [], id="the last one counts, not the nearest"
    ),
    pytest.param([("gone", False)], ["memory.a.b", "memory.retrieval"], id="another one off"),
]


@each(("said", "on"), OVERRIDES)
def test_a_disabled_set_stays_off_when_it_is_declared_again(
    said: list[tuple[str, bool]], on: list[str]
) -> None:
    policy = FeaturePolicy(enabled=("memory.*",))
    sets = FeatureSets({name: feature() for name in NAMES}, enabled=False, policy=policy)
    sets.obey_policy()
    for pattern, enabled in said:
        sets.override(**{"enabled" if enabled else "disabled": [pattern]})
    again = {name: feature() for name in NAMES}
    sets.change(added=again, removed=NAMES)
    sets.obey_policy_for(again)
    assert sets.enabled == on


def test_switching_the_same_again_and_again_remembers_it_once() -> None:
    sets = four()
    for _time in range(3):
        sets.override(enabled=["memory.*"], disabled=["memory.a.b", "memory.c.*"])
        sets.override(disabled=["memory.a.b", "memoryx.y"])
    assert list(sets._overridden.items()) == [
        ("memory.*", True),
        ("memory.c.*", False),
        ("memory.a.b", False),
        ("memoryx.y", False),
    ]
    sets.override(enabled=["*"])
    assert list(sets._overridden) == ["*"]


class SwitchesAgainstModel(RuleBasedStateMachine):
    """Every set by itself, asked one by one."""

    def __init__(self) -> None:
        super().__init__()
        self.real = four(enabled=False)
        self.model: dict[str, bool] = dict.fromkeys(NAMES, False)

    def named(self, patterns: list[str], name: str) -> bool:
        return any(
            pattern in (name, "*")
            or (pattern == "memory.*" and name.split(".")[0] == "memory" and "." in name)
            for pattern in patterns
        )

    @rule(
        enabled=st.lists(st.sampled_from([*NAMES, "memory.*", "*", "gone"]), max_size=3),
        disabled=st.lists(st.sampled_from([*NAMES, "memory.*", "gone"]), max_size=2),
    )
    def update(self, enabled: list[str], disabled: list[str]) -> None:
        self.real.switch(enabled=enabled, disabled=disabled)
        for name in self.model:
            self.model[name] = (self.model[name] or self.named(enabled, name)) and not self.named(
                disabled, name
            )

    @rule(
        added=st.lists(st.sampled_from([*NAMES, "memory.late"]), unique=True, max_size=2),
        removed=st.lists(st.sampled_from([*NAMES, "memory.late"]), max_size=2),
    )
    def change(self, added: list[str], removed: list[str]) -> None:
        self.real.change(added={name: feature("pushEvents") for name in added}, removed=removed)
        for name in removed:
            self.model.pop(name, None)
        self.model |= dict.fromkeys(added, False)

    @invariant()
    def every_set_earns_what_the_model_says(self) -> None:
        for name in [*NAMES, "memory.late", "gone"]:
            refusal = self.real.refusal(name, "pushEvents")
            if name not in self.model:
                assert isinstance(refusal, UnknownFeatureSetError)
            else:
                assert (refusal is None) == self.model[name]
        assert self.real.enabled == sorted(name for name, on in self.model.items() if on)


TestSwitches = SwitchesAgainstModel.TestCase
TestSwitches.settings = BRIEF
TestSwitchesAtLength = long_run(SwitchesAgainstModel)


PATTERNS = st.lists(st.sampled_from([*NAMES, "memory.*", "*", "gone"]), max_size=2)


class PolicyAgainstModel(RuleBasedStateMachine):
    """A host switches, a server declares again; the model remembers all that was ever said."""

    policy = FeaturePolicy(
        enabled=("memory.*", "memoryx.y"), disabled=("memory.a.b",), forbidden=("memoryx.*",)
    )
    at_first = "memory.retrieval"  # the only one that the policy wants on

    def __init__(self) -> None:
        super().__init__()
        declared = {name: feature("pushEvents") for name in NAMES}
        self.real = FeatureSets(declared, enabled=False, policy=self.policy)
        self.real.obey_policy()
        self.model = {name: name == self.at_first for name in NAMES}
        self.said: list[tuple[str, bool]] = []

    def covers(self, pattern: str, name: str) -> bool:
        below = pattern == "memory.*" and name in ("memory.retrieval", "memory.a.b")
        return below or pattern in (name, "*")

    @rule()
    def connect_again(self) -> None:
        kept = self.real.overridden
        declared = {name: feature("pushEvents") for name in self.model}
        self.real = FeatureSets(declared, enabled=False, policy=self.policy)
        self.real.restore(kept)
        for name in self.model:
            last = [on for pattern, on in self.said if self.covers(pattern, name)][-1:]
            self.model[name] = name == self.at_first and last != [False]

    @rule()
    def reset(self) -> None:
        self.real.restore({})
        self.said.clear()
        self.model = {name: name == self.at_first for name in self.model}

    @rule(enabled=PATTERNS, disabled=PATTERNS)
    def override(self, enabled: list[str], disabled: list[str]) -> None:
        self.real.override(enabled=enabled, disabled=disabled)
        for pattern, on in [*((one, True) for one in enabled), *((one, False) for one in disabled)]:
            self.said.append((pattern, on))
            for name in self.model:
                if self.covers(pattern, name):
                    self.model[name] = on and name != "memoryx.y"  # which is forbidden

    @rule(
        added=st.lists(st.sampled_from(NAMES), unique=True, max_size=2),
        removed=st.lists(st.sampled_from(NAMES), max_size=2),
    )
    def declare(self, added: list[str], removed: list[str]) -> None:
        self.real.change(added={name: feature("pushEvents") for name in added}, removed=removed)
        self.real.obey_policy_for(added)
        for name in removed:
            self.model.pop(name, None)
        for name in added:
            last = [on for pattern, on in self.said if self.covers(pattern, name)][-1:]
            self.model[name] = name == self.at_first and last != [False]

    @invariant()
    def what_is_on_is_what_the_model_says(self) -> None:
        assert self.real.enabled == sorted(name for name, on in self.model.items() if on)
        assert self.real.disabled == sorted(name for name, on in self.model.items() if not on)
        refusal = self.real.refusal("memoryx.y")
        assert refusal is not None
        assert refusal.data.get("canEnable", False) is False


TestPolicy = PolicyAgainstModel.TestCase
TestPolicy.settings = BRIEF
TestPolicyAtLength = long_run(PolicyAgainstModel)
