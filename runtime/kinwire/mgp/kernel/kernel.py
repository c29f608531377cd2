"""The kernel: the host side of MGP, which guards every server of its host."""

from __future__ import annotations

__all__ = ("MgpKernel",)

import logging
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from functools import partial
from typing import Any, ClassVar

from kinwire.managers.peer_records import PeerRecords
from kinwire.mcp.connection import Connection
from kinwire.mcp.context import Context
from kinwire.mcp.extension import ExtensionBase, Next, capability_from
from kinwire.mcp.host import Host
from kinwire.mcp.log_messages import LEVELS as SEVERITIES
from kinwire.mcp.server import Server
from kinwire.mgp.kernel.access import AccessManager
from kinwire.mgp.kernel.access_methods import AccessMethods
from kinwire.mgp.kernel.access_options import Access, AccessPrincipal
from kinwire.mgp.kernel.audit import AuditLog, AuditOptions, kernel_event
from kinwire.mgp.kernel.call_limits import CallLimits
from kinwire.mgp.kernel.call_stream import CallStream
from kinwire.mgp.kernel.callbacks import CallbackManager, Callbacks
from kinwire.mgp.kernel.callers import AGENT_KIND, Agent, as_agent, as_host, as_operator
from kinwire.mgp.kernel.confirmations import ConfirmationManager, Confirmations
from kinwire.mgp.kernel.discovery_methods import DiscoveryMethods
from kinwire.mgp.kernel.events import EventSubscriptions
from kinwire.mgp.kernel.guarded_server import GuardedServer
from kinwire.mgp.kernel.identities import must_be_itself
from kinwire.mgp.kernel.lifecycle import LifecycleManager
from kinwire.mgp.kernel.manager import ServerManager
from kinwire.mgp.kernel.permission_options import Permissions
from kinwire.mgp.kernel.permissions import PermissionManager
from kinwire.mgp.kernel.policy_guard import PolicyGuard
from kinwire.mgp.kernel.registry import RegistryManager
from kinwire.mgp.kernel.registry_options import Registrations
from kinwire.mgp.kernel.retries import RetryEngine
from kinwire.mgp.kernel.server_events import ServerEvents
from kinwire.mgp.kernel.server_rights import ServerRights
from kinwire.mgp.kernel.streams import STREAM, CallStreams
from kinwire.mgp.kernel.supervisor.supervisor import SupervisingKernel, Supervisor
from kinwire.mgp.kernel.tool_guard import CallChecks, ToolGuard
from kinwire.mgp.kernel.tool_switches import ToolSwitches
from kinwire.mgp.kernel.tracing import new_trace_id, trace_of, traced
from kinwire.mgp.kernel.validators import CallValidators
from kinwire.mgp.rules.config_problem import ConfigProblem
from kinwire.mgp.rules.negotiation import active_extensions, read_offer
from kinwire.mgp.rules.policy import Policy
from kinwire.mgp.rules.retry import Retries
from kinwire.mgp.rules.server_policy import ServerPolicy
from kinwire.mgp.rules.server_spec import ServerSpec
from kinwire.mgp.rules.trace import trace_id_in
from kinwire.mgp.rules.trust import DEFAULTS
from kinwire.rpc.calls import DEFAULT, ProgressCallback, Timeout
from kinwire.rpc.errors import KinwireError, SessionStateError
from kinwire.rpc.negotiated import Side
from kinwire.rpc.session import Session
from kinwire.storage.clock import Clock, forward
from kinwire.storage.records import Records
from kinwire.support.arguments import (
    PLAIN_FUNCTION,
    TEXT,
    TEXTS,
    ArgumentCheck,
    having,
    instance_of,
    one_of,
    table_of,
)
from kinwire.transports.guarded_fetch.fetch import Network, SystemNetwork
from kinwire_protocols import mgp
from kinwire_protocols.base import JsonObject, from_wire, to_wire
from kinwire_protocols.mcp.methods import PROTOCOL as MCP, TOOLS_CALL
from kinwire_protocols.mcp.models import CallToolRequestParams, LoggingLevel
from kinwire_protocols.mgp.methods import (
    NOTIFICATIONS_MGP_AUDIT,
    PROTOCOL,
)
from kinwire_protocols.mgp.models import (
    AuditNotificationParams,
    DefaultPolicy,
    ServerOffer,
)
from kinwire_protocols.peer import Method, ProtocolTable

