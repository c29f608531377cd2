"""Steps that the rules take on input which is made to cost them: they grow as the input does.

A step is a line of Python that runs. Clocks say nothing here, and no bound is a number of seconds.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from kinwire.mcpl.rules.checkpoint_tree import CheckpointTree
from kinwire.mcpl.rules.feature_sets import FeatureSets
from kinwire.mcpl.rules.json_diff import patch_between
from kinwire.mcpl.rules.json_patch import patched
from kinwire.mcpl.rules.offers import read_offer
from kinwire.mcpl.rules.scopes import label_problem, normal_label
from kinwire.support.bounded import TtlDict
from kinwire.support.patterns.glob import PATTERN_SIZE, Pattern
from kinwire_protocols.base import from_wire
from kinwire_protocols.mcpl import StateUpdate
from tests.each import each
from tests.runtime.fixtures_steps import assert_linear, steps
from tests.runtime.mcpl.fixtures_pairs import feature

HARD = [
    pytest.param("**/a/" * 8 + "**/b", "a/", "c", id="folders within folders"),
    pytest.param("**/" * 170 + "x", "a/", "y", id="any folders many times"),
    pytest.param("*" * (PATTERN_SIZE - 1) + "b", "a", "", id="stars"),
    pytest.param("*a" * 200 + "b", "a", "!", id="stars with letters between"),
    pytest.param("[a-z]*" * 80 + "0", "a", "", id="classes"),
    pytest.param("?" * PATTERN_SIZE, "a", "", id="questions"),
    pytest.param("a*/" * 100 + "**", "a/", "", id="what matches to the end"),
]


@pytest.mark.parametrize(("text", "piece", "end"), HARD)
@pytest.mark.parametrize("how", [Pattern.matches, Pattern.covers], ids=["matches", "covers"])
def test_a_match_is_linear_in_the_label(
    text: str, piece: str, end: str, how: Callable[[Pattern, str], bool]
) -> None:
    pattern = Pattern(text)
    assert_linear(lambda size: lambda: how(pattern, piece * size + end), 500)


@each("piece", ["*a", "**/", "[a-z]", "?", "\\*", "[", "a/"])
def test_compiling_a_pattern_is_linear_in_its_length(piece: str) -> None:
    def compiled(size: int) -> Callable[[], object]:
        return lambda: Pattern((piece * size)[:PATTERN_SIZE])

    assert_linear(compiled, 100 // len(piece))


@each("piece", ["/a", "/.", "//", "\u0301", "%", "/ ."])
def test_checking_a_label_is_linear_in_its_length(piece: str) -> None:
    def judged(size: int) -> Callable[[], object]:
        label = ("x" + piece * 200)[:size]  # as long as a label may be, and no longer
        return lambda: (label_problem(label), normal_label(label))

    assert steps(judged(512)) <= 4.5 * steps(judged(128))


# Patches, as the host applies them.

ADD = {"op": "add", "value": 0}
PATCHES: dict[str, Callable[[int], list[dict[str, Any]]]] = {
    "to the front": lambda size: [{**ADD, "path": "/l/0"}] * size,
    "to the end": lambda size: [{**ADD, "path": "/l/-"}] * size,
    "far below": lambda size: [{**ADD, "path": "/d" * 30 + "/x"}] * size,
    "there and back": lambda size: (
        [
            {"op": "move", "from": "/a", "path": "/b"},
            {"op": "move", "from": "/b", "path": "/a"},
        ]
        * (size // 2)
    ),
    "looked at": lambda size: [{"op": "test", "path": "/a", "value": [[1]]}] * size,
    "of escapes": lambda size: [{**ADD, "path": "/" + "~1~0" * 20}] * size,
}


@each("kind", PATCHES)
def test_a_patch_is_linear_in_its_operations(kind: str) -> None:
    deep: dict[str, Any] = {}
    for _level in range(30):
        deep = {"d": deep}
    state = {**deep, "l": [0] * 1000, "a": [[1]]}

    def applied(size: int) -> Callable[[], object]:
        members = {"checkpoint": "c", "patch": PATCHES[kind](size)}
        operations = from_wire(StateUpdate, members).patch or []
        return lambda: patched(state, operations)

    assert_linear(applied, 100)


def test_a_patch_takes_no_more_steps_for_what_it_leaves_alone() -> None:
    operations = from_wire(StateUpdate, {"checkpoint": "c", "patch": [{**ADD, "path": "/n"}]}).patch

    def applied(size: int) -> Callable[[], object]:
        state = {"n": 1, "big": [[{"x": number}] for number in range(size)]}
        return lambda: patched(state, operations or [])

    assert steps(applied(4000)) == steps(applied(1000))


# Patches, as the server makes them.


def changed(size: int) -> tuple[Any, Any]:
    return list(range(size)), [-number for number in range(size)]


def shuffled(size: int) -> tuple[Any, Any]:
    return list(range(size)), list(range(size))[::-1]


def lists_of_lists(size: int) -> tuple[Any, Any]:
    """As many lists as may be, each as long as two lists that are compared entry by entry."""
    before = [list(range(100)) for _ in range(size // 100)]
    return before, [[*one[::-1]] for one in before]


def members(size: int) -> tuple[Any, Any]:
    return {str(n): n for n in range(size)}, {str(n): -n for n in range(1, size + 1)}


def deep(size: int) -> tuple[Any, Any]:
    def chain(end: int) -> Any:
        value: Any = end
        for _level in range(50):
            value = {"d": value, "l": list(range(size // 50))}
        return value

    return chain(1), chain(2)


@each("values", [changed, shuffled, members, deep])
def test_finding_a_patch_is_linear_in_the_values(
    values: Callable[[int], tuple[Any, Any]],
) -> None:
    def found(size: int) -> Callable[[], object]:
        before, after = values(size)
        return lambda: patch_between(before, after)

    assert_linear(found, 2000)


def test_the_comparisons_of_entries_in_one_patch_are_limited() -> None:
    def found(size: int) -> Callable[[], object]:
        before, after = lists_of_lists(size)
        return lambda: patch_between(before, after)

    assert steps(found(4000)) <= 1.5 * steps(found(1000))


# Trees, sets and what has been seen.


def test_recording_a_checkpoint_takes_as_long_however_many_there_are() -> None:
    def tree(size: int) -> CheckpointTree:
        made = CheckpointTree(checkpoints=10_000)
        made.record(update("c0", data={"n": 0}), base=None)
        for number in range(1, size):
            made.record(update(f"c{number}", patch=[{**ADD, "path": "/n"}]), base=made.head)
        return made

    def costs(size: int) -> tuple[int, int]:
        made, more = tree(size), update("more", patch=[{**ADD, "path": "/n"}])
        return (
            steps(lambda: made.roll_back("c1")),
            steps(lambda: made.record(more, base=made.head)),
        )

    assert costs(50) == costs(1000)


@pytest.mark.parametrize("parents", ["each other", "the first"])
def test_a_full_tree_prunes_in_as_many_steps_however_large_it_is(parents: str) -> None:
    def recorded(size: int) -> int:
        made = CheckpointTree(checkpoints=size)
        made.record(update("c0", data=[0]), base=None)
        for number in range(1, 2 * size):
            parent = f"c{number - 1}" if parents == "each other" else "c0"
            made.record(update(f"c{number}", parent=parent, data=[number]), base=None)
        last = update("last", parent="gone", data=[1])
        return steps(lambda: made.record(last, base=None))

    assert recorded(400) == recorded(100)


def update(checkpoint: str, **members: Any) -> StateUpdate:
    return from_wire(StateUpdate, {"checkpoint": checkpoint, **members})


def test_an_event_is_known_in_as_many_steps_however_many_have_come() -> None:
    def looked_at(size: int) -> int:
        seen = TtlDict[str, int](10, limit=size)
        for number in range(2 * size):
            seen.put(str(number), number, now=0)

        def work() -> None:
            seen.get(str(size + 1), now=1)
            seen.put("new", 0, now=1)

        return steps(work)

    assert looked_at(100) == looked_at(10_000)


def test_switching_sets_is_linear_in_their_number() -> None:
    def switched(size: int) -> Callable[[], object]:
        sets = FeatureSets(
            {f"memory.s{number}": feature("pushEvents") for number in range(size)}, enabled=False
        )

        def work() -> None:
            sets.switch(enabled=["memory.*", *sets.declared], disabled=[*sets.declared])
            for name in sets.declared:
                sets.refusal(name, "pushEvents")

        return work

    assert_linear(switched, 200)


def test_switching_sets_is_linear_in_the_patterns() -> None:
    def switched(size: int) -> Callable[[], object]:
        sets = FeatureSets({f"s{name}": feature() for name in range(50)}, enabled=False)
        return lambda: sets.switch(enabled=[f"other{number}.*" for number in range(size)])

    assert_linear(switched, 500)
    assert steps(switched(2000)) <= 20 * 2000


def test_of_an_offer_no_more_sets_are_looked_at_than_there_may_be() -> None:
    def read(size: int) -> int:
        return steps(lambda: read_offer({"featureSets": [{"name": "x"}, *[7] * size]}))

    assert read(20_000) == read(5000)
