"""Finds known words that a misspelt one may stand for (MGP 0.2.0 section 16.4).

A word with few mistakes has at least one piece without any: known words are found by their pieces,
and then compared. That takes two or three places for each known word.
"""

from __future__ import annotations

__all__ = ("KnownWords", "distance")

from collections.abc import Iterator
from itertools import chain, islice
from typing import Final, NamedTuple

_SHORTEST: Final = 4  # a shorter word is too close to others
_LONG: Final = 8  # from here on two mistakes are allowed
_LONGEST: Final = 24
_MOST_COMPARED: Final = 2000


class _Piece(NamedTuple):
    """A part of a known word of some length."""

    size: int
    start: int
    text: str


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

    def near(self, word: str) -> tuple[str, ...]:
        """Return the known words with the fewest differences: at most one, or two in a long word.

        A letter that is missing, added, replaced or swapped with the next one is a difference.
        """
        if not _is_comparable(word):
            return ()
        most = _mistakes(word)
        found = {known: distance(word, known, most) for known in self._alike(word, most)}
        least = min(found.values(), default=most + 1)
        return tuple(sorted(known for known, far in found.items() if far == least <= most))

    def _alike(self, word: str, most: int) -> Iterator[str]:
        """Yield the known words with a piece of this one, near the place that it has there."""
        found = chain.from_iterable(
            self._words.get(piece, ()) for piece in _near_pieces(word, most)
        )
        return islice(found, _MOST_COMPARED)


def distance(one: str, other: str, most: int) -> int:
    """Return in how many letters two words differ; `most + 1` if in more than `most`.

    Letters that are missing, added, replaced, or swapped with the next one count.
    """
    if abs(len(one) - len(other)) > most:
        return most + 1
    before, above = list[int](), list(range(len(other) + 1))
    for row, letter in enumerate(one, 1):
        line = [row]
        for column, against in enumerate(other, 1):
            best = min(above[column] + 1, line[-1] + 1, above[column - 1] + (letter != against))
            if row > 1 < column and letter == other[column - 2] and one[row - 2] == against:
                best = min(best, before[column - 2] + 1)
            line.append(best)
        if min(line) > most:
            return most + 1
        before, above = above, line
    return min(above[-1], most + 1)


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