logger = logging.getLogger("kinwire.mgp")

EXTENSIONS = (
    "security",
    "access_control",
    "audit",
    "code_safety",
    "lifecycle",
    "bidirectional",
    "discovery",
)
"""What a kernel always offers; handlers of yours add others."""

SERVER_REFUSED = "io.kinwire.server_refused"

_SERVERS = table_of(
    instance_of(ServerPolicy, "ServerPolicy", "ServerPolicy()"),
    "a dictionary from server_id to ServerPolicy",
    '"files"',
)
_MGP_KERNEL = ArgumentCheck(
    "MgpKernel",
    "MgpKernel()",
    {},
    servers=_SERVERS.or_none,
    unknown=instance_of(ServerPolicy, "ServerPolicy", "ServerPolicy()").or_none,
    policy=instance_of(Policy, "Policy", 'load_policy("policy.toml")').or_none,
    access=instance_of(Access, "Access", "Access()").or_none,
    permissions=instance_of(Permissions, "Permissions", "Permissions(ask=...)").or_none,
    confirmations=instance_of(Confirmations, "Confirmations", "Confirmations(confirm=...)").or_none,
    callbacks=instance_of(Callbacks, "Callbacks", "Callbacks(answer=...)").or_none,
    audit=instance_of(AuditOptions, "AuditOptions", "AuditOptions(log=...)").or_none,
    retries=instance_of(Retries, "Retries", "Retries()").or_none,
    registrations=instance_of(Registrations, "Registrations", "Registrations(ask=...)").or_none,
    records=having(
        ("get", "put", "scan"), "records of a store", 'await store.records("mgp")'
    ).or_none,
    network=having(("resolve", "connect"), "a network", "network").or_none,
    clock=PLAIN_FUNCTION,
)
_REPLACE_POLICY = ArgumentCheck(
    "MgpKernel.replace_policy",
    "kernel.replace_policy(policy)",
    {"policy": instance_of(Policy, "Policy", 'load_policy("policy.toml")')},
)
_OF = ArgumentCheck(
    "MgpKernel.of",
    "kernel.of(connection)",
    {"connection": instance_of(Connection, "a Connection", "connection")},
)
_ACTING_FOR = ArgumentCheck(
    "MgpKernel.acting_for", 'kernel.acting_for("agent.helper")', {"agent": AGENT_KIND}
)
_AS_OPERATOR = ArgumentCheck(
    "MgpKernel.acting_as_operator", 'kernel.acting_as_operator("admin")', {"name": TEXT}
)
_ADD_ACCESS_TOOLS = ArgumentCheck(
    "MgpKernel.add_access_tools",
    "kernel.add_access_tools(server, agent_of)",
    {
        "server": instance_of(Server, "a Server", 'Server("gate", "1.0")'),
        "agent_of": PLAIN_FUNCTION,
    },
)
_EVENTS = ArgumentCheck(
    "MgpKernel.events",
    'kernel.events(connection, ["model.*"])',
    {
        "connection": instance_of(Connection, "a Connection", "connection"),
        "channels": TEXTS,
    },
    min_severity=one_of(*SEVERITIES).or_none,
)
_ADD_DISCOVERY_TOOLS = ArgumentCheck(
    "MgpKernel.add_discovery_tools",
    "kernel.add_discovery_tools(server, agent_of)",
    {
        "server": instance_of(Server, "a Server", 'Server("gate", "1.0")'),
        "agent_of": PLAIN_FUNCTION,
    },
)
_RESET_QUOTA = ArgumentCheck(
    "MgpKernel.reset_quota",
    'kernel.reset_quota("agent.helper", "files")',
    {"agent": TEXT, "server": TEXT},
)


