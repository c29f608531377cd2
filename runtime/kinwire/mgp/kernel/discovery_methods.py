"""`mgp/discovery/*` as methods of connected servers and as tools of agents (MGP 15.2 to 15.5)."""

from __future__ import annotations

__all__ = ("DiscoveryMethods", "DiscoveryTools")

from collections.abc import Callable

from kinwire.mcp.context import Context
from kinwire.mcp.handlers import ExtensionHandlers
from kinwire.mcp.server import Server
from kinwire.mgp.kernel.access_options import AccessPrincipal
from kinwire.mgp.kernel.registry import RegistryManager
from kinwire_protocols import mcp, mgp
from kinwire_protocols.base import from_wire
from kinwire_protocols.mgp.methods import (
    MGP_DISCOVERY_DEREGISTER,
    MGP_DISCOVERY_LIST,
    MGP_DISCOVERY_REGISTER,
)
from kinwire_protocols.mgp.models import (
    DiscoveredServer,
    DiscoveryDeregisterParams,
    DiscoveryDeregisterResult,
    DiscoveryListParams,
    DiscoveryListResult,
    DiscoveryRegisterParams,
)


class DiscoveryMethods:
    """The three methods, for callers that the kernel names."""

    def __init__(self, registry: RegistryManager) -> None:
        self._registry = registry

    def serve(
        self, handlers: ExtensionHandlers, caller_of: Callable[[Context], AccessPrincipal]
    ) -> None:
        """Register the methods. `caller_of` returns which server has sent a message."""

        async def listed(params: DiscoveryListParams, context: Context) -> DiscoveryListResult:
            return await self.list(params, caller_of(context))

        async def register(params: DiscoveryRegisterParams, context: Context) -> DiscoveredServer:
            return await self.register(params, caller_of(context))

        async def deregister(
            params: DiscoveryDeregisterParams, context: Context
        ) -> DiscoveryDeregisterResult:
            return await self.deregister(params, caller_of(context))

        handlers.add_default(MGP_DISCOVERY_LIST, listed)
        handlers.add_default(MGP_DISCOVERY_REGISTER, register)
        handlers.add_default(MGP_DISCOVERY_DEREGISTER, deregister)

    def add_tools(self, server: Server, agent_of: Callable[[Context], str]) -> None:
        """Add the tools to a server. `agent_of` returns which agent is its client."""

        async def call(params: mcp.CallToolRequestParams, context: Context) -> mcp.CallToolResult:
            tools = DiscoveryTools(self, AccessPrincipal("agent", agent_of(context)))
            return from_wire(mcp.CallToolResult, await tools.call(params.name, params.arguments))

        for row in DiscoveryTools(self, AccessPrincipal("agent", "")).served():
            server.add_tool(from_wire(mcp.Tool, row.definition), call, aliases=row.aliases)

    async def list(
        self, params: DiscoveryListParams, caller: AccessPrincipal
    ) -> DiscoveryListResult:
        """Return the servers that fit, as the caller may see them."""
        return DiscoveryListResult(servers=await self._registry.listed(params.filter, caller))

    async def register(
        self, params: DiscoveryRegisterParams, caller: AccessPrincipal
    ) -> DiscoveredServer:
        """Register a server for the caller; `created_by` in the message is not used."""
        return await self._registry.take(params, caller)

    async def deregister(
        self, params: DiscoveryDeregisterParams, caller: AccessPrincipal
    ) -> DiscoveryDeregisterResult:
        """Take out a server that the caller has registered."""
        reason = params.reason if isinstance(params.reason, str) else None
        gone = await self._registry.remove(params.id, reason, caller)
        return DiscoveryDeregisterResult(deregistered=gone)


class DiscoveryTools(mgp.ServerTools):
    """The same as tools, for one caller."""

    def __init__(self, methods: DiscoveryMethods, caller: AccessPrincipal) -> None:
        self._methods = methods
        self._caller = caller

    async def mgp_discovery_list_tool(self, params: DiscoveryListParams) -> DiscoveryListResult:
        """See `DiscoveryMethods.list`."""
        return await self._methods.list(params, self._caller)

    async def mgp_discovery_register_tool(
        self, params: DiscoveryRegisterParams
    ) -> DiscoveredServer:
        """See `DiscoveryMethods.register`."""
        return await self._methods.register(params, self._caller)

    async def mgp_discovery_deregister_tool(
        self, params: DiscoveryDeregisterParams
    ) -> DiscoveryDeregisterResult:
        """See `DiscoveryMethods.deregister`."""
        return await self._methods.deregister(params, self._caller)
