"""The managers of MGP."""

from __future__ import annotations

__all__ = ("MGP",)

from tests.spec.managers.manager import Manager

MGP = {
    "mgp negotiation": Manager(
        attributes=("kinwire.mgp.rules.negotiation:answered_extensions",),
        rows=(
            *("mgp-2-1", "mgp-2.1-1", "mgp-2.1-4"),
            *("mgp-2.2-5", "mgp-2.2-6", "mgp-2.2-14", "mgp-2.3-3"),
        ),
    ),
    "mgp identities": Manager(
        attributes=("kinwire.mgp.kernel.identities:must_be_itself",),
        rows=("mgp-2.3-5",),
    ),
    "mgp calls": Manager(
        attributes=("kinwire.mgp.kernel.call_guard:CallGuard._judge",),
        rows=("mgp-5.2-1", "mgp-8.2-2", "mgp-8.2-3"),
    ),
    "mgp validators": Manager(
        attributes=("kinwire.mgp.kernel.validators:CallValidators.check",),
        rows=(
            "mgp-4.3-4",
            "mgp-4.5-1",
            "mgp-4.5-2",
            "mgp-4.5-3",
            "mgp-4.5-5",
            "mgp-4.5-6",
            "mgp-4.5-7",
            "mgp-6.4-10",
            "mgp-14.3-5",
        ),
    ),
    "mgp code safety": Manager(
        attributes=("kinwire.mgp.kernel.code_guard:CodeGuard.check",),
        rows=("mgp-4.5-4", "mgp-7-1", "mgp-7.1-1", "mgp-7.3-1", "mgp-7.3-3", "mgp-14.3-6"),
    ),
    "mgp code rules": Manager(
        attributes=("kinwire.mgp.rules.code_safety.check:_violations",),
        rows=(
            "mgp-7.2-2",
            "mgp-7.2-3",
            "mgp-7.2-4",
            "mgp-7.3-2",
            "mgp-7.4-1",
            "mgp-7.4-3",
        ),
    ),
    "mgp arguments": Manager(
        attributes=("kinwire.mgp.kernel.argument_guard:ArgumentGuard.check",),
        rows=("mgp-14.3-14",),
    ),
    "mgp risks": Manager(
        attributes=("kinwire.mgp.rules.tools:_risks",),
        rows=("mgp-4.3-1", "mgp-4.3-5", "mgp-4.4-2", "mgp-4.4-3"),
    ),
    "mgp served tools": Manager(
        attributes=("kinwire.mgp.server.served_tools:GuardedTools._marked",),
        rows=("mgp-4.1-1", "mgp-4.2-1"),
    ),
    "mgp access": Manager(
        attributes=(
            "kinwire.mgp.kernel.access_store:AccessStore.at_hand",
            "kinwire.mgp.kernel.access_store:AccessStore.current",
        ),
        rows=(
            "mgp-5.2-1",
            "mgp-5.3-1",
            "mgp-5.3-2",
            "mgp-5.4-mgp-access-query-1",
            "mgp-5.4-mgp-access-query-3",
            "mgp-5.5-1",
            "mgp-5.5-2",
        ),
    ),
    "mgp access entries": Manager(
        attributes=(
            "kinwire.mgp.kernel.access:AccessManager.put",
            "kinwire.mgp.kernel.access:AccessManager.remove",
        ),
        rows=(
            "mgp-5.4-mgp-access-grant-1",
            "mgp-5.4-mgp-access-grant-2",
            "mgp-5.4-mgp-access-revoke-1",
            "mgp-5.4-mgp-access-revoke-2",
        ),
    ),
    "mgp audit": Manager(
        attributes=("kinwire.mgp.kernel.audit:AuditLog._publish",),
        rows=(
            "mgp-6.3-1",
            "mgp-6.3-2",
            "mgp-6.3-3",
            "mgp-6.3-4",
            "mgp-6.3-5",
            "mgp-6.4-1",
            "mgp-6.4-2",
            "mgp-6.4-3",
            "mgp-6.4-4",
            "mgp-6.4-5",
            "mgp-6.4-6",
            "mgp-6.4-7",
            "mgp-6.4-8",
            "mgp-6.4-9",
            "mgp-6.4-12",
            "mgp-6.5-2",
        ),
    ),
    "mgp traces": Manager(
        attributes=("kinwire.mgp.kernel.tracing:traced_json",),
        rows=("mgp-6.5-1",),
    ),
    "mgp errors": Manager(
        attributes=("kinwire.mgp.errors:refusal",),
        rows=("mgp-14.4-1", "mgp-14.5-1", "mgp-14.5-7"),
    ),
    "mgp retries": Manager(
        attributes=("kinwire.mgp.kernel.retries:RetryEngine.delay",),
        rows=(
            "mgp-14.5-3",
            "mgp-14.5-6",
            "mgp-14.6-1",
            "mgp-14.6-4",
            "mgp-14.6-5",
        ),
    ),
    "mgp retry rules": Manager(
        attributes=("kinwire.mgp.rules.retry:retry_delay",),
        rows=("mgp-14.5-4", "mgp-14.6-2"),
    ),
    "mgp limits": Manager(
        attributes=(
            "kinwire.mgp.kernel.call_limits:CallLimits.check",
            "kinwire.mgp.kernel.call_limits:CallLimits.check_credentials",
        ),
        rows=("mgp-14.3-3", "mgp-14.3-4", "mgp-14.3-10", "mgp-14.3-12"),
    ),
    "mgp permissions": Manager(
        attributes=("kinwire.mgp.rules.permissions:judge",),
        rows=(
            "mgp-3.1-2",
            "mgp-3.3-1",
            "mgp-3.3-2",
            "mgp-3.3-3",
            "mgp-3.3-4",
            "mgp-3.4-1",
            "mgp-3.4-2",
        ),
    ),
    "mgp permission requests": Manager(
        attributes=("kinwire.mgp.kernel.permission_exchange:PermissionExchange.request",),
        rows=("mgp-3.5-1", "mgp-3.5-2"),
    ),
    "mgp permission responses": Manager(
        attributes=("kinwire.mgp.kernel.permission_exchange:PermissionExchange.respond",),
        rows=("mgp-3.4-3", "mgp-3.6-1", "mgp-3.6-2", "mgp-3.6-3"),
    ),
    "mgp servers without permissions": Manager(
        attributes=("kinwire.mgp.kernel.permissions:PermissionManager._must_have_all",),
        rows=("mgp-3.1-1", "mgp-3.4-4"),
    ),
    "mgp granted permissions": Manager(
        attributes=("kinwire.mgp.server.granted_permissions:GrantedPermissions._takes",),
        rows=("mgp-3.6-5", "mgp-3.6-6"),
    ),
    "mgp forms of grants": Manager(
        attributes=("kinwire.mgp.rules.permissions:read_grant",),
        rows=("mgp-3.6-4",),
    ),
    "mgp risks of permissions": Manager(
        attributes=("kinwire.mgp.rules.permissions:risk_of",),
        rows=tuple(f"mgp-3.2-{row}" for row in range(1, 13)),
    ),
    "mgp subscriptions": Manager(
        attributes=("kinwire.mgp.server.events:EventPublisher._subscribe",),
        rows=(
            "mgp-13.2-1",
            "mgp-13.2-mgp-events-subscribe-1",
            "mgp-13.2-mgp-events-subscribe-2",
            "mgp-13.2-mgp-events-subscribe-3",
        ),
    ),
    "mgp ends of subscriptions": Manager(
        attributes=("kinwire.mgp.server.events:EventPublisher._unsubscribe",),
        rows=("mgp-13.2-mgp-events-unsubscribe-1",),
    ),
    "mgp events": Manager(
        attributes=("kinwire.rpc.prepared:PreparedNotification.send",),
        rows=("mgp-13.3-1", "mgp-13.3-2", "mgp-13.5-1"),
    ),
    "mgp reading of events": Manager(
        attributes=("kinwire.mgp.kernel.events:EventSubscriptions._take",),
        rows=("mgp-13-1", "mgp-13.1-1"),
    ),
    "mgp channels": Manager(
        attributes=("kinwire.mgp.rules.events:checked_channels",),
        rows=("mgp-13.5-5",),
    ),
    "mgp selections": Manager(
        attributes=("kinwire.mgp.rules.events:EventSelection.split",),
        rows=("mgp-13.2-mgp-events-subscribe-3", "mgp-13.5-6"),
    ),
    "mgp own events": Manager(
        attributes=("kinwire.mgp.server.own_events:OwnEvents.subscribed",),
        rows=("mgp-13.5-2", "mgp-13.5-3", "mgp-13.5-4"),
    ),
    "mgp configuration": Manager(
        attributes=("kinwire.mgp.rules.config_file:_ConfigReader.read",),
        rows=(
            "mgp-15.2-1",
            "mgp-15.2-Configuration-File-Discovery-3",
            "mgp-15.2-Configuration-File-Discovery-4",
            "mgp-15.2-Configuration-File-Discovery-7",
            "mgp-15.3-2",
        ),
    ),
    "mgp places of a configuration": Manager(
        attributes=("kinwire.mgp.kernel.config_place:_places",),
        rows=(
            "mgp-15.1-1",
            "mgp-15.2-Configuration-File-Discovery-1",
            "mgp-15.2-Configuration-File-Discovery-2",
        ),
    ),
    "mgp placeholders": Manager(
        attributes=("kinwire.mgp.rules.placeholders:filled",),
        rows=("mgp-15.2-Configuration-File-Discovery-5",),
    ),
    "mgp servers without a section": Manager(
        attributes=("kinwire.mgp.rules.config_section:section_of",),
        rows=("mgp-15.2-Configuration-File-Discovery-6",),
    ),
    "mgp pings": Manager(
        attributes=("kinwire.mgp.server.lifecycle:ServedLifecycle._ping",),
        rows=tuple(f"mgp-11.3-mgp-health-ping-{row}" for row in range(1, 4)),
    ),
    "mgp words of health": Manager(
        attributes=("kinwire.mgp.rules.health:health_word",),
        rows=tuple(f"mgp-11.3-mgp-health-ping-{row}" for row in range(4, 7)),
    ),
    "mgp status": Manager(
        attributes=("kinwire.mgp.server.lifecycle:ServedLifecycle._status",),
        rows=tuple(f"mgp-11.3-mgp-health-status-{row}" for row in range(1, 4)),
    ),
    "mgp health monitor": Manager(
        attributes=("kinwire.mgp.kernel.health:HealthMonitor.check",),
        rows=("mgp-11.3-1", "mgp-11.3-mgp-health-status-4"),
    ),
    "mgp shutdowns": Manager(
        attributes=("kinwire.mgp.server.lifecycle:ServedLifecycle._shutdown",),
        rows=("mgp-11.4-1", *(f"mgp-11.4-mgp-lifecycle-shutdown-{row}" for row in range(1, 9))),
    ),
    "mgp announced ends": Manager(
        attributes=("kinwire.mgp.server.lifecycle:_SessionLife._notify",),
        rows=("mgp-11.4-notifications-mgp.lifecycle-1", "mgp-11.4-notifications-mgp.lifecycle-2"),
    ),
    "mgp refusals of what comes too late": Manager(
        attributes=("kinwire.mgp.server.draining:_refuse",),
        rows=("mgp-14.3-8",),
    ),
    "mgp callbacks": Manager(
        attributes=("kinwire.mgp.kernel.callbacks:CallbackManager._answer",),
        rows=("mgp-13.4-mgp-callback-respond-1",),
    ),
    "mgp messages of servers": Manager(
        attributes=("kinwire.mgp.kernel.callbacks:CallbackManager._show",),
        rows=("mgp-13.4-mgp-callback-respond-5",),
    ),
    "mgp questions": Manager(
        attributes=("kinwire.mgp.server.callbacks:QuestionManager.ask",),
        rows=(
            "mgp-13.4-notifications-mgp.callback.request-1",
            "mgp-13.4-notifications-mgp.callback.request-2",
            "mgp-13.4-mgp-callback-respond-2",
            "mgp-13.4-mgp-callback-respond-3",
            "mgp-13.4-mgp-callback-respond-4",
            "mgp-14.3-13",
        ),
    ),
    "mgp streams": Manager(
        attributes=("kinwire.mgp.server.streams:ServedStreams._open",),
        rows=(
            *("mgp-12.2-1", "mgp-12.3-1", "mgp-12.4-1", "mgp-12.4-2", "mgp-12.4-3", "mgp-12.4-4"),
            "mgp-12.5-3",
        ),
    ),
    "mgp joined pieces": Manager(
        attributes=("kinwire.mcp.functions.pieces:JoinedPieces.add",),
        rows=("mgp-12.1-1", "mgp-12.3-2", "mgp-12.5-1", "mgp-12.5-2", "mgp-12.7-3"),
    ),
    "mgp progress": Manager(
        attributes=("kinwire.mgp.server.streams:_report",),
        rows=("mgp-12.6-1", "mgp-12.6-2"),
    ),
    "mgp cancelled streams": Manager(
        attributes=("kinwire.mgp.server.streams:ServedStreams._cancel",),
        rows=("mgp-12.7-1", "mgp-12.7-2"),
    ),
    "mgp states": Manager(
        attributes=("kinwire.mgp.rules.lifecycle:next_state",),
        rows=("mgp-11-1", "mgp-11.1-1", *(f"mgp-11.2-{row}" for row in range(1, 12))),
    ),
    "mgp restarts": Manager(
        attributes=("kinwire.mgp.rules.restarts:decide_restart",),
        rows=("mgp-11.5-1", "mgp-11.5-2", "mgp-11.5-3", "mgp-11.5-4", "mgp-11.5-6"),
    ),
    "mgp limits of restarts": Manager(
        attributes=("kinwire.mgp.kernel.supervisor.reports:Reports.given_up",),
        rows=("mgp-11.5-7",),
    ),
    "mgp calls of servers that are not up": Manager(
        attributes=("kinwire.mgp.rules.lifecycle:refusal_in",),
        rows=("mgp-14.3-7", "mgp-14.3-9"),
    ),
    "mgp confirmations": Manager(
        attributes=("kinwire.mgp.kernel.confirmations:ConfirmationManager.check",),
        rows=("mgp-4-1", "mgp-4.3-6", "mgp-4.4-1", "mgp-4.4-2", "mgp-4.4-3"),
    ),
    "mgp registry": Manager(
        attributes=("kinwire.mgp.kernel.server_directory:ServerDirectory.find",),
        rows=(
            "mgp-15.1-1",
            "mgp-15.2-1",
            "mgp-15.2-Registry-Endpoint-Discovery-1",
            "mgp-15.2-Registry-Endpoint-Discovery-2",
            "mgp-15.3-2",
        ),
    ),
    "mgp registration": Manager(
        attributes=("kinwire.mgp.kernel.registry_store:RegistryStore.put",),
        rows=("mgp-15.4-1", "mgp-15.4-2", "mgp-15.5-1"),
    ),
    "mgp registration checks": Manager(
        attributes=("kinwire.mgp.kernel.registration_desk:RegistrationDesk.with_script",),
        rows=("mgp-15.4-3",),
    ),
    "mgp search by words": Manager(
        attributes=("kinwire.mgp.rules.tool_index.query:terms_of",),
        rows=("mgp-16.4-3",),
    ),
    "mgp categories": Manager(
        attributes=("kinwire.mgp.rules.tool_index.categories:CategoryTree.within",),
        rows=("mgp-16.4-5",),
    ),
    "mgp labels": Manager(
        attributes=("kinwire.mgp.rules.tool_index.labels:_categories",),
        rows=("mgp-16.4-2",),
    ),
    "mgp search by meaning": Manager(
        attributes=("kinwire.mgp.rules.tool_index.vectors:ToolVectors.nearest",),
        rows=("mgp-16.4-4",),
    ),
    "mgp gateway": Manager(
        attributes=("kinwire.mgp.gateway.tools:GatewayTools._call",),
        rows=("mgp-16.2-2", "mgp-16.2-3", "mgp-16.6-Flow-Diagram-1"),
    ),
    "mgp tools of all servers": Manager(
        attributes=("kinwire.mgp.kernel.tool_index:ToolIndexManager._take",),
        rows=("mgp-16.4-1", "mgp-16.1-1"),
    ),
    "mgp searches for tools": Manager(
        attributes=("kinwire.mgp.kernel.tool_discovery:ToolFinder.discover",),
        rows=(
            *("mgp-16-1", "mgp-16.1-2", "mgp-16.5-1", "mgp-16.5-Flow-Diagram-1"),
            *(f"mgp-16.5-mgp-tools-discover-{row}" for row in range(1, 5)),
        ),
    ),
    "mgp requests for tools": Manager(
        attributes=("kinwire.mgp.kernel.tool_requests:ToolRequests.request",),
        rows=(
            *("mgp-16.1-3", "mgp-16.6-1"),
            *(f"mgp-16.6-mgp-tools-request-{row}" for row in range(1, 7)),
        ),
    ),
    "mgp created tools": Manager(
        attributes=("kinwire.mgp.kernel.tool_creation:ToolCreation.begin",),
        rows=(
            "mgp-16.6-mgp-tools-request-7",
            "mgp-16.6-The-creating-Status-Autonomous-Tool-Generation-1",
            "mgp-16.6-The-creating-Status-Autonomous-Tool-Generation-2",
        ),
    ),
    "mgp context levels": Manager(
        attributes=("kinwire.mgp.rules.tool_context:context_tools",),
        rows=(
            *(f"mgp-16.3-{row}" for row in range(1, 7)),
            *("mgp-16.1-1", "mgp-16.2-2", "mgp-16.2-3"),
        ),
    ),
    "mgp sessions of tools": Manager(
        attributes=("kinwire.mgp.kernel.tool_sessions:ToolSessions._made",),
        rows=("mgp-16.7-1", "mgp-16.7-2", "mgp-16.7-3"),
    ),
    "mgp states of sessions of tools": Manager(
        attributes=("kinwire.mgp.kernel.tool_session:ToolSession.state",),
        rows=("mgp-16.7-mgp-tools-session-1", "mgp-16.7-mgp-tools-session-2"),
    ),
    "mgp evicted tools": Manager(
        attributes=("kinwire.mgp.kernel.tool_session:ToolSession.evict",),
        rows=("mgp-16.7-mgp-tools-session-evict-1",),
    ),
    "mgp results of searches": Manager(
        attributes=("kinwire.mgp.rules.tool_cache:ToolCache.discover",),
        rows=("mgp-16.7-4", "mgp-16.8-4"),
    ),
    "mgp context budget": Manager(
        attributes=("kinwire.mgp.rules.tool_cache:ToolCache._shrink",),
        rows=("mgp-16.8-1", "mgp-16.8-2", "mgp-16.8-3"),
    ),
}
