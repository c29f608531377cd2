"""Tools of all servers behind a gateway, as much of them as the context level shows."""

from __future__ import annotations

__all__ = ("GatewayTools",)

from typing import Any

from kinwire.mcp.context import Context
from kinwire.mcp.registry import Rows
from kinwire.mgp.gateway.forwarding import Forwarder
from kinwire.mgp.gateway.lists import ForwardedEntry, ForwardedList
from kinwire.mgp.gateway.request import ForwardedRequest
from kinwire.mgp.rules.tool_names import public_name
from kinwire_protocols import mcp
from kinwire_protocols.base import JsonObject
from kinwire_protocols.jsonrpc.errors import InvalidParamsError
from kinwire_protocols.mcp import methods


class GatewayTools:
    """Lists tools, and forwards `tools/call`."""

    def __init__(self, forwarder: Forwarder, page_size: int) -> None:
        self._forwarder = forwarder
        self.list = ForwardedList(methods.TOOLS_LIST, "tools", _outer, page_size=page_size)
        self.rows: Rows = {methods.TOOLS_LIST: self._list, methods.TOOLS_CALL: self._call}
        """The handlers."""

    async def _list(self, params: mcp.PaginatedRequestParams, context: Context) -> JsonObject:
        table = await self.list.view(await self._forwarder.servers(context))
        return table.page(params.cursor)

    async def _call(self, params: mcp.CallToolRequestParams, context: Context) -> JsonObject:
        table = await self.list.view(await self._forwarder.servers(context))
        found = table.entries.get(params.name)
        if found is None:
            raise InvalidParamsError(f"Unknown tool: {params.name!r:.60}.")
        sent: JsonObject = {**ForwardedRequest.of(context).raw_params, "name": found.own}
        return await self._forwarder.to_tool(context, found.server_id, methods.TOOLS_CALL, sent)


def _outer(server_id: str, entry: JsonObject) -> tuple[str, ForwardedEntry] | None:
    name: Any = entry.get("name")
    if not isinstance(name, str):
        return None
    public = public_name(server_id, name)
    return public, ForwardedEntry(server_id, name, {**entry, "name": public})
