"""Channels by id: one of each, each in its direction; thoughts apart from all."""

from __future__ import annotations

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from kinwire.mcpl.rules.channels import MOST_CHANNELS, ChannelRegistry, sees
from kinwire.support.bounded import TtlDict
from kinwire_protocols.mcpl.errors import ChannelNotPermittedError, UnknownChannelError
from kinwire_protocols.mcpl.models import ChannelDescriptor, ChannelDirection, IncomingOutcome
from tests.each import each
from tests.runtime.mcpl.fixtures_long_runs import BRIEF, long_run

pytestmark = pytest.mark.spec("mcpl-14.2-1", "mcpl-14.3-2")


def channel(
    channel_id: str, direction: ChannelDirection = "bidirectional", label: str = "c"
) -> ChannelDescriptor:
    return ChannelDescriptor(id=channel_id, type="chat", label=label, direction=direction)


REFUSED = [
    (["a", "b", "a"], 2, "/2/id: expected an id that no other channel has, got 'a' again"),
    (["", "b"], 1, "/0/id: expected an id of 1 to 512 characters"),
    (["b", "x" * 513], 1, "/1/id: expected an id of 1 to 512 characters"),
    (["thinking"], 0, "/0/id: expected an id of 1 to 512 characters that is not 'thinking'"),
    ([str(n) for n in range(MOST_CHANNELS)], 999, "/999/id: expected at most 1000 channels"),
]


@each(("ids", "taken", "fault"), REFUSED)
def test_one_wrong_channel_does_not_refuse_the_others(
    ids: list[str], taken: int, fault: str
) -> None:
    registry = ChannelRegistry([channel("old")])
    channels = [channel(one) for one in ids]
    (foreseen,) = registry.problems(channels)
    assert len(registry.known) == 1
    (found,) = registry.register(channels)
    assert found == foreseen
    assert found.startswith(fault)
    assert len(registry.known) == 1 + taken


def test_a_channel_that_is_registered_again_replaces_the_earlier_one() -> None:
    registry = ChannelRegistry([channel("a"), channel("b")])
    assert registry.register([channel("a", label="new")]) == []
    assert [(one.id, one.label) for one in registry.known] == [("a", "new"), ("b", "c")]


def test_a_registry_does_not_begin_with_one_channel_twice() -> None:
    with pytest.raises(ValueError, match="channels/1/id: expected an id that no other channel has"):
        ChannelRegistry([channel("a"), channel("a")])


def test_there_is_an_end_to_what_a_channel_says_of_itself() -> None:
    registry = ChannelRegistry([channel("a")])
    endless = channel("b").model_copy(update={"label": "x" * 70_000})
    (problem,) = registry.register([endless])
    assert "/0: expected a channel of at most 65536 characters" in problem
    (fault,) = registry.change([], [], [endless.model_copy(update={"id": "a"})])
    assert "updated: expected a channel of at most" in fault
    assert registry.known == [channel("a")]


def test_what_of_a_change_cannot_be_is_left_out_and_the_rest_counts() -> None:
    registry = ChannelRegistry([channel("a"), channel("b")])
    faults = registry.change(
        [channel("b"), channel("c")], ["a", "x"], [channel("b", label="new"), channel("y")]
    )
    assert [one.partition(":")[0] for one in faults] == ["removed", "updated", "added"]
    assert [(one.id, one.label) for one in registry.known] == [("b", "new"), ("c", "c")]


DIRECTIONS = [
    ("outbound", None, False),
    ("bidirectional", None, True),
    ("inbound", ChannelNotPermittedError, True),
]


@each(("direction", "error", "incoming"), DIRECTIONS)
def test_a_channel_carries_messages_in_its_direction_alone(
    direction: ChannelDirection, error: type[Exception] | None, incoming: bool
) -> None:
    registry = ChannelRegistry([channel("a", direction)])
    refusal = registry.publish_refusal("a")
    assert refusal is None if error is None else isinstance(refusal, error)
    assert (registry.incoming_problem("a") is None) is incoming


