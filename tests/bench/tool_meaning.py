"""Search of tools by meaning, with the model of the extra `semantic` (MGP 16.4)."""

from __future__ import annotations

__all__ = ("rows",)

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from statistics import median

import anyio

from kinwire.mgp import MiniLmEmbedder
from kinwire.mgp.kernel.tool_search import ToolSearch
from kinwire.mgp.rules.tool_index.embedding import embedded_text
from kinwire.mgp.rules.tool_index.entry import IndexedTool
from kinwire.mgp.rules.tool_index.vectors import PackedVector, ToolVectors, packed
from kinwire_protocols.mgp.models import SearchStrategy
from tests.bench.measure import Row, at_least

_ROUNDS = 30

Steps = Sequence[tuple[str, list[str]]]


def rows(entries: Sequence[IndexedTool], steps: Steps) -> Iterator[Row]:
    """Yield what is found by meaning, next to the search by words, and what that costs."""
    try:
        embedder = MiniLmEmbedder()
    except ImportError as error:
        yield Row("search by meaning", "", str(error), verdict="not measured")
        return
    yield anyio.run(_recalls, embedder, entries, steps)
    yield _costs(embedder, entries, steps)


async def _recalls(embedder: MiniLmEmbedder, entries: Sequence[IndexedTool], steps: Steps) -> Row:
    search = ToolSearch(embedder)
    for server in {entry.server_id for entry in entries}:
        search.replace(server, [entry for entry in entries if entry.server_id == server])
    await search.embedded()
    words = [await _recall(search, "keyword", limit, steps) for limit in (5, 10)]
    both = [await _recall(search, "semantic", limit, steps) for limit in (5, 10)]
    return Row(
        "right tool among 5 / 10 found by meaning and words",
        f"{both[0]:.3f} / {both[1]:.3f}",
        f"words alone {words[0]:.3f} / {words[1]:.3f}",
        "above words alone",
        "",
        at_least(min(both[0] - words[0], both[1] - words[1]), 1e-9),
    )


async def _recall(search: ToolSearch, strategy: SearchStrategy, limit: int, steps: Steps) -> float:
    right = 0
    for query, names in steps:
        found = await search.search(query, strategy=strategy, limit=limit)
        right += bool({hit.tool.name for hit in found.hits} & {*names})
    return right / len(steps)


def _costs(embedder: MiniLmEmbedder, entries: Sequence[IndexedTool], steps: Steps) -> Row:
    """Embed queries and tools, and look for the nearest of 100,000 vectors."""
    began = time.process_time()
    made = [packed(one) for one in embedder.embed([embedded_text(one) for one in entries[:100]])]
    each = (time.process_time() - began) / len(made)
    began = time.process_time()
    asked = [packed(one) for one in embedder.embed([query for query, _ in steps])]
    query = (time.process_time() - began) / len(asked)
    figures: list[str] = []
    for size in (10_000, 100_000):
        vectors = _many(entries[0], [one for one in made if one is not None], size)
        times = [_cpu(vectors, one) for one in asked[:_ROUNDS] if one is not None]
        figures.append(f"{median(times) * 1e3:.1f} ms among {size:,}")
    return Row(
        "the nearest vectors",
        "; ".join(figures),
        f"a query is embedded in {query * 1e3:.0f} ms, a tool in {each * 1e3:.0f} ms",
    )


def _many(entry: IndexedTool, made: Sequence[PackedVector], size: int) -> ToolVectors:
    """Return vectors of `size` tools, each unlike the others in some signs."""
    vectors = ToolVectors()
    tools = [_copy(entry, number) for number in range(size)]
    vectors.replace("s", tools)
    for number, tool in enumerate(tools):
        vector = made[number % len(made)]
        vectors.put(tool, vector._replace(signs=vector.signs ^ (number * 0x9E3779B97F4A7C15)))
    return vectors


def _copy(entry: IndexedTool, number: int) -> IndexedTool:
    return replace(entry, name=f"tool_{number}", digest=str(number))


def _cpu(vectors: ToolVectors, vector: PackedVector) -> float:
    began = time.process_time()
    vectors.nearest(vector)
    return time.process_time() - began
