"""A gateway: one MCP server in front of the servers of a kernel (MGP 0.2.0 section 16.3)."""

from __future__ import annotations

__all__ = ("Gateway",)

import logging
from functools import partial
from typing import Final

from kinwire.mcp.context import Context
from kinwire.mcp.host import Host
from kinwire.mcp.log_messages import at_least
from kinwire.mcp.rules.pagination import ListName
from kinwire.mcp.server_session import ServerSession
from kinwire.mgp.gateway.clients import GatewayClients
from kinwire.mgp.gateway.completion import GatewayCompletion
from kinwire.mgp.gateway.forwarding import AgentOf, Forwarder
from kinwire.mgp.gateway.list_news import ListNews
from kinwire.mgp.gateway.lists import ForwardedList
from kinwire.mgp.gateway.prompts import GatewayPrompts
from kinwire.mgp.gateway.questions import GatewayQuestions
from kinwire.mgp.gateway.resources import GatewayResources
from kinwire.mgp.gateway.server import GatewayServer
from kinwire.mgp.gateway.subscriptions import GatewaySubscriptions
from kinwire.mgp.gateway.tools import GatewayTools
from kinwire.mgp.gateway.upstream import Upstream, Upstreams
from kinwire.mgp.kernel.callers import GATEWAY_AGENT, Agent
from kinwire.mgp.kernel.kernel import MgpKernel
from kinwire.mgp.kernel.supervisor.supervisor import Supervisor
from kinwire.mgp.rules.access import is_name
from kinwire.mgp.rules.tool_context import LEVELS, ContextLevelName
from kinwire.rpc.errors import KinwireError
from kinwire.rpc.limits import Limits
from kinwire.support.arguments import (
    PLAIN_FUNCTION,
    TEXT,
    ArgumentCheck,
    count_from,
    instance_of,
    one_of,
)
from kinwire.support.version import __version__
from kinwire.transports.http.guard import current_principal
from kinwire_protocols.base import JsonObject, RpcError
from kinwire_protocols.mcp import methods
from kinwire_protocols.mcp.models import LoggingLevel

logger = logging.getLogger("kinwire.mgp.gateway")

_GATEWAY = ArgumentCheck(
    "Gateway",
    "Gateway(kernel, host)",
    {
        "kernel": instance_of(MgpKernel, "an MgpKernel", "kernel"),
        "servers": instance_of((Supervisor, Host), "a Supervisor or a Host", "host"),
    },
    level=one_of(*LEVELS),
    agent_of=PLAIN_FUNCTION.or_none,
    name=TEXT,
    version=TEXT,
    instructions=TEXT.or_none,
    limits=instance_of(Limits, "Limits", "Limits(request_timeout=5)"),
    page_size=count_from(1),
)


def principal_agent(context: Context) -> str | Agent:
    """Return the principal of a client, if it is an agent or its name; else `GATEWAY_AGENT`."""
    principal = current_principal()
    if isinstance(principal, Agent):
        return principal
    return principal if isinstance(principal, str) and is_name(principal) else GATEWAY_AGENT


