"""The tools of the gateway itself: they find, load, list and unload the tools of all servers."""

from __future__ import annotations

__all__ = ("MetaTools",)

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeVar

from pydantic import ValidationError

from kinwire.mcp.context import Context
from kinwire.mgp.gateway.clients import GatewayClients
from kinwire.support.json_values import text
from kinwire.support.sanitize import enumerated
from kinwire_protocols.base import JsonObject, Message, from_wire, to_wire
from kinwire_protocols.jsonrpc.errors import InvalidParamsError
from kinwire_protocols.mgp.models import ToolsSessionEvictParams
from kinwire_protocols.problems import problems

M = TypeVar("M", bound=Message)

MetaTool = Callable[[JsonObject, Context], Awaitable[JsonObject]]
"""Takes the arguments and the context of the call, and returns what the model reads."""


class MetaTools:
    """The meta-tools but the one that calls others, by the names that models use."""

    def __init__(self, clients: GatewayClients) -> None:
        self._clients = clients
        self.by_name: Mapping[str, MetaTool] = {
            "mgp_tools_session": self._session,
            "mgp_tools_session_evict": self._evict,
        }

    async def call(self, tool: MetaTool, arguments: Any, context: Context) -> JsonObject:
        """Call a meta-tool, and return the result of `tools/call`."""
        found = await tool(arguments or {}, context)
        return {"content": [{"type": "text", "text": text(found)}]}

    async def _session(self, arguments: JsonObject, context: Context) -> JsonObject:
        return to_wire(await self._clients.of(context).session.state(qualified=True))

    async def _evict(self, arguments: JsonObject, context: Context) -> JsonObject:
        given = read("mgp_tools_session_evict", ToolsSessionEvictParams, arguments)
        reason = given.reason if isinstance(given.reason, str) else None
        return to_wire(await self._clients.of(context).session.evict(given.tools, reason))


def read(tool: str, kind: type[M], arguments: JsonObject) -> M:
    """Return the arguments of a call by their type.

    Raises:
        InvalidParamsError: they do not fit.
    """
    try:
        return from_wire(kind, arguments)
    except ValidationError as error:
        found = enumerated(problems(error, arguments))
        raise InvalidParamsError(f"{tool}#{found}", data={"tool": tool}) from None
