"""The rules of MCPL at their limits: the last value that is taken, and the first that is not."""

from __future__ import annotations

import re
from typing import Any

import pytest

from kinwire.mcpl.rules.channels import CHANNEL_SIZE, ChannelRegistry
from kinwire.mcpl.rules.checkpoint_tree import CheckpointTree, StateError
from kinwire.mcpl.rules.checkpoints import Checkpoint, InnerNodes
from kinwire.mcpl.rules.feature_sets import FeaturePolicy, FeatureSets
from kinwire.mcpl.rules.json_diff import patch_between
from kinwire.mcpl.rules.json_patch import PatchError, patched
from kinwire.mcpl.rules.names import matches
from kinwire.mcpl.rules.offers import MOST_SETS, checked_sets, may_be_declared
from kinwire.mcpl.rules.scopes import LABEL_SIZE, label_problem, readable_lists
from kinwire.support.json_values import text
from kinwire.support.patterns.glob import PATTERN_SIZE
from kinwire_protocols.base import from_wire, to_wire
from kinwire_protocols.mcpl import ChannelDescriptor, FeatureSet, ScopeRules, StateUpdate
from tests.each import each
from tests.runtime.mcpl.fixtures_pairs import feature


def update(checkpoint: str, **members: Any) -> StateUpdate:
    return from_wire(StateUpdate, {"checkpoint": checkpoint, **members})


def applied(document: Any, *operations: Any, room: int = 1000) -> Any:
    return patched(document, update("c", patch=list(operations)).patch or [], room=room).document


# Checkpoints.


@pytest.mark.spec("mcpl-8.3-3")
def test_a_state_may_have_four_mebibytes_and_not_a_byte_more() -> None:
    tree = CheckpointTree()
    tree.record(update("a", data="x" * (4 * 1024 * 1024 - 2)), base=None)
    with pytest.raises(StateError, match="at most 4194304 bytes of JSON, got 4194305"):
        tree.record(update("b", data="x" * (4 * 1024 * 1024 - 1)), base=None)


@pytest.mark.spec("mcpl-8.3-3")
@each(
    ("data", "taken"),
    [("NaN", True), ("Infinity", True), (float("nan"), False), (float("inf"), False)],
)
def test_a_state_has_words_for_numbers_and_no_such_numbers(data: Any, taken: bool) -> None:
    tree = CheckpointTree()
    if taken:
        assert tree.record(update("a", data=[data]), base=None).is_new
        return
    with pytest.raises(StateError, match="/data: expected a JSON value"):
        tree.record(update("a").model_copy(update={"data": [data]}), base=None)


@pytest.mark.spec("mcpl-8.2-1")
@pytest.mark.parametrize("member", ["checkpoint", "parent"])
def test_an_id_of_a_checkpoint_may_have_512_characters(member: str) -> None:
    tree = CheckpointTree()
    tree.record(update("a"), base=None)
    for size, taken in ((512, True), (513, False)):
        made = update(**{"checkpoint": "c", "parent": "a", member: "x" * size})
        if taken:
            tree.record(made, base="a")
        else:
            with pytest.raises(StateError, match=f"/{member}: expected an id of at most 512"):
                tree.record(made, base="a")


@pytest.mark.spec("mcpl-8.2-2")
def test_a_checkpoint_that_comes_again_is_one_child() -> None:
    tree = CheckpointTree()
    tree.record(update("a", data=1), base=None)
    for _again in range(2):
        tree.record(update("b", parent="a", data=2), base="a")
    assert tree["a"].children == ["b"]
    assert tree["b"].order == 2


@pytest.mark.spec("mcpl-8.7-2")
def test_a_tree_is_pruned_above_its_size_and_keeps_one() -> None:
    first, second = {"data": "x" * 8}, {"data": "y" * 8}  # ten bytes each
    for size, kept in ((20, ["a", "b"]), (19, ["b"])):
        tree = CheckpointTree(size=size)
        tree.record(update("a", **first), base=None)
        tree.record(update("b", **second), base=None)
        assert [one.id for one in tree.checkpoints] == kept
    alone = CheckpointTree(size=1)
    recorded = alone.record(update("a", **first), base=None)
    assert [one.id for one in alone.checkpoints] == ["a"]
    assert list(recorded.pruned) == []


