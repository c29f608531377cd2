"""Makes the vectors of tools and queries in a worker thread, never in the event loop (MGP 16.4)."""

from __future__ import annotations

__all__ = ("ToolEmbedding",)

import logging
from collections.abc import Callable, Iterable, Sequence
from functools import partial

import anyio
from anyio import CapacityLimiter, to_thread

from kinwire.mgp.rules.tool_index.embedding import Embedder, embedded_query, embedded_text
from kinwire.mgp.rules.tool_index.entry import Hit, IndexedTool
from kinwire.mgp.rules.tool_index.vectors import PackedVector, ToolVectors, packed
from kinwire.support.background import start_detached
from kinwire.support.bounded import LruDict

_BATCH = 8  # texts, so that a query does not wait long for the embedder
_WITH_QUERY = 16  # the best tools by words that have no vector yet
_KEPT_QUERIES = 256
_PATIENCE = 5.0  # seconds that a search waits for the embedder
_FEW = 100  # tools, for which a search waits until all have vectors
_FEW_PATIENCE = 1.0  # seconds
_REST = 30.0  # seconds after the embedder has failed

logger = logging.getLogger("kinwire.mgp")


class ToolEmbedding:
    """The vectors of a kernel's tools: made in the background, those that a search needs first."""

    def __init__(self, embedder: Embedder, clock: Callable[[], float]) -> None:
        self.vectors = ToolVectors()
        self._embedder = embedder
        self._clock = clock
        self._resting_until = float("-inf")
        self._queries = LruDict[str, PackedVector](_KEPT_QUERIES)
        self._turn = anyio.Semaphore(1)
        self._thread = CapacityLimiter(1)
        self._filling = False
        self._filled = anyio.Event()

    def replace(self, server_id: str, tools: Iterable[IndexedTool]) -> None:
        """Make these the tools of a server; vectors are made in the background."""
        self.vectors.replace(server_id, tools)
        self._fill_in_background()

    async def of_query(
        self, query: str, best_by_words: Callable[[int], Sequence[Hit]]
    ) -> PackedVector | None:
        """Return the vector of a query; None if there cannot be one now.

        The best tools by words also get their vectors, so a search right after a server has
        connected need not wait until all tools have theirs. If at most 100 tools still wait for
        theirs, the search waits for them, up to a second.
        """
        self._fill_in_background()
        text = embedded_query(query)
        known = self._queries.get(text)
        tools = self._missing(best_by_words)
        if self._rests() or (known is not None and not tools):
            return known
        with anyio.move_on_after(_PATIENCE) as scope:
            known = await self._embed_query(text, tools)
        if scope.cancelled_caught:
            self._failed(TimeoutError())
        self._fill_in_background()  # if the embedder works again
        await self._wait_for_few()
        return known

    async def filled(self) -> None:
        """Return when no vectors are made in the background."""
        if self._filling:
            await self._filled.wait()

    async def _wait_for_few(self) -> None:
        if not self._rests() and len(self.vectors.waiting(_FEW + 1)) <= _FEW:
            with anyio.move_on_after(_FEW_PATIENCE):
                await self.filled()

    def _missing(self, best_by_words: Callable[[int], Sequence[Hit]]) -> list[IndexedTool]:
        if not self.vectors.waiting(1):
            return []
        best = (hit.tool for hit in best_by_words(_WITH_QUERY))
        unique = {tool.digest: tool for tool in best if self.vectors.waits(tool)}
        return list(unique.values())

    async def _embed_query(self, text: str, tools: list[IndexedTool]) -> PackedVector | None:
        found = await self._embedded([text, *map(embedded_text, tools)])
        if found is None:
            return self._queries.get(text)
        self._put(tools, found[1:])
        if found[0] is not None:
            self._queries.put(text, found[0])
        return found[0]

    def _fill_in_background(self) -> None:
        if not self._filling and not self._rests() and self.vectors.waiting(1):
            self._filling, self._filled = True, anyio.Event()
            start_detached(self._fill)

    async def _fill(self) -> None:
        try:
            while tools := self.vectors.waiting(_BATCH):
                found = await self._embedded([embedded_text(tool) for tool in tools])
                if found is None:
                    self.vectors.postpone(tools)  # one of them may be why
                    return
                self._put(tools, found)
        finally:
            self._filling = False
            self._filled.set()

    def _put(self, tools: Iterable[IndexedTool], vectors: Iterable[PackedVector | None]) -> None:
        for tool, vector in zip(tools, vectors, strict=True):
            self.vectors.put(tool, vector)

    async def _embedded(self, texts: Sequence[str]) -> list[PackedVector | None] | None:
        """Return the vectors of texts; None if the embedder has failed, which is logged.

        A call whose result nobody waits for any more cannot be stopped: the next one waits for it.
        """
        await self._turn.acquire()
        found, done = list[PackedVector | None](), anyio.Event()
        start_detached(partial(self._call, texts, found, done))
        await done.wait()
        return found or None

    async def _call(
        self, texts: Sequence[str], found: list[PackedVector | None], done: anyio.Event
    ) -> None:
        try:
            found += await to_thread.run_sync(
                self._pack, texts, limiter=self._thread, abandon_on_cancel=True
            )
        except Exception as error:
            self._failed(error)
        finally:
            self._turn.release()
            done.set()

    def _pack(self, texts: Sequence[str]) -> list[PackedVector | None]:
        found = [packed(vector) for vector in self._embedder.embed(texts)]
        if len(found) != len(texts):
            raise ValueError(f"The embedder returned {len(found)} vectors for {len(texts)} texts.")
        return found

    def _rests(self) -> bool:
        return self._clock() < self._resting_until

    def _failed(self, error: Exception) -> None:
        """Let the embedder rest. Only the class of the error is logged: it may hold a key."""
        self._resting_until = self._clock() + _REST
        logger.warning(
            "The embedder failed (%s). Tools are searched by words for %d seconds.",
            type(error).__name__,
            _REST,
        )
