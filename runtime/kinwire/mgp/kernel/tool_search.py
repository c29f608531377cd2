"""Searches the tools of an index by words, and by meaning if there is an embedder (MGP 16.4)."""

from __future__ import annotations

__all__ = ("ToolSearch",)

import time
from collections.abc import Callable, Collection, Iterable
from functools import partial

from kinwire.mgp.kernel.tool_embedding import ToolEmbedding
from kinwire.mgp.rules.tool_index.embedding import Embedder
from kinwire.mgp.rules.tool_index.entry import Found, IndexedTool
from kinwire.mgp.rules.tool_index.fusion import accepted_in, found_by_meaning
from kinwire.mgp.rules.tool_index.index import Accepts, ToolIndex, Visible
from kinwire_protocols.mgp.models import SearchStrategy


class ToolSearch:
    """The index of a kernel. Tools are put and removed here, so that they also get vectors."""

    def __init__(
        self, embedder: Embedder | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.index = ToolIndex()
        """Read it; change it only by `replace` and `remove`."""
        self._embedding = None if embedder is None else ToolEmbedding(embedder, clock)

    def replace(self, server_id: str, tools: Iterable[IndexedTool]) -> None:
        """Make these the tools of a server; of two with one name the later counts."""
        listed = list(tools)
        self.index.replace(server_id, listed)
        if self._embedding is not None:
            self._embedding.replace(server_id, listed)

    def extend(self, server_id: str, tools: Iterable[IndexedTool]) -> None:
        """Add tools of a server before `replace` has all of them, so that none takes long."""
        self.index.extend(server_id, tools)

    def remove(self, server_id: str) -> None:
        """Take the tools of a server out; nothing happens if it has none."""
        self.index.remove(server_id)
        if self._embedding is not None:
            self._embedding.replace(server_id, ())

    async def embedded(self) -> None:
        """Return when all tools have their vectors, or the embedder has failed."""
        if self._embedding is not None:
            await self._embedding.filled()

    async def search(
        self,
        query: str,
        *,
        strategy: SearchStrategy = "keyword",
        limit: int,
        accepts: Accepts | None = None,
        categories: Collection[str] = (),
        visible: Visible | None = None,
    ) -> Found:
        """Return the tools that fit a query best, as `ToolIndex.search` does.

        With the strategy `semantic` the meaning counts, too. `Found.strategy` is `keyword` if it
        could not: without an embedder, if that has failed in the last 30 seconds, or if it takes
        more than 5 seconds.
        """

        search = partial(self.index.search, query, categories=categories, visible=visible)
        if strategy != "semantic" or self._embedding is None or not query.strip():
            return search(strategy=strategy, limit=limit, accepts=accepts)

        def by_words(limit: int, accepts: Accepts | None = accepts) -> Found:
            return search(limit=limit, accepts=accepts)

        vector = await self._embedding.of_query(query, lambda most: by_words(most).hits)
        if vector is None:
            return by_words(limit)
        fits = accepted_in(categories, accepts)
        return found_by_meaning(by_words, self._embedding.vectors, vector, limit, fits)
