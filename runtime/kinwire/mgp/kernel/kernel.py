"""The kernel: the host side of MGP, which guards every server of its host."""

from __future__ import annotations

__all__ = ("MgpKernel",)

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AbstractContextManager

from kinwire.mcp.connection import Connection
from kinwire.mcp.context import Context
from kinwire.mcp.host import Host
from kinwire.mcp.server import Server
from kinwire.mgp.kernel.call_stream import CallStream
from kinwire.mgp.kernel.callers import Agent, as_agent, as_operator
from kinwire.mgp.kernel.guarded_server import GuardedServer
from kinwire.mgp.kernel.kernel_arguments import (
    ACTING_AS_OPERATOR,
    ACTING_FOR,
    ADD_ACCESS_TOOLS,
    ADD_DISCOVERY_TOOLS,
    ADD_TOOL_SEARCH_TOOLS,
    EVENTS,
    OF,
    REPLACE_POLICY,
    RESET_QUOTA,
    STREAM,
    TOOL_SESSION,
)
from kinwire.mgp.kernel.server_events import ServerEvents
from kinwire.mgp.kernel.supervisor.supervisor import SupervisingKernel, Supervisor
from kinwire.mgp.kernel.tool_session import ToolSession
from kinwire.mgp.kernel.wired_kernel import WiredKernel
from kinwire.mgp.rules.config_problem import ConfigProblem
from kinwire.mgp.rules.policy import Policy
from kinwire.mgp.rules.server_spec import ServerSpec
from kinwire.rpc.calls import DEFAULT, ProgressCallback, Timeout
from kinwire.rpc.errors import SessionStateError
from kinwire_protocols.base import JsonObject
from kinwire_protocols.mcp.models import CallToolRequestParams, LoggingLevel


