"""The server that clients of a gateway talk to."""

from __future__ import annotations

__all__ = ("GatewayServer",)

from collections.abc import Callable

from kinwire.mcp.context import Context
from kinwire.mcp.log_messages import LEVELS
from kinwire.mcp.registry import Rows
from kinwire.mcp.server import Server
from kinwire.rpc.limits import Limits
from kinwire_protocols import mcp
from kinwire_protocols.base import JsonObject
from kinwire_protocols.mcp import methods

_ROWS_OF = {
    "tools": methods.NOTIFICATIONS_TOOLS_LIST_CHANGED,
    "prompts": methods.NOTIFICATIONS_PROMPTS_LIST_CHANGED,
    "resources": methods.NOTIFICATIONS_RESOURCES_LIST_CHANGED,
}


class GatewayServer(Server):
    """Serves what a gateway forwards: `gateway.server`. It is served as any `Server` is.

    Tools, resources and prompts of your own cannot be added to it: write a server for them, and
    connect it to the host of the gateway.
    """

    def __init__(
        self, name: str, version: str, *, instructions: str | None, limits: Limits
    ) -> None:
        super().__init__(name, version, instructions=instructions, limits=limits)
        self._level_changed: Callable[[mcp.LoggingLevel], None] | None = None

    def forward(self, rows: Rows) -> None:
        """Serve `rows`, and send the notifications that their lists have changed."""
        self._serve_rows(rows)
        for row in _ROWS_OF.values():
            self._handlers.add_sent(row)
        self._capabilities = self._handlers.capabilities("server")

    def list_changed(self, name: str) -> None:
        """Notify all clients that a list has changed: "tools", "prompts" or "resources"."""
        self._announce(_ROWS_OF[name])

    def follow_level(self, changed: Callable[[mcp.LoggingLevel], None]) -> None:
        """Call `changed` with the least severe level that some client wants, when one sets it."""
        self._level_changed = changed

    @property
    def least_level(self) -> mcp.LoggingLevel:
        """The least severe level of log messages that some client wants."""
        wanted = {session.log_level for session in self._sessions} or {self._log_level}
        return LEVELS[min(map(LEVELS.index, wanted))]

    async def _set_level(self, params: mcp.SetLevelRequestParams, context: Context) -> JsonObject:
        result = await super()._set_level(params, context)
        if self._level_changed is not None:
            self._level_changed(self.least_level)
        return result
