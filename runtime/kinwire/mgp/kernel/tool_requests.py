"""Tools for an agent that notices a gap while it works: `mgp/tools/request` (MGP 16.6)."""

from __future__ import annotations

__all__ = ("ToolRequests",)

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

import anyio

from kinwire.mgp.kernel.permissions import PermissionManager
from kinwire.mgp.kernel.tool_creation import ToolCreation, ToolGap
from kinwire.mgp.kernel.tool_discovery import shown_tool
from kinwire.mgp.kernel.tool_index import ToolIndexManager
from kinwire.mgp.kernel.tool_session import ToolSession
from kinwire.mgp.kernel.tool_sight import ToolSights
from kinwire.mgp.rules.tool_index.entry import Hit, IndexedTool
from kinwire.mgp.rules.tool_needs import RankedTool, ToolNeeds, chosen, ranked
from kinwire_protocols.base import JsonObject, from_wire
from kinwire_protocols.jsonrpc.errors import InvalidParamsError
from kinwire_protocols.mgp.models import (
    GrantValue,
    ToolsRequestParams,
    ToolsRequestResult,
    ToolsRequestStatus,
)
from kinwire_protocols.mgp.tables import DISCOVER_MAX_RESULTS

_CANDIDATES = 50  # of one search
_LONGEST_TEXT = 2000  # characters that are searched


class _Choice(NamedTuple):
    usable: Sequence[RankedTool]
    waiting: Sequence[RankedTool]
    """Tools that lack a permission; each has a capability that no usable tool has."""


class ToolRequests:
    """Finds and loads the tools that agents ask for."""

    def __init__(
        self,
        index: ToolIndexManager,
        permissions: PermissionManager,
        creation: ToolCreation,
        *,
        by_meaning: bool,
    ) -> None:
        """`by_meaning` is whether there are vectors to search."""
        self._index = index
        self._permissions = permissions
        self._creation = creation
        self._by_meaning: Final = by_meaning

    async def request(
        self, params: ToolsRequestParams, session: ToolSession, *, qualified: bool = False
    ) -> ToolsRequestResult:
        """Load the tools that fit best into a session, as far as its agent may call them.

        A tool that lacks a permission is not loaded: an operator is asked for it, and the agent
        asks again. With `qualified` the tools have the names that a gateway gives them.

        Raises:
            InvalidParamsError: nothing is asked for, or too much.
            StorageError: entries of access cannot be read.
        """
        needs = _needs_in(params)
        gap = _gap_of(params, needs, session)
        await self._index.ready()
        choice = await self._choose(needs, session)
        made = await self._made(gap)
        wanted = [*made, *(one.tool for one in choice.usable if one.tool not in made)]
        loaded = session.load(wanted)
        tools = [tool for tool in wanted if tool.key in loaded.present]
        for one in choice.waiting:
            self._ask(one.tool, session)
        lacking = () if made else _lacking(needs, choice, tools)
        status = _status(needs, tools, choice.waiting, lacking)
        if status == "unavailable" and await self._is_creating(gap):
            status = "creating"
        result: JsonObject = {
            "status": status,
            "tools_loaded": [shown_tool(tool, qualified=qualified) for tool in tools],
            "tools_unavailable": [*lacking],
            "session_tools_count": len(session),
            "context_tokens_added": loaded.tokens_added,
        }
        return from_wire(ToolsRequestResult, result)

    async def _choose(self, needs: ToolNeeds, session: ToolSession) -> _Choice:
        sights = await self._index.sights(session.caller)
        found = {one: await self._search(one, sights) for one in needs.capabilities}
        context = await self._search(needs.text, sights) if needs.text else ()
        usable, waiting = list[RankedTool](), list[RankedTool]()
        for one in ranked(needs, found, context):
            standing = self._standing(one.tool)
            if standing != "denied":
                (usable if standing == "approved" else waiting).append(one)
        loaded = chosen(usable, needs.capabilities, most=DISCOVER_MAX_RESULTS)
        has = frozenset[str]().union(*(one.covers for one in loaded))
        left = [one for one in needs.capabilities if one not in has]
        is_enough = loaded and not left
        most = 0 if needs.capabilities else 1
        return _Choice(loaded, () if is_enough else chosen(waiting, left, most=most))

    async def _search(self, text: str, sights: ToolSights) -> Sequence[Hit]:
        hidden = not sights.shows_all()
        await anyio.lowlevel.checkpoint()  # other tasks have a turn between searches
        found = await self._index.search.search(
            text[:_LONGEST_TEXT],
            strategy="semantic" if self._by_meaning else "keyword",
            limit=_CANDIDATES,
            accepts=sights.shows if hidden else None,
            visible=sights.names if hidden else None,
        )
        return found.hits

    def _standing(self, tool: IndexedTool) -> GrantValue:
        """Return whether the server of a tool has all permissions that a call needs."""
        server = self._index.server(tool.server_id)
        if server is None or tool.name not in server.tools:
            return "denied"
        return self._permissions.standing(server, server.tools[tool.name].permissions)

    def _ask(self, tool: IndexedTool, session: ToolSession) -> None:
        server = self._index.server(tool.server_id)
        if server is not None and tool.name in server.tools:
            needed = server.tools[tool.name].permissions
            self._permissions.ask_for(server, needed, session.caller.id, tool.name)

    async def _made(self, gap: ToolGap) -> Sequence[IndexedTool]:
        """Return the tools of the server that the agent has registered for this request."""
        id = self._creation.server_for(gap)
        return () if id is None else await self._index.allowed(gap.caller, self._index.tools_of(id))

    async def _is_creating(self, gap: ToolGap) -> bool:
        if self._creation.server_for(gap) is not None:
            return True  # it was registered, and is not connected yet
        return await self._creation.begin(gap)


def _gap_of(params: ToolsRequestParams, needs: ToolNeeds, session: ToolSession) -> ToolGap:
    wanted = frozenset(needs.capabilities or (needs.text,))
    return ToolGap(session.caller, params.task_trace_id or "", wanted)


def _needs_in(params: ToolsRequestParams) -> ToolNeeds:
    """Return what a request asks for.

    Raises:
        InvalidParamsError: nothing, or too much.
    """
    try:
        needs = ToolNeeds.of(params)
    except ValueError as error:
        raise InvalidParamsError(str(error)) from None
    if not (needs.capabilities or needs.text):
        raise InvalidParamsError("/requirements: expected capabilities, types or a context")
    return needs


def _lacking(needs: ToolNeeds, choice: _Choice, tools: Iterable[IndexedTool]) -> tuple[str, ...]:
    """Return the capabilities that no tool has which was loaded or waits for a permission."""
    present = {tool.key for tool in tools}
    loaded = (one for one in choice.usable if one.tool.key in present)
    has = frozenset[str]().union(*(one.covers for one in (*loaded, *choice.waiting)))
    return tuple(one for one in needs.capabilities if one not in has)


def _status(
    needs: ToolNeeds,
    tools: Sequence[IndexedTool],
    waiting: Sequence[RankedTool],
    lacking: Sequence[str],
) -> ToolsRequestStatus:
    if waiting:
        return "pending_approval"
    if not tools:
        return "unavailable"
    return "partial" if lacking else "fulfilled"
