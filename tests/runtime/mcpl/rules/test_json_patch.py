"""JSON Patch by RFC 6902, and the cases that others stumbled over: all of it or nothing."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Callable
from copy import deepcopy
from functools import partial
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from kinwire.mcpl.rules.checkpoint_tree import CheckpointTree, StateError
from kinwire.mcpl.rules.json_diff import patch_between
from kinwire.mcpl.rules.json_patch import MOST_OPERATIONS, PatchError, patched
from kinwire.support.json_values import depth, digest, json_size, same, text
from kinwire_protocols.base import JsonObject, from_wire
from kinwire_protocols.mcpl import StateUpdate
from tests.each import each
from tests.runtime.fixtures_steps import steps

pytestmark = pytest.mark.spec("mcpl-8.3-4")


def apply(document: Any, *operations: JsonObject) -> Any:
    update = from_wire(StateUpdate, {"checkpoint": "c", "patch": list(operations)})
    assert update.patch is not None
    return patched(document, update.patch).document


def op(kind: str, path: str, value: Any = ..., **members: Any) -> JsonObject:
    given = {} if value is ... else {"value": value}
    return {"op": kind, "path": path, **given, **members}


def moved(kind: str, source: str, path: str) -> JsonObject:
    return {"op": kind, "from": source, "path": path}


APPLIED = [
    pytest.param({}, op("add", "/a", 1), {"a": 1}, id="add a member"),
    pytest.param({"a": 1}, op("add", "/a", None), {"a": None}, id="add over a member"),
    pytest.param([1, 3], op("add", "/1", 2), [1, 2, 3], id="add within an array"),
    pytest.param([1, 2], op("add", "/2", 3), [1, 2, 3], id="add behind an array"),
    pytest.param([1, 2], op("add", "/-", 3), [1, 2, 3], id="add with a dash"),
    pytest.param({"a": 1}, op("add", "", 5), 5, id="add the whole"),
    pytest.param({"": 1}, op("replace", "/", 2), {"": 2}, id="an empty name"),
    pytest.param({"a": {"b": [1]}}, op("remove", "/a/b/0"), {"a": {"b": []}}, id="remove deep"),
    pytest.param({"a": 1}, op("replace", "/a", [2]), {"a": [2]}, id="replace"),
    pytest.param({"a": 1, "b": 2}, moved("move", "/a", "/c"), {"b": 2, "c": 1}, id="move"),
    pytest.param([1, 2, 3], moved("move", "/0", "/2"), [2, 3, 1], id="move within an array"),
    pytest.param({"a": 1}, moved("move", "/a", "/a"), {"a": 1}, id="move to itself"),
    pytest.param({"a": {"b": 1}}, moved("move", "/a/b", "/a"), {"a": 1}, id="move up"),
    pytest.param({"a": 1, "ab": 2}, moved("move", "/a", "/ab"), {"ab": 1}, id="alike, not within"),
    pytest.param({"a": [1]}, moved("copy", "/a", "/b"), {"a": [1], "b": [1]}, id="copy"),
    pytest.param({"a": 1}, moved("copy", "", "/b"), {"a": 1, "b": {"a": 1}}, id="copy the whole"),
    pytest.param({"n": 1}, op("test", "/n", 1.0), {"n": 1}, id="1 is 1.0"),
    pytest.param({"v": [1, {"x": None}]}, op("test", "", {"v": [1, {"x": None}]}), ..., id="test"),
    pytest.param({"foo": 1}, op("add", "/0", "x"), {"foo": 1, "0": "x"}, id="a number as a name"),
    pytest.param({"a/b": 3}, op("test", "/a~1b", 3), ..., id="an escaped slash"),
    pytest.param({"m~n": 4}, op("test", "/m~0n", 4), ..., id="an escaped tilde"),
    pytest.param({"~1": 5}, op("test", "/~01", 5), ..., id="a tilde before a one"),
    pytest.param({"o": {"01": 1}}, op("replace", "/o/01", 2), {"o": {"01": 2}}, id="01 as a name"),
    pytest.param({"__proto__": 1}, op("remove", "/__proto__"), {}, id="no name is special"),
    pytest.param({}, op("add", "/-", 1), {"-": 1}, id="a dash as a name"),
]


@each(("document", "operation", "expected"), APPLIED)
def test_each_operation_does_what_the_rfc_says(
    document: Any, operation: JsonObject, expected: Any
) -> None:
    before = deepcopy(document)
    assert same(apply(document, operation), before if expected is ... else expected)
    assert document == before


REFUSED = [
    *[
        pytest.param({"v": [10, 20, 30]}, operation, id=f"{operation['op']} {index!r}")
        for index in ("01", "00", "+1", "-1", "1.0", "1e0", " 1", "\u0661", "9" * 5000)
        for operation in (
            op("add", f"/v/{index}", 1),
            op("replace", f"/v/{index}", 1),
            op("remove", f"/v/{index}"),
            op("test", f"/v/{index}", 20),
            moved("copy", f"/v/{index}", "/x"),
            moved("move", f"/v/{index}", "/x"),
        )
    ],
    *[
        pytest.param({"v": [1, 2]}, operation, id=f"{operation['op']} a dash")
        for operation in (
            op("remove", "/v/-"),
            op("replace", "/v/-", 9),
            op("test", "/v/-", 2),
            moved("copy", "/v/-", "/x"),
            moved("move", "/v/-", "/x"),
        )
    ],
    *[
        pytest.param({"n": 1, "z": 0, "l": [1], "s": "1"}, operation, id=f"test {operation}")
        for operation in (
            op("test", "/n", True),
            op("test", "/n", "1"),
            op("test", "/n", None),
            op("test", "/z", False),
            op("test", "/l", [True]),
            op("test", "/l", {"0": 1}),
        )
    ],
    pytest.param({"v": [1]}, op("add", "/v/5", 1), id="a gap in an array"),
    pytest.param({}, op("add", "/a/b", 1), id="a parent that is not there"),
    pytest.param({"a": 1}, op("add", "/a/b", 1), id="a parent that is a number"),
    pytest.param({}, op("remove", "/a"), id="remove nothing"),
    pytest.param({"a": 1}, op("remove", ""), id="remove the whole"),
    pytest.param({}, op("replace", "/a", 1), id="replace nothing"),
    pytest.param({}, op("test", "/a", None), id="test nothing for null"),
    pytest.param({"foo": 1}, op("test", "foo", 1), id="a pointer without a slash"),
    pytest.param({"~2": 1}, op("test", "/~2", 1), id="an escape that there is not"),
    pytest.param({"~": 1}, op("test", "/~", 1), id="a tilde alone"),
    pytest.param({"a": {"b": 1}}, moved("move", "/a", "/a/b/c"), id="move into its own child"),
    pytest.param({}, moved("move", "/a", "/a"), id="move nothing to itself"),
    pytest.param({}, op("add", "/a" * 65, 1), id="an endless pointer"),
    pytest.param({"a": 1}, moved("copy", "/b", "/c"), id="copy nothing"),
    *[
        pytest.param({"s": scalar, "o": {"s": scalar}}, operation, id=f"{operation} at {scalar}")
        for scalar in ("text", 7, 1.5, True, None)
        for operation in (
            op("remove", "/s/length"),
            op("remove", "/o/s/0"),
            op("replace", "/s/0", 1),
            op("add", "/s/-", 1),
            op("test", "/s/0", 1),
            moved("move", "/s/0", "/x"),
            moved("move", "/o/s/length", "/x"),
            moved("copy", "/s/0", "/x"),
        )
    ],
]


@each(("document", "operation"), REFUSED)
def test_what_cannot_be_done_is_an_error_with_its_place(
    document: Any, operation: JsonObject
) -> None:
    before = deepcopy(document)
    with pytest.raises(PatchError, match=r"^/patch/1/(path|from|value): expected "):
        apply(document, op("add", "/seen", True), operation)
    assert document == before


def test_the_half_of_a_long_patch_that_went_well_leaves_nothing() -> None:
    state: JsonObject = {"l": [], "n": 0}
    patch = [op("add", "/l/-", number) for number in range(MOST_OPERATIONS)]
    patch[500] = op("test", "/n", 1)
    with pytest.raises(PatchError, match="/patch/500/value"):
        apply(state, *patch)
    assert state == {"l": [], "n": 0}


def test_a_failed_patch_leaves_nothing_of_it() -> None:
    state = {"a": {"b": {"c": 1}}}
    with pytest.raises(PatchError, match="/patch/1/value"):
        apply(state, op("replace", "/a/b/c", 42), op("test", "/a/b/c", "C"))
    assert state == {"a": {"b": {"c": 1}}}


def test_a_copy_is_not_linked_to_its_source_and_a_patch_is_not_used_up() -> None:
    operations = [
        op("add", "/foo", []),
        op("add", "/foo/-", 1),
        moved("copy", "/foo", "/bar"),
        op("add", "/bar/-", 2),
    ]
    update = from_wire(StateUpdate, {"checkpoint": "c", "patch": operations})
    assert update.patch is not None
    for _again in range(2):
        assert patched({}, update.patch).document == {"foo": [1], "bar": [1, 2]}
    assert operations[0]["value"] == []


def test_what_a_patch_leaves_alone_is_shared_and_not_copied() -> None:
    state = {"big": {"much": [1, 2, 3]}, "n": 0}
    after = apply(state, op("replace", "/n", 1))
    assert after["big"] is state["big"]


def test_copies_of_copies_come_to_an_end() -> None:
    bomb = [moved("copy", "/a", "/a/-")] * 60
    with pytest.raises(PatchError, match=r"copies of at most|at most 64 levels"):
        apply({"a": [0] * 100}, *bomb)


LARGE: list[Any] = ["x" * 3_900_000, [0] * 1_900_000, [{}] * 1_300_000, "\x01" * 650_000]


@pytest.mark.parametrize("large", LARGE, ids=["text", "numbers", "objects", "controls"])
def test_copies_beyond_the_size_of_a_state_are_refused_before_they_are_made(large: Any) -> None:
    tree = CheckpointTree()
    tree.record(from_wire(StateUpdate, {"checkpoint": "a", "data": {"a": large, "l": []}}), base="")
    for path in ("/b{}", "/l/-"):
        copies = [moved("copy", "/a", path.format(number)) for number in range(250)]
        update = from_wire(StateUpdate, {"checkpoint": "b", "patch": copies})
        record = partial(refused, tree, update)
        assert peak_of(record) < 2 * 1024 * 1024  # bytes
        assert steps(record) < 1_000_000  # each a line of Python
        assert (len(tree), tree.head) == (1, "a")


def refused(tree: CheckpointTree, update: StateUpdate) -> None:
    with pytest.raises(StateError, match=r"^/patch/0/from: expected copies of at most"):
        tree.record(update, base="a")


def peak_of(work: Callable[[], object]) -> int:
    """Return how many bytes more than before `work` has allocated at one moment."""
    gc.collect()
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_small_copies_that_grow_large_are_refused_with_their_number() -> None:
    doubling = [moved("copy", "/a", "/a/-") for _ in range(1000)]
    with pytest.raises(PatchError, match=r"^/patch/\d+/from: expected"):
        apply({"a": ["x" * 1000]}, *doubling)


def test_a_copy_of_what_the_patch_has_changed_is_not_changed_with_it() -> None:
    state: JsonObject = {"a": {"b": {"c": [1]}}, "n": 0}
    after = apply(
        state,
        op("add", "/a/b/c/-", 2),
        moved("copy", "/a", "/x"),
        op("add", "/a/b/c/-", 3),
        moved("copy", "", "/whole"),
        op("add", "/x/b/c/-", 4),
        op("add", "/whole/a/b/c/-", 5),
        moved("copy", "/x/b", "/y"),
        op("replace", "/y/c", []),
    )
    assert after["a"] == {"b": {"c": [1, 2, 3]}}
    assert after["x"] == {"b": {"c": [1, 2, 4]}}
    assert after["whole"] == {
        "a": {"b": {"c": [1, 2, 3, 5]}},
        "n": 0,
        "x": {"b": {"c": [1, 2]}},
    }
    assert after["y"] == {"c": []}
    assert state == {"a": {"b": {"c": [1]}}, "n": 0}


def test_what_a_patch_has_removed_makes_room_for_copies() -> None:
    state = {"a": "x" * 1_500_000, "b": "y" * 2_000_000}
    for first in (op("remove", "/b"), op("replace", "/b", 1), op("add", "/b", 1)):
        after = apply_in(800_000, state, first, moved("copy", "/a", "/c"))
        assert after["c"] == state["a"]
    whole = apply_in(
        800_000, state, op("replace", "", {"a": state["a"]}), moved("copy", "/a", "/c")
    )
    assert whole == {"a": state["a"], "c": state["a"]}
    with pytest.raises(PatchError, match="/patch/1/from: expected copies of at most 800000"):
        apply_in(800_000, state, op("add", "/new", 1), moved("copy", "/a", "/c"))


def apply_in(room: int, document: Any, *operations: JsonObject) -> Any:
    update = from_wire(StateUpdate, {"checkpoint": "c", "patch": list(operations)})
    return patched(document, update.patch or [], room=room).document


SIZED: list[Any] = [
    *(None, True, 7, -1.5, "", "\u00e9\U0001f600", '"\\\n\x01', "x" * 200_000),
    *([], {}, [[]], [1, [2, {"a": {}}]], {"a": 1, "\u00e9": [None]}),
    *([[7]] * 6000, [[{"a": [True]}] * 9] * 2000, ["\ud83d", *range(6000)]),
]


@pytest.mark.parametrize("value", SIZED, ids=lambda value: repr(value)[:20])
def test_the_size_of_a_value_is_counted_without_writing_it(value: Any) -> None:
    written = len(text(value).encode("utf-8", "surrogatepass"))
    assert json_size(value, written) == written
    assert json_size(value, 10**9) == written
    assert json_size(value, written - 1) > written - 1


def test_there_is_an_end_to_operations() -> None:
    with pytest.raises(PatchError, match=r"^/patch: expected at most 1000 operations, got 1001"):
        apply({}, *[op("add", "/a", 1)] * (MOST_OPERATIONS + 1))


def test_containers_are_copied_once_however_many_operations_touch_them() -> None:
    copied = 0

    class Counted(list[Any]):
        def __iter__(self) -> Any:
            nonlocal copied
            copied += 1
            return super().__iter__()

    state = {"l": Counted(range(50))}
    after = apply(state, *[op("add", "/l/-", n) for n in range(1000)])
    assert len(after["l"]) == 1050
    assert copied == 1


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from(["", "a", "a/b", "~", "é"]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["", "a", "b", "a/b", "m~n", "0"]), inner, max_size=4)
    ),
    max_leaves=12,
)


@settings(max_examples=25, deadline=None)
@given(before=JSON, after=JSON)
def test_the_patch_between_two_values_makes_one_of_the_other(before: Any, after: Any) -> None:
    kept = deepcopy(before)
    patch = patch_between(before, after)
    assert same(apply(before, *patch), after)
    assert same(before, kept)
    assert (patch == []) == same(before, after)
    assert len(text(patch)) <= len(text([op("replace", "", after)]))


SMALL = [
    pytest.param({"n": [1, 2]}, {"n": [1, 2, 3]}, [op("add", "/n/2", 3)], id="an entry more"),
    pytest.param([1, 2, 3], [1, 3], [op("remove", "/1")], id="one taken out of the middle"),
    pytest.param(
        [{"id": n, "t": "x" * 9} for n in range(3)],
        [{"id": n, "t": "x" * 9 if n != 1 else "y"} for n in range(3)],
        [op("replace", "/1/t", "y")],
        id="a member of an entry",
    ),
    pytest.param({"a": 1}, {"a": True}, [op("replace", "/a", True)], id="1 is not true"),
    pytest.param(
        {"k": "x" * 50, "a": 1}, {"k": "x" * 50, "b": 1},
        [op("remove", "/a"), op("add", "/b", 1)], id="another name",
    ),
]  # fmt: skip


@each(("before", "after", "expected"), SMALL)
def test_the_patch_says_no_more_than_what_changed(before: Any, after: Any, expected: Any) -> None:
    assert patch_between(before, after) == expected


VALUES: list[Any] = [1, [], [[]], {"a": [{}]}]


def test_values_are_compared_as_in_json() -> None:
    assert same([1, {"a": None}], [1.0, {"a": None}])
    assert not same({"a": 0}, {"a": False})
    assert digest({"a": 1, "b": 2}) == digest({"b": 2, "a": 1})
    assert digest(1, 2) != digest([1, 2])
    assert [depth(value) for value in VALUES] == [0, 1, 2, 3]
