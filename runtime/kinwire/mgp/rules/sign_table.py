"""Signs that a text may have: classes of words that follow each other, and how to find them soon.

A text of a real tool has few of the words that a sign needs. A search for the words alone, which is
many times faster than one for patterns, rules most signs out.
"""

from __future__ import annotations

__all__ = ("Part", "Sign", "SignTable", "folded", "part", "stems", "words")

import re
from bisect import bisect_left
from collections.abc import Collection, Iterator, Sequence
from typing import Final


class Part:
    """A pattern, and what is in every text that it fits; both are written in small letters."""

    def __init__(self, pattern: str, needed: Collection[str] = ()) -> None:
        """One of `needed` is in all that fits; nothing is known with an empty collection."""
        self.pattern: Final = re.compile(pattern, re.DOTALL)
        self.needed: Final = tuple(needed)

    def __or__(self, other: Part) -> Part:
        needed = (*self.needed, *other.needed) if self.needed and other.needed else ()
        return Part(f"{self.pattern.pattern}|{other.pattern.pattern}", needed)


def part(pattern: str, needed: str) -> Part:
    """Return a part; `needed` has bars between the texts of which one is in all that fits."""
    return Part(pattern, needed.split("|"))


def words(words: str) -> Part:
    """Return a part that fits each of some words, or groups of words, with bars between them."""
    return part(rf"\b({words})\b", words)


def stems(stems: str) -> Part:
    """Return a part that fits each word that begins with one of these, with bars between them."""
    return part(rf"\b({stems})\w*", stems)


class Sign:
    """Patterns that follow each other in a text, each at most some characters after the last."""

    def __init__(self, reason: str, first: Part, *then: tuple[int, Part], rare: int = 0) -> None:
        """`rare` is the number of the part whose words are in the fewest texts of real tools."""
        self.reason: Final = reason
        self.rare: Final = (first, *(part for _gap, part in then))[rare]
        assert self.rare.needed  # the sign is looked for by these
        self._first = first
        self._then = then

    def is_in(self, places: _PartPlaces) -> bool:
        """Return whether the patterns follow each other, in time that grows with the text."""
        ends = [end for _start, end in places.of(self._first)]
        for gap, part in self._then:
            if not ends:
                return False
            ends = [end for start, end in places.of(part) if _has_between(ends, start - gap, start)]
        return bool(ends)


class _PartPlaces:
    """Where in a text the parts are: several signs have the same ones."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._found = dict[Part, list[tuple[int, int]]]()

    def of(self, part: Part) -> list[tuple[int, int]]:
        """Return where a part begins and ends, each time."""
        found = self._found.get(part)
        if found is None:
            found = [one.span() for one in part.pattern.finditer(self._text)]
            self._found[part] = found
        return found


def _has_between(sorted_values: list[int], least: int, most: int) -> bool:
    at = bisect_left(sorted_values, least)
    return at < len(sorted_values) and sorted_values[at] <= most


class SignTable:
    """Signs in the order in which they are reported."""

    def __init__(self, signs: Sequence[Sign]) -> None:
        self.signs: Final = signs
        by_needed = dict[str, tuple[int, ...]]()
        for number, sign in enumerate(signs):
            for needed in sign.rare.needed:
                by_needed[needed] = (*by_needed.get(needed, ()), number)
        self._by_needed = [*by_needed.items()]

    def reasons(self, *texts: str) -> Iterator[str]:
        """Yield the reasons of the signs that texts have: forms of one, in plain letters."""
        forms = [*dict.fromkeys(map(folded, texts))]
        likely = {
            number
            for text in forms
            for needed, numbers in self._by_needed
            if needed in text
            for number in numbers
        }
        places = [_PartPlaces(text) for text in forms] if likely else []
        for number in sorted(likely):
            if any(map(self.signs[number].is_in, places)):
                yield self.signs[number].reason


def folded(plain: str) -> str:
    """Return a plain text in small letters, one for each of its letters."""
    return (plain if plain.isascii() else plain.replace("\u0130", "i")).lower()