@pytest.mark.spec("mcpl-8.7-2")
def test_the_oldest_with_children_is_pruned_before_an_older_leaf() -> None:
    tree = CheckpointTree(checkpoints=3)
    tree.record(update("leaf", data=1), base=None)
    tree.record(update("inner", parent=None, data=2), base=None)
    tree.record(update("child", parent="inner", data=3), base="inner")
    recorded = tree.record(update("new", parent="child", data=4), base="child")
    assert [one.id for one in recorded.pruned] == ["inner"]


@pytest.mark.spec("mcpl-8.2-1")
def test_an_id_is_taken_by_an_opaque_checkpoint_as_by_one_with_data() -> None:
    tree = CheckpointTree()
    tree.record(update("opaque"), base=None)
    tree.record(update("whole", data=1), base=None)
    with pytest.raises(StateError, match="expected a new id"):
        tree.record(update("opaque", data=1), base=None)
    tree.record(update("opaque", parent="gone-1").model_copy(update={"parent": None}), base=None)
    with pytest.raises(StateError, match="expected a new id"):
        tree.record(update("whole", data=2), base=None)
    # A patch that cannot be applied says nothing about the state that is known.
    unknown = update("whole", patch=[{"op": "add", "path": "", "value": 9}])
    tree.record(unknown, base="gone")
    assert tree["whole"].data == 1


def inner_nodes(**children: list[str]) -> tuple[dict[str, Checkpoint], InnerNodes]:
    kept = {
        name: Checkpoint(name, None, order, children=list(below))
        for order, (name, below) in enumerate(children.items(), 1)
    }
    found = InnerNodes(kept)
    for one in reversed(kept.values()):
        found.add(one)
    return kept, found


@pytest.mark.spec("mcpl-8.2-2")
def test_inner_checkpoints_are_found_by_age() -> None:
    kept, found = inner_nodes(a=["x"], b=["y"], c=["z"])
    found.add(kept["a"])  # it is listed already
    oldest = found.oldest({"a"})
    assert oldest is kept["b"]
    assert found.oldest(()) is kept["a"]
    assert found.oldest(()) is kept["c"]
    assert found.oldest(()) is None


@pytest.mark.spec("mcpl-8.2-2")
def test_what_is_no_inner_checkpoint_any_more_is_passed_over() -> None:
    kept, found = inner_nodes(gone=["x"], leaf=["y"], again=["z"], d=["w"])
    del kept["gone"]
    kept["leaf"].children.clear()
    kept["again"] = Checkpoint("again", None, 9, children=["v"])
    assert found.oldest(()) is kept["d"]
    found.add(kept["again"])
    assert found.oldest(()) is kept["again"]
    assert found.oldest({"again"}) is None


@pytest.mark.spec("mcpl-8.2-2")
def test_the_picture_of_a_tree_shows_branches_the_head_and_opaque_checkpoints() -> None:
    tree = CheckpointTree()
    tree.record(update("a", data=1), base=None)
    tree.record(update("b", parent="a", data=2), base="a")
    tree.record(update("c", parent="b", data=3), base="b")
    tree.record(update("d", parent="b"), base="b")
    tree.record(update("e", parent="b", data=4), base="b")
    tree.roll_back("c")
    drawn = tree.render("svg")
    circles = re.findall(r'cx="(\d+)" cy="(\d+)" r="\d+" fill="(\w+)" stroke="(\w+)"', drawn)
    (x, y), (right, _) = (tuple(map(int, one[:2])) for one in (circles[0], circles[2]))
    step = int(circles[1][1]) - y
    blue = ("steelblue", "steelblue")
    assert right > x
    assert circles == [
        (str(x), str(y), *blue),
        (str(x), str(y + step), *blue),
        (str(right), str(y + 2 * step), "crimson", "crimson"),
        (str(right), str(y + 3 * step), "white", "steelblue"),
        (str(right), str(y + 4 * step), *blue),
    ]
    assert re.findall(r'path d="(M[^"]+)"', drawn) == [
        f"M{x} {y}V{y + step}H{x}",
        *(f"M{x} {y + step}V{y + place * step}H{right}" for place in (2, 3, 4)),
    ]
    assert tree.render() == "a\nb\n├── c *\n├── (d)\n└── e\n"


