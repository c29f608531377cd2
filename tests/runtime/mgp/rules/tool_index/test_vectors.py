"""Vectors of tools: what is packed, which are nearest, and that they follow the tools."""

from __future__ import annotations

import random
from math import inf, nan

import pytest
from hypothesis import given, settings, strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from kinwire.mgp.rules.tool_index.entry import IndexedTool
from kinwire.mgp.rules.tool_index.vectors import PackedVector, ToolVectors, cosine, packed
from tests.each import each
from tests.runtime.mgp.rules.tool_index.fixtures_tools import indexed


def vector_of(*numbers: float) -> PackedVector:
    found = packed(numbers)
    assert found is not None
    return found


@each("numbers", [None, [], [0.0, -0.0], [1.0, nan], [inf, 1.0], [1.0, -inf]])
def test_a_vector_without_a_direction_is_not_one(numbers: list[float] | None) -> None:
    assert packed(numbers) is None


@given(
    st.lists(st.floats(-1, 1, width=16), min_size=1, max_size=20), st.sampled_from([1e-30, 1e30])
)
def test_only_the_direction_of_a_vector_counts(numbers: list[float], scale: float) -> None:
    one, other = packed(numbers), packed([number * 2.0**-99 for number in numbers])
    assert one == other
    if one is not None:
        assert cosine(one, one) == pytest.approx(1)
        assert cosine(one, vector_of(*(-number for number in numbers))) == pytest.approx(-1)


def test_the_cosine_of_packed_vectors_is_near_the_exact_one() -> None:
    chance = random.Random(5)
    for _ in range(20):
        one, other = ([chance.gauss(0, 1) for _ in range(384)] for _ in range(2))
        exact = (
            sum(a * b for a, b in zip(one, other, strict=True))
            / (sum(a * a for a in one) * sum(b * b for b in other)) ** 0.5
        )
        assert cosine(vector_of(*one), vector_of(*other)) == pytest.approx(exact, abs=0.01)


def test_vectors_of_other_dimensions_are_not_near() -> None:
    assert cosine(vector_of(1, 1), vector_of(1, 1, 0)) == 0


def filled(count: int, dimension: int = 384) -> tuple[ToolVectors, list[IndexedTool]]:
    """Return `count` tools in clusters, as those of real servers are, and their vectors."""
    chance, vectors = random.Random(7), ToolVectors()
    tools = [indexed(f"t{number:04}") for number in range(count)]
    vectors.replace("s", tools)
    centers = [[chance.gauss(0, 1) for _ in range(dimension)] for _ in range(20)]
    for tool in tools:
        center = chance.choice(centers)
        vectors.put(tool, packed([number + chance.gauss(0, 1) for number in center]))
    return vectors, tools


def test_nearly_all_of_the_nearest_tools_are_found_among_many() -> None:
    vectors, tools = filled(400)
    odd = {id(tool) for tool in tools[1::2]}
    right = 0
    for tool in tools[:10]:
        query = vectors.of(tool)
        assert query is not None
        found = vectors.nearest(query, lambda one: id(one) in odd, count=80)
        assert len(found) > 50
        assert all(id(one) in odd for one, _ in found)
        exact = [cosine(query, vectors.of(one) or query) for one in tools[1::2]]
        right += len({score for _, score in found[:10]} & {*sorted(exact)[-10:]})
    assert right > 95


def test_few_accepted_tools_are_found_among_many() -> None:
    vectors, tools = filled(300, 8)
    few = tools[::60]
    query = vectors.of(few[0]) or vector_of(1)
    accepted = {id(tool) for tool in few}
    found = vectors.nearest(query, lambda tool: id(tool) in accepted, count=5)
    scores = [cosine(query, vectors.of(tool) or query) for tool in few]
    assert [score for _, score in found] == sorted((s for s in scores if s > 0), reverse=True)
    assert len(found) > 1


def test_a_filter_is_asked_no_more_than_it_must_be() -> None:
    vectors, tools = filled(100, 8)
    asked: list[IndexedTool] = []

    def accepts(tool: IndexedTool) -> bool:
        asked.append(tool)
        return True

    vectors.nearest(vectors.of(tools[0]) or vector_of(1), accepts, count=5)
    assert len(asked) == 10


