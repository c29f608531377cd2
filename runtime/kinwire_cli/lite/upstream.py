"""An MCP server behind MCP-lite: its tools as a source of a `LiteServer`."""

from __future__ import annotations

__all__ = ("UpstreamTools",)

from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Final

from kinwire.mcp.connection import Connection
from kinwire.mcplite import LiteCaller, NoSuchToolError, ToolRun
from kinwire.mcplite.server.mcp_tools import lite_result
from kinwire.rpc.codec import is_object
from kinwire.rpc.errors import ConnectionClosedError, InvalidResponseError, RequestTimeoutError
from kinwire_protocols import mcp
from kinwire_protocols.base import JsonObject, to_wire
from kinwire_protocols.jsonrpc.errors import InternalError


class UpstreamTools:
    """The tools of the server at the other end of a connection. See `LiteSource`.

    A call that is not over after `after` seconds is answered by a promise; None for never.
    """

    def __init__(self, server: Connection, after: float | None) -> None:
        self._server = server
        self._after: Final = after
        self._tools: list[JsonObject] | None = None
        self._changes = 0
        self._names: frozenset[str] = frozenset()

    @property
    def version(self) -> str | None:
        """See `LiteSource.version`."""
        return self._server.server_info.version

    @property
    def may_promise(self) -> bool:
        """See `LiteSource.may_promise`."""
        return self._after is not None

    def promise_after(self, name: str) -> float | None:
        """See `LiteSource.promise_after`."""
        return self._after

    async def list_tools(self, caller: LiteCaller) -> Sequence[JsonObject]:
        """See `LiteSource.list_tools`."""
        return self._tools if self._tools is not None else await self._listed()

    async def run(self, run: ToolRun) -> object:
        """See `LiteSource.run`; what goes wrong on the way to the server is an internal error."""
        name = run.call.name
        await self.list_tools(run.caller)
        if name not in self._names:
            raise NoSuchToolError

        def report(progress: mcp.ProgressNotificationParams) -> None:
            if run.report is not None:
                run.report(_progress(progress))

        params: JsonObject = {"name": name, "arguments": run.call.arguments}
        try:
            result = await self._server.session.raw("tools/call", params, on_progress=report)
        except (ConnectionClosedError, RequestTimeoutError, InvalidResponseError):
            failure = InternalError("The server behind this one did not answer.")
        else:
            return lite_result(_checked(result))
        raise failure

    async def follow(self) -> None:
        """Read the list again when it has changed, until this is cancelled or the server ends."""
        with suppress(ConnectionClosedError), self._server.changes() as changes:
            async for name in changes:
                if name == "tools":
                    self._changes += 1
                    self._tools = None

    async def _listed(self) -> list[JsonObject]:
        tools, changes = list[JsonObject](), self._changes
        if self._server.capabilities.tools is not None:
            tools = [to_wire(tool) async for tool in self._server.tools()]
        self._names = frozenset(tool["name"] for tool in tools)
        if changes == self._changes:  # else a part of it may be old
            self._tools = tools
        return tools


def _progress(report: mcp.ProgressNotificationParams) -> JsonObject:
    given = {"progress": report.progress, "total": report.total, "message": report.message}
    return {name: value for name, value in given.items() if value is not None}


def _checked(result: Any) -> JsonObject:
    if not is_object(result):
        raise InternalError("The server behind this one answered with what is not a result.")
    return result
