"""The tools of a session: never above the budget, and pinned ones never taken out."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from kinwire.mgp.rules.tool_cache import DEFAULT_BUDGET, SizedTool, ToolCache, ToolKey
from kinwire_protocols.mgp.models import ToolContextBudget
from tests.runtime.mcpl.fixtures_long_runs import BRIEF, long_run


def budget(most: int, pinned: int, found: int, cached: int) -> ToolContextBudget:
    return ToolContextBudget(
        max_tokens=most, pinned_reserve=pinned, discovery_reserve=found, cache_limit=cached
    )


def key(name: str) -> ToolKey:
    return "s", name


def sized(*tools: tuple[str, int]) -> list[SizedTool]:
    return [SizedTool(key(name), tokens) for name, tokens in tools]


def names(keys: Sequence[ToolKey]) -> str:
    return " ".join(name for _, name in keys)


def used(cache: ToolCache, tool: SizedTool) -> tuple[ToolKey, ...]:
    """Load a tool that is called, and return what had to go."""
    return cache.load([tool]).evicted


def filled(given: ToolContextBudget, *tools: tuple[str, int]) -> ToolCache:
    cache = ToolCache(given)
    for tool in sized(*tools):
        used(cache, tool)
    return cache


@pytest.mark.spec("mgp-16.8-1")
def test_without_numbers_of_its_own_a_kernel_has_the_budget_of_the_specification() -> None:
    assert budget(8000, 2000, 3000, 3000) == DEFAULT_BUDGET


@pytest.mark.spec("mgp-16.8-1", "mgp-16.8-2", "mgp-16.8-3")
def test_the_pinned_tool_that_was_used_longest_ago_does_not_stop_eviction() -> None:
    cache = ToolCache(budget(3000, 300, 0, 3000))
    cache.pin(SizedTool(key("think"), 300))
    for tool in sized(("think", 300), ("a", 900), ("b", 900), ("c", 900)):
        assert used(cache, tool) == ()
    assert used(cache, SizedTool(key("d"), 900)) == (key("a"),)
    assert (names(cache.pinned), names(cache.cached), cache.tokens) == ("think", "b c d", 3000)
    assert cache.evict([key("think"), key("c"), key("e"), key("c")]) == (key("c"),)
    assert (names(cache.pinned), names(cache.cached)) == ("think", "b d")


def test_a_call_makes_a_tool_the_last_to_go() -> None:
    cache = filled(budget(9, 0, 0, 3), ("a", 1), ("b", 1), ("c", 1), ("a", 1))
    assert used(cache, SizedTool(key("d"), 2)) == (key("b"), key("c"))
    assert names(cache.cached) == "a d"


def test_a_tool_that_is_larger_than_the_cache_is_not_kept_and_takes_nothing_out() -> None:
    cache = filled(budget(9, 0, 0, 3), ("a", 1), ("b", 2))
    assert used(cache, SizedTool(key("big"), 4)) == ()
    assert names(cache.cached) == "a b"
    assert used(cache, SizedTool(key("a"), 4)) == (key("a"),), "it has grown"
    assert names(cache.cached) == "b"


def test_what_is_loaded_together_stays_together() -> None:
    cache = filled(budget(90, 10, 0, 10), ("old", 4), ("b", 4))
    cache.pin(SizedTool(key("pin"), 5))
    wanted = (("c", 3), ("big", 8), ("b", 4), ("d", 3), ("pin", 5), ("c", 9))
    found = cache.load(sized(*wanted))
    assert (names(found.present), found.tokens_added) == ("c b d pin", 6)
    assert names(found.evicted) == "old"
    assert (names(cache.cached), len(cache), cache.tokens) == ("d b c", 4, 15)


@pytest.mark.spec("mgp-16.7-4", "mgp-16.8-4")
def test_results_of_a_search_are_cut_and_the_next_search_replaces_them() -> None:
    cache = filled(budget(90, 0, 10, 10), ("a", 1))
    assert names(cache.discover(sized(("b", 6), ("c", 6), ("a", 3), ("b", 1), ("d", 2)))) == "b a"
    assert (cache.tokens, cache.all_tokens) == (1, 10)
    used(cache, SizedTool(key("b"), 5))
    assert (names(cache.found), names(cache.cached)) == ("a", "a b")
    assert names(cache.discover([])) == ""
    assert (cache.tokens, cache.all_tokens) == (6, 6)


def test_results_have_their_reserve_where_the_parts_are_more_than_all() -> None:
    cache = filled(budget(10, 4, 6, 10), ("a", 5), ("b", 5))
    assert names(cache.discover(sized(("c", 6), ("d", 1)))) == "c"
    assert (names(cache.cached), cache.all_tokens) == ("", 6)
    assert cache.pin(SizedTool(key("p"), 4))
    assert used(cache, SizedTool(key("c"), 6)) == ()
    assert (names(cache.cached), names(cache.found), cache.all_tokens) == ("c", "", 10)
    narrow = ToolCache(budget(10, 8, 6, 10))
    narrow.discover(sized(("a", 3), ("b", 3)))
    assert narrow.pin(SizedTool(key("p"), 6))
    assert (names(narrow.found), narrow.all_tokens) == ("a", 9), "the worst result goes"


def test_pinned_tools_have_room_for_themselves_alone() -> None:
    cache = filled(budget(20, 5, 0, 10), ("a", 3))
    assert cache.pin(SizedTool(key("a"), 3)), "it leaves the cache"
    assert (names(cache.pinned), names(cache.cached)) == ("a", "")
    assert not cache.pin(SizedTool(key("b"), 3))
    assert cache.pin(SizedTool(key("b"), 2))
    assert cache.pin(SizedTool(key("b"), 1)), "again, with another size"
    assert (names(cache.pinned), cache.tokens) == ("a b", 4)
    assert not ToolCache(budget(2, 5, 0, 0)).pin(SizedTool(key("a"), 3)), "more than all of it"


def test_a_definition_that_changes_has_its_new_size() -> None:
    cache = filled(budget(20, 5, 5, 10), ("a", 3), ("b", 3), ("c", 3))
    cache.pin(SizedTool(key("p"), 2))
    assert cache.resize(SizedTool(key("b"), 7)) == (key("a"),)
    assert (names(cache.cached), cache.tokens) == ("b c", 12), "it keeps its place"
    cache.evict([key("c")])
    assert cache.resize(SizedTool(key("b"), 10)) == (), "as large as the cache"
    assert cache.resize(SizedTool(key("b"), 11)) == (key("b"),)
    cache.load(sized(("c", 3)))
    assert cache.resize(SizedTool(key("p"), 5)) == ()
    assert cache.resize(SizedTool(key("p"), 6)) == (key("p"),)
    cache.discover(sized(("r", 5)))
    assert cache.resize(SizedTool(key("r"), 1)) == ()
    assert (names(cache.found), names(cache.cached)) == ("", "c")


def test_a_tool_that_its_server_lacks_is_nowhere() -> None:
    cache = filled(budget(20, 5, 5, 10), ("a", 1))
    cache.pin(SizedTool(key("p"), 1))
    cache.discover(sized(("a", 1), ("p", 1), ("r", 1)))
    for name in "apr":
        cache.remove(key(name))
    assert (len(cache), cache.all_tokens) == (0, 0)
    assert key("a") not in cache


TOOLS = st.builds(SizedTool, st.sampled_from([key(one) for one in "abcdef"]), st.integers(0, 7))


class CacheAgainstModel(RuleBasedStateMachine):
    """Any steps, with any budget; the model knows when each tool was used, and what is pinned."""

    def __init__(self) -> None:
        super().__init__()
        self.cache = ToolCache(budget(0, 0, 0, 0))
        self.used = dict[ToolKey, int]()
        self.pinned = dict[ToolKey, int]()
        self.sizes = dict[ToolKey, int]()
        self.turn = 0

    @rule(numbers=st.tuples(*[st.integers(0, 12)] * 3), most=st.integers(0, 24))
    def begin(self, numbers: tuple[int, int, int], most: int) -> None:
        self.__init__()  # type: ignore[misc]
        self.cache = ToolCache(budget(most, *numbers))

    def _uses(self, *tools: SizedTool) -> None:
        for one in reversed(tools):
            self.turn += 1
            self.used[one.key] = self.turn
            self.sizes[one.key] = one.tokens

    def _must_be_oldest(self, gone: Sequence[ToolKey], *but: ToolKey) -> None:
        """No tool that went was used after one that stayed; the last of them had to go."""
        lru = [one for one in gone if one not in but]
        assert lru == sorted(lru, key=lambda one: self.used[one])
        for one in lru:
            assert all(self.used[one] < self.used[other] for other in self.cache.cached)
        if lru:
            taken = sum(self.sizes[one] for one in self.cache.cached) + self.sizes[lru[-1]]
            limits = self.cache.budget
            others = self.cache.all_tokens - sum(self.sizes[one] for one in self.cache.cached)
            assert taken > min(limits.cache_limit, limits.max_tokens - others)

    @rule(tool=TOOLS)
    def use(self, tool: SizedTool) -> None:
        was = tool.key in self.cache.pinned
        gone = used(self.cache, tool)
        if tool.key in self.cache.cached:
            self._uses(tool)
        assert was is (tool.key in self.cache.pinned)
        self._must_be_oldest(gone, tool.key)

    @rule(tools=st.lists(TOOLS, max_size=4, unique_by=lambda tool: tool.key))
    def load(self, tools: list[SizedTool]) -> None:
        before = set(self.cache.cached)
        found = self.cache.load(tools)
        kept = [one for one in tools if one.key in self.cache.cached]
        self._uses(*kept)
        assert set(found.present) == {one.key for one in tools if one.key in self.cache}
        assert found.tokens_added == sum(one.tokens for one in kept if one.key not in before)
        self._must_be_oldest(found.evicted, *(one.key for one in tools))

    @rule(tool=TOOLS)
    def pin(self, tool: SizedTool) -> None:
        others = sum(self.pinned.values()) - self.pinned.get(tool.key, 0)
        most = min(self.cache.budget.pinned_reserve, self.cache.budget.max_tokens)
        fits = others + tool.tokens <= most
        assert self.cache.pin(tool) is fits
        if fits:
            self.pinned[tool.key] = tool.tokens
        else:
            self.pinned.pop(tool.key, None)

    @rule(tools=st.lists(TOOLS, max_size=4, unique_by=lambda tool: tool.key))
    def discover(self, tools: list[SizedTool]) -> None:
        found = self.cache.discover(tools)
        order = [one.key for one in tools]
        assert list(found) == [one for one in order if one in found]

    @rule(keys=st.lists(TOOLS, max_size=3))
    def evict(self, keys: list[SizedTool]) -> None:
        before = set(self.cache.cached)
        gone = self.cache.evict(one.key for one in keys)
        assert set(gone) == before & {one.key for one in keys}

    @rule(tool=TOOLS)
    def resize(self, tool: SizedTool) -> None:
        was_pinned, was_cached = tool.key in self.pinned, tool.key in self.cache.cached
        gone = self.cache.resize(tool)
        if was_pinned and tool.key in gone:
            del self.pinned[tool.key]
        elif was_pinned:
            self.pinned[tool.key] = tool.tokens
        elif was_cached and tool.key not in gone:
            self.sizes[tool.key] = tool.tokens

    @rule(tool=TOOLS)
    def remove(self, tool: SizedTool) -> None:
        self.cache.remove(tool.key)
        self.pinned.pop(tool.key, None)

    @invariant()
    def the_total_is_within_the_budget(self) -> None:
        cache, limits = self.cache, self.cache.budget
        assert cache.all_tokens <= limits.max_tokens
        assert cache.tokens - sum(self.pinned.values()) <= limits.cache_limit

    @invariant()
    def pinned_tools_are_there(self) -> None:
        assert list(self.cache.pinned) == list(self.pinned)
        assert not set(self.cache.pinned) & set(self.cache.cached)

    @invariant()
    def cached_tools_are_in_the_order_of_their_use(self) -> None:
        turns = [self.used[one] for one in self.cache.cached]
        assert turns == sorted(turns)


TestCache = CacheAgainstModel.TestCase
TestCache.settings = BRIEF
TestCacheAtLength = long_run(CacheAgainstModel)