def test_equal_tools_come_in_the_order_of_server_and_name() -> None:
    vectors = ToolVectors()
    tools = [indexed(name, server=server) for server in "ba" for name in ("z", "y")]
    for server in "ba":
        vectors.replace(server, [tool for tool in tools if tool.server_id == server])
    for tool in tools:
        vectors.put(tool, vector_of(1, 0.5))
    found = vectors.nearest(vector_of(1, 0.5))
    assert [(tool.server_id, tool.name) for tool, _ in found] == [
        *(("a", "y"), ("a", "z"), ("b", "y"), ("b", "z"))
    ]


def test_tools_in_another_direction_are_not_near() -> None:
    vectors, (tool, other) = ToolVectors(), (indexed("a"), indexed("b"))
    vectors.replace("s", [tool, other])
    vectors.put(tool, vector_of(-1, 0))
    vectors.put(other, vector_of(0, 1))
    assert vectors.nearest(vector_of(1, 0)) == []


def test_tools_that_wait_come_in_order_and_can_be_postponed() -> None:
    vectors, tools = ToolVectors(), [indexed(name) for name in "abc"]
    vectors.replace("s", tools)
    assert vectors.waiting(2) == tools[:2]
    vectors.postpone(tools[:1])
    assert vectors.waiting(9) == [tools[1], tools[2], tools[0]]
    vectors.put(tools[1], None)
    assert vectors.waiting(9) == [tools[2], tools[0]]
    assert not vectors.waits(tools[1])
    vectors.postpone(tools[1:2])
    vectors.put(tools[1], vector_of(1))
    assert vectors.of(tools[1]) is None


def test_a_server_that_comes_back_needs_no_new_vectors() -> None:
    vectors, tools = ToolVectors(), [indexed(name) for name in "ab"]
    vectors.replace("s", tools)
    for tool in tools:
        vectors.put(tool, vector_of(1, len(tool.name)))
    vectors.remove("s")
    assert (len(vectors), vectors.nearest(vector_of(1, 1))) == (0, [])
    changed = indexed("b", "Now with a description.")
    vectors.replace("s", [tools[0], changed])
    assert vectors.waiting(9) == [changed]
    assert [tool for tool, _ in vectors.nearest(vector_of(1, 1))] == [tools[0]]


class VectorsFollowTools(RuleBasedStateMachine):
    """Servers come, change and go, and vectors arrive in any order."""

    def __init__(self) -> None:
        super().__init__()
        self.real = ToolVectors()
        self.servers = dict[str, list[IndexedTool]]()
        self.known = dict[str, PackedVector]()

    @rule(server=st.sampled_from("xyz"), names=st.sets(st.sampled_from("abcd")))
    def replace(self, server: str, names: set[str]) -> None:
        before = {tool.name: tool for tool in self.servers.get(server, ())}
        tools = [before.get(name) or indexed(name, server=server) for name in sorted(names)]
        self.servers[server] = tools
        self.real.replace(server, tools)

    @rule(angle=st.integers(0, 3), count=st.integers(0, 3))
    def put(self, angle: int, count: int) -> None:
        for tool in self.real.waiting(count):
            self.known[tool.digest] = vector_of(1, angle)
            self.real.put(tool, vector_of(1, angle))

    @invariant()
    def holds_what_is_listed(self) -> None:
        tools = [tool for listed in self.servers.values() for tool in listed]
        digests = {tool.digest for tool in tools}
        assert {tool.digest for tool in self.real.waiting(99)} == digests - self.known.keys()
        assert len(self.real) == len(digests & self.known.keys())
        found = {(tool.tool_id, score) for tool, score in self.real.nearest(vector_of(1, 1))}
        assert found == {
            (tool.tool_id, cosine(vector_of(1, 1), self.known[tool.digest]))
            for tool in tools
            if tool.digest in self.known
        }


TestVectorsFollowTools = VectorsFollowTools.TestCase
TestVectorsFollowTools.settings = settings(stateful_step_count=15)