class Gateway:
    """One MCP server in front of all servers of a kernel: `gateway.server` is what clients use.

    Make it before the servers connect, so that they learn that clients may be asked:

        supervisor = kernel.supervise(host, specs)
        gateway = Gateway(kernel, supervisor)
        async with host, supervisor:
            await gateway.server.serve_stdio()

    - `servers` is the supervisor of the servers, or the host if nothing supervises them.
    - `level` is what of all tools is in the list that clients get: "L0" all, "L1" tools to search
      with, which name the categories there are, "L2" these without the categories, "L3" these, the
      pinned tools of the agent and those that its session has used. Every tool that the agent may
      call can be called at every level.
    - `agent_of` is a plain function that gets the context of a request and returns which agent its
      client is; it must not take that from the message. Without it the agent is the principal that
      `authenticate` has returned, if that is an agent or its name. Else it is "gateway", which
      counts as not authenticated.
    - `name`, `version`, `instructions`, `limits` and `page_size` are as for `Server`.

    Tools and prompts are named `server__name`, and resources have addresses that begin with
    `mgp://server/`. Results come as the servers send them, also what has an unknown type. What a
    server asks, by sampling or for roots, and what it logs goes to the client to whose request it
    belongs: over HTTP that is in whose reply it comes, elsewhere the client that the server works
    for, if that is only one. Handlers of the host for questions come first.

    Raises:
        TypeError, ValueError: an argument is not of its type, or not a level.

    Source: MGP 0.2.0 section 16.3.
    """

    def __init__(  # noqa: PLR0913 - one for each property of a gateway
        self,
        kernel: MgpKernel,
        servers: Supervisor | Host,
        *,
        level: ContextLevelName = "L3",
        agent_of: AgentOf | None = None,
        name: str = "kinwire-gateway",
        version: str = __version__,
        instructions: str | None = None,
        limits: Limits = Limits(),
        page_size: int = 500,
    ) -> None:
        _GATEWAY.check(
            kernel=kernel,
            servers=servers,
            level=level,
            agent_of=agent_of,
            name=name,
            version=version,
            instructions=instructions,
            limits=limits,
            page_size=page_size,
        )
        self.level: Final = level
        upstreams = Upstreams(servers, self)
        forwarder = Forwarder(
            upstreams, kernel.access, kernel.call_limits, agent_of or principal_agent
        )
        self.server: Final = GatewayServer(name, version, instructions=instructions, limits=limits)
        """What clients talk to: `serve_stdio()`, `asgi(...)`, as for any `Server`."""
        tools = GatewayTools(
            forwarder,
            kernel.tool_index,
            GatewayClients(forwarder, kernel.tool_sessions, kernel.tool_methods, level),
            partial(self.server.list_changed, "tools"),
            level=level,
            page_size=page_size,
        )
        prompts = GatewayPrompts(forwarder, page_size)
        resources = GatewayResources(forwarder, page_size)
        self._subscriptions = GatewaySubscriptions(resources, upstreams)
        completion = GatewayCompletion(forwarder, prompts)
        for one in (tools, prompts, resources, self._subscriptions, completion):
            self.server.forward(one.rows)
        self._lists: Final[dict[ListName, tuple[ForwardedList, ...]]] = {
            "prompts": (prompts.list,),
            "resources": resources.lists,
        }
        self._upstreams = upstreams
        self._news = ListNews(self.server.list_changed)
        self.server.follow_level(self._set_level)
        GatewayQuestions(upstreams).serve(
            servers.host if isinstance(servers, Supervisor) else servers
        )
        kernel.add_manager(upstreams)

    def list_changed(self, upstream: Upstream, name: ListName) -> None:
        """See `UpstreamEvents.list_changed`."""
        for one in self._lists[name]:
            one.changed(upstream)
        self._news.put(name, upstream)

    def resource_updated(self, upstream: Upstream, uri: str) -> None:
        """See `UpstreamEvents.resource_updated`."""
        self._subscriptions.updated(upstream, uri)

    def logged(self, upstream: Upstream, params: JsonObject, in_reply_to: int | None) -> None:
        """Pass a log message on to the client to whose request it belongs."""
        caller, level = upstream.caller(in_reply_to), params.get("level")
        if caller is None or not isinstance(caller.session, ServerSession):
            return
        try:
            is_wanted = at_least(str(level), caller.session.log_level)
        except ValueError:
            return  # a level that MCP does not have
        if is_wanted:
            inner = params.get("logger")
            name = f"{upstream.id}/{inner}" if isinstance(inner, str) else upstream.id
            caller.notify(methods.NOTIFICATIONS_MESSAGE, {**params, "logger": name})

    async def connected(self, upstream: Upstream) -> None:
        """See `UpstreamEvents.connected`: go on with subscriptions and the level of the log."""
        await self._send_level(upstream, self.server.least_level)
        await self._subscriptions.resume(upstream)

    def _set_level(self, level: LoggingLevel) -> None:
        for upstream in self._upstreams.connected:
            upstream.session.start_soon(partial(self._send_level, upstream, level))

    async def _send_level(self, upstream: Upstream, level: LoggingLevel) -> None:
        """Ask a server for what some client wants; a client that wants less gets less."""
        if upstream.offers(methods.LOGGING_SET_LEVEL):
            try:
                await upstream.session.raw(methods.LOGGING_SET_LEVEL.name, {"level": level})
            except (RpcError, KinwireError) as error:
                logger.info("%s did not take the log level: %s", upstream.id, type(error).__name__)
