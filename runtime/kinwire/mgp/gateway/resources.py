"""Resources of all servers behind a gateway, at addresses that begin with the server."""

from __future__ import annotations

__all__ = ("GatewayResources",)

from functools import partial
from typing import Any

from kinwire.managers.entry_table import EntryTable
from kinwire.mcp.context import Context
from kinwire.mcp.registry import Rows
from kinwire.mcp.resources import not_found
from kinwire.mgp.gateway.forwarding import Forwarder
from kinwire.mgp.gateway.lists import ForwardedEntry, ForwardedList
from kinwire.mgp.gateway.request import ForwardedRequest
from kinwire.mgp.rules.gateway_uris import inner_uri, outer_uri
from kinwire_protocols import mcp
from kinwire_protocols.base import JsonObject
from kinwire_protocols.mcp import methods
from kinwire_protocols.peer import Method


class GatewayResources:
    """Lists resources and templates, and forwards `resources/read`."""

    def __init__(self, forwarder: Forwarder, page_size: int) -> None:
        self._forwarder = forwarder
        self.lists = (
            ForwardedList(
                methods.RESOURCES_LIST, "resources", partial(_outer, "uri"), page_size=page_size
            ),
            ForwardedList(
                methods.RESOURCES_TEMPLATES_LIST,
                "resourceTemplates",
                partial(_outer, "uriTemplate"),
                page_size=page_size,
            ),
        )
        """The resources and the templates of all servers."""
        self.rows: Rows = {
            methods.RESOURCES_LIST: partial(self._list, self.lists[0]),
            methods.RESOURCES_TEMPLATES_LIST: partial(self._list, self.lists[1]),
            methods.RESOURCES_READ: self._read,
        }
        """The handlers, but those of subscriptions."""

    async def forward(self, context: Context, method: Method[Any, Any], uri: str) -> JsonObject:
        """Forward a request about the resource at an address of the gateway.

        Raises:
            ResourceNotFoundError: no server has such an address.
            RpcError: the request was refused or has failed.
        """
        found = inner_uri(uri)
        if found is None or self._forwarder.upstreams.get(found[0]) is None:
            raise not_found(uri)
        server_id, inner = found
        sent: JsonObject = {**ForwardedRequest.of(context).raw_params, "uri": inner}
        return await self._forwarder.to_server(context, server_id, method, sent)

    async def _list(
        self, list: ForwardedList, params: mcp.PaginatedRequestParams, context: Context
    ) -> JsonObject:
        table: EntryTable[ForwardedEntry] = await list.view(await self._forwarder.servers(context))
        return table.page(params.cursor)

    async def _read(self, params: mcp.ReadResourceRequestParams, context: Context) -> JsonObject:
        return await self.forward(context, methods.RESOURCES_READ, params.uri)


def _outer(field: str, server_id: str, entry: JsonObject) -> tuple[str, ForwardedEntry] | None:
    own = entry.get(field)
    if not isinstance(own, str):
        return None
    outer = outer_uri(server_id, own)
    key = f"{outer} {entry.get('name')}"  # an address may have several names
    return key, ForwardedEntry(server_id, own, {**entry, field: outer})