def test_an_unknown_channel_and_that_of_thoughts_carry_nothing() -> None:
    registry = ChannelRegistry()
    assert isinstance(registry.publish_refusal("a"), UnknownChannelError)
    assert isinstance(registry.publish_refusal("thinking"), ChannelNotPermittedError)
    assert registry.incoming_problem("a") is not None
    assert registry.incoming_problem("thinking") is not None


@each(
    ("feature_set", "channel_id", "seen"),
    [
        ("channels.thinking", "thinking", True),
        ("channels.thinking", "ui", False),
        ("channels.observe", "thinking", False),
        ("channels.observe", "ui", True),
    ],
)
def test_thoughts_are_seen_by_their_own_set_alone(
    feature_set: str, channel_id: str, seen: bool
) -> None:
    assert sees(feature_set, channel_id) is seen


def test_a_message_is_known_for_a_while_and_the_oldest_goes_first() -> None:
    done = IncomingOutcome(message_id="m", accepted=True)
    seen = TtlDict[str, IncomingOutcome](10, limit=2)
    seen.put("a", done, now=0)
    assert (seen.get("a", now=9), seen.get("b", now=9)) == (done, None)
    assert seen.get("a", now=10) is None
    for key in "abc":
        seen.put(key, done, now=11)
    assert [seen.get(key, now=11) for key in "abc"] == [None, done, done]
    assert len(seen) == 2
    seen.pop("b", now=11)
    assert seen.get("b", now=11) is None


class RegistryAgainstModel(RuleBasedStateMachine):
    ids = st.sampled_from(["a", "b", "c", "thinking", ""])
    lists = st.lists(ids, max_size=3)

    def __init__(self) -> None:
        super().__init__()
        self.real = ChannelRegistry()
        self.model: list[tuple[str, str]] = []  # id and label, in order

    def has(self, channel_id: str) -> bool:
        return any(one == channel_id for one, _ in self.model)

    def may_come(self, channel_id: str) -> bool:
        return channel_id in ("a", "b", "c") and not self.has(channel_id)

    @rule(ids=lists)
    def register(self, ids: list[str]) -> None:
        valid = list(dict.fromkeys(one for one in ids if one in ("a", "b", "c")))
        problems = self.real.register([channel(one) for one in ids])
        assert len(problems) == len(ids) - len(valid)
        self.model = [(one, "c" if one in valid else label) for one, label in self.model]
        self.model += [(one, "c") for one in valid if not self.has(one)]

    @rule(added=lists, removed=lists, updated=lists)
    def change(self, added: list[str], removed: list[str], updated: list[str]) -> None:
        self.real.change(
            [channel(one) for one in added],
            removed,
            [channel(one, label="u") for one in updated],
        )
        self.model = [one for one in self.model if one[0] not in removed]
        self.model = [(one, "u" if one in updated else label) for one, label in self.model]
        for one in added:
            if self.may_come(one):
                self.model.append((one, "c"))

    @rule(channel_id=ids)
    def open(self, channel_id: str) -> None:
        fault = self.real.put(channel(channel_id, label="o"))
        assert (fault is None) is (channel_id in ("a", "b", "c"))
        if fault is None:
            self.model = [one for one in self.model if one[0] != channel_id]
            self.model.append((channel_id, "o"))

    @rule(channel_id=ids)
    def close(self, channel_id: str) -> None:
        self.real.remove(channel_id)
        self.model = [one for one in self.model if one[0] != channel_id]

    @invariant()
    def they_agree(self) -> None:
        assert [(one.id, one.label) for one in self.real.known] == self.model


TestRegistry = RegistryAgainstModel.TestCase
TestRegistry.settings = BRIEF
TestRegistryAtLength = long_run(RegistryAgainstModel)
