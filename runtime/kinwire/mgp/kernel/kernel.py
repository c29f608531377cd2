"""The kernel: the host side of MGP, which guards every server of its host."""

from __future__ import annotations

__all__ = ("MgpKernel",)

import logging
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AbstractContextManager

from kinwire.managers.peer_records import PeerRecords
from kinwire.mcp.connection import Connection
from kinwire.mcp.context import Context
from kinwire.mcp.host import Host
from kinwire.mcp.server import Server
from kinwire.mgp.kernel.access import AccessManager
from kinwire.mgp.kernel.access_methods import AccessMethods
from kinwire.mgp.kernel.access_options import Access, AccessPrincipal
from kinwire.mgp.kernel.audit import AuditLog, AuditOptions
from kinwire.mgp.kernel.call_limits import CallLimits
from kinwire.mgp.kernel.call_stream import CallStream
from kinwire.mgp.kernel.callbacks import CallbackManager, Callbacks
from kinwire.mgp.kernel.callers import Agent, as_agent, as_operator
from kinwire.mgp.kernel.confirmations import ConfirmationManager, Confirmations
from kinwire.mgp.kernel.discovery_methods import DiscoveryMethods
from kinwire.mgp.kernel.events import EventSubscriptions
from kinwire.mgp.kernel.guarded_server import GuardedServer
from kinwire.mgp.kernel.kernel_arguments import (
    ACTING_AS_OPERATOR,
    ACTING_FOR,
    ADD_ACCESS_TOOLS,
    ADD_DISCOVERY_TOOLS,
    ADD_TOOL_SEARCH_TOOLS,
    EVENTS,
    MGP_KERNEL,
    OF,
    REPLACE_POLICY,
    RESET_QUOTA,
    STREAM,
    TOOL_SESSION,
)
from kinwire.mgp.kernel.kernel_extension import GuardingExtension
from kinwire.mgp.kernel.lifecycle import LifecycleManager
from kinwire.mgp.kernel.permission_options import Permissions
from kinwire.mgp.kernel.permissions import PermissionManager
from kinwire.mgp.kernel.policy_guard import PolicyGuard
from kinwire.mgp.kernel.registry import RegistryManager
from kinwire.mgp.kernel.registry_options import Registrations
from kinwire.mgp.kernel.retries import RetryEngine
from kinwire.mgp.kernel.server_events import ServerEvents
from kinwire.mgp.kernel.server_rights import ServerRights
from kinwire.mgp.kernel.streams import CallStreams
from kinwire.mgp.kernel.supervisor.supervisor import SupervisingKernel, Supervisor
from kinwire.mgp.kernel.tool_discovery_options import ToolDiscovery
from kinwire.mgp.kernel.tool_guard import CallChecks, ToolGuard
from kinwire.mgp.kernel.tool_index import ToolIndexManager
from kinwire.mgp.kernel.tool_methods import ToolServices, tool_methods
from kinwire.mgp.kernel.tool_session import ToolSession
from kinwire.mgp.kernel.tool_sessions import ToolSessions
from kinwire.mgp.kernel.tool_switches import ToolSwitches
from kinwire.mgp.kernel.validators import CallValidators
from kinwire.mgp.rules.config_problem import ConfigProblem
from kinwire.mgp.rules.policy import Policy
from kinwire.mgp.rules.retry import Retries
from kinwire.mgp.rules.server_policy import ServerPolicy
from kinwire.mgp.rules.server_spec import ServerSpec
from kinwire.mgp.rules.trace import trace_id_in
from kinwire.mgp.rules.trust import DEFAULTS
from kinwire.rpc.calls import DEFAULT, ProgressCallback, Timeout
from kinwire.rpc.errors import SessionStateError
from kinwire.storage.clock import Clock, forward
from kinwire.storage.records import Records
from kinwire.transports.guarded_fetch.fetch import Network, SystemNetwork
from kinwire_protocols import mgp
from kinwire_protocols.base import JsonObject
from kinwire_protocols.mcp.models import CallToolRequestParams, LoggingLevel
from kinwire_protocols.mgp.methods import (
    NOTIFICATIONS_MGP_AUDIT,
)
from kinwire_protocols.mgp.models import (
    AuditNotificationParams,
    DefaultPolicy,
)

logger = logging.getLogger("kinwire.mgp")


