"""Typed calls of MCP-lite. Generated from mcp-lite.json by `kinwire generate`: do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kinwire_protocols.mcplite import methods, models as _mcplite_models, tools
from kinwire_protocols.peer import Peer

if TYPE_CHECKING:
    from kinwire_protocols.mcplite.models import (
        ListToolsResult,
        RedeemAction,
        RequestMeta,
        ToolResult,
    )


class ServerStub:
    """The server as the client sees it: every method that the client may send, and the tools."""

    def __init__(self, peer: Peer) -> None:
        self._peer = peer

    async def tools_list(self, *, meta: RequestMeta | None = None) -> ListToolsResult:
        """List the tools that the server offers.

        tools/list, a request. Source: MCP-lite 0.042, 3.1.

        Args:
            meta: Metadata of the request, next to its own params.

        Raises:
            ParseError: The frame is not JSON.
            InvalidRequestError: The frame is JSON, yet no JSON-RPC message, or it comes at a moment when it is not allowed.
            InvalidParamsError: The params do not fit the method's type, or name something that the receiver does not have.
            InternalError: The receiver failed while it worked on the request; the request itself is not to blame.
        """
        params = _mcplite_models.ListToolsParams(meta=meta)
        return await self._peer.call(methods.TOOLS_LIST, params)

    async def tools_call(
        self, *, name: str, arguments: dict[str, Any] | None = None, meta: RequestMeta | None = None
    ) -> ToolResult:
        """Run a tool and return what came of it: an answer, a promise, questions or a failure.

        tools/call, a request. Source: MCP-lite 0.042, 3.2.

        Args:
            name: The tool's name, as the list of tools gives it.
            arguments: The tool's arguments by name; they fit its input schema. Absent means none.
            meta: Metadata of the request, next to its own params.

        Raises:
            ParseError: The frame is not JSON.
            InvalidRequestError: The frame is JSON, yet no JSON-RPC message, or it comes at a moment when it is not allowed.
            ToolNotFoundError: The server has no tool of that name.
            InvalidParamsError: The params do not fit the method's type, or name something that the receiver does not have.
            InternalError: The receiver failed while it worked on the request; the request itself is not to blame.
        """
        params = _mcplite_models.CallToolParams(name=name, arguments=arguments, meta=meta)
        return await self._peer.call(methods.TOOLS_CALL, params)

    async def redeem(self, *, promise: str, action: RedeemAction | None = None) -> ToolResult:
        """Redeem a promise token to get the result of a long-running operation.

        redeem, a tool. Source: MCP-lite 0.042, 3.6.

        Args:
            promise: The promise token received from a previous operation.
            action: What to do with it; absent means `checkin`.

        Raises:
            InvalidParamsError: The params do not fit the method's type, or name something that the receiver does not have.
        """
        params = _mcplite_models.RedeemParams(promise=promise, action=action)
        return await tools.REDEEM.call(self._peer, params)


class ClientStub:
    """The client as the server sees it: every method that the server may send."""

    def __init__(self, peer: Peer) -> None:
        self._peer = peer
