"""Searching tools for an agent: `mgp/tools/discover` (MGP 16.5)."""

from __future__ import annotations

__all__ = ("ToolFinder", "shown_tool")

from collections.abc import Callable, Mapping
from time import perf_counter
from typing import Final

from kinwire.mgp.kernel.tool_index import ToolIndexManager
from kinwire.mgp.kernel.tool_session import ToolSession
from kinwire.mgp.kernel.tool_sessions import ToolSessions
from kinwire.mgp.kernel.tool_sight import ToolSights
from kinwire.mgp.rules.server_policy import RISKS
from kinwire.mgp.rules.tool_index.entry import Hit, IndexedTool
from kinwire.mgp.rules.tool_index.index import Accepts
from kinwire.mgp.rules.tool_names import public_name
from kinwire_protocols.base import JsonObject, from_wire
from kinwire_protocols.jsonrpc.errors import InvalidParamsError
from kinwire_protocols.mgp.models import (
    ServerState,
    ToolsDiscoverParams,
    ToolsDiscoverResult,
    ToolSearchFilter,
)
from kinwire_protocols.mgp.tables import DISCOVER_MAX_RESULTS

_MOST_RESULTS = 100
_LONGEST_QUERY = 2000  # characters
_SHOWN: Final = ("title", "inputSchema", "outputSchema", "annotations")


class ToolFinder:
    """Searches the index of a kernel for agents, and for servers that ask."""

    def __init__(
        self,
        index: ToolIndexManager,
        sessions: ToolSessions,
        states: Callable[[], Mapping[str, ServerState]],
        *,
        by_meaning: bool,
    ) -> None:
        """Prepare. `states` returns the states of supervised servers, by id.

        `by_meaning` is whether there are vectors: then it is the strategy where none is named.
        """
        self._index = index
        self._sessions = sessions
        self._states = states
        self._by_meaning = by_meaning

    async def discover(
        self, params: ToolsDiscoverParams, session: ToolSession, *, qualified: bool = False
    ) -> ToolsDiscoverResult:
        """Return the tools that fit a query best and that the agent of a session may call.

        There are as many as the discovery reserve of the context budget has room for. With
        `qualified` they have the names that a gateway gives them.

        Raises:
            InvalidParamsError: the query is empty or has more than 2,000 characters.
            StorageError: entries of access cannot be read.
        """
        began = perf_counter()
        by_category = params.strategy == "category"
        if len(params.query) > _LONGEST_QUERY or not (params.query.strip() or by_category):
            expected = f"1 to {_LONGEST_QUERY} characters"
            raise InvalidParamsError(f"/query: expected {expected}, got {len(params.query)}")
        await self._index.ready()
        sights = await self._index.sights(session.caller)
        found = await self._index.search.search(
            params.query,
            strategy=params.strategy or ("semantic" if self._by_meaning else "keyword"),
            limit=min(params.max_results or DISCOVER_MAX_RESULTS, _MOST_RESULTS),
            accepts=self._accepting(sights, params.filter),
            categories=_categories(params.filter),
            visible=None if sights.shows_all() else sights.names,
        )
        entries = {hit.tool.key: _scored(hit, qualified) for hit in found.hits}
        sizes = [
            (hit.tool, self._sessions.count(entry))
            for hit, entry in zip(found.hits, entries.values(), strict=True)
        ]
        kept = session.keep_results(sizes)
        result: JsonObject = {
            "tools": [entries[tool.key] for tool in kept],
            "total_available": sights.count(),
            "search_strategy": found.strategy,
            "query_time_ms": round((perf_counter() - began) * 1000, 3),
        }
        return from_wire(ToolsDiscoverResult, result)

    def _accepting(self, sights: ToolSights, wanted: ToolSearchFilter | None) -> Accepts | None:
        """Return what decides whether a tool may be in a result; None if each one may.

        Access is asked last.
        """
        limits = wanted and (wanted.risk_level_max or wanted.status)
        if not limits and sights.shows_all():
            return None
        most = RISKS.index((wanted and wanted.risk_level_max) or RISKS[-1])
        status, states = wanted and wanted.status, self._states()

        def accepts(tool: IndexedTool) -> bool:
            return (
                RISKS.index(tool.risk) <= most
                and status in (None, states.get(tool.server_id, "connected"))
                and sights.shows(tool)
            )

        return accepts


def shown_tool(tool: IndexedTool, *, qualified: bool) -> JsonObject:
    """Return a tool as an answer has it: MGP `LoadedTool`, with its whole schemas."""
    name = public_name(tool.server_id, tool.name) if qualified else tool.name
    shown: JsonObject = {
        "name": name,
        "server_id": tool.server_id,
        "description": tool.description,
        "security": tool.security,
    }
    shown |= {field: tool.definition[field] for field in _SHOWN if field in tool.definition}
    return shown


def _scored(hit: Hit, qualified: bool) -> JsonObject:
    score = min(1.0, max(0.0, hit.score))
    return {**shown_tool(hit.tool, qualified=qualified), "relevance_score": round(score, 4)}


def _categories(wanted: ToolSearchFilter | None) -> tuple[str, ...]:
    return tuple(wanted.categories or ()) if wanted is not None else ()