# Patches.


@pytest.mark.spec("mcpl-8.3-5")
def test_a_container_is_copied_once_for_all_operations() -> None:
    operations = [{"op": "add", "path": "/l/-", "value": 1}] * 100
    update_of_100 = update("c", patch=operations).patch or []
    assert patched({"l": [0] * 10_000}, update_of_100).copied < 2 * 80_000


@pytest.mark.spec("mcpl-8.3-4")
def test_a_copy_may_fill_the_room_exactly() -> None:
    copy = {"op": "copy", "from": "/a", "path": "/b"}
    assert applied({"a": "xy"}, copy, room=4) == {"a": "xy", "b": "xy"}
    with pytest.raises(PatchError, match="copies of at most 3 more bytes"):
        applied({"a": "xy"}, copy, room=3)
    removed = {"op": "remove", "path": "/c"}
    after = applied({"a": "xy", "c": "12"}, removed, copy, room=0)
    assert after == {"a": "xy", "b": "xy"}


@pytest.mark.spec("mcpl-8.3-4")
def test_a_pointer_may_have_64_parts() -> None:
    state: Any = 1
    for _level in range(64):
        state = {"a": state}
    test = {"op": "test", "path": "/a" * 64, "value": 1}
    assert applied(state, test) == state
    with pytest.raises(PatchError, match="at most 64 parts, got 65"):
        applied(state, {**test, "path": "/a" * 65})


@pytest.mark.spec("mcpl-8.3-6")
@each(
    ("before", "after", "operations"),
    [
        ([1, 2, 3, 4], [2, 9, 4], 2),
        ([1, 2, 3, 4, 5, 6], [1, 3, 5, 6, 7], 3),
        ([5, 1, 2, 3], [1, 2, 3], 1),
        (list(range(30)), [n for n in range(30) if n not in (3, 17)], 2),
    ],
)
def test_a_patch_keeps_the_longest_run_of_entries(before: Any, after: Any, operations: int) -> None:
    before, after = ([str(one) * 30 for one in some] for some in (before, after))
    patch = patch_between(before, after)
    assert applied(before, *patch) == after
    assert len(patch) == operations


@pytest.mark.spec("mcpl-8.3-6")
@pytest.mark.parametrize(("size", "operations"), [(200, 2), (202, None)])
def test_so_large_arrays_are_compared_by_index_only(size: int, operations: int | None) -> None:
    before = [{"n": n, "text": "x" * 9} for n in range(size)]
    after = [*before[1:-1]]
    patch = patch_between([0, *before, 0], [1, *after, 1])
    assert applied([0, *before, 0], *patch) == [1, *after, 1]
    assert operations is None or len(patch) <= size


# Names, sets and channels.


@pytest.mark.spec("mcpl-6.3-2")
@each(
    ("pattern", "name", "expected"),
    [
        ("memory.*", "memory.a", True),
        ("memory.*", "memory.a.b", True),
        ("memory.*", "memory", False),
        ("*", "memory", True),
        ("memory", "memory", True),
        (".*", ".a", False),
        ("memory.a.*", "memory.a", False),
    ],
)
def test_a_pattern_matches_what_begins_with_it(pattern: str, name: str, expected: bool) -> None:
    assert matches(pattern, name) is expected


