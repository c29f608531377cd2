"""What a kernel is made of: its managers, and which of the others each of them knows."""

from __future__ import annotations

__all__ = ("WiredKernel",)

import time
from collections.abc import Mapping

from kinwire.managers.peer_records import PeerRecords
from kinwire.mcp.context import Context
from kinwire.mgp.kernel.access import AccessManager
from kinwire.mgp.kernel.access_methods import AccessMethods
from kinwire.mgp.kernel.access_options import Access, AccessPrincipal
from kinwire.mgp.kernel.audit import AuditLog, AuditOptions
from kinwire.mgp.kernel.call_limits import CallLimits
from kinwire.mgp.kernel.callbacks import CallbackManager, Callbacks
from kinwire.mgp.kernel.confirmations import ConfirmationManager, Confirmations
from kinwire.mgp.kernel.discovery_methods import DiscoveryMethods
from kinwire.mgp.kernel.events import EventSubscriptions
from kinwire.mgp.kernel.guarded_server import GuardedServer
from kinwire.mgp.kernel.kernel_arguments import MGP_KERNEL
from kinwire.mgp.kernel.kernel_extension import GuardingExtension
from kinwire.mgp.kernel.lifecycle import LifecycleManager
from kinwire.mgp.kernel.permission_options import Permissions
from kinwire.mgp.kernel.permissions import PermissionManager
from kinwire.mgp.kernel.policy_guard import PolicyGuard
from kinwire.mgp.kernel.registry import RegistryManager
from kinwire.mgp.kernel.registry_options import Registrations
from kinwire.mgp.kernel.retries import RetryEngine
from kinwire.mgp.kernel.server_rights import ServerRights
from kinwire.mgp.kernel.streams import CallStreams
from kinwire.mgp.kernel.tool_discovery_options import ToolDiscovery
from kinwire.mgp.kernel.tool_guard import CallChecks, ToolGuard
from kinwire.mgp.kernel.tool_index import ToolIndexManager
from kinwire.mgp.kernel.tool_methods import ToolServices, tool_methods
from kinwire.mgp.kernel.tool_sessions import ToolSessions
from kinwire.mgp.kernel.tool_switches import ToolSwitches
from kinwire.mgp.kernel.validators import CallValidators
from kinwire.mgp.rules.policy import Policy
from kinwire.mgp.rules.retry import Retries
from kinwire.mgp.rules.server_policy import ServerPolicy
from kinwire.mgp.rules.trace import trace_id_in
from kinwire.mgp.rules.trust import DEFAULTS
from kinwire.storage.clock import Clock, forward
from kinwire.storage.records import Records
from kinwire.transports.guarded_fetch.fetch import Network, SystemNetwork
from kinwire_protocols import mgp
from kinwire_protocols.mgp.methods import NOTIFICATIONS_MGP_AUDIT
from kinwire_protocols.mgp.models import AuditNotificationParams, DefaultPolicy


class WiredKernel(GuardingExtension):
    """The managers of a kernel, made from its options; what is done with them is in `MgpKernel`."""

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
        self.tool_sessions = ToolSessions(finding, self.tool_index)
        """The tools that agents have in their contexts: `open`, `check`."""
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
            connected=lambda: self.peers,
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
        return any(one.id == server_id and one.transient for one in self.peers)
