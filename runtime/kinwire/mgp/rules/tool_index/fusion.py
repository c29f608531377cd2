"""One ranking of tools out of two: by words, and by meaning (MGP 0.2.0 section 16.4)."""

from __future__ import annotations

__all__ = ("Judged", "SearchWords", "accepted_in", "found_by_meaning", "fused")

from collections.abc import Collection, Iterable
from typing import Final, NamedTuple, Protocol

from kinwire.mgp.rules.tool_index.categories import category_path, paths_of
from kinwire.mgp.rules.tool_index.entry import Found, Hit, IndexedTool
from kinwire.mgp.rules.tool_index.index import Accepts
from kinwire.mgp.rules.tool_index.vectors import NEAREST, PackedVector, ToolVectors, cosine

_FIRST: Final = 5
"""How little the first ranks differ from each other: 1 / (5 + rank) is what a rank is worth.

With 3 to 10 the recall differs by one query of 64, and by 0.5 % where the first sentences of 440
descriptions stand for queries and are taken out of the index. The usual 60 is for long lists: there
rank 5 in both rankings would beat the first of one.
"""


class Judged(NamedTuple):
    """A tool with how well it fits a query in two ways, each at most 1."""

    tool: IndexedTool
    words: float
    """The score of the search by words; 0 if no word of the query is in the tool."""
    meaning: float | None
    """The cosine of its vector and that of the query; None if it has no vector."""


class SearchWords(Protocol):
    """Searches an index for the words of one query."""

    def __call__(self, limit: int, accepts: Accepts | None = None) -> Found:
        """Return the best tools that `accepts` and the other filters of the search accept."""
        ...


def accepted_in(categories: Collection[str], accepts: Accepts | None) -> Accepts | None:
    """Return what accepts a tool that is in one of these categories, or below it."""
    if not categories:
        return accepts
    wanted = {category_path(category) for category in categories}

    def accept(tool: IndexedTool) -> bool:
        fits = not wanted.isdisjoint(paths_of(tool.categories))
        return fits and (accepts is None or accepts(tool))

    return accept


def found_by_meaning(
    search: SearchWords,
    vectors: ToolVectors,
    query: PackedVector,
    limit: int,
    accepts: Accepts | None = None,
) -> Found:
    """Return the tools that fit a query best, by its words and by its vector.

    The tools that fit are those that have a word of the query, and the 200 nearest of all.
    """
    found = search(max(limit, NEAREST), accepts)
    words = {id(tool): (tool, score) for tool, score in found.hits}
    near = {id(tool): (tool, score) for tool, score in vectors.nearest(query, accepts)}
    more = search(NEAREST, lambda tool: id(tool) in near and id(tool) not in words)
    words.update((id(tool), (tool, score)) for tool, score in more.hits)
    only_near = [one for key, one in near.items() if key not in words]
    judged = [
        Judged(tool, score, _meaning(query, vectors.of(tool))) for tool, score in words.values()
    ]
    judged += [Judged(tool, 0.0, score) for tool, score in only_near]
    hits = tuple(fused(judged)[:limit])
    return Found(hits, "semantic", lambda: found.total + len(only_near))


def fused(judged: Iterable[Judged]) -> list[Hit]:
    """Return the tools that fit, the best first; equal scores in the order of server and name.

    The score is what the ranks of a tool in both ways are worth: 1 for the first in both. A tool
    without a vector comes after all that have one, whatever its words: nobody knows what it means,
    and it must not win because of that.
    """
    tools = list(judged)
    by_words = _worths(one.words for one in tools)
    by_meaning = _worths(one.meaning or 0.0 for one in tools)
    hits = [
        Hit(one.tool, score)
        for one, words, meaning in zip(tools, by_words, by_meaning, strict=True)
        if one.meaning is not None and (score := words + meaning) > 0
    ]
    lowest = min((hit.score for hit in hits), default=1.0)
    hits += [
        Hit(one.tool, lowest * words)
        for one, words in zip(tools, by_words, strict=True)
        if one.meaning is None and words > 0
    ]
    return sorted(hits, key=lambda hit: (-hit.score, hit.tool.server_id, hit.tool.name))


def _worths(scores: Iterable[float]) -> list[float]:
    """Return what the ranks of scores are worth, at most 0.5; 0 for a score that is not above 0."""
    given = list(scores)
    first = dict[float, int]()
    for rank, score in enumerate(sorted(given, reverse=True)):
        first.setdefault(score, rank)
    return [_FIRST / (_FIRST + first[score]) / 2 if score > 0 else 0.0 for score in given]


def _meaning(query: PackedVector, vector: PackedVector | None) -> float | None:
    return None if vector is None else cosine(query, vector)
