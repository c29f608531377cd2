"""One ranking of tools out of two: by words, and by meaning (MGP 0.2.0 section 16.4)."""

from __future__ import annotations

__all__ = ("Judged", "SearchWords", "accepted_in", "found_by_meaning", "fused")

from collections.abc import Collection, Iterable
from typing import Final, NamedTuple, Protocol

from kinwire.mgp.rules.tool_index.entry import Found, Hit, IndexedTool
from kinwire.mgp.rules.tool_index.index import Accepts
from kinwire.mgp.rules.tool_index.vectors import NEAREST, PackedVector, ToolVectors, cosine

_MEANING: Final = 0.5
"""The share of the meaning in a score. The recall is the same with 0.4 to 0.7."""


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
    below = tuple(f"{category}/" for category in categories)

    def accept(tool: IndexedTool) -> bool:
        fits = any(f"{path}/".startswith(below) for path in tool.categories)
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
    return Found(tuple(fused(judged)[:limit]), found.total + len(only_near), "semantic")


def fused(judged: Iterable[Judged]) -> list[Hit]:
    """Return the tools that fit, the best first; equal scores in the order of server and name.

    Each way is measured by its best tool, and the score is the mean of both ways. A tool without a
    vector comes after all that have one, whatever its words: nobody knows what it means, and it
    must not win because of that.
    """
    tools = list(judged)
    by_words = max((one.words for one in tools), default=0.0) or 1.0
    by_meaning = max((one.meaning or 0.0 for one in tools), default=0.0)
    if by_meaning <= 0:
        by_meaning = 1.0
    hits = [
        Hit(one.tool, score)
        for one in tools
        if one.meaning is not None and (score := _score(one, by_words, by_meaning)) > 0
    ]
    lowest = min((hit.score for hit in hits), default=1.0)
    hits += [
        Hit(one.tool, lowest * one.words / (by_words + 1))
        for one in tools
        if one.meaning is None and one.words > 0
    ]
    return sorted(hits, key=lambda hit: (-hit.score, hit.tool.server_id, hit.tool.name))


def _score(one: Judged, by_words: float, by_meaning: float) -> float:
    meaning = max(one.meaning or 0.0, 0.0) / by_meaning
    return _MEANING * meaning + (1 - _MEANING) * one.words / by_words


def _meaning(query: PackedVector, vector: PackedVector | None) -> float | None:
    return None if vector is None else cosine(query, vector)