@pytest.mark.spec("mcpl-6.7-5")
def test_as_many_sets_may_be_added_as_there_may_be() -> None:
    declared = {f"s{number}": feature("tools") for number in range(MOST_SETS)}
    assert len(checked_sets(declared)) == MOST_SETS
    with pytest.raises(ValueError, match="at most"):
        checked_sets({**declared, "more": feature("tools")})
    sets = FeatureSets({}, enabled=False)
    sets.change(added=declared, removed=())
    sets.change(added={"more": feature("tools"), "s1": feature("pushEvents")}, removed=())
    assert len(sets.declared) == MOST_SETS
    assert sets.declared["s1"].uses == ["pushEvents"]
    assert "more" not in sets.declared


@pytest.mark.spec("mcpl-6.7-5")
def test_a_set_that_is_added_may_have_64_kibibytes() -> None:
    empty = FeatureSet(description="", uses=[])
    room = 64 * 1024 - len(text(to_wire(empty)))
    assert may_be_declared("a", FeatureSet(description="x" * room, uses=[]))
    assert not may_be_declared("a", FeatureSet(description="x" * (room + 1), uses=[]))
    assert not may_be_declared("", empty)


@pytest.mark.spec("mcpl-6.7-1")
def test_what_was_disabled_by_hand_is_withheld_and_not_switched_on() -> None:
    declared = {"a": feature("tools"), "b": feature("tools")}
    sets = FeatureSets(declared, enabled=False, policy=FeaturePolicy(enabled=("a", "unknown")))
    sets.override(enabled=(), disabled=["a"])
    assert sets.withheld() == ["a"]
    sets.obey_policy_for(["a", "b", "unknown"])
    assert sets.enabled == []
    sets.override(enabled=["a"], disabled=())
    assert sets.withheld() == []
    sets.obey_policy_for(["a", "b", "unknown"])
    assert sets.enabled == ["a"]


@pytest.mark.spec("mcpl-6.3-1")
@pytest.mark.parametrize(("name", "taken"), [("x" * 128, True), ("x" * 129, False)])
def test_a_name_of_a_set_has_up_to_128_characters(name: str, taken: bool) -> None:
    if taken:
        assert checked_sets({name: feature("tools")})
    else:
        with pytest.raises(ValueError, match="1 to 128 characters"):
            checked_sets({name: feature("tools")})


@pytest.mark.spec("mcpl-7.3-1")
def test_a_label_has_up_to_512_characters() -> None:
    assert label_problem("x" * 512) is None
    assert label_problem("x" * 513) is not None


@pytest.mark.spec("mcpl-6.7-2")
def test_a_server_reads_the_patterns_of_an_update_that_it_can_read() -> None:
    longest = "x" * PATTERN_SIZE
    white = readable_lists(ScopeRules(whitelist=[longest, ""]))
    assert white.judge(longest)[0] == "approve"
    assert white.judge("y")[0] == "ask"
    black = readable_lists(ScopeRules(whitelist=["y"], blacklist=[longest, longest + "x", ""]))
    assert black.judge(longest)[0] == "deny"
    assert black.judge("y")[0] == "approve"


def channel(id: str = "c", label: str = "") -> ChannelDescriptor:
    return ChannelDescriptor(id=id, type="t", label=label, direction="inbound")


@pytest.mark.spec("mcpl-14.2-1")
@each(("size", "taken"), [(0, False), (1, True), (512, True), (513, False)])
def test_an_id_of_a_channel_has_up_to_512_characters(size: int, taken: bool) -> None:
    assert LABEL_SIZE == 512
    assert (ChannelRegistry().register([channel("x" * size)]) == []) is taken


@pytest.mark.spec("mcpl-14.2-2")
def test_a_channel_may_be_described_in_64_kibibytes() -> None:
    room = CHANNEL_SIZE - len(text(to_wire(channel())))
    assert ChannelRegistry().register([channel(label="x" * room)]) == []
    assert ChannelRegistry().register([channel(label="x" * (room + 1))]) != []


@pytest.mark.spec("mcpl-14.3-2")
def test_only_unknown_channels_are_problems_when_they_are_removed() -> None:
    registry = ChannelRegistry([channel("a")])
    assert registry.change((), ["a"], ()) == []
    (problem,) = registry.change((), ["a"], ())
    assert problem == "removed: expected a channel that is known, got 'a'"