class MgpKernel(GuardingExtension):
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

    def __init__(  # noqa: PLR0913, PLR0915 - all that a kernel is made of
        self,
        *,
        servers: Mapping[str, ServerPolicy] | None = None,
        unknown: ServerPolicy | None = None,
        policy: Policy | None = None,
        access: Access | None = None,
        permissions: Permissions | None = None,
        confirmations: Confirmations | None = None,
        callbacks: Callbacks | None = None,
        audit: AuditOptions | None = None,
        retries: Retries | None = None,
        registrations: Registrations | None = None,
        discovery: ToolDiscovery | None = None,
        records: Records | None = None,
        network: Network | None = None,
        clock: Clock = time.time,
    ) -> None:
        """Prepare to guard any number of servers.

        Raises:
            TypeError, ValueError: an argument is not of its type, or out of range.
        """
        MGP_KERNEL.check(
            servers=servers,
            unknown=unknown,
            policy=policy,
            access=access,
            permissions=permissions,
            confirmations=confirmations,
            callbacks=callbacks,
            audit=audit,
            retries=retries,
            registrations=registrations,
            discovery=discovery,
            records=records,
            network=network,
            clock=clock,
        )
        self._clock = forward(clock)
        super().__init__(
            PolicyGuard(policy, servers or {}), AuditLog(audit or AuditOptions(), self._clock)
        )
        self._unknown = unknown or ServerPolicy()
        self.call_limits = CallLimits(self._clock)
        """Whether agents and servers are still authenticated, and how much agents have called."""
        self.access = AccessManager(
            records,
            self._clock,
            self._default_access,
            self._audit.record,
            is_transient=self._is_transient,
        )
        """Which agent may use which tool: `grant`, `revoke`, `query`, `list`, `explain`."""
        self._access_methods = AccessMethods(
            self.access, access or Access(), self._clock, self._audit.record
        )
        self._access_methods.serve(self.handlers, self._principal)
        self.handlers.add_default(NOTIFICATIONS_MGP_AUDIT, self._report)
        self._kept = kept = None if records is None else PeerRecords(records)
        self.permissions = PermissionManager(
            permissions or Permissions(), kept, self._audit, self._clock
        )
        """Which server has which permission: `approve`, `deny`, `revoke`, `pending`."""
        self.confirmations = ConfirmationManager(
            confirmations or Confirmations(), self.permissions, kept, self._audit, self._clock
        )
        """Which calls of dangerous tools need no confirmation: `allow`, `forget`."""
        self.tools = ToolSwitches(kept, self._clock, self._audit.record)
        """Which tools are switched off: `disable`, `enable`."""
        self._events = EventSubscriptions(self.handlers)
        checks = CallChecks(
            self.tools,
            self._policy,
            self.access,
            self.permissions,
            self.call_limits,
            CallValidators(network or SystemNetwork()),
            self.confirmations,
        )
        self._retries = RetryEngine(retries or Retries())
        self._tool_guard = ToolGuard(checks, self._audit, self._clock, self._retries)
        self._lifecycle = LifecycleManager(self.handlers)
        self._streams = CallStreams(self.handlers)
        asked = CallbackManager(
            callbacks or Callbacks(), self._audit, self._clock, self._streams.prolong
        )
        asked.serve(self.handlers)
        finding = discovery or ToolDiscovery()
        self.tool_index = ToolIndexManager(finding, self._tool_guard.sight)
        """The tools of all connected servers, to be searched."""
        self.tool_sessions = ToolSessions(finding, self.tool_index, self._server)
        """The tools that agents have in their contexts: `open`, `check`."""
        self.tool_sessions.serve(self.handlers, lambda context: self._peers[context.session])
        self.tool_index.followers.append(self.tool_sessions.follow)
        self._managers = (
            self._lifecycle,
            self._tool_guard,
            self.confirmations,
            self.permissions,
            self._events,
            asked,
            self._streams,
            self.tool_index,
        )
        rights = ServerRights(self.access, self.permissions, self.confirmations)
        self.registry = RegistryManager(
            registrations or Registrations(),
            records,
            self._clock,
            self._audit,
            rights,
            self.access,
            connected=lambda: self.servers,
            configured=lambda: {id: one.trust for id, one in self._policy.servers.items()},
        )
        """Which servers there are, and those registered at run time: `list`, `approve`."""
        self._discovery = DiscoveryMethods(self.registry)
        self._discovery.serve(self.handlers, self._principal)
        services = ToolServices(
            self.tool_index,
            self.tool_sessions,
            self.registry,
            self.permissions,
            self.access,
            self._clock,
        )
        self.tool_methods = tool_methods(finding, services)
        """What searches and loads tools, for a gateway."""
        self.tool_methods.serve(self.handlers, lambda context: self._peers[context.session])
        self.on = mgp.ClientOn(self.handlers.add)
        """Where your own handlers are registered."""

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

    def _server(self, id: str) -> GuardedServer | None:
        return next((one for one in self.peers if one.id == id), None)

    def _policy_for(self, id: str) -> ServerPolicy:
        """Return what holds for a server: what was registered at run time is always sandboxed."""
        return self.registry.policy_of(id) or self._policy.servers.get(id, self._unknown)

    def _principal(self, context: Context) -> AccessPrincipal:
        return AccessPrincipal("server", self._peers[context.session].id)

    async def _report(self, params: AuditNotificationParams, context: Context) -> None:
        traced = params.model_copy(update={"trace_id": trace_id_in(context.message)})
        self._audit.take(self._peers[context.session], traced)

    def _default_access(self, server_id: str) -> DefaultPolicy:
        server = self._server(server_id)
        if server is not None:
            return server.policy.access or server.defaults.access
        policy = self._policy_for(server_id)
        return policy.access or DEFAULTS[policy.trust].access

    def _is_transient(self, server_id: str) -> bool:
        return any(one.id == server_id and one.transient for one in self.servers)
