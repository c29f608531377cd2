"""One ranking by words and by meaning."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from kinwire.mgp.rules.tool_index.fusion import Judged, accepted_in, fused
from tests.each import each
from tests.runtime.mgp.rules.tool_index.fixtures_tools import indexed


def ranked(*judged: tuple[str, float, float | None]) -> list[str]:
    return [
        hit.tool.name
        for hit in fused(Judged(indexed(name), words, meaning) for name, words, meaning in judged)
    ]


@each(
    ("judged", "names"),
    [
        ([("a", 0.9, 0.1), ("b", 0.1, 0.9), ("c", 0.8, 0.8), ("d", 0.2, 0.2)], "cabd"),
        # Ranks count, not scores: the two ways measure differently.
        ([("a", 0.9, 0.01), ("b", 0.89, 0.02), ("c", 0.1, 0.0)], "abc"),
        ([("a", 0.0, 0.2), ("b", 0.0, 0.6)], "ba"),
        ([("a", 0.1, -0.5), ("b", 0.2, -0.1)], "ba"),
        ([("b", 0.5, 0.5), ("a", 0.5, 0.5)], "ab"),
        ([("a", 0.0, -0.1), ("b", 0.0, None), ("c", 0.0, 0.0)], ""),
        ([("a", 0.3, None), ("b", 0.6, None)], "ba"),
        # Without a vector a tool never stands above one with a score, whatever its words.
        ([("a", 1.0, None), ("b", 0.0, 0.01), ("c", 0.9, 0.9)], "cba"),
    ],
)
def test_both_ways_count(judged: list[tuple[str, float, float | None]], names: str) -> None:
    assert "".join(ranked(*judged)) == names


SHARES = st.sampled_from([0.0, 0.1, 0.5, 1.0])
MEANINGS = st.none() | st.sampled_from([-1.0, -0.2, 0.0, 0.1, 0.5, 1.0])


def test_the_first_in_both_ways_has_the_score_1() -> None:
    hits = fused([Judged(indexed("a"), 0.3, 0.4), Judged(indexed("b"), 0.0, 0.3)])
    assert [hit.score for hit in hits] == [1.0, pytest.approx(5 / 6 / 2)]


@given(st.lists(st.tuples(SHARES, MEANINGS), max_size=12))
def test_scores_fall_and_are_from_0_to_1(ways: list[tuple[float, float | None]]) -> None:
    judged = {f"t{at}": Judged(indexed(f"t{at}"), *way) for at, way in enumerate(ways)}
    hits = fused(judged.values())
    scores = [hit.score for hit in hits]
    assert scores == sorted(scores, reverse=True)
    assert all(0 < score <= 1 for score in scores)
    assert len({hit.tool.name for hit in hits}) == len(hits)
    has_vector = [judged[hit.tool.name].meaning is not None for hit in hits]
    assert has_vector == sorted(has_vector, reverse=True)


@each(
    ("categories", "names"),
    [
        ((), "ab"),
        (("kind",), "ab"),
        (("kind/a",), "a"),
        (("Kind.A",), "a"),
        (("kind/a", "kind/b"), "ab"),
        (("kin",), ""),
        (("kind/a/x",), ""),
    ],
)
def test_a_category_holds_what_is_below_it(categories: tuple[str, ...], names: str) -> None:
    accepts = accepted_in(categories, None) or (lambda _: True)
    assert "".join(name for name in "ab" if accepts(indexed(name))) == names
    both = accepted_in(categories, lambda tool: tool.name == "b") or (lambda _: False)
    assert "".join(name for name in "ab" if both(indexed(name))) == names.strip("a")
