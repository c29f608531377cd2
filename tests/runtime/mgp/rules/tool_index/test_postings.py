"""The inverted index returns what a look at every entry returns."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from kinwire.mgp.rules.tool_index import postings as module
from kinwire.mgp.rules.tool_index.postings import Postings, WeightedTerm

# Sums of these are exact, so that equal scores are equal.
WEIGHTS = st.dictionaries(st.sampled_from("abcdef"), st.integers(1, 8).map(lambda n: n / 8))
GAINS = st.dictionaries(st.sampled_from("abcdefg"), st.sampled_from([0.25, 1.0, 2.0, 4.0]))
NUMBERS = st.frozensets(st.integers(0, 60))

Weights = dict[int, dict[str, float]]


def expected(
    entries: Weights, terms: list[WeightedTerm], limit: int, allowed: frozenset[int]
) -> dict[int, float]:
    """Look at every entry."""
    scores = dict[int, float]()
    for entry in allowed & entries.keys():
        has = entries[entry]
        if any(one.adds and one.term in has for one in terms):
            scores[entry] = sum(one.gain * has.get(one.term, 0.0) for one in terms)
    ranks = sorted(scores.values(), reverse=True)
    least = ranks[limit - 1] if len(ranks) >= limit else 0.0
    return {entry: score for entry, score in scores.items() if score >= least}


@given(
    st.lists(WEIGHTS, max_size=60),
    GAINS,
    st.frozensets(st.sampled_from("abc")),
    st.integers(1, 5),
    st.none() | NUMBERS,
    st.none() | NUMBERS,
    NUMBERS,
)
def test_pruning_changes_no_result(
    weights: list[dict[str, float]],
    gains: dict[str, float],
    ordering: frozenset[str],
    limit: int,
    within: frozenset[int] | None,
    accepted: frozenset[int] | None,
    removed: frozenset[int],
) -> None:
    """Lists are short here, so what is done with long ones is done from two entries on."""
    with pytest.MonkeyPatch.context() as patch:
        for limit_of in ("_MOST_ADDED", "_STRONGEST", "_FEW"):
            patch.setattr(module, limit_of, 2)
        postings = Postings()
        entries = dict(enumerate(weights))
        for entry, has in entries.items():
            postings.add(entry, has)
        for entry in removed & entries.keys():
            postings.remove(entry, entries.pop(entry))
        terms = [WeightedTerm(term, gain, term not in ordering) for term, gain in gains.items()]
        accepts = None if accepted is None else accepted.__contains__
        every = frozenset(range(61))
        allowed = (within or every if within is not None else every) & (
            every if accepted is None else accepted
        )
        if within is not None and not within:
            allowed = frozenset()
        found = postings.best(terms, limit, within=within, accepts=accepts)
        assert found == expected(entries, terms, limit, allowed)
        assert postings.matching(terms) == {
            entry for entry, has in entries.items() if any(t.adds and t.term in has for t in terms)
        }


def filled(count: int) -> Postings:
    postings = Postings()
    for entry in range(count):
        rare = {"rare": 0.9} if entry % 50 == 0 else {}
        postings.add(entry, {"common": 0.1, **rare})
    return postings


def test_a_common_term_is_not_walked_when_rare_ones_have_found_enough() -> None:
    """Only the 20 entries of the rare term are ever looked at."""
    asked = set[int]()

    def accepts(entry: int) -> bool:
        asked.add(entry)
        return True

    postings = filled(1000)
    terms = [WeightedTerm(term, postings.seen_by(None).rarity(term)) for term in ("rare", "common")]
    found = postings.best(terms, 5, accepts=accepts)
    assert found.keys() == set(range(0, 1000, 50))
    assert asked <= found.keys()


def test_a_term_is_rarer_the_fewer_entries_have_it() -> None:
    postings = filled(100)
    rarities = [postings.seen_by(None).rarity(term) for term in ("unknown", "rare", "common")]
    assert rarities == sorted(rarities, reverse=True)
    assert rarities[-1] > 0
    assert postings.seen_by(None).rarity("unknown") > 5


def test_terms_come_with_their_first_entry_and_go_with_their_last() -> None:
    postings = Postings()
    assert postings.add(1, {"a": 0.5, "b": 0.5}) == ["a", "b"]
    assert postings.add(2, {"b": 0.5, "c": 0.5}) == ["c"]
    assert postings.remove(1, ["a", "b"]) == ["a"]
    assert ("a" in postings, "b" in postings, sorted(postings)) == (False, True, ["b", "c"])
    assert postings.best([WeightedTerm("a", 1.0)], 5) == {}
    assert postings.best([WeightedTerm("b", 1.0)], 0) == {}
