"""Tools of all servers behind a gateway, as much of them as the context level shows."""

from __future__ import annotations

__all__ = ("GatewayTools",)

import logging
from collections.abc import Callable, Sequence

from kinwire.managers.entry_table import EntryTable
from kinwire.mcp.context import Context
from kinwire.mcp.registry import Rows
from kinwire.mgp.gateway.clients import GatewayClients
from kinwire.mgp.gateway.forwarding import Forwarder
from kinwire.mgp.gateway.lists import ForwardedEntry, ListViews
from kinwire.mgp.gateway.request import ForwardedRequest
from kinwire.mgp.kernel.access_options import AccessPrincipal
from kinwire.mgp.kernel.tool_index import ToolIndexManager
from kinwire.mgp.kernel.tool_sight import ToolSights
from kinwire.mgp.rules.tool_cache import ToolKey
from kinwire.mgp.rules.tool_context import CALL_TOOL, META_TOOLS, ContextLevelName, renamed
from kinwire.mgp.rules.tool_index.entry import IndexedTool
from kinwire.mgp.rules.tool_names import SEPARATOR, PublicNames, public_name
from kinwire.rpc.codec import is_object, kind_of
from kinwire_protocols import mcp
from kinwire_protocols.base import JsonObject
from kinwire_protocols.jsonrpc.errors import InvalidParamsError
from kinwire_protocols.mcp import methods

logger = logging.getLogger("kinwire.mgp.gateway")

_SEARCH = "Search for tools, or list them again."
_META = {tool["name"] for tool in META_TOOLS} - {CALL_TOOL}


