"""How requests of clients reach the servers: for which agent, and to whom."""

from __future__ import annotations

__all__ = ("AgentOf", "Forwarder")

from collections.abc import Callable
from typing import Any

from kinwire.mcp.context import Context
from kinwire.mgp.errors import refusal
from kinwire.mgp.gateway.request import ForwardedRequest
from kinwire.mgp.gateway.upstream import Upstream, Upstreams
from kinwire.mgp.kernel.access import AccessManager
from kinwire.mgp.kernel.call_limits import CallLimits
from kinwire.mgp.kernel.callers import AGENT_KIND, Agent, as_agent
from kinwire.mgp.rules.gateway_uris import with_outer_uris
from kinwire_protocols.base import JsonObject
from kinwire_protocols.mgp.errors import AccessDeniedError
from kinwire_protocols.peer import Method

AgentOf = Callable[[Context], "str | Agent"]
"""Returns which agent the client of a request is; a plain function, which must not wait."""


class Forwarder:
    """Forwards what clients ask for, each as its agent."""

    def __init__(
        self,
        upstreams: Upstreams,
        access: AccessManager,
        limits: CallLimits,
        agent_of: AgentOf,
    ) -> None:
        self.upstreams = upstreams
        self._access = access
        self._limits = limits
        self._agent_of = agent_of

    def agent(self, context: Context) -> Agent:
        """Return the agent of a request.

        Raises:
            TypeError: `agent_of` returned something that is not an agent.
        """
        found = self._agent_of(context)
        if not AGENT_KIND.fits(found):
            raise TypeError(
                f"agent_of: expected {AGENT_KIND.words}, got {type(found).__name__}. "
                "Return the name of an agent for every client."
            )
        return found if isinstance(found, Agent) else Agent(found)

    async def servers(self, context: Context) -> list[Upstream]:
        """Return the connected servers to which the agent of a request has access."""
        agent = self.agent(context).id
        return [one for one in self.upstreams.connected if await self._has_access(agent, one)]

    async def to_server(
        self, context: Context, server_id: str, method: Method[Any, Any], params: JsonObject
    ) -> JsonObject:
        """Forward a request to a server as a whole, and return the result with outer addresses.

        Raises:
            RpcError: the agent has no access to the server, it is not connected, somebody has to
                authenticate again, or the request has failed.
        """
        agent = self.agent(context)
        upstream = await self.upstreams.ready(server_id)
        if not await self._has_access(agent.id, upstream):
            raise refusal(
                AccessDeniedError,
                f"{agent.id} has no access to the server {server_id!r:.60}.",
                details={"reason": "access"},
            )
        with as_agent(agent):
            self._limits.check_credentials(upstream)
            return await self._forward(context, upstream, method, params)

    async def to_tool(
        self, context: Context, server_id: str, method: Method[Any, Any], params: JsonObject
    ) -> JsonObject:
        """Forward a call of a tool, which the kernel judges, and return its result.

        Raises:
            RpcError: the server is not connected, the kernel refused the call, or it has failed.
        """
        name = params.get("name")
        tool = name if isinstance(name, str) else None
        with as_agent(self.agent(context)):
            upstream = await self.upstreams.ready(server_id, tool)
            return await self._forward(context, upstream, method, params)

    async def _forward(
        self,
        context: Context,
        upstream: Upstream,
        method: Method[Any, Any],
        params: JsonObject,
    ) -> JsonObject:
        request = ForwardedRequest.of(context)
        result = await upstream.forward(request, method, params)
        return with_outer_uris(upstream.id, result)

    async def _has_access(self, agent: str, upstream: Upstream) -> bool:
        """Return whether the entry for the server as a whole, or its default, allows an agent."""
        return bool(await self._access.allowed(agent, upstream.server, (_NO_TOOL,)))


_NO_TOOL = ""  # no tool has this name, so only what is said of the server counts
