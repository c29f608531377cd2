"""The categories of tools: paths such as `filesystem/read`, counted and searched (MGP 16.4)."""

from __future__ import annotations

__all__ = ("MOST_CATEGORIES", "CategoryTree", "category_path", "paths_of")

import re
from collections.abc import Iterable, Mapping, Sequence, Set
from itertools import chain, islice
from typing import Final

from kinwire.mgp.rules.tool_index.words import stems_of

MOST_CATEGORIES: Final = 32
"""The most categories of one tool; later ones are left out."""

_STEPS = re.compile(r"[/.]+")
_PATH_SIZE: Final = 128
_MOST_STEPS: Final = 8
_MOST_PATHS: Final = 20_000  # of all tools; each takes about 1.3 kB, and 20 µs when it goes
_MOST_ALIKE: Final = 10_000  # paths


def category_path(category: str) -> str:
    """Return a category as it is compared: in lower case, with `/` between its steps, at most 8.

    `Filesystem.Read` and `filesystem/read` are one category; it lies below `filesystem`.
    """
    steps = (step.strip() for step in _STEPS.split(category[:_PATH_SIZE].casefold()))
    return "/".join(step for step in steps if step)


def paths_of(categories: Iterable[str]) -> dict[str, None]:
    """Return the paths of categories and of all that they lie below, each once."""
    found = dict[str, None]()
    for category in categories:
        steps = category.split("/")[:_MOST_STEPS]
        found.update(("/".join(steps[: end + 1]), None) for end in range(len(steps)))
    return found


class CategoryTree:
    """Which entries each category has, with those of the categories below it."""

    def __init__(self) -> None:
        self._entries = dict[str, set[int]]()
        self._by_word = dict[str, dict[str, None]]()  # paths

    def add(self, entry: int, categories: Iterable[str]) -> None:
        """Add an entry to its categories; new ones beyond 20,000 of all entries are left out."""
        for path in paths_of(categories):
            entries = self._entries.get(path)
            if entries is None:
                if len(self._entries) >= _MOST_PATHS:
                    continue
                entries = self._entries[path] = set()
                for word in stems_of(path):
                    self._by_word.setdefault(word, {})[path] = None
            entries.add(entry)

    def remove(self, entry: int, categories: Iterable[str]) -> None:
        """Remove an entry from the categories that it was added to."""
        for path in paths_of(categories):
            entries = self._entries.get(path)
            if entries is None:  # there was no room for it
                continue
            entries.discard(entry)
            if not entries:
                del self._entries[path]
                for word in dict.fromkeys(stems_of(path)):
                    del self._by_word[word][path]
                    if not self._by_word[word]:
                        del self._by_word[word]

    def counts(self) -> Mapping[str, int]:
        """Return how many entries each category has, in the order of the paths."""
        return {path: len(self._entries[path]) for path in sorted(self._entries)}

    def within(self, categories: Iterable[str]) -> set[int]:
        """Return the entries that are in one of the categories, or below it."""
        found = set[int]()
        return found.union(*(self._entries.get(category_path(one), ()) for one in categories))

    def named(self, query: str, within: Set[int] | None = None) -> dict[int, float]:
        """Return the entries of the categories that a query names, each with a score.

        The score is 1 in a category with this path. Otherwise, it is the part of the words of the
        query that occur in the path, and the deeper of two paths with the same words counts less.
        Of the paths with a word of the query, 10,000 are looked at. With `within`, other entries
        count nowhere.
        """
        named = self._entries.get(category_path(query), set[int]())
        scores = dict.fromkeys(named if within is None else named & within, 1.0)
        if not scores:
            wanted = dict.fromkeys(stems_of(query))
            alike = chain.from_iterable(self._by_word.get(word, ()) for word in wanted)
            for path in islice(dict.fromkeys(alike), _MOST_ALIKE):
                score = _likeness(wanted.keys(), stems_of(path))
                entries = self._entries[path]
                for entry in entries if within is None else entries & within:
                    scores[entry] = max(scores.get(entry, 0.0), score)
        return scores


def _likeness(wanted: Set[str], words: Sequence[str]) -> float:
    common = wanted & set(words)
    return len(common) / len(wanted) * (0.5 + 0.5 * len(common) / len(words))