class MgpKernel(ExtensionBase[GuardedServer]):
    """The host's side of MGP: `Host(..., extensions=[MgpKernel(...)])`.

    It guards the calls of tools to every server of the host, also to servers that speak only MCP.
    `servers` says what holds for each `server_id` that `Host.connect` gets, and `unknown` for every
    other server; `policy` is a file that says the same, and which tools and arguments are allowed.
    `permissions` says how permissions are decided, `confirmations` who confirms calls, `callbacks`
    who answers what servers ask during a call, `registrations` how servers are registered at run
    time, and `audit` where events are written. With `records`, from `await store.records("mgp")`,
    decisions outlive the process, and other processes share them. `network` resolves the names of
    hosts for the validator `network_restricted`, in place of this machine. `clock` returns the time
    in seconds since 1970.
    """

    protocol: ProtocolTable = PROTOCOL
    guards_plain_peers: ClassVar[bool] = True
    only_side: ClassVar[Side | None] = "client"

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
        records: Records | None = None,
        network: Network | None = None,
        clock: Clock = time.time,
    ) -> None:
        """Prepare to guard any number of servers.

        Raises:
            TypeError, ValueError: an argument is not of its type, or out of range.
        """
        _MGP_KERNEL.check(
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
            records=records,
            network=network,
            clock=clock,
        )
        super().__init__()
        self._policy = PolicyGuard(policy, servers or {})
        self._unknown = unknown or ServerPolicy()
        self._clock = forward(clock)
        self._audit = AuditLog(audit or AuditOptions(), self._clock)
        self._limits = CallLimits(self._clock)
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
            self._limits,
            CallValidators(network or SystemNetwork()),
            self.confirmations,
        )
        self._retries = RetryEngine(retries or Retries())
        self._tool_guard = ToolGuard(checks, self._audit, self._clock, self._retries)
        self._lifecycle = LifecycleManager(self.handlers)
        asked = CallbackManager(callbacks or Callbacks(), self._audit, self._clock)
        asked.serve(self.handlers)
        self._streams = CallStreams(self.handlers)
        self._managers: tuple[ServerManager, ...] = (
            self._lifecycle,
            self._tool_guard,
            self.confirmations,
            self.permissions,
            self._events,
            asked,
            self._streams,
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
        _REPLACE_POLICY.check(policy=policy)
        self._policy.replace(policy)
        self._tool_guard.report_mistakes(self.servers)
        return [one.id for one in self.servers if one.policy != self._policy_for(one.id)]

    @property
    def servers(self) -> list[GuardedServer]:
        """The connected servers, also those that speak only MCP."""
        return self.peers

    def of(self, connection: Connection) -> GuardedServer | None:
        """Return the guarded side of a connection; None if it is over."""
        _OF.check(connection=connection)
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
        _ACTING_FOR.check(agent=agent)
        return as_agent(agent)

    def acting_as_operator(self, name: str) -> AbstractContextManager[None]:
        """Act as a human operator: `with kernel.acting_as_operator("admin"):`.

        It holds for the task that enters the block, and not for tasks that are started in it.
        """
        _AS_OPERATOR.check(name=name)
        return as_operator(name)

    def reset_quota(self, agent: str, server: str) -> None:
        """Let an agent begin its quotas of a server's tools again."""
        _RESET_QUOTA.check(agent=agent, server=server)
        self._limits.reset_quota(agent, server)

    def supervise(self, host: Host, specs: Iterable[ServerSpec] = ()) -> Supervisor:
        """Keep servers alive: `async with kernel.supervise(host, specs) as supervisor`.

        `host` is the one that has this kernel among its extensions; see `Supervisor`.

        Raises:
            TypeError: an argument is not of its type.
            ValueError: two specs have one id.
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
        _EVENTS.check(connection=connection, channels=channels, min_severity=min_severity)
        return self._events.subscribed(connection.session, channels, min_severity)

    def add_access_tools(self, server: Server, agent_of: Callable[[Context], str]) -> None:
        """Add `mgp/access/query`, `grant` and `revoke` to a server of yours as tools.

        `agent_of` is a plain function that returns which agent is the client of a request; it must
        not take that from the message. Agents see their own entries and change none.
        """
        _ADD_ACCESS_TOOLS.check(server=server, agent_of=agent_of)
        self._access_methods.add_tools(server, agent_of)

    def add_discovery_tools(self, server: Server, agent_of: Callable[[Context], str]) -> None:
        """Add `mgp/discovery/list`, `register` and `deregister` to a server of yours as tools.

        `agent_of` is as for `add_access_tools`. Agents see the tools that they may use, and take
        out only what they have registered themselves.
        """
        _ADD_DISCOVERY_TOOLS.check(server=server, agent_of=agent_of)
        self._discovery.add_tools(server, agent_of)

    def offer(self, theirs: JsonObject | None) -> JsonObject:
        """Return what the kernel offers: its version and its extensions (MGP 0.2.0, 2.2)."""
        gates: JsonObject = {"version": PROTOCOL.version, "extensions": list(EXTENSIONS)}
        return capability_from(self.handlers, gates)

    def understood(self, offer: JsonObject) -> JsonObject | None:
        """Return what counts of an offer: None with another major version (MGP 0.2.0, 2.4)."""
        reading = read_offer(offer, PROTOCOL.version)
        for warning in reading.warnings:
            logger.warning("an offer of MGP: %s", warning)
        return None if reading.offer is None else to_wire(reading.offer)

    def attach(self, session: Session, theirs: JsonObject | None) -> None:
        """Guard a server, also one that does not speak MGP."""
        super().attach(session, {} if theirs is None else theirs)

    def join(self, session: Session, theirs: JsonObject) -> GuardedServer:
        """Return the guarded side of a session; `theirs` is empty for a plain server.

        Raises:
            DuplicateServerError: a connection to the same server is open.
            IdentityRefusedError: it declares the identity of another server.
        """
        server = self._made(session, from_wire(ServerOffer, theirs) if theirs else None)
        try:
            self.must_be_only_session(session)
            must_be_itself(server, self.servers, self._policy.servers)
        except KinwireError as error:
            reason: JsonObject = {"reason": str(error)}
            self._audit.note(kernel_event(SERVER_REFUSED, server.id, "BLOCKED", reason))
            raise
        session.intercept_inbound(as_host, passes_result=True)
        session.must_not_repeat_handshake()  # a new session may be with another program
        if server.offer is not None:
            for row in _traced_rows():
                session.intercept_outbound(_trace, row)
        for manager in self._managers:
            manager.join(server)
        return server

    async def negotiated(self, session: Session) -> None:
        """Write that the server is connected, and forward events to it if it takes them."""
        server = self.peer_of(session)
        if server is not None:
            await self._audit.record(kernel_event("SERVER_CONNECTED", server.id))
            gone = kernel_event("SERVER_DISCONNECTED", server.id)
            session.start_soon(partial(self._audit.attend, server, gone))
            for manager in self._managers:
                await manager.negotiate(server)

    def left(self, peer: GuardedServer) -> None:
        """Forget what was decided for the connection alone."""
        for manager in self._managers:
            manager.left(peer)

    def _made(self, session: Session, offer: ServerOffer | None) -> GuardedServer:
        policy = self._policy_for(session.identity.server_id or "")
        theirs = () if offer is None else offer.extensions
        extensions = active_extensions(self.offer(None)["extensions"], theirs)
        return GuardedServer(session, offer, extensions, policy)

    def _policy_for(self, id: str) -> ServerPolicy:
        """Return what holds for a server: what was registered at run time is always sandboxed."""
        return self.registry.policy_of(id) or self._policy.servers.get(id, self._unknown)

    def _principal(self, context: Context) -> AccessPrincipal:
        return AccessPrincipal("server", self._peers[context.session].id)

    async def _report(self, params: AuditNotificationParams, context: Context) -> None:
        traced = params.model_copy(update={"trace_id": trace_id_in(context.message)})
        self._audit.take(self._peers[context.session], traced)

    def _default_access(self, server_id: str) -> DefaultPolicy:
        server = next((one for one in self.servers if one.id == server_id), None)
        if server is not None:
            return server.policy.access or server.defaults.access
        policy = self._policy_for(server_id)
        return policy.access or DEFAULTS[policy.trust].access

    def _is_transient(self, server_id: str) -> bool:
        return any(one.id == server_id and one.transient for one in self.servers)


def _traced_rows() -> Iterator[Method[Any, Any]]:
    for table in (MCP, PROTOCOL):
        for row in table.methods.values():
            if row.kind == "request" and row.sender != "server" and row is not TOOLS_CALL:
                yield row


async def _trace(params: Any, method: Method[Any, Any], go_on: Next[Any, Any]) -> Any:
    """Send a request with a trace id (MGP 0.2.0 section 6.5)."""
    return await go_on(traced(params, trace_of(params) or new_trace_id()))
