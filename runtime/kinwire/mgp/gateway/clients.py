"""The clients of a gateway: the tools that each has in its context, apart from all others."""

from __future__ import annotations

__all__ = ("ClientTools", "GatewayClients")

from functools import partial

from kinwire.mcp.context import Context
from kinwire.mcp.server_session import ServerSession
from kinwire.mgp.gateway.forwarding import Forwarder
from kinwire.mgp.kernel.tool_methods import ToolMethods, ToolSearchTools
from kinwire.mgp.kernel.tool_session import ToolSession
from kinwire.mgp.kernel.tool_sessions import ToolSessions
from kinwire.mgp.rules.tool_context import ContextLevelName
from kinwire.rpc.codec import EncodedObject
from kinwire.rpc.session import Session
from kinwire_protocols.base import JsonObject
from kinwire_protocols.mcp.methods import NOTIFICATIONS_TOOLS_LIST_CHANGED


class ClientTools:
    """The tools that one client has as one agent."""

    def __init__(self, session: ToolSession, tools: ToolSearchTools) -> None:
        self.session = session
        """What is in its context."""
        self.tools = tools
        """The tools that find, load, list and unload tools for it."""
        self._listed: tuple[list[JsonObject], EncodedObject] | None = None

    async def page(self, level: ContextLevelName) -> EncodedObject:
        """Return the answer to `tools/list`; the same as before is not made again.

        Raises:
            StorageError: entries of access cannot be read.
        """
        listed = await self.session.listed(level)
        if self._listed is None or self._listed[0] != listed:
            self._listed = listed, EncodedObject({"tools": listed})
        return self._listed[1]


class GatewayClients:
    """What each client has. Only its own session on the wire leads to it."""

    def __init__(
        self,
        forwarder: Forwarder,
        sessions: ToolSessions,
        tools: ToolMethods,
        level: ContextLevelName,
    ) -> None:
        self._forwarder = forwarder
        self._sessions = sessions
        self._methods = tools
        self._announces = level == "L3"
        self._by_session: dict[Session, dict[str, ClientTools]] = {}

    def of(self, context: Context) -> ClientTools:
        """Return what the client of a request has, as the agent that it is now."""
        session, agent = context.session, self._forwarder.agent(context).id
        mine = self._by_session.get(session)
        if mine is None:
            mine = self._by_session[session] = {}
            session.on_close(partial(self._by_session.pop, session, None))
        found = mine.get(agent)
        if found is None:
            opened = self._sessions.open(agent)
            tools = self._methods.tools(opened, qualified=True)
            found = mine[agent] = ClientTools(opened, tools)
            if self._announces and isinstance(session, ServerSession):
                opened.on_change(partial(session.announce, NOTIFICATIONS_TOOLS_LIST_CHANGED, {}))
        return found
