"""The categories of tools: paths such as `filesystem/read`, counted and searched (MGP 16.4)."""

from __future__ import annotations

__all__ = ("MOST_CATEGORIES", "CategoryTree", "category_path", "paths_of")

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from kinwire.mgp.rules.tool_index.words import stems_of

MOST_CATEGORIES: Final = 32
"""The most categories of one tool; later ones are left out."""

_STEPS = re.compile(r"[/.]+")
_PATH_SIZE: Final = 128
_MOST_STEPS: Final = 8


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

    def add(self, entry: int, categories: Iterable[str]) -> None:
        """Add an entry to its categories."""
        for path in paths_of(categories):
            self._entries.setdefault(path, set()).add(entry)

    def remove(self, entry: int, categories: Iterable[str]) -> None:
        """Remove an entry from the categories that it was added to."""
        for path in paths_of(categories):
            entries = self._entries[path]
            entries.discard(entry)
            if not entries:
                del self._entries[path]

    def counts(self) -> Mapping[str, int]:
        """Return how many entries each category has, in the order of the paths."""
        return {path: len(self._entries[path]) for path in sorted(self._entries)}

    def within(self, categories: Iterable[str]) -> set[int]:
        """Return the entries that are in one of the categories, or below it."""
        found = set[int]()
        return found.union(*(self._entries.get(category_path(one), ()) for one in categories))

    def named(self, query: str) -> dict[int, float]:
        """Return the entries of the categories that a query names, each with a score.

        The score is 1 in a category with this path. Otherwise, it is the part of the words of the
        query that occur in the path, and the deeper of two paths with the same words counts less.
        """
        scores = dict.fromkeys(self._entries.get(category_path(query), ()), 1.0)
        if not scores:
            wanted = set(stems_of(query))
            for path, score in self._similar(wanted):
                for entry in self._entries[path]:
                    scores[entry] = max(scores.get(entry, 0.0), score)
        return scores

    def _similar(self, wanted: set[str]) -> Iterator[tuple[str, float]]:
        for path in self._entries:
            words = stems_of(path)
            common = wanted.intersection(words)
            if common:
                yield path, len(common) / len(wanted) * (0.5 + 0.5 * len(common) / len(words))