class MgpKernel(WiredKernel):
    """The host's side of MGP: `Host(..., extensions=[MgpKernel(...)])`.

    It guards the calls of tools to every server of the host, also to servers that speak only MCP.
    `servers` says what holds for each `server_id` that `Host.connect` gets, and `unknown` for every
    other server; `policy` is a file that says the same, and which tools and arguments are allowed.
    `permissions` says how permissions are decided, `confirmations` who confirms calls, `callbacks`
    who answers what servers ask during a call, `registrations` how servers are registered at run
    time, `discovery` how tools are found, and `audit` where events are written. With `records`,
    from `await store.records("mgp")`, decisions outlive the process, and other processes share
    them. `network` resolves the names of hosts for the validator `network_restricted`, in place of
    this machine. `clock` returns the time in seconds since 1970.
    """

    @property
    def policy_mistakes(self) -> Mapping[str, Sequence[ConfigProblem]]:
        """What in the policy file does not fit the servers that have listed their tools, by server.

        The rules in question deny, and each is also logged and audited.
        """
        return self._policy.mistakes

    def replace_policy(self, policy: Policy) -> list[str]:
        """Judge by another policy file from now on; return the servers that have to reconnect.

        Rules about tools and arguments hold for every call that begins after this has returned.
        What `ServerPolicy` says is applied when a server connects: the ids are those of connected
        servers for which it has changed.

        Raises:
            ValueError: the kernel was made without a policy file, or `servers` of it has a server
                that the file has too.
            TypeError: `policy` is not a `Policy`.
        """
        REPLACE_POLICY.check(policy=policy)
        self._policy.replace(policy)
        self._tool_guard.report_mistakes(self.servers)
        return [one.id for one in self.servers if one.policy != self._policy_for(one.id)]

    @property
    def servers(self) -> list[GuardedServer]:
        """The connected servers, also those that speak only MCP."""
        return self.peers

    def of(self, connection: Connection) -> GuardedServer | None:
        """Return the guarded side of a connection; None if it is over."""
        OF.check(connection=connection)
        return self.peer_of(connection.session)

    def stream(
        self,
        connection: Connection,
        tool: str,
        arguments: JsonObject | None = None,
        *,
        timeout: Timeout = DEFAULT,
        on_progress: ProgressCallback | None = None,
    ) -> AbstractAsyncContextManager[CallStream]:
        """Call a tool, and read its result in pieces: `async with kernel.stream(...) as stream`.

        The call is judged and audited as every call is. Iterate over the stream, then look at
        `stream.result`; the end of the block cancels what is left. `timeout` is in seconds, for
        each wait for a chunk or the end; time in which nobody reads does not count. `on_progress`
        is a plain function that is called with each report.

        Raises:
            SessionStateError: the connection is over, or not one of this kernel's host.

        Source: MGP 0.2.0 section 12.
        """
        STREAM.check(
            connection=connection,
            tool=tool,
            arguments=arguments,
            timeout=timeout,
            on_progress=on_progress,
        )
        server = self.of(connection)
        if server is None:
            raise SessionStateError("The connection is over, or is not guarded by this kernel.")
        params = CallToolRequestParams(name=tool, arguments=arguments)
        return self._streams.open(server, params, timeout, on_progress)

    def acting_for(self, agent: str | Agent) -> AbstractContextManager[None]:
        """Call tools for an agent: `with kernel.acting_for("agent.helper"):`.

        With `Agent("agent.helper", expires_at=...)` its calls are refused from that time on (1003).

        Calls in the block, and in tasks that are started in it, are judged and audited as calls of
        that agent. Outside of a block the agent is `host`, and so it is in handlers of what servers
        ask for, also if the block connected them.
        """
        ACTING_FOR.check(agent=agent)
        return as_agent(agent)

    def acting_as_operator(self, name: str) -> AbstractContextManager[None]:
        """Act as a human operator: `with kernel.acting_as_operator("admin"):`.

        It holds for the task that enters the block, and not for tasks that are started in it.
        """
        ACTING_AS_OPERATOR.check(name=name)
        return as_operator(name)

    def reset_quota(self, agent: str, server: str) -> None:
        """Let an agent begin its quotas of a server's tools again."""
        RESET_QUOTA.check(agent=agent, server=server)
        self.call_limits.reset_quota(agent, server)

    def supervise(self, host: Host, specs: Iterable[ServerSpec] = ()) -> Supervisor:
        """Keep servers alive: `async with kernel.supervise(host, specs) as supervisor`.

        `host` is the one that has this kernel among its extensions; see `Supervisor`.

        Raises:
            TypeError: an argument is not of its type.
            ValueError: two specs have one id.
            ImportError: a spec limits memory, and the extra `supervisor` is not installed.
        """
        kernel = SupervisingKernel(
            lifecycle=self._lifecycle,
            audit=self._audit,
            clock=self._clock,
            records=self._kept,
            guarded=self.peer_of,
            registry=self.registry,
        )
        return Supervisor(kernel, host, specs)

    def events(
        self,
        connection: Connection,
        channels: Collection[str],
        *,
        min_severity: LoggingLevel | None = None,
    ) -> AbstractAsyncContextManager[ServerEvents]:
        """Subscribe to events: `async with kernel.events(connection, ["model.*"]) as events:`.

        `channels` are names and patterns; `events.unsupported` has those for which the server has
        no channel. Events below `min_severity`, a level of MCP's log, do not come. Up to 1,000
        events wait for the reader; then the oldest ones are dropped and counted.

        The block raises:
            CapabilityNotNegotiatedError: the server does not have the extension `bidirectional`.
            ResourceExhaustedError: it takes no more subscriptions.
            RpcError, ConnectionClosedError, RequestTimeoutError, InvalidResponseError: as for
                `Session.call`; reading raises `ConnectionClosedError` at the end of the connection.

        Raises:
            TypeError, ValueError: an argument is not of its type, or not a level.

        Source: MGP 0.2.0 sections 13.2 and 13.3.
        """
        EVENTS.check(connection=connection, channels=channels, min_severity=min_severity)
        return self._events.subscribed(connection.session, channels, min_severity)

    async def tool_session(self, agent: str | Agent) -> ToolSession:
        """Return a new session of tools: what an agent has in its context, within the budget.

        It begins with the pinned tools of the agent. Keep the object as long as the session lasts.

        Raises:
            ContextBudgetError: the pinned tools take more tokens than `pinned_reserve`.
            TypeError: `agent` is not the name of an agent or an `Agent`.

        Source: MGP 0.2.0 section 16.7.
        """
        TOOL_SESSION.check(agent=agent)
        await self.tool_index.ready()
        session = self.tool_sessions.open(agent)
        self.tool_sessions.must_have_room(session)
        return session

    def add_access_tools(self, server: Server, agent_of: Callable[[Context], str]) -> None:
        """Add `mgp/access/query`, `grant` and `revoke` to a server of yours as tools.

        `agent_of` is a plain function that returns which agent is the client of a request; it must
        not take that from the message. Agents see their own entries and change none.
        """
        ADD_ACCESS_TOOLS.check(server=server, agent_of=agent_of)
        self._access_methods.add_tools(server, agent_of)

    def add_discovery_tools(self, server: Server, agent_of: Callable[[Context], str]) -> None:
        """Add `mgp/discovery/list`, `register` and `deregister` to a server of yours as tools.

        `agent_of` is as for `add_access_tools`. Agents see the tools that they may use, and take
        out only what they have registered themselves.
        """
        ADD_DISCOVERY_TOOLS.check(server=server, agent_of=agent_of)
        self._discovery.add_tools(server, agent_of)

    def add_tool_search_tools(self, server: Server, agent_of: Callable[[Context], str]) -> None:
        """Add `mgp/tools/discover`, `request`, `session` and `session/evict` to a server as tools.

        `agent_of` is as for `add_access_tools`. Agents find the tools that they may call; each
        client of the server has a session of its own.

        Source: MGP 0.2.0 section 16.
        """
        ADD_TOOL_SEARCH_TOOLS.check(server=server, agent_of=agent_of)
        self.tool_methods.add_tools(server, agent_of)
