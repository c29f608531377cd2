"""Prompts of all servers behind a gateway, named as tools are: `server__prompt`."""

from __future__ import annotations

__all__ = ("GatewayPrompts",)

from typing import Any

from kinwire.mcp.context import Context
from kinwire.mcp.registry import Rows
from kinwire.mgp.gateway.forwarding import Forwarder
from kinwire.mgp.gateway.lists import ForwardedEntry, ForwardedList
from kinwire.mgp.gateway.request import ForwardedRequest
from kinwire.mgp.rules.tool_names import names_server, public_name
from kinwire_protocols import mcp
from kinwire_protocols.base import JsonObject
from kinwire_protocols.jsonrpc.errors import InvalidParamsError
from kinwire_protocols.mcp import methods


class GatewayPrompts:
    """Lists prompts, and forwards `prompts/get`."""

    def __init__(self, forwarder: Forwarder, page_size: int) -> None:
        self._forwarder = forwarder
        self.list = ForwardedList(methods.PROMPTS_LIST, "prompts", _outer, page_size=page_size)
        """The prompts of all servers."""
        self.rows: Rows = {methods.PROMPTS_LIST: self._list, methods.PROMPTS_GET: self._get}
        """The handlers."""

    async def find(self, name: object, context: Context) -> ForwardedEntry:
        """Return the prompt of a name at the gateway; the server that the name says is asked alone.

        Raises:
            InvalidParamsError: the agent sees no such prompt.
        """
        text = name if isinstance(name, str) else ""
        servers = await self._forwarder.servers(context)
        named = [one for one in servers if names_server(text, one.id)]
        found = await self.list.find(named, text)
        if found is None:
            hint = self.list.known(servers).near(text) if text else ""
            raise InvalidParamsError(f"Unknown prompt: {name!r:.60}. {hint}")
        return found

    async def _list(self, params: mcp.PaginatedRequestParams, context: Context) -> JsonObject:
        table = await self.list.view(await self._forwarder.servers(context))
        return table.page(params.cursor)

    async def _get(self, params: mcp.GetPromptRequestParams, context: Context) -> JsonObject:
        found = await self.find(params.name, context)
        sent: JsonObject = {**ForwardedRequest.of(context).raw_params, "name": found.own}
        return await self._forwarder.to_server(context, found.server_id, methods.PROMPTS_GET, sent)


def _outer(server_id: str, entry: JsonObject) -> tuple[str, ForwardedEntry] | None:
    name: Any = entry.get("name")
    if not isinstance(name, str):
        return None
    public = public_name(server_id, name)
    return public, ForwardedEntry(server_id, name, {**entry, "name": public})
