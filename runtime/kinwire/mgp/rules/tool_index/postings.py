"""An inverted index: which entries have a term, and how much it says about them (MGP 16.4).

What a term says about an entry is computed when the entry is added and does not depend on other
entries, so that entries come and go without work on the others. Only how rare a term is changes,
and that is applied to a whole list at a time. A search looks at rare terms first. It stops taking
new entries in as soon as the terms that are left cannot lift one among the best.
"""

from __future__ import annotations

__all__ = ("Accepted", "Postings", "SeenPostings", "WeightedTerm")

from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from heapq import nlargest
from itertools import islice
from math import log
from operator import itemgetter
from typing import Final, NamedTuple

_MOST_ADDED: Final = 128  # a shorter list is added without a look at what it could change
_FEW: Final = 256  # scores; this many are sorted faster than searched for the greatest
_STRONGEST: Final = 128  # entries of a list that are found first
_WEIGHT: Final = itemgetter(1)
_SLACK: Final = 1 + 1e-9  # sums of floats differ by their order

Accepted = Callable[[int], bool]
"""Returns whether an entry may be found."""


def _negative_weight(pair: tuple[int, float]) -> float:
    return -pair[1]


class WeightedTerm(NamedTuple):
    """A term of a query."""

    term: str
    gain: float
    """What it adds at most to the score of an entry: its weight, times how rare it is."""
    adds: bool = True
    """Whether it finds entries; otherwise it orders those that other terms find."""


class _Posting(dict[int, float]):
    """By entry: what the term says about it, from 0 to 1."""

    __slots__ = ("_strongest", "most")

    def __init__(self) -> None:
        super().__init__()
        self.most = 0.0
        """At least the greatest value; values that were removed may have been greater."""
        self._strongest: list[tuple[int, float]] | None = None

    def put(self, entry: int, weight: float) -> None:
        """Add an entry."""
        self[entry] = weight
        self._strongest = None
        if weight > self.most:
            self.most = weight

    def drop(self, entry: int) -> None:
        """Remove an entry."""
        del self[entry]
        self._strongest = None

    def strongest(self, least: float) -> Sequence[tuple[int, float]] | None:
        """Return the entries with at least this weight; None if they are more than 128."""
        if self._strongest is None:
            self._strongest = nlargest(_STRONGEST, self.items(), key=_WEIGHT)
        strong = self._strongest
        if strong[-1][1] >= least and len(strong) < len(self):
            return None
        return strong[: bisect_right(strong, -least, key=_negative_weight)]


class SeenPostings:
    """Counts the entries of terms, for a search that may find these entries alone.

    Scores and corrections of spelling must not tell what is in entries that are not shown.
    """

    def __init__(
        self, postings: Mapping[str, _Posting], entries: frozenset[int] | None, size: int
    ) -> None:
        """Without `entries`, all count."""
        self._postings = postings
        self._entries = entries
        self._size = size

    def __contains__(self, term: str) -> bool:
        posting = self._postings.get(term)
        if posting is None or self._entries is None:
            return posting is not None
        return not posting.keys().isdisjoint(self._entries)

    def count(self, term: str) -> int:
        """Return how many entries have a term."""
        posting = self._postings.get(term)
        if posting is None or self._entries is None:
            return len(posting or ())
        return len(posting.keys() & self._entries)

    def rarity(self, term: str) -> float:
        """Return how much it says that an entry has a term: the less, the more entries have it."""
        return self.rarity_of(self.count(term))

    def rarity_of(self, count: int) -> float:
        """Return the rarity of a term that this many entries have."""
        return log(1 + (self._size - count + 0.5) / (count + 0.5))


class Postings:
    """Holds which entries have which terms; entries are numbers."""

    def __init__(self) -> None:
        self._postings = dict[str, _Posting]()
        self.size = 0
        """How many entries there are."""

    def __contains__(self, term: str) -> bool:
        return term in self._postings

    def __iter__(self) -> Iterator[str]:
        return iter(self._postings)

    def add(self, entry: int, weights: Mapping[str, float]) -> list[str]:
        """Add an entry with its terms, weighted from 0 to 1; return the terms that are new."""
        self.size += 1
        new = list[str]()
        for term, weight in weights.items():
            posting = self._postings.get(term)
            if posting is None:
                posting = self._postings[term] = _Posting()
                new.append(term)
            posting.put(entry, weight)
        return new

    def remove(self, entry: int, terms: Iterable[str]) -> list[str]:
        """Remove an entry that was added with these terms; return terms that no entry has now."""
        self.size -= 1
        gone = list[str]()
        for term in terms:
            posting = self._postings[term]
            posting.drop(entry)
            if not posting:
                del self._postings[term]
                gone.append(term)
        return gone

    def seen_by(self, entries: frozenset[int] | None) -> SeenPostings:
        """Return how many of some entries have which terms; None stands for all entries."""
        return SeenPostings(self._postings, entries, self.size if entries is None else len(entries))

    def matching(self, terms: Iterable[WeightedTerm]) -> set[int]:
        """Return all entries that terms find."""
        found = set[int]()
        return found.union(*(self._postings.get(one.term, ()) for one in terms if one.adds))

    def best(
        self,
        terms: Iterable[WeightedTerm],
        limit: int,
        *,
        within: Collection[int] | None = None,
        accepts: Accepted | None = None,
    ) -> dict[int, float]:
        """Return the entries with the greatest scores, in any order, and all that equal the last.

        Only entries of `within` count, and of those the ones that `accepts` accepts.
        """
        plan = list[_Step]()
        for term, gain, adds in terms:
            posting = self._postings.get(term)
            if posting is not None:
                plan.append((not adds, len(posting), term, gain, posting))
        if not plan or limit < 1:
            return {}
        plan.sort()
        candidates = _Candidates(limit, None if within is None else frozenset(within), accepts)
        left = sum([step[4].most * step[3] for step in plan])
        for only_orders, _, _, gain, posting in plan:
            candidates.take(posting, gain, left, adds=not only_orders)
            left -= posting.most * gain
        return candidates.best()


