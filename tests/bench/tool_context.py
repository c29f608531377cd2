"""What tools take of a model's context at each level, on the tools of real servers (MGP 16.3).

    python -m tests.bench.tool_context

Tokens are estimates, as a kernel makes them without a tokenizer. Pinned are the three tools whose
definitions have the most usual size.
"""

from __future__ import annotations

__all__ = ("ContextShares", "context_shares", "rows")

from collections.abc import Iterator, Sequence
from statistics import fmean, median
from typing import NamedTuple

from kinwire.mgp.kernel.tool_discovery import shown_tool
from kinwire.mgp.rules.token_counts import context_text, counted, estimated_tokens
from kinwire.mgp.rules.tool_context import category_counts, context_tools
from kinwire.mgp.rules.tool_index.entry import IndexedTool
from kinwire.mgp.rules.tool_index.index import ToolIndex
from kinwire.support.json_values import text
from kinwire_protocols.base import JsonObject
from tests.bench.measure import Row, at_most, table
from tests.runtime.mgp.rules.tool_index.fixtures_tools import catalog, catalog_queries

_RESULTS = 5
_PINNED = 3


class ContextShares(NamedTuple):
    """Tokens; the last one is the share of the queries whose tool is among the five results."""

    l0: int
    """All tools."""
    l1: int
    l2: int
    """The meta-tools."""
    l3: int
    """The meta-tools, and the pinned tools."""
    results: float
    """Five results of a search, on average."""
    recall: float


def context_shares() -> ContextShares:
    """Measure it."""
    tools = list(catalog())
    index = ToolIndex()
    for server in {tool.server_id for tool in tools}:
        index.replace(server, [tool for tool in tools if tool.server_id == server])
    answers = [(_answer(index, query), wanted) for query, wanted in catalog_queries()]
    found = [not {one["own"] for one in answer}.isdisjoint(wanted) for answer, wanted in answers]
    return ContextShares(
        l0=_tokens(context_tools("L0", every=tools)),
        l1=_tokens(context_tools("L1", categories=category_counts(tools))),
        l2=_tokens(context_tools("L2")),
        l3=_tokens(context_tools("L3", pinned=_usual(tools))),
        results=fmean(_size(answer) for answer, _ in answers),
        recall=fmean(found),
    )


def _usual(tools: Sequence[IndexedTool]) -> list[IndexedTool]:
    sizes = {tool.tool_id: counted(context_text(tool.definition)) for tool in tools}
    middle = median(sizes.values())
    return sorted(tools, key=lambda tool: abs(sizes[tool.tool_id] - middle))[:_PINNED]


def _answer(index: ToolIndex, query: str) -> list[JsonObject]:
    hits = index.search(query, limit=_RESULTS).hits
    return [
        {
            **shown_tool(hit.tool, qualified=True),
            "relevance_score": round(hit.score, 4),
            "own": hit.tool.name,
        }
        for hit in hits
    ]


def _size(answer: Sequence[JsonObject]) -> int:
    shown = [{name: one[name] for name in one if name != "own"} for one in answer]
    return estimated_tokens(text({"tools": shown, "search_strategy": "keyword"}))


def _tokens(tools: Sequence[JsonObject]) -> int:
    return sum(counted(context_text(tool)) for tool in tools)


def rows() -> Iterator[Row]:
    """Yield what stands in a context, and what is there after a search."""
    found = context_shares()
    all_tools = f"{found.l0:,} tokens of all tools"
    yield Row("context, L1, categories", f"{found.l1:,} tokens", all_tools)
    for level, standing in (("L2", found.l2), ("L3", found.l3)):
        pinned = f", {_PINNED} pinned tools" * (level == "L3")
        with_results = standing + found.results
        yield Row(
            f"context, {level}{pinned}",
            f"{standing:,} tokens, {standing / found.l0:.2%}",
            all_tools,
            bar="1 %",
            verdict=at_most(standing / found.l0, 0.01),
        )
        yield Row(
            f"context, {level} with {_RESULTS} results",
            f"{with_results:,.0f} tokens, {with_results / found.l0:.2%}",
            f"{all_tools}; the tool is among them for {found.recall:.0%}",
            bar="3 %",
            verdict=at_most(with_results / found.l0, 0.03),
        )


if __name__ == "__main__":
    print(table(list(rows())))
