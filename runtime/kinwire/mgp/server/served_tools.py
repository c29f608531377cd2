"""Tools of a server as a kernel sees them: with their security, and with errors of MGP.

A client that speaks only MCP sees nothing of this (MGP 0.2.0 sections 1.3, 4.1, 14).
"""

from __future__ import annotations

__all__ = ("GuardedTools", "plain_errors")

import logging
from collections.abc import Iterable, Mapping
from functools import partial

from kinwire.mgp.errors import refusal
from kinwire.mgp.server.kernel_peer import KernelPeer
from kinwire.rpc.codec import is_object
from kinwire.rpc.request import Request
from kinwire.rpc.session import Session
from kinwire_protocols import mcp
from kinwire_protocols.base import RpcError
from kinwire_protocols.jsonrpc.errors import InvalidParamsError
from kinwire_protocols.mcp.methods import TOOLS_CALL, TOOLS_LIST
from kinwire_protocols.mgp import errors
from kinwire_protocols.mgp.augments import TOOL_SECURITY
from kinwire_protocols.mgp.models import ToolSecurity
from kinwire_protocols.nearest import nearest

logger = logging.getLogger("kinwire.mgp")


class GuardedTools:
    """The tools of a server in its sessions with kernels; `tools` has their security by name."""

    def __init__(self, tools: Mapping[str, ToolSecurity]) -> None:
        self._tools = tools
        self._warned = set[str]()

    def join(self, peer: KernelPeer) -> None:
        """Have a kernel see the security of tools, and get errors of MGP."""
        peer.session.filter_error(TOOLS_CALL, _error_of_mgp)
        if "security" in peer.extensions:
            peer.session.filter_result(TOOLS_LIST, self._marked)
            peer.session.guard(TOOLS_CALL, partial(self._admit, peer))

    def left(self, peer: KernelPeer) -> None:
        """Do nothing: all that is kept belongs to the server."""

    def _marked(self, page: mcp.ListToolsResult, request: Request) -> mcp.ListToolsResult:
        params = request.params
        assert isinstance(params, mcp.PaginatedRequestParams)
        if params.cursor is None and page.next_cursor is None:
            self._warn_of_missing([tool.name for tool in page.tools])
        marked = [
            TOOL_SECURITY.write(tool, self._tools[tool.name]) if tool.name in self._tools else tool
            for tool in page.tools
        ]
        return page.model_copy(update={"tools": marked})

    def _warn_of_missing(self, listed: Iterable[str]) -> None:
        """Warn of unknown names: a misspelt one leaves its tool without metadata."""
        for name in set(self._tools).difference(listed, self._warned):
            self._warned.add(name)
            near = nearest(name, list(listed))
            hint = f"Did you mean {near!r}?" if near else "Kernels judge tools without it by name."
            logger.warning("MgpServer: security for %r, and no tool is called so. %s", name, hint)

    def usable(self, peer: KernelPeer, names: Iterable[str]) -> list[str]:
        """Return which of the tools a kernel can call: those whose permissions it has granted."""
        return [name for name in names if not self._lacking(peer, name)]

    def _lacking(self, peer: KernelPeer, name: str) -> list[str]:
        security = self._tools.get(name)
        needed = () if security is None else security.permissions_required or ()
        return [one for one in needed if peer.refused(one)]

    def _admit(self, peer: KernelPeer, params: mcp.CallToolRequestParams, request: Request) -> None:
        lacking = self._lacking(peer, params.name)
        if lacking:
            raise refusal(
                errors.PermissionDeniedError,
                f"{params.name} needs {', '.join(lacking)}, which was not granted.",
                details={"permissions": lacking},
            )


def _error_of_mgp(error: RpcError, request: Request) -> RpcError:
    """Return the error of MGP for a tool that is unknown, or does not take the arguments."""
    if type(error) is not InvalidParamsError or not is_object(error.data):
        return error
    if "tool" not in error.data:
        return error
    kind = errors.InvalidToolArgsError if "problems" in error.data else errors.ToolNotFoundError
    return refusal(kind, error.message, details=error.data)


def plain_errors(session: Session) -> None:
    """Have a client that speaks only MCP get errors of MGP as results that say that a tool failed.

    Their codes and data would mean nothing to it.
    """
    session.filter_error(TOOLS_CALL, _as_result)


def _as_result(error: RpcError, request: Request) -> RpcError | mcp.CallToolResult:
    if error.protocol != "mgp":
        return error
    text = mcp.TextContent(text=error.message)
    return mcp.CallToolResult(content=[text], is_error=True)