_Step = tuple[bool, int, str, float, _Posting]
"""Whether a term only orders entries, how many have it, the term, its gain, and its entries."""


class _Candidates:
    """The entries that a search has found so far, with their scores."""

    def __init__(self, limit: int, within: frozenset[int] | None, accepts: Accepted | None) -> None:
        self._limit = limit
        self._within = within
        self._accepts = accepts
        self._accepted = dict[int, bool]()  # as far as it was asked
        self._scores = dict[int, float]()
        self._unit = 1.0  # of the scores: the gain of the last list that was copied
        self._floor = 0.0  # each of the best has at least this score, as far as is known
        self._is_closed = False  # whether no entry can come in any more

    def take(self, posting: _Posting, gain: float, left: float, *, adds: bool) -> None:
        """Add what a term says; `left` is what it and all later terms can add to a score."""
        count = len(posting)
        if not self._is_closed and (not adds or count > _MOST_ADDED):
            self._close(left / self._unit * _SLACK, adds=adds)
        if self._is_closed:
            self._rescore(posting, gain / self._unit)
        elif self._within is not None:
            self._add_some(posting, gain / self._unit, self._within)
        elif count < len(self._scores):
            self._add(posting, gain / self._unit)
        elif count <= _MOST_ADDED or not self._add_strongest(posting, gain, left):
            self._add_to_copy(posting, gain)

    def _add(self, posting: _Posting, gain: float) -> None:
        scores = self._scores
        known = scores.get
        for entry, value in posting.items():
            scores[entry] = known(entry, 0.0) + gain * value

    def _add_to_copy(self, posting: _Posting, gain: float) -> None:
        """Add a list that is longer than what was found: to copy it takes little time."""
        change, self._unit = self._unit / gain, gain
        self._floor *= change / _SLACK
        scores = posting.copy()
        known = scores.get
        for entry, score in self._scores.items():
            scores[entry] = known(entry, 0.0) + change * score
        self._scores = scores

    def _add_strongest(self, posting: _Posting, gain: float, left: float) -> bool:
        """Add a list, but of the new entries only those that can be among the best.

        Return False if that cannot be said yet, or if they are many.
        """
        later = left - posting.most * gain
        least = (self._floor * self._unit - later * _SLACK) / gain / _SLACK
        strong = posting.strongest(least) if least > 0 else None
        if strong is None:
            return False
        scores, gain = self._scores, gain / self._unit
        new = [(entry, gain * weight) for entry, weight in strong if entry not in scores]
        self._rescore(posting, gain)
        scores.update(new)
        return True

    def _add_some(self, posting: _Posting, gain: float, within: frozenset[int]) -> None:
        scores = self._scores
        for entry in posting.keys() & within:
            scores[entry] = scores.get(entry, 0.0) + gain * posting[entry]

    def _rescore(self, posting: _Posting, gain: float) -> None:
        scores = self._scores
        for entry in posting.keys() & scores.keys():
            scores[entry] += gain * posting[entry]

    def _close(self, most_added: float, *, adds: bool) -> None:
        """Close if no new entry can be among the best, and drop those that cannot be."""
        least = self._least()
        if adds and least <= most_added:
            return
        self._is_closed = True
        bound = least - most_added
        if bound > 0:
            self._scores = {entry: v for entry, v in self._scores.items() if v >= bound}

    def best(self) -> dict[int, float]:
        """Return the best ones, and all that equal the last of them."""
        floor, unit, accepts = self._floor, self._unit, self._accepts
        if floor and len(self._scores) > _FEW:
            self._scores = {entry: v for entry, v in self._scores.items() if v >= floor}
        least = self._least()
        best = {entry: v * unit for entry, v in self._scores.items() if v >= least}
        if accepts is not None:
            return {entry: v for entry, v in best.items() if self._is_accepted(entry, accepts)}
        return best

    def _least(self) -> float:
        """Return the score of the last of the best; 0 if there are fewer."""
        if self._accepts is not None:
            self._floor = self._least_accepted(self._accepts)
        elif len(self._scores) >= self._limit:
            values = self._scores.values()
            if len(values) <= _FEW:
                self._floor = sorted(values, reverse=True)[self._limit - 1]
            else:
                self._floor = nlargest(self._limit, values)[-1]
        return self._floor

    def _least_accepted(self, accepts: Accepted) -> float:
        scores, floor = self._scores, self._floor
        high = [entry for entry, v in scores.items() if v >= floor] if floor else list(scores)
        if len(high) > _FEW:  # most filters accept nearly all
            best = nlargest(2 * self._limit, high, key=scores.__getitem__)
            if (found := self._last_accepted(best, accepts)) is not None:
                return found
        high.sort(key=scores.__getitem__, reverse=True)
        found = self._last_accepted(high, accepts)
        return self._floor if found is None else found

    def _last_accepted(self, best: Iterable[int], accepts: Accepted) -> float | None:
        """Return the score of the last of the wanted number of entries; None if there are fewer."""
        accepted = (entry for entry in best if self._is_accepted(entry, accepts))
        last = next(islice(accepted, self._limit - 1, None), None)
        return None if last is None else self._scores[last]

    def _is_accepted(self, entry: int, accepts: Accepted) -> bool:
        known = self._accepted.get(entry)
        if known is None:
            known = self._accepted[entry] = accepts(entry)
        return known
