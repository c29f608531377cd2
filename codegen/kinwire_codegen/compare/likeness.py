"""Which of many names are like which, without a look at every two of them."""

from __future__ import annotations

__all__ = ("alike", "likest")

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from functools import cache
from heapq import heappop, heappush

Candidates = dict[str, Iterator[tuple[float, str]]]


def alike(one: str, other: str) -> float:
    """Return how like two names are, from 0 to 1, whatever their case and dashes."""
    return SequenceMatcher(None, _bare(one), _bare(other), autojunk=False).ratio()


def likest(olds: Sequence[str], news: Sequence[str], least: float) -> dict[str, tuple[str, float]]:
    """Return which of `news` stands for which of `olds`, each once, and how like the two are.

    The likest come first, then those that are first in the alphabet; what is less alike than
    `least` stands for nothing. To say how like two names are takes long: it is asked only where
    their letters, in any order, are enough.
    """
    search = _Search(_candidates(olds, news, least), least)
    while search.waiting:
        search.step()
    return search.found


class _Search:
    """What has been found so far, and what may be found next, the likest first."""

    def __init__(self, candidates: Candidates, least: float) -> None:
        self.found: dict[str, tuple[str, float]] = {}
        self.waiting: list[tuple[float, bool, str, str]] = []  # less the likeness; is it exact?
        self._candidates, self._least = candidates, least
        self._taken: set[str] = set()
        for old in candidates:
            self._offer(old)

    def step(self) -> None:
        share, exact, old, new = heappop(self.waiting)
        if old in self._taken:
            return
        if not exact:
            self._offer(old)
        if new in self.found:
            return
        if exact:
            self.found[new] = (old, -share)
            self._taken.add(old)
        elif (real := alike(old, new)) >= self._least:
            heappush(self.waiting, (-real, True, old, new))

    def _offer(self, old: str) -> None:
        """Let the next candidate of a name wait: only one does, as long as it may be the likest."""
        for bound, new in self._candidates[old]:
            if new not in self.found:
                heappush(self.waiting, (bound, False, old, new))
                return


def _candidates(olds: Sequence[str], news: Sequence[str], least: float) -> Candidates:
    """Return, for each of `olds`, what may be like it, with less the most that it can be."""
    letters = _Letters([*olds, *news])
    sized = [(new, letters.of(new), len(_bare(new))) for new in news]
    found: Candidates = {}
    for old in olds:
        own, size = letters.of(old), len(_bare(old))
        bounds = [
            (-2.0 * (own & others).bit_count() / (size + length) if size + length else -1.0, new)
            for new, others, length in sized
        ]
        found[old] = iter(sorted(one for one in bounds if -one[0] >= least))
    return found


class _Letters:
    """Names as numbers: a bit for each letter that is there at least once, twice, and so on."""

    def __init__(self, names: Sequence[str]) -> None:
        self._most = max((len(_bare(name)) for name in names), default=0)
        self._places: dict[str, int] = {}

    def of(self, name: str) -> int:
        bits = 0
        bare = _bare(name)
        for letter in set(bare):
            place = self._places.setdefault(letter, len(self._places)) * self._most
            bits |= ((1 << bare.count(letter)) - 1) << place
        return bits


@cache
def _bare(name: str) -> str:
    return "".join(filter(str.isalnum, name)).lower()
