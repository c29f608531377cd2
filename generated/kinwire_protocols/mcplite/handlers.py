"""Handlers of MCP-lite. Generated from mcp-lite.json by `kinwire generate`: do not edit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from kinwire_protocols.jsonrpc.errors import InvalidParamsError, MethodNotFoundError
from kinwire_protocols.mcplite import methods, tools
from kinwire_protocols.peer import Handlers, Method, On, Register
from kinwire_protocols.tool_methods import ToolHandlers, ToolMethod

if TYPE_CHECKING:
    from kinwire_protocols.mcplite.models import (
        CallToolParams,
        ListToolsParams,
        ListToolsResult,
        RedeemParams,
        ToolResult,
    )


class ServerHandlers(Handlers):
    """What a server handles: override what you serve; the rest answers "method not found"."""

    rows: ClassVar[Mapping[str, Method[Any, Any]]] = {
        "tools/list": methods.TOOLS_LIST,
        "tools/call": methods.TOOLS_CALL,
    }

    async def tools_list(self, params: ListToolsParams) -> ListToolsResult:
        """List the tools that the server offers. (`tools/list`)"""
        raise MethodNotFoundError("Method not found: tools/list")

    async def tools_call(self, params: CallToolParams) -> ToolResult:
        """Run a tool and return what came of it: an answer, a promise, questions or a failure. (`tools/call`)"""
        raise MethodNotFoundError("Method not found: tools/call")


class ServerOn(On):
    """Where a server registers handlers: `@server.on.NAME`."""

    @property
    def tools_list(self) -> Register[ListToolsParams, ListToolsResult]:
        """List the tools that the server offers. (`tools/list`)"""
        return self(methods.TOOLS_LIST)

    @property
    def tools_call(self) -> Register[CallToolParams, ToolResult]:
        """Run a tool and return what came of it: an answer, a promise, questions or a failure. (`tools/call`)"""
        return self(methods.TOOLS_CALL)


class ClientHandlers(Handlers):
    """What a client handles: override what you serve; the rest answers "method not found"."""

    rows: ClassVar[Mapping[str, Method[Any, Any]]] = {}


class ClientOn(On):
    """Where a client registers handlers: `@client.on.NAME`."""


class ServerTools(ToolHandlers):
    """The tools that a server serves: override them; the rest are unknown tools."""

    rows: ClassVar[Mapping[str, ToolMethod[Any, Any]]] = {
        "redeem": tools.REDEEM,
    }

    async def redeem(self, params: RedeemParams) -> ToolResult:
        """Redeem a promise token to get the result of a long-running operation. (`redeem`)"""
        raise InvalidParamsError("Unknown tool: redeem")
