"""The index finds what a look at every filter finds, at a cost that other filters do not add to."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from kinwire.mcpe.rules.events import PRIORITIES
from kinwire.mcpe.rules.filter_index import MOST_PLACES, FilterIndex
from kinwire.mcpe.rules.filters import CompiledFilter
from kinwire_protocols.mcpe.models import EventFilter

PART = st.sampled_from(["a", "b", "c"])
NAME = st.lists(PART, min_size=1, max_size=4).map(".".join)
PATTERN = st.one_of(NAME, NAME.map(lambda name: f"{name}.*"), st.just("*"))
TAG = st.sampled_from(["x", "y", "z"])
PRIORITY = st.sampled_from(PRIORITIES)
MANY_TAGS = [f"t{number}" for number in range(MOST_PLACES)]
FILTER = st.builds(
    lambda types, tags, priority, many: filter_of(
        types, tags + (MANY_TAGS if many else []), priority
    ),
    st.lists(PATTERN, max_size=3),
    st.lists(TAG, max_size=3),
    st.lists(PRIORITY, max_size=2),
    st.integers(0, 9).map(lambda number: number == 0),
)
EVENT = st.tuples(NAME, st.lists(TAG, max_size=4), PRIORITY | st.just("unknown"))


def filter_of(types: list[str], tags: list[str], priority: list[Any]) -> CompiledFilter:
    return CompiledFilter.of(EventFilter(event_types=types, tags=tags, priority=priority))


class IndexMachine(RuleBasedStateMachine):
    """Filters are set and removed in any order; events find them."""

    @initialize()
    def begin(self) -> None:
        self.index = FilterIndex[int]()
        self.kept: dict[int, CompiledFilter] = {}

    @rule(key=st.integers(0, 8), filter=FILTER)
    def put(self, key: int, filter: CompiledFilter) -> None:
        self.index.put(key, filter)
        self.kept[key] = filter

    @rule(key=st.integers(0, 8))
    def discard(self, key: int) -> None:
        self.index.discard(key)
        self.kept.pop(key, None)

    @rule(event=EVENT)
    def find(self, event: tuple[str, list[str], str]) -> None:
        expected = [key for key, filter in self.kept.items() if filter.selects(*event)]
        assert sorted(self.index.matching(*event)) == sorted(expected)

    @invariant()
    def keys_are_the_same(self) -> None:
        assert len(self.index) == len(self.kept)
        assert all((key in self.index) is (key in self.kept) for key in range(9))


TestFilterIndex = IndexMachine.TestCase
TestFilterIndex.settings = settings(stateful_step_count=20)


@given(st.lists(FILTER, max_size=12), EVENT)
def test_every_filter_that_selects_is_found_once(
    filters: list[CompiledFilter], event: tuple[str, list[str], str]
) -> None:
    index = FilterIndex[int]()
    for key, filter in enumerate(filters):
        index.put(key, filter)
    assert sorted(index.matching(*event)) == [
        key for key, filter in enumerate(filters) if filter.selects(*event)
    ]


def calls_of(function: Callable[[], object]) -> int:
    """Return how many functions of Python and C were called, which is a cost without a clock."""
    calls = 0

    def count(frame: object, event: str, argument: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    gc.disable()  # its callbacks would be counted
    sys.setprofile(count)
    try:
        function()
    finally:
        sys.setprofile(None)
        gc.enable()
    return calls


@pytest.mark.parametrize("filled", ["types", "tags", "priorities", "wide"])
def test_filters_that_do_not_match_cost_an_event_nothing(filled: str) -> None:
    """Also those with the pattern of the event, and another tag or priority."""
    made: dict[str, Callable[[int], CompiledFilter]] = {
        "types": lambda n: filter_of([f"s{n}.*", f"github.k{n}", f"github.push.k{n}.*"], [], []),
        "tags": lambda n: filter_of(["github.*", "*"], [f"t{n}"], []),
        "priorities": lambda n: filter_of(["github.push"], [f"t{n}", "main"], ["critical"]),
        "wide": lambda n: filter_of(["slack.*"], [*MANY_TAGS, f"t{n}"], ["low"]),
    }
    costs: list[int] = []
    for count in (1, 2000 if filled != "wide" else 20):
        index = FilterIndex[int]()
        index.put(-1, filter_of(["github.*"], ["main"], ["low"]))
        for number in range(count):
            index.put(number, made[filled](number))
        costs.append(calls_of(partial(index.matching, "github.push", ["main"], "low")))
        assert index.matching("github.push", ["main"], "low") == [-1]
    assert costs[0] == costs[1]


def test_what_was_removed_leaves_nothing_behind() -> None:
    index = FilterIndex[int]()
    filters = [
        filter_of(
            ["a.*", f"b.{n}.c.d", "*"][: n % 3 + 1], [f"t{n}"] * (n % 2), ["low"][: n % 5 % 2]
        )
        for n in range(500)
    ]
    for _ in range(2):
        for key, filter in enumerate(filters):
            index.put(key, filter)
        for key in range(len(filters)):
            index.put(key, filters[-key])  # a change removes the places of before
        for key in reversed(range(len(filters))):
            index.discard(key)
    assert len(index) == 0
    assert index._root.is_empty
    assert not index._exact
    assert not index._places._places


def test_reading_is_fast_after_many_removals() -> None:
    index = FilterIndex[int]()
    every = filter_of([], [], [])
    for key in range(10_000):
        index.put(key, every)
    for key in range(9_999):
        index.discard(key)
    assert sys.getsizeof(index._root.keys_here) < 500
    assert index.matching("a", (), "low") == [9_999]


def test_an_absent_key_and_the_same_filter_change_nothing() -> None:
    index = FilterIndex[str]()
    index.discard("a")
    index.put("a", filter_of(["x"], [], []))
    node = index._exact["x"]
    index.put("a", filter_of(["x", "x"], [], []))
    assert index._exact["x"] is node
    assert "a" in index
    assert "b" not in index