class GatewayTools:
    """Lists tools, and forwards `tools/call`."""

    def __init__(
        self,
        forwarder: Forwarder,
        index: ToolIndexManager,
        clients: GatewayClients,
        changed: Callable[[], None],
        *,
        level: ContextLevelName,
        page_size: int,
    ) -> None:
        """`changed` is called when all clients have another list of tools."""
        self._forwarder = forwarder
        self._index = index
        self._clients = clients
        self._level: ContextLevelName = level
        self._changed = changed
        self._names = PublicNames()
        self._entries: dict[str, dict[str, tuple[IndexedTool, ForwardedEntry]]] = {}
        self._version = 0
        self._views = ListViews(methods.TOOLS_LIST.name, "tools", page_size)
        self.rows: Rows = {methods.TOOLS_LIST: self._list, methods.TOOLS_CALL: self._call}
        """The handlers."""
        index.followers.append(self._follow)
        index.begin()
        for id in {tool.server_id for tool in index.tools()}:
            self._follow(id)

    async def _list(self, params: mcp.PaginatedRequestParams, context: Context) -> JsonObject:
        if self._level != "L2":  # which lists no tool of a server
            await self._index.ready()
        if self._level == "L0":
            return (await self._seen(context)).page(params.cursor)
        if params.cursor is not None:
            raise InvalidParamsError("tools/list#/cursor: this list has one page. Leave it out.")
        return await self._clients.of(context).page(self._level)

    async def _seen(self, context: Context) -> EntryTable[ForwardedEntry]:
        """Return all tools that the agent of a request may call."""
        agent = self._forwarder.agent(context).id
        sights = await self._index.sights(AccessPrincipal("agent", agent))
        hidden = frozenset[str]() if sights.shows_all() else self._hidden(sights)
        return self._views.get(hidden, self._version, lambda: self._without(hidden))

    def _hidden(self, sights: ToolSights) -> frozenset[str]:
        return frozenset(
            public
            for tools in self._entries.values()
            for public, (tool, _) in tools.items()
            if not sights.shows(tool)
        )

    def _without(self, hidden: frozenset[str]) -> dict[str, ForwardedEntry]:
        return {
            public: entry
            for tools in self._entries.values()
            for public, (_, entry) in tools.items()
            if public not in hidden
        }

    async def _call(self, params: mcp.CallToolRequestParams, context: Context) -> JsonObject:
        sent = ForwardedRequest.of(context).raw_params
        if self._level == "L0":
            return await self._forward(params.name, sent, context)
        if params.name in _META:
            return await self._clients.of(context).tools.call(params.name, params.arguments)
        if params.name == CALL_TOOL:
            sent = _inner_call(sent)
        return await self._forward(sent["name"], sent, context)

    async def _forward(self, public: str, sent: JsonObject, context: Context) -> JsonObject:
        """Forward a call of a tool by its name at the gateway; its client has it then."""
        server_id, name = await self._find(public, context)
        result = await self._forwarder.to_tool(
            context, server_id, methods.TOOLS_CALL, {**sent, "name": name}
        )
        tool = None if self._level == "L0" else self._index.get(server_id, name)
        if tool is not None:
            self._clients.of(context).session.use(tool)
        return result

    async def _find(self, public: str, context: Context) -> ToolKey:
        """Return the server and the tool that a name stands for.

        Raises:
            InvalidParamsError: there is no such tool.
        """
        found = self._names.find(public)
        if found is not None and self._forwarder.upstreams.is_gone(found[0]):
            self._names.remove(found[0])  # its server was taken out of the configuration
            found = None
        if found is None:
            await self._index.ready()  # a client may know the name from an earlier connection
            found = self._names.find(public)
        if found is None:
            hint = await self._hint(public, context)
            raise InvalidParamsError(
                f"Unknown tool: {public!r:.60}. {hint}", data={"tool": public[:200]}
            )
        return found

    async def _hint(self, public: str, context: Context) -> str:
        """Return what a model can do about a name that no tool has."""
        if public in _META and self._level != "L0":
            return f"It is called by itself, not by {CALL_TOOL}."
        agent = self._forwarder.agent(context).id
        sights = await self._index.sights(AccessPrincipal("agent", agent))
        words = public.rpartition(SEPARATOR)[2]
        limit = 1 if words.strip() else 0  # an empty query fits all tools
        found = await self._index.search.search(words, limit=limit, accepts=sights.shows)
        names = [public_name(hit.tool.server_id, hit.tool.name) for hit in found.hits]
        return " ".join((*(f"Did you mean {name!r}?" for name in names), _SEARCH))

    def _follow(self, server_id: str) -> None:
        """Take over the tools of a server, which have changed."""
        tools = self._index.tools_of(server_id)
        self._name(server_id, tools)
        before, now = self._entries.pop(server_id, {}), {}
        for tool in tools:
            public = public_name(server_id, tool.name)
            if self._names.find(public) == (server_id, tool.name):
                kept = before.get(public)
                is_same = kept is not None and kept[0] is tool
                now[public] = kept if kept is not None and is_same else (tool, _entry(public, tool))
        if now:
            self._entries[server_id] = now
        self._version += 1
        if self._level in ("L0", "L1"):  # at L1 the categories are listed
            self._changed()

    def _name(self, server_id: str, tools: Sequence[IndexedTool]) -> None:
        """Keep the names of the tools of a server; also without any, if a call may start it."""
        if not tools:
            if not self._forwarder.upstreams.may_start(server_id):
                self._names.remove(server_id)
            return
        for name in self._names.replace(server_id, (tool.name for tool in tools)):
            text = "%s: the tool %r is left out: another tool has its name at the gateway"
            logger.warning(text, server_id, name[:60])


def _inner_call(sent: JsonObject) -> JsonObject:
    """Return the params for the tool that `CALL_TOOL` is to call.

    Raises:
        InvalidParamsError: the arguments name no tool.
    """
    given = sent.get("arguments")
    name = given.get("name") if is_object(given) else None
    if not is_object(given) or not isinstance(name, str):
        raise InvalidParamsError(
            f"{CALL_TOOL}#/arguments/name: expected the name of a tool, got {kind_of(name)}"
        )
    left = {key: value for key, value in sent.items() if key != "arguments"}
    inner = given.get("arguments")
    return {**left, "name": name, **({} if inner is None else {"arguments": inner})}


def _entry(public: str, tool: IndexedTool) -> ForwardedEntry:
    return ForwardedEntry(tool.server_id, tool.name, renamed(tool, public))
