"""The tree against a dull model, and each rule of it by itself."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from pydantic import MISSING

from kinwire.mcpl.rules.checkpoint_tree import CheckpointTree, StateError
from kinwire.support.json_values import text
from kinwire_protocols.base import from_wire
from kinwire_protocols.mcpl import StateUpdate
from tests.each import each
from tests.runtime.mcpl.fixtures_long_runs import BRIEF, long_run

pytestmark = pytest.mark.spec("mcpl-8.2-2", "mcpl-8.3-5")


def update(checkpoint: str, **members: Any) -> StateUpdate:
    return from_wire(StateUpdate, {"checkpoint": checkpoint, **members})


def add(value: Any, path: str = "/notes/-") -> dict[str, Any]:
    return {"op": "add", "path": path, "value": value}


def notes() -> CheckpointTree:
    """The tree of the specification: abc, and def after it."""
    tree = CheckpointTree()
    tree.record(update("abc", parent=None, data={"notes": []}), base=None)
    tree.record(update("def", parent="abc", patch=[add("one")]), base="abc")
    return tree


def test_work_after_a_rollback_makes_a_branch() -> None:
    tree = notes()
    tree.roll_back("abc")
    assert tree.data == {"notes": []}
    tree.record(update("xyz", parent="abc", patch=[add("two")]), base="abc")
    assert tree["abc"].children == ["def", "xyz"]
    assert tree["def"].data == {"notes": ["one"]}
    assert tree.data == {"notes": ["two"]}
    assert tree.render() == "abc\n├── def\n└── xyz *\n"


def test_a_checkpoint_whose_parent_is_recorded_after_it_is_drawn() -> None:
    tree = CheckpointTree()
    tree.record(update("child", parent="late", data=1), base=None)
    assert tree.render() == "child * …\n"
    tree.record(update("late", parent=None, data=0), base="child")
    tree.record(update("next", parent="late", data=2), base="late")
    assert tree.render() == "child\nlate\nnext *\n"
    assert tree.render("svg").count("<circle") == 3


def test_a_checkpoint_without_data_is_opaque_and_so_are_its_patches() -> None:
    tree = CheckpointTree()
    tree.record(update("a", parent=None), base=None)
    recorded = tree.record(update("b", parent="a", patch=[add(1, "/x")]), base="a")
    assert tree.data is MISSING
    assert "its parent 'a' has no data here: the patch was not applied" in str(recorded.warning)
    assert tree.render() == "(a)\n(b) *\n"


def test_a_patch_on_an_unknown_parent_is_kept_without_data() -> None:
    tree = notes()
    recorded = tree.record(update("x", parent="gone", patch=[add(1)]), base="def")
    assert "its parent 'gone' is not known" in str(recorded.warning)
    assert tree["x"].data is MISSING
    whole = tree.record(update("y", parent="gone", data=[1]), base="x")
    assert whole.warning is None
    assert tree.data == [1]


def test_an_absent_parent_is_the_head_that_the_call_was_sent_with() -> None:
    tree = notes()
    tree.record(update("late", patch=[add("late")]), base="abc")
    assert tree["late"].parent == "abc"
    assert tree.data == {"notes": ["late"]}


def test_data_counts_before_a_patch_and_null_is_data() -> None:
    tree = notes()
    tree.record(update("n", parent="def", data=None, patch=[add(1)]), base="def")
    assert tree.data is None


def test_a_late_result_does_not_move_a_head_that_was_moved() -> None:
    tree = notes()
    tree.record(update("late", parent="def", patch=[add("late")]), base="def", advance=False)
    assert tree.head == "def"
    assert tree["late"].data == {"notes": ["one", "late"]}


SAME = [
    pytest.param({}, id="nothing but the id"),
    pytest.param({"parent": "abc"}, id="its parent"),
    pytest.param({"data": {"notes": ["one"]}}, id="its data"),
    pytest.param({"parent": "abc", "patch": [add("one")]}, id="the same patch again"),
]
OTHER = [
    pytest.param({"parent": None}, id="another parent"),
    pytest.param({"data": {"notes": []}}, id="other data"),
    pytest.param({"parent": "abc", "patch": [add("two")]}, id="another patch"),
]


@each("members", SAME)
def test_a_checkpoint_that_comes_again_changes_nothing(members: Any) -> None:
    tree = notes()
    assert not tree.record(update("def", **members), base="abc").is_new
    assert (len(tree), tree.head) == (2, "def")


@each("members", OTHER)
def test_an_id_with_other_content_is_refused(members: Any) -> None:
    tree = notes()
    with pytest.raises(StateError, match="/checkpoint: expected a new id or the same content"):
        tree.record(update("def", **members), base="abc")
    assert tree.data == {"notes": ["one"]}


BAD = [
    pytest.param({"parent": "x", "data": 1}, "/parent: expected another", id="its own parent"),
    pytest.param({"patch": [add(1, "/nope/x")]}, "/patch/0/path: expected", id="a bad patch"),
    pytest.param({"data": "x" * 4_200_000}, "/data: expected a state of at most", id="too large"),
    pytest.param(
        {"data": eval("[" * 61 + "]" * 61)}, "/data: expected a state of at most 60", id="too deep"
    ),
]


@each(("members", "message"), BAD)
def test_what_cannot_be_leaves_everything_as_it_was(members: Any, message: str) -> None:
    tree = notes()
    with pytest.raises(StateError, match=message):
        tree.record(update("x", **members), base="def")
    assert (len(tree), tree.head, tree.data) == (2, "def", {"notes": ["one"]})


def test_the_oldest_inner_checkpoint_goes_first_and_children_keep_state() -> None:
    tree = CheckpointTree(checkpoints=3)
    tree.record(update("a", parent=None, data={"notes": []}), base=None)
    for number, name in enumerate("bcd"):
        recorded = tree.record(update(name, patch=[add(number)]), base=tree.head)
    assert [one.id for one in recorded.pruned] == ["a"]
    assert [one.id for one in recorded.rebased] == ["b"]
    assert tree["b"].data == {"notes": [0]}
    assert tree.data == {"notes": [0, 1, 2]}
    assert tree.render() == "b …\nc\nd *\n"


def test_the_head_and_the_newest_are_never_pruned() -> None:
    tree = CheckpointTree(checkpoints=2)
    tree.record(update("a", parent=None, data=1), base=None)
    tree.record(update("b", data=2), base="a")
    tree.roll_back("a")
    tree.record(update("c", data=3), base="b", advance=False)
    assert [one.id for one in tree.checkpoints] == ["a", "c"]
    assert tree.head == "a"


def test_checkpoints_that_are_each_others_parents_do_no_harm() -> None:
    tree = CheckpointTree(checkpoints=3)
    tree.record(update("a", parent="b", data=1), base=None)
    tree.record(update("b", parent="a", data=2), base="a")
    assert tree.render() == "a\nb *\n"
    for number in range(3):
        tree.record(update(f"c{number}", data=number), base="b", advance=False)
    assert tree.data == 2
    assert [one.id for one in tree.checkpoints] == ["b", "c1", "c2"]
    assert tree["b"].children == ["c1", "c2"]


def test_size_is_bounded_too() -> None:
    tree = CheckpointTree(size=1000)
    for number in range(10):
        tree.record(update(f"c{number}", data="x" * 300), base=tree.head)
    assert len(tree) == 3


def test_what_patches_have_to_copy_counts_too() -> None:
    tree = CheckpointTree(size=100_000)
    tree.record(update("c0", parent=None, data=[0] * 1000), base=None)  # 8000 bytes a copy
    for number in range(1, 50):
        change = {"op": "replace", "path": "/0", "value": number}
        tree.record(update(f"c{number}", patch=[change]), base=tree.head)
    assert 8 < len(tree) < 13
    assert tree.data[0] == 49


def test_rebased_children_are_not_serialized_to_know_their_size() -> None:
    tree = CheckpointTree(checkpoints=20)
    tree.record(update("root", parent=None, data={"big": ["x"] * 100, "n": 0}), base=None)
    for number in range(25):
        change = {"op": "replace", "path": "/n", "value": number}
        recorded = tree.record(update(f"c{number}", parent="root", patch=[change]), base="root")
        if "root" in [one.id for one in recorded.pruned]:
            break
    assert len(recorded.rebased) == 20
    for one in recorded.rebased:
        assert one.brought == one.size == len(text(one.data))


def test_a_rollback_to_what_only_the_server_knows_is_kept_without_data() -> None:
    tree = notes()
    tree.roll_back("older")
    assert tree.data is MISSING
    assert tree.head == "older"


def test_the_drawing_has_a_dot_for_each_checkpoint_and_breaks_on_no_name() -> None:
    tree = notes()
    tree.roll_back("abc")
    tree.record(update("<b>\x1b&", parent="abc"), base="abc")
    svg = tree.render("svg")
    assert svg.count("<circle") == 3
    assert svg.count("<path") == 2
    assert "&lt;b&gt;\ufffd&amp;" in svg
    assert "\x1b" not in tree.render()


def test_a_branch_of_many_checkpoints_is_drawn_straight() -> None:
    tree = CheckpointTree(checkpoints=2000)
    for number in range(1500):
        tree.record(update(f"c{number}", data=number), base=tree.head)
    assert tree.render().splitlines()[-1] == "c1499 *"


@pytest.mark.faults
def test_a_very_long_branch_can_be_rolled_back_to_its_root() -> None:
    tree = CheckpointTree(checkpoints=10_000)
    tree.record(update("c0", parent=None, data=0), base=None)
    for number in range(1, 10_000):
        patch = [{"op": "replace", "path": "", "value": number}]
        tree.record(update(f"c{number}", patch=patch), base=tree.head)
    assert tree.data == 9_999
    assert tree.render().splitlines()[-1] == "c9999 *"
    assert tree.render("svg").count("<circle") == 10_000
    tree.roll_back("c0")
    assert tree.data == 0


class TreeAgainstModel(RuleBasedStateMachine):
    """States are written down whole; the tree only has patches of them."""

    def __init__(self) -> None:
        super().__init__()
        self.real = CheckpointTree(checkpoints=6)
        self.model: dict[str, list[int]] = {}
        self.head: str | None = None
        self.number = 0

    @rule(value=st.integers(0, 3), whole=st.booleans())
    def work(self, value: int, whole: bool) -> None:
        self.number += 1
        name = f"c{self.number}"
        before = self.model.get(self.head or "", [])
        after = [*before, value]
        if whole or self.head is None:
            made = update(name, parent=self.head, data=after)
        else:
            made = update(name, parent=self.head, patch=[add(value, "/-")])
        self.real.record(made, base=self.head)
        self.model[name] = after
        self.head = name

    @precondition(lambda self: self.head is not None)
    @rule(data=st.data())
    def roll_back(self, data: st.DataObject) -> None:
        self.head = data.draw(st.sampled_from([one.id for one in self.real.checkpoints]))
        self.real.roll_back(self.head)

    @precondition(lambda self: self.head is not None)
    @rule()
    def fail(self) -> None:
        bad = [add(1, "/-"), {"op": "test", "path": "/0", "value": "no"}]
        with pytest.raises(StateError):
            self.real.record(update("bad", parent=self.head, patch=bad), base=self.head)

    @invariant()
    def every_checkpoint_has_the_state_that_was_written_down(self) -> None:
        assert self.real.head == self.head
        assert len(self.real) <= 6
        for one in self.real.checkpoints:
            assert one.data == self.model[one.id]
            for child in one.children:
                assert self.real[child].parent == one.id


TestTree = TreeAgainstModel.TestCase
TestTree.settings = BRIEF
TestTreeAtLength = long_run(TreeAgainstModel)


ODD = [
    pytest.param(update("c" * 513), "/checkpoint: expected an id of at most 512", id="its id"),
    pytest.param(update("c", parent="p" * 513), "/parent: expected an id", id="its parent's id"),
    pytest.param(update("c", data=[float("inf")]), "/data: expected a JSON", id="1e999"),
    pytest.param(
        update("c", parent="def", patch=[add(float("-inf"))]), "/patch: expected", id="in a patch"
    ),
]


@each(("odd", "fault"), ODD)
def test_what_cannot_be_kept_is_refused_with_its_place_and_changes_nothing(
    odd: StateUpdate, fault: str
) -> None:
    tree = notes()
    with pytest.raises(StateError, match=fault):
        tree.record(odd, base="def")
    assert tree.head == "def"
    assert len(tree) == 2
