"""Searches the tools of an index by words, and by meaning if there is an embedder (MGP 16.4)."""

from __future__ import annotations

__all__ = ("ToolSearch",)

from collections.abc import Collection, Iterable

from kinwire.mgp.rules.tool_index.embedding import Embedder
from kinwire.mgp.rules.tool_index.entry import Found, IndexedTool
from kinwire.mgp.rules.tool_index.index import Accepts, ToolIndex
from kinwire_protocols.mgp.models import SearchStrategy


class ToolSearch:
    """The index of a kernel. Tools are put and removed here, so that they also get vectors."""

    def __init__(self, embedder: Embedder | None = None) -> None:
        self.index = ToolIndex()
        """Read it; change it only by `replace` and `remove`."""
        self._embedder = embedder

    def replace(self, server_id: str, tools: Iterable[IndexedTool]) -> None:
        """Make these the tools of a server; of two with one name the later counts."""
        self.index.replace(server_id, tools)

    def remove(self, server_id: str) -> None:
        """Take the tools of a server out; nothing happens if there are none."""
        self.index.remove(server_id)

    async def search(
        self,
        query: str,
        *,
        strategy: SearchStrategy = "keyword",
        limit: int,
        accepts: Accepts | None = None,
        categories: Collection[str] = (),
    ) -> Found:
        """Return the tools that fit a query best, as `ToolIndex.search` does.

        With the strategy `semantic` the meaning counts, too. `Found.strategy` is `keyword` if it
        could not: without an embedder, or if that failed or took more than 5 seconds.
        """
        return self.index.search(
            query, strategy=strategy, limit=limit, accepts=accepts, categories=categories
        )
