"""`mgp/tools/*` as methods of connected servers and as tools of agents (MGP 16.5 to 16.7).

Who asks is what the kernel knows, and never a name in the message.
"""

from __future__ import annotations

__all__ = ("ToolMethods", "ToolSearchTools", "ToolServices", "tool_methods")

from collections.abc import Callable
from typing import NamedTuple
from weakref import WeakKeyDictionary

from kinwire.mcp.context import Context
from kinwire.mcp.handlers import ExtensionHandlers
from kinwire.mcp.server import Server
from kinwire.mgp.kernel.access import AccessManager
from kinwire.mgp.kernel.guarded_server import GuardedServer
from kinwire.mgp.kernel.permissions import PermissionManager
from kinwire.mgp.kernel.registry import RegistryManager
from kinwire.mgp.kernel.tool_creation import ToolCreation
from kinwire.mgp.kernel.tool_discovery import ToolFinder
from kinwire.mgp.kernel.tool_discovery_options import ToolDiscovery
from kinwire.mgp.kernel.tool_index import ToolIndexManager
from kinwire.mgp.kernel.tool_requests import ToolRequests
from kinwire.mgp.kernel.tool_session import ToolSession
from kinwire.mgp.kernel.tool_sessions import ToolSessions
from kinwire.rpc.session import Session
from kinwire.storage.clock import Clock
from kinwire_protocols import mcp, mgp
from kinwire_protocols.base import from_wire
from kinwire_protocols.mcp.models import RequestParams
from kinwire_protocols.mgp import methods
from kinwire_protocols.mgp.models import (
    ToolsDiscoverParams,
    ToolsDiscoverResult,
    ToolsRequestParams,
    ToolsRequestResult,
    ToolsSessionEvictParams,
    ToolsSessionEvictResult,
    ToolsSessionResult,
)


class ToolServices(NamedTuple):
    """What of a kernel the methods work with."""

    tools: ToolIndexManager
    sessions: ToolSessions
    registry: RegistryManager
    permissions: PermissionManager
    access: AccessManager
    clock: Clock


def tool_methods(options: ToolDiscovery, services: ToolServices) -> ToolMethods:
    """Return the methods of a kernel."""
    index, sessions, registry, permissions, access, clock = services
    by_meaning = options.embedder is not None
    creation = ToolCreation(index, permissions, access, clock, is_allowed=options.allow_creating)
    registry.created = creation
    return ToolMethods(
        ToolFinder(index, sessions, registry.states, by_meaning=by_meaning),
        ToolRequests(index, permissions, creation, by_meaning=by_meaning),
        sessions,
    )


class ToolMethods:
    """The four methods, for the session of a caller that the kernel names."""

    def __init__(self, finder: ToolFinder, requests: ToolRequests, sessions: ToolSessions) -> None:
        self._finder = finder
        self._requests = requests
        self._sessions = sessions

    def serve(
        self, handlers: ExtensionHandlers, server_of: Callable[[Context], GuardedServer]
    ) -> None:
        """Register the methods. `server_of` returns which server has sent a message."""

        def tools(context: Context) -> ToolSearchTools:
            return self.tools(self._sessions.of(server_of(context)))

        async def discover(params: ToolsDiscoverParams, context: Context) -> ToolsDiscoverResult:
            return await tools(context).mgp_tools_discover_tool(params)

        async def request(params: ToolsRequestParams, context: Context) -> ToolsRequestResult:
            return await tools(context).mgp_tools_request_tool(params)

        async def state(params: RequestParams, context: Context) -> ToolsSessionResult:
            return await tools(context).mgp_tools_session_tool(params)

        async def evict(
            params: ToolsSessionEvictParams, context: Context
        ) -> ToolsSessionEvictResult:
            return await tools(context).mgp_tools_session_evict_tool(params)

        handlers.add_default(methods.MGP_TOOLS_DISCOVER, discover)
        handlers.add_default(methods.MGP_TOOLS_REQUEST, request)
        handlers.add_default(methods.MGP_TOOLS_SESSION, state)
        handlers.add_default(methods.MGP_TOOLS_SESSION_EVICT, evict)

    def tools(self, session: ToolSession, *, qualified: bool = False) -> ToolSearchTools:
        """Return the same as tools, for one session; see `ToolFinder.discover` for `qualified`."""
        return ToolSearchTools(self._finder, self._requests, lambda: session, qualified=qualified)

    def add_tools(self, server: Server, agent_of: Callable[[Context], str]) -> None:
        """Add the tools to a server. `agent_of` returns which agent is its client.

        Each client has a session of its own, and another one when it acts for another agent.
        """
        opened = WeakKeyDictionary[Session, dict[str, ToolSession]]()

        async def call(params: mcp.CallToolRequestParams, context: Context) -> mcp.CallToolResult:
            agent, sessions = agent_of(context), opened.setdefault(context.session, {})
            session = sessions.get(agent)
            if session is None:
                session = sessions[agent] = self._sessions.open(agent)
            found = await self.tools(session).call(params.name, params.arguments)
            return from_wire(mcp.CallToolResult, found)

        rows = ToolSearchTools(self._finder, self._requests, lambda: self._sessions.open(""))
        for row in rows.served():
            server.add_tool(from_wire(mcp.Tool, row.definition), call, aliases=row.aliases)


class ToolSearchTools(mgp.ServerTools):
    """The four methods as tools, for one session."""

    def __init__(
        self,
        finder: ToolFinder,
        requests: ToolRequests,
        session: Callable[[], ToolSession],
        *,
        qualified: bool = False,
    ) -> None:
        self._finder = finder
        self._requests = requests
        self._session = session
        self._qualified = qualified

    async def mgp_tools_discover_tool(self, params: ToolsDiscoverParams) -> ToolsDiscoverResult:
        """See `ToolFinder.discover`."""
        return await self._finder.discover(params, self._session(), qualified=self._qualified)

    async def mgp_tools_request_tool(self, params: ToolsRequestParams) -> ToolsRequestResult:
        """See `ToolRequests.request`."""
        return await self._requests.request(params, self._session(), qualified=self._qualified)

    async def mgp_tools_session_tool(self, params: RequestParams) -> ToolsSessionResult:
        """See `ToolSession.state`."""
        return await self._session().state(qualified=self._qualified)

    async def mgp_tools_session_evict_tool(
        self, params: ToolsSessionEvictParams
    ) -> ToolsSessionEvictResult:
        """See `ToolSession.evict`."""
        reason = params.reason if isinstance(params.reason, str) else None
        return await self._session().evict(params.tools, reason)
