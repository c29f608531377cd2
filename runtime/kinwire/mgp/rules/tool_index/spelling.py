"""Finds known words that a misspelt one may stand for (MGP 0.2.0 section 16.4).

A word with few mistakes has at least one piece without any: known words are found by their pieces,
and then compared. That takes two or three places for each known word.
"""

from __future__ import annotations

__all__ = ("Comparisons", "KnownWords", "distance")

from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

_SHORTEST: Final = 4  # a shorter word is too close to others
_LONG: Final = 8  # from here on two mistakes are allowed
_LONGEST: Final = 24
_MOST_SEEN: Final = 20_000  # words for one query; each takes about 1 µs
_COMPARED: Final = 20  # times as long as it takes to compare one of them


class _Piece(NamedTuple):
    """A part of a known word of some length."""

    size: int
    start: int
    text: str


class Comparisons:
    """How much work the words of one query may still make.

    A server may list as many similar words as it likes, and the event loop waits for a search.
    """

    def __init__(self) -> None:
        self._left = _MOST_SEEN

    def take(self, effort: int = 1) -> bool:
        """Return whether one more word may be looked at, and count it."""
        self._left -= effort
        return self._left >= 0


class KnownWords:
    """Words, found by what they are written like."""

    def __init__(self) -> None:
        self._words = dict[_Piece, dict[str, None]]()

    def add(self, word: str) -> None:
        """Add a word; only words of letters are found."""
        if _is_comparable(word):
            for piece in _pieces(word):
                self._words.setdefault(piece, {})[word] = None

    def discard(self, word: str) -> None:
        """Remove a word; nothing happens if it is not known."""
        if _is_comparable(word):
            for piece in _pieces(word):
                words = self._words.get(piece, {})
                words.pop(word, None)
                if not words:
                    self._words.pop(piece, None)

    def near(
        self,
        word: str,
        compared: Comparisons | None = None,
        seen: Callable[[str], bool] | None = None,
    ) -> tuple[str, ...]:
        """Return the known words with the fewest differences: at most one, or two in a long word.

        A letter that is missing, added, replaced or swapped with the next one is a difference. When
        no comparisons are left, the words that were found so far count. With `seen`, only words
        that it accepts are found.
        """
        if not _is_comparable(word):
            return ()
        most = _mistakes(word)
        alike = self._alike(word, most, compared or Comparisons(), seen)
        found = {known: distance(word, known, most) for known in alike}
        least = min(found.values(), default=most + 1)
        return tuple(sorted(known for known, far in found.items() if far == least <= most))

    def _alike(
        self, word: str, most: int, compared: Comparisons, wanted: Callable[[str], bool] | None
    ) -> Iterator[str]:
        """Yield the known words with a piece of this one, near the place that it has there.

        A difference changes at most two of the letters that occur in a word, so most words with the
        same piece need not be compared.
        """
        letters, seen = frozenset(word), set[str]()
        for piece in _near_pieces(word, most):
            for known in self._words.get(piece, ()):
                if not compared.take():
                    return
                if known in seen or len(letters.symmetric_difference(known)) > 2 * most:
                    continue
                seen.add(known)
                if wanted is not None and not wanted(known):
                    continue
                if not compared.take(_COMPARED):
                    return
                yield known


def distance(one: str, other: str, most: int) -> int:
    """Return in how many letters two words differ; `most + 1` if in more than `most`.

    Letters that are missing, added, replaced, or swapped with the next one count.
    """
    beyond = most + 1
    if abs(len(one) - len(other)) > most:
        return beyond
    before, above = list[int](), list(range(len(other) + 1))
    for row, letter in enumerate(one, 1):
        line = [min(row, beyond), *[beyond] * len(other)]
        for column in range(max(1, row - most), min(len(other), row + most) + 1):
            against = other[column - 1]
            replaced = above[column - 1] + (letter != against)
            best = min(above[column] + 1, line[column - 1] + 1, replaced)
            if row > 1 < column and letter == other[column - 2] and one[row - 2] == against:
                best = min(best, before[column - 2] + 1)
            line[column] = best
        if min(line) > most:
            return beyond
        before, above = above, line
    return min(above[-1], beyond)


def _is_comparable(word: str) -> bool:
    return _SHORTEST <= len(word) <= _LONGEST and word.isalpha()


def _mistakes(word: str) -> int:
    return 1 if len(word) < _LONG else 2


def _pieces(word: str) -> Iterator[_Piece]:
    for start, end in _ranges(len(word)):
        yield _Piece(len(word), start, word[start:end])


def _near_pieces(word: str, most: int) -> Iterator[_Piece]:
    """Yield pieces of which a known word has one, if it has at most that many differences."""
    for size in range(len(word) - most, len(word) + most + 1):
        for start, end in _ranges(size):
            for shift in range(-min(most, start), most + 1):
                yield _Piece(size, start, word[start + shift : end + shift])
    middle = len(word) // 2
    swapped = word[: middle - 1] + word[middle] + word[middle - 1] + word[middle + 1 :]
    yield from _pieces(swapped)  # the one difference that can be in both pieces


def _ranges(size: int) -> tuple[tuple[int, int], ...]:
    """Return where the pieces of a word of a size begin and end: one more than differences."""
    middle, first, second = size // 2, size // 3, 2 * size // 3
    if size < _LONG:
        return ((0, middle), (middle, size))
    return ((0, first), (first, second), (second, size))
