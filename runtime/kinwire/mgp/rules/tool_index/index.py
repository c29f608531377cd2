"""The searchable index of the tools of all connected servers (MGP 0.2.0 section 16.4)."""

from __future__ import annotations

__all__ = ("Accepts", "ToolIndex")

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

from kinwire.mgp.rules.tool_index.entry import Found, Hit, IndexedTool
from kinwire_protocols.mgp.models import SearchStrategy

Accepts = Callable[[IndexedTool], bool]
"""Returns whether a tool may be in the result; runs before the limit is applied."""


class ToolIndex:
    """Finds tools by words and by categories; the tools of a server come and go in one step."""

    def __init__(self) -> None:
        self._servers = dict[str, dict[str, IndexedTool]]()

    def __len__(self) -> int:
        return sum(map(len, self._servers.values()))

    def __iter__(self) -> Iterator[IndexedTool]:
        for tools in self._servers.values():
            yield from tools.values()

    def get(self, server_id: str, name: str) -> IndexedTool | None:
        """Return a tool by its server and its name there; None if the index lacks it."""
        return self._servers.get(server_id, {}).get(name)

    def replace(self, server_id: str, tools: Iterable[IndexedTool]) -> None:
        """Make these the tools of a server; of two with one name the later counts."""
        self._servers[server_id] = {tool.name: tool for tool in tools}

    def remove(self, server_id: str) -> None:
        """Take the tools of a server out; nothing happens if there are none."""
        self._servers.pop(server_id, None)

    def categories(self) -> Mapping[str, int]:
        """Return how many tools each category has, those of its subcategories included."""
        return Counter(path for tool in self for path in _paths(tool.categories))

    def search(
        self,
        query: str,
        *,
        strategy: SearchStrategy = "keyword",
        limit: int,
        accepts: Accepts | None = None,
        categories: Collection[str] = (),
    ) -> Found:
        """Return the tools that fit a query best.

        `accepts` and `categories` are applied before `limit`: a tool must be in one of the
        categories, or below it. With the strategy `category` the query names a category, and an
        empty query stands for all tools.
        """
        words = query.lower().split()
        found = [
            Hit(tool, score)
            for tool in self
            if (score := _score(tool, words)) > 0
            and (not categories or set(categories) & _paths(tool.categories))
            and (accepts is None or accepts(tool))
        ]
        found.sort(key=lambda hit: (-hit.score, hit.tool.server_id, hit.tool.name))
        used: SearchStrategy = "category" if strategy == "category" else "keyword"
        return Found(tuple(found[:limit]), len(found), used)


def _score(tool: IndexedTool, words: list[str]) -> float:
    text = " ".join((tool.name, tool.description, *tool.keywords, *tool.categories)).lower()
    return sum(word in text for word in words) / len(words) if words else 1.0


def _paths(categories: Iterable[str]) -> set[str]:
    """Return the categories and all above them."""
    found = set[str]()
    for category in categories:
        steps = category.split("/")
        found.update("/".join(steps[: end + 1]) for end in range(len(steps)))
    return found
