"""Typed calls of Model General Protocol. Generated from mgp.json by `kinwire generate`: do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic_core import MISSING

from kinwire_protocols.mcp import models as _mcp_models
from kinwire_protocols.mgp import methods, models as _mgp_models, tools
from kinwire_protocols.peer import Peer

if TYPE_CHECKING:
    from kinwire_protocols.mcp.models import ContentBlock, EmptyResult, LoggingLevel, RequestMeta
    from kinwire_protocols.mgp.models import (
        AccessEntry,
        AccessEntryType,
        AccessPermission,
        AccessQueryResult,
        AccessRevokeResult,
        AuditActor,
        AuditDetails,
        AuditEventType,
        AuditOutcome,
        AuditTarget,
        CallbackType,
        DiscoveredServer,
        DiscoveryDeregisterResult,
        DiscoveryFilter,
        DiscoveryListResult,
        EventChannel,
        EventFilter,
        EventsSubscribeResult,
        EventsUnsubscribeResult,
        HealthPingResult,
        HealthStatusResult,
        LifecycleShutdownResult,
        Permission,
        PermissionGrant,
        PermissionPolicy,
        PermissionRequestResult,
        SearchStrategy,
        ServerProfile,
        ServerState,
        ShutdownReason,
        StreamCancelResult,
        ToolRequirements,
        ToolsDiscoverResult,
        ToolSearchFilter,
        ToolsRequestResult,
        ToolsSessionEvictResult,
        ToolsSessionResult,
        TraceId,
    )


class ServerStub:
    """The server as the kernel sees it: every method that the kernel may send, and the tools."""

    def __init__(self, peer: Peer) -> None:
        self._peer = peer

    async def mgp_permission_request(
        self,
        *,
        request_id: str,
        permissions: list[Permission],
        policy: PermissionPolicy | str | None = None,
        message: str | None = None,
    ) -> PermissionRequestResult:
        """Tell the server that a human has to approve its permissions, and that it has to wait.

        mgp/permission/request, a request. Source: Model General Protocol 0.2.0, 3.5.

        Args:
            request_id: Names the request until the decision has come.
            permissions: The permissions that are asked for.
            policy: How the client decides.
            message: Why the server has to wait, for people.

        Raises:
            MethodNotFoundError: The receiver does not serve that method, or the capability for it was not negotiated.
            InvalidParamsError: The params do not fit the method's type, or name something that the receiver does not have.
            InternalError: The receiver failed while it worked on the request; the request itself is not to blame.
        """
        params = _mgp_models.PermissionRequestParams(
            request_id=request_id, permissions=permissions, policy=policy, message=message
        )
        return await self._peer.call(methods.MGP_PERMISSION_REQUEST, params)

    async def mgp_permission_response(
        self,
        *,
        request_id: str,
        grants: dict[str, PermissionGrant],
        approved_by: str | None = None,
        expires_at: str | None | MISSING = MISSING,
    ) -> EmptyResult:
        """Deliver what was decided about the permissions of a request.

        mgp/permission/response, a request. Source: Model General Protocol 0.2.0, 3.6.

        Args:
            request_id: The request that is decided.
            grants: The decision for each permission, by its name.
            approved_by: Who decided: the name of an operator, or of the policy.
            expires_at: When the grants end.

        Raises:
            MethodNotFoundError: The receiver does not serve that method, or the capability for it was not negotiated.
            InvalidParamsError: The params do not fit the method's type, or name something that the receiver does not have.
            InternalError: The receiver failed while it worked on the request; the request itself is not to blame.
        """
        params = _mgp_models.PermissionResponseParams(
            request_id=request_id, grants=grants, approved_by=approved_by, expires_at=expires_at
        )
        return await self._peer.call(methods.MGP_PERMISSION_RESPONSE, params)

    async def mgp_access_query(
        self, *, agent_id: str, server_id: str, tool_name: str
    ) -> AccessQueryResult:
        """Ask whether an agent may use a tool, and why.

        mgp/access/query, a request. Source: Model General Protocol 0.2.0, 5.4 mgp/access/query.

        Args:
            agent_id: The agent.
            server_id: The server.
            tool_name: The tool.

        Raises:
            PermissionDeniedError: The caller lacks a permission that is needed.
            MethodNotFoundError: The receiver does not serve that method, or the capability for it was not negotiated.
            InvalidParamsError: The params do not fit the method's type, or name something that the receiver does not have.
            InternalError: The receiver failed while it worked on the request; the request itself is not to blame.
        """
        params = _mgp_models.AccessQueryParams(
            agent_id=agent_id, server_id=server_id, tool_name=tool_name
        )
        return await self._peer.call(methods.MGP_ACCESS_QUERY, params)

    async def mgp_access_grant(
        self,
        *,
        entry_type: AccessEntryType,
        agent_id: str,
        server_id: str,
        tool_name: str | None | MISSING = MISSING,
        permission: AccessPermission,
        granted_by: str | None = None,
        justification: str | None = None,
        expires_at: str | None | MISSING = MISSING,
    ) -> AccessEntry:
        """Make an entry about an agent's access to a server or tool.

        mgp/access/grant, a request. Source: Model General Protocol 0.2.0, 5.4 mgp/access/grant.

        Args:
            entry_type: Whether it is about a server or a tool.
            agent_id: The agent.
            server_id: The server.
            tool_name: The tool; null for an entry about a server.
            permission: What the entry says.
            granted_by: Who makes it.
            justification: Why, for people and audits.
            expires_at: When it ends.

        Raises:
            PermissionDeniedError: The caller lacks a permission that is needed.
            MethodNotFoundError: The receiver does not serve that method, or the capability for it was not negotiated.
            InvalidParamsError: The params do not fit the method's type, or name something that the receiver does not have.
            InternalError: The receiver failed while it worked on the request; the request itself is not to blame.
        """
        params = _mgp_models.AccessGrantParams(
            entry_type=entry_type,
            agent_id=agent_id,
            server_id=server_id,
            tool_name=tool_name,
            permission=permission,
            granted_by=granted_by,
            justification=justification,
            expires_at=expires_at,
        )
        return await self._peer.call(methods.MGP_ACCESS_GRANT, params)

    async def mgp_access_revoke(
        self,
        *,
        agent_id: str,
        server_id: str,
        entry_type: AccessEntryType,
        tool_name: str | None | MISSING = MISSING,
    ) -> AccessRevokeResult:
        """Take an entry about an agent's access back.

        mgp/access/revoke, a request. Source: Model General Protocol 0.2.0, 5.4 mgp/access/revoke.

        Args:
            agent_id: The agent.
            server_id: The server.
            entry_type: Whether the entry is about the server or a tool.
            tool_name: The tool, where the entry is about one.

        Raises:
            PermissionDeniedError: The caller lacks a permission that is needed.
            MethodNotFoundError: The receiver does not serve that method, or the capability for it was not negotiated.
            InvalidParamsError: The params do not fit the method's type, or name something that the receiver does not have.
            InternalError: The receiver failed while it worked on the request; the request itself is not to blame.
        """
        params = _mgp_models.AccessRevokeParams(
            agent_id=agent_id, server_id=server_id, entry_type=entry_type, tool_name=tool_name
        )
        return await self._peer.call(methods.MGP_ACCESS_REVOKE, params)

    async def notifications_mgp_audit(
        self,
        *,
        timestamp: str,
        trace_id: TraceId | None = None,
        event_type: AuditEventType | str,
        actor: AuditActor,
        target: AuditTarget | None = None,
        result: AuditOutcome | str,
        details: AuditDetails | None = None,
    ) -> None:
        """Hand over an audit event: to the audit server, or of a server's own to the kernel.

        notifications/mgp.audit, a notification. Source: Model General Protocol 0.2.0, 6.3.

        Args:
            timestamp: When it happened, to the millisecond.
            trace_id: What it belongs to.
            event_type: What happened: a standard type, or one of an implementation's own in reverse-domain notation.
            actor: Who caused it.
            target: What it happened to; absent where it is the kernel itself.
            result: How it ended.
            details: Further facts.
        """
        params = _mgp_models.AuditNotificationParams(
            timestamp=timestamp,
            trace_id=trace_id,
            event_type=event_type,
            actor=actor,
            target=target,
            result=result,
            details=details,
        )
        await self._peer.notify(methods.NOTIFICATIONS_MGP_AUDIT, params)

    async def mgp_health_ping(self, *, timestamp: str | None = None) -> HealthPingResult:
        """Find out whether a server lives; it answers within 5 seconds.

        mgp/health/ping, a request. Source: Model General Protocol 0.2.0, 11.3 mgp/health/ping.

        Args:
            timestamp: When the ping left.

        Raises:
            MethodNotFoundError: The receiver does not serve that method, or the capability for it was not negotiated.
            InvalidParamsError: The params do not fit the method's type, or name something that the receiver does not have.
            InternalError: The receiver failed while it worked on the request; the request itself is not to blame.
        """
        params = _mgp_models.HealthPingParams(timestamp=timestamp)
        return await self._peer.call(methods.MGP_HEALTH_PING, params)

    async def mgp_health_status(self, *, meta: RequestMeta | None = None) -> HealthStatusResult:
        """Find out how ready a server is.

        mgp/health/status, a request. Source: Model General Protocol 0.2.0, 11.3 mgp/health/status.

        Args:
            meta: Metadata of the request, next to its own params.

        Raises:
            MethodNotFoundError: The receiver does not serve that method, or the capability for it was not negotiated.
            InvalidParamsError: The params do not fit the method's type, or name something that the receiver does not have.
            InternalError: The receiver failed while it worked on the request; the request itself is not to blame.
        """
        params = _mcp_models.RequestParams(meta=meta)
        return await self._peer.call(methods.MGP_HEALTH_STATUS, params)

    async def mgp_lifecycle_shutdown(
        self, *, reason: ShutdownReason | str | None = None, timeout_ms: int | float | None = None
    ) -> LifecycleShutdownResult:
        """Have a server finish what is under way and stop.

        mgp/lifecycle/shutdown, a request. Source: Model General Protocol 0.2.0, 11.4 mgp/lifecycle/shutdown.

        Args:
            reason: Why the server is to stop.
            timeout_ms: How long the server may take to finish what is under way, in milliseconds.

        Raises:
            ServerDrainingError: The server is shutting down and takes no new requests.
            MethodNotFoundError: The receiver does not serve that method, or the capability for it was not negotiated.
            InvalidParamsError: The params do not fit the method's type, or name something that the receiver does not have.
            InternalError: The receiver failed while it worked on the request; the request itself is not to blame.
        """
        params = _mgp_models.LifecycleShutdownParams(reason=reason, timeout_ms=timeout_ms)
        return await self._peer.call(methods.MGP_LIFECYCLE_SHUTDOWN, params)

    async def notifications_mgp_lifecycle(
        self,
        *,
        server_id: str,
        previous_state: ServerState | str,
        new_state: ServerState | str,
        reason: ShutdownReason | str | None = None,
        timestamp: str | None = None,
    ) -> None:
        """Say that a server went from one state to another.

        notifications/mgp.lifecycle, a notification. Source: Model General Protocol 0.2.0, 11.4 notifications/mgp.lifecycle.

        Args:
            server_id: The server.
            previous_state: Where it was.
            new_state: Where it is.
            reason: Why the state changed.
            timestamp: When it happened.
        """
        params = _mgp_models.LifecycleNotificationParams(
            server_id=server_id,
            previous_state=previous_state,
            new_state=new_state,
            reason=reason,
            timestamp=timestamp,
        )
        await self._peer.notify(methods.NOTIFICATIONS_MGP_LIFECYCLE, params)

    async def mgp_stream_cancel(
        self, *, request_id: str | int, reason: str | None = None
    ) -> StreamCancelResult:
        """Give up on a request that is under way, and get what there is of its result.

        mgp/stream/cancel, a request. Source: Model General Protocol 0.2.0, 12.7.

        Args:
            request_id: The id of a request that the client sent earlier.
            reason: Why, for logs and people.

        Raises:
            MethodNotFoundError: The receiver does not serve that method, or the capability for it was not negotiated.
            InvalidParamsError: The params do not fit the method's type, or name something that the receiver does not have.
            InternalError: The receiver failed while it worked on the request; the request itself is not to blame.
        """
        params = _mgp_models.StreamCancelParams(request_id=request_id, reason=reason)
        return await self._peer.call(methods.MGP_STREAM_CANCEL, params)

    async def mgp_events_subscribe(
        self, *, channels: list[EventChannel], filter: EventFilter | None = None
    ) -> EventsSubscribeResult:
        """Ask to be sent the events of some channels.

        mgp/events/subscribe, a request. Source: Model General Protocol 0.2.0, 13.2 mgp/events/subscribe.

        Args:
            channels: The channels, by name or by pattern.
            filter: Which of their events; absent means all.

        Raises:
            ResourceExhaustedError: A limit of the server is reached, such as its memory or connections.
            MethodNotFoundError: The receiver does not serve that method, or the capability for it was not negotiated.
            InvalidParamsError: The params do not fit the method's type, or name something that the receiver does not have.
            InternalError: The receiver failed while it worked on the request; the request itself is not to blame.
        """
        params = _mgp_models.EventsSubscribeParams(channels=channels, filter=filter)
        return await self._peer.call(methods.MGP_EVENTS_SUBSCRIBE, params)

    async def mgp_events_unsubscribe(self, *, subscription_id: str) -> EventsUnsubscribeResult:
        """End a subscription.

        mgp/events/unsubscribe, a request. Source: Model General Protocol 0.2.0, 13.2 mgp/events/unsubscribe.

        Args:
            subscription_id: The subscription.

        Raises:
            MethodNotFoundError: The receiver does not serve that method, or the capability for it was not negotiated.
            InvalidParamsError: The params do not fit the method's type, or name something that the receiver does not have.
            InternalError: The receiver failed while it worked on the request; the request itself is not to blame.
        """
        params = _mgp_models.EventsUnsubscribeParams(subscription_id=subscription_id)
        return await self._peer.call(methods.MGP_EVENTS_UNSUBSCRIBE, params)

    async def mgp_callback_respond(self, *, callback_id: str, response: Any) -> EmptyResult:
        """Answer a callback.

        mgp/callback/respond, a request. Source: Model General Protocol 0.2.0, 13.4 mgp/callback/respond.

        Args:
            callback_id: The question that is answered.
            response: The answer: one of the options, or what was put in.

        Raises:
            InvalidToolArgsError: The arguments of the tool are not valid.
            MethodNotFoundError: The receiver does not serve that method, or the capability for it was not negotiated.
            InvalidParamsError: The params do not fit the method's type, or name something that the receiver does not have.
            InternalError: The receiver failed while it worked on the request; the request itself is not to blame.
        """
        params = _mgp_models.CallbackRespondParams(callback_id=callback_id, response=response)
        return await self._peer.call(methods.MGP_CALLBACK_RESPOND, params)

    async def mgp_discovery_list(
        self, *, filter: DiscoveryFilter | None = None
    ) -> DiscoveryListResult:
        """List the servers that a registry knows.

        mgp/discovery/list, a request. Source: Model General Protocol 0.2.0, 15.2 Registry Endpoint Discovery.

        Args:
            filter: Which; absent means all.

        Raises:
            MethodNotFoundError: The receiver does not serve that method, or the capability for it was not negotiated.
            InvalidParamsError: The params do not fit the method's type, or name something that the receiver does not have.
            InternalError: The receiver failed while it worked on the request; the request itself is not to blame.
        """
        params = _mgp_models.DiscoveryListParams(filter=filter)
        return await self._peer.call(methods.MGP_DISCOVERY_LIST, params)

    async def mgp_discovery_register(
        self,
        *,
        id: str,
        command: str | None = None,
        args: list[str] | None = None,
        transport: str | None = None,
        url: str | None = None,
        mgp: ServerProfile | None = None,
        created_by: str | None = None,
        justification: str | None = None,
    ) -> DiscoveredServer:
        """Register a server that was made at run time.

        mgp/discovery/register, a request. Source: Model General Protocol 0.2.0, 15.4.

        Args:
            id: What it is to be called.
            command: The program to start.
            args: Its arguments.
            transport: How to reach the server.
            url: Its address, where it is not started as a program.
            mgp: What it says about its MGP; absent means plain MCP.
            created_by: Who made it.
            justification: What it is for, for people and audits.

        Raises:
            PermissionDeniedError: The caller lacks a permission that is needed.
            ValidationBlockedError: A validator in the kernel blocked the request; the server has not seen it.
            CodeSafetyViolationError: The code safety framework rejected the code.
            ResourceExhaustedError: A limit of the server is reached, such as its memory or connections.
            MethodNotFoundError: The receiver does not serve that method, or the capability for it was not negotiated.
            InvalidParamsError: The params do not fit the method's type, or name something that the receiver does not have.
            InternalError: The receiver failed while it worked on the request; the request itself is not to blame.
        """
        params = _mgp_models.DiscoveryRegisterParams(
            id=id,
            command=command,
            args=args,
            transport=transport,
            url=url,
            mgp=mgp,
            created_by=created_by,
            justification=justification,
        )
        return await self._peer.call(methods.MGP_DISCOVERY_REGISTER, params)

    async def mgp_discovery_deregister(
        self, *, id: str, reason: str | None = None
    ) -> DiscoveryDeregisterResult:
        """Take a server out of the registry.

        mgp/discovery/deregister, a request. Source: Model General Protocol 0.2.0, 15.5.

        Args:
            id: The server.
            reason: Why, for logs and people.

        Raises:
            PermissionDeniedError: The caller lacks a permission that is needed.
            MethodNotFoundError: The receiver does not serve that method, or the capability for it was not negotiated.
            InvalidParamsError: The params do not fit the method's type, or name something that the receiver does not have.
            InternalError: The receiver failed while it worked on the request; the request itself is not to blame.
        """
        params = _mgp_models.DiscoveryDeregisterParams(id=id, reason=reason)
        return await self._peer.call(methods.MGP_DISCOVERY_DEREGISTER, params)

    async def mgp_tools_discover(
        self,
        *,
        query: str,
        strategy: SearchStrategy | None = None,
        max_results: int | None = None,
        filter: ToolSearchFilter | None = None,
    ) -> ToolsDiscoverResult:
        """Search the tools of all servers for one that fits.

        mgp/tools/discover, a request. Source: Model General Protocol 0.2.0, 16.5 mgp/tools/discover.

        Args:
            query: What it has to do, in natural language.
            strategy: How to search.
            max_results: The most tools that are wanted.
            filter: Which tools are looked at; absent means all.

        Raises:
            RateLimitedError: There were too many requests.
            MethodNotFoundError: The receiver does not serve that method, or the capability for it was not negotiated.
            InvalidParamsError: The params do not fit the method's type, or name something that the receiver does not have.
            InternalError: The receiver failed while it worked on the request; the request itself is not to blame.
        """
        params = _mgp_models.ToolsDiscoverParams(
            query=query, strategy=strategy, max_results=max_results, filter=filter
        )
        return await self._peer.call(methods.MGP_TOOLS_DISCOVER, params)

    async def mgp_tools_request(
        self,
        *,
        reason: str | None = None,
        context: str | None = None,
        requirements: ToolRequirements,
        task_trace_id: TraceId | None = None,
    ) -> ToolsRequestResult:
        """Ask for tools that a task turns out to need.

        mgp/tools/request, a request. Source: Model General Protocol 0.2.0, 16.6 mgp/tools/request.

        Args:
            reason: Why it asks.
            context: What it is doing, in natural language.
            requirements: What the tools have to be able to do.
            task_trace_id: The task that it is for.

        Raises:
            PermissionDeniedError: The caller lacks a permission that is needed.
            RateLimitedError: There were too many requests.
            QuotaExceededError: A quota is used up, such as tokens or calls of an API.
            MethodNotFoundError: The receiver does not serve that method, or the capability for it was not negotiated.
            InvalidParamsError: The params do not fit the method's type, or name something that the receiver does not have.
            InternalError: The receiver failed while it worked on the request; the request itself is not to blame.
        """
        params = _mgp_models.ToolsRequestParams(
            reason=reason, context=context, requirements=requirements, task_trace_id=task_trace_id
        )
        return await self._peer.call(methods.MGP_TOOLS_REQUEST, params)

    async def mgp_tools_session(self, *, meta: RequestMeta | None = None) -> ToolsSessionResult:
        """List the tools that the session has.

        mgp/tools/session, a request. Source: Model General Protocol 0.2.0, 16.7 mgp/tools/session.

        Args:
            meta: Metadata of the request, next to its own params.

        Raises:
            MethodNotFoundError: The receiver does not serve that method, or the capability for it was not negotiated.
            InvalidParamsError: The params do not fit the method's type, or name something that the receiver does not have.
            InternalError: The receiver failed while it worked on the request; the request itself is not to blame.
        """
        params = _mcp_models.RequestParams(meta=meta)
        return await self._peer.call(methods.MGP_TOOLS_SESSION, params)

    async def mgp_tools_session_evict(
        self, *, tools_: list[str], reason: str | None = None
    ) -> ToolsSessionEvictResult:
        """Take tools out of the session's cache.

        mgp/tools/session/evict, a request. Source: Model General Protocol 0.2.0, 16.7 mgp/tools/session/evict.

        Args:
            tools_: Their names.
            reason: Why, for logs and people.

        Raises:
            MethodNotFoundError: The receiver does not serve that method, or the capability for it was not negotiated.
            InvalidParamsError: The params do not fit the method's type, or name something that the receiver does not have.
            InternalError: The receiver failed while it worked on the request; the request itself is not to blame.
        """
        params = _mgp_models.ToolsSessionEvictParams(tools=tools_, reason=reason)
        return await self._peer.call(methods.MGP_TOOLS_SESSION_EVICT, params)

    async def mgp_access_query_tool(
        self, *, agent_id: str, server_id: str, tool_name: str
    ) -> AccessQueryResult:
        """Ask whether an agent may use a tool, and why.

        mgp.access.query, a tool. Source: Model General Protocol 0.2.0, 5.4 mgp/access/query.

        Args:
            agent_id: The agent.
            server_id: The server.
            tool_name: The tool.

        Raises:
            PermissionDeniedError: The caller lacks a permission that is needed.
        """
        params = _mgp_models.AccessQueryParams(
            agent_id=agent_id, server_id=server_id, tool_name=tool_name
        )
        return await tools.MGP_ACCESS_QUERY_TOOL.call(self._peer, params)

    async def mgp_access_grant_tool(
        self,
        *,
        entry_type: AccessEntryType,
        agent_id: str,
        server_id: str,
        tool_name: str | None | MISSING = MISSING,
        permission: AccessPermission,
        granted_by: str | None = None,
        justification: str | None = None,
        expires_at: str | None | MISSING = MISSING,
    ) -> AccessEntry:
        """Make an entry about an agent's access to a server or tool.

        mgp.access.grant, a tool. Source: Model General Protocol 0.2.0, 5.4 mgp/access/grant.

        Args:
            entry_type: Whether it is about a server or a tool.
            agent_id: The agent.
            server_id: The server.
            tool_name: The tool; null for an entry about a server.
            permission: What the entry says.
            granted_by: Who makes it.
            justification: Why, for people and audits.
            expires_at: When it ends.

        Raises:
            PermissionDeniedError: The caller lacks a permission that is needed.
        """
        params = _mgp_models.AccessGrantParams(
            entry_type=entry_type,
            agent_id=agent_id,
            server_id=server_id,
            tool_name=tool_name,
            permission=permission,
            granted_by=granted_by,
            justification=justification,
            expires_at=expires_at,
        )
        return await tools.MGP_ACCESS_GRANT_TOOL.call(self._peer, params)

    async def mgp_access_revoke_tool(
        self,
        *,
        agent_id: str,
        server_id: str,
        entry_type: AccessEntryType,
        tool_name: str | None | MISSING = MISSING,
    ) -> AccessRevokeResult:
        """Take an entry about an agent's access back.

        mgp.access.revoke, a tool. Source: Model General Protocol 0.2.0, 5.4 mgp/access/revoke.

        Args:
            agent_id: The agent.
            server_id: The server.
            entry_type: Whether the entry is about the server or a tool.
            tool_name: The tool, where the entry is about one.

        Raises:
            PermissionDeniedError: The caller lacks a permission that is needed.
        """
        params = _mgp_models.AccessRevokeParams(
            agent_id=agent_id, server_id=server_id, entry_type=entry_type, tool_name=tool_name
        )
        return await tools.MGP_ACCESS_REVOKE_TOOL.call(self._peer, params)

    async def mgp_discovery_list_tool(
        self, *, filter: DiscoveryFilter | None = None
    ) -> DiscoveryListResult:
        """List the servers that a registry knows.

        mgp.discovery.list, a tool. Source: Model General Protocol 0.2.0, 15.2 Registry Endpoint Discovery.

        Args:
            filter: Which; absent means all.
        """
        params = _mgp_models.DiscoveryListParams(filter=filter)
        return await tools.MGP_DISCOVERY_LIST_TOOL.call(self._peer, params)

    async def mgp_discovery_register_tool(
        self,
        *,
        id: str,
        command: str | None = None,
        args: list[str] | None = None,
        transport: str | None = None,
        url: str | None = None,
        mgp: ServerProfile | None = None,
        created_by: str | None = None,
        justification: str | None = None,
    ) -> DiscoveredServer:
        """Register a server that was made at run time.

        mgp.discovery.register, a tool. Source: Model General Protocol 0.2.0, 15.4.

        Args:
            id: What it is to be called.
            command: The program to start.
            args: Its arguments.
            transport: How to reach the server.
            url: Its address, where it is not started as a program.
            mgp: What it says about its MGP; absent means plain MCP.
            created_by: Who made it.
            justification: What it is for, for people and audits.

        Raises:
            PermissionDeniedError: The caller lacks a permission that is needed.
            ValidationBlockedError: A validator in the kernel blocked the request; the server has not seen it.
            CodeSafetyViolationError: The code safety framework rejected the code.
            ResourceExhaustedError: A limit of the server is reached, such as its memory or connections.
        """
        params = _mgp_models.DiscoveryRegisterParams(
            id=id,
            command=command,
            args=args,
            transport=transport,
            url=url,
            mgp=mgp,
            created_by=created_by,
            justification=justification,
        )
        return await tools.MGP_DISCOVERY_REGISTER_TOOL.call(self._peer, params)

    async def mgp_discovery_deregister_tool(
        self, *, id: str, reason: str | None = None
    ) -> DiscoveryDeregisterResult:
        """Take a server out of the registry.

        mgp.discovery.deregister, a tool. Source: Model General Protocol 0.2.0, 15.5.

        Args:
            id: The server.
            reason: Why, for logs and people.

        Raises:
            PermissionDeniedError: The caller lacks a permission that is needed.
        """
        params = _mgp_models.DiscoveryDeregisterParams(id=id, reason=reason)
        return await tools.MGP_DISCOVERY_DEREGISTER_TOOL.call(self._peer, params)

    async def mgp_tools_discover_tool(
        self,
        *,
        query: str,
        strategy: SearchStrategy | None = None,
        max_results: int | None = None,
        filter: ToolSearchFilter | None = None,
    ) -> ToolsDiscoverResult:
        """Search the tools of all servers for one that fits.

        mgp.tools.discover, a tool. Source: Model General Protocol 0.2.0, 16.5 Flow Diagram.

        Args:
            query: What it has to do, in natural language.
            strategy: How to search.
            max_results: The most tools that are wanted.
            filter: Which tools are looked at; absent means all.

        Raises:
            RateLimitedError: There were too many requests.
        """
        params = _mgp_models.ToolsDiscoverParams(
            query=query, strategy=strategy, max_results=max_results, filter=filter
        )
        return await tools.MGP_TOOLS_DISCOVER_TOOL.call(self._peer, params)

    async def mgp_tools_request_tool(
        self,
        *,
        reason: str | None = None,
        context: str | None = None,
        requirements: ToolRequirements,
        task_trace_id: TraceId | None = None,
    ) -> ToolsRequestResult:
        """Ask for tools that a task turns out to need.

        mgp.tools.request, a tool. Source: Model General Protocol 0.2.0, 16.6 Flow Diagram.

        Args:
            reason: Why it asks.
            context: What it is doing, in natural language.
            requirements: What the tools have to be able to do.
            task_trace_id: The task that it is for.

        Raises:
            PermissionDeniedError: The caller lacks a permission that is needed.
            RateLimitedError: There were too many requests.
            QuotaExceededError: A quota is used up, such as tokens or calls of an API.
        """
        params = _mgp_models.ToolsRequestParams(
            reason=reason, context=context, requirements=requirements, task_trace_id=task_trace_id
        )
        return await tools.MGP_TOOLS_REQUEST_TOOL.call(self._peer, params)

    async def mgp_tools_session_tool(
        self, *, meta: RequestMeta | None = None
    ) -> ToolsSessionResult:
        """List the tools that the session has.

        mgp.tools.session, a tool. Source: Model General Protocol 0.2.0, 16.7 mgp/tools/session.

        Args:
            meta: Metadata of the request, next to its own params.
        """
        params = _mcp_models.RequestParams(meta=meta)
        return await tools.MGP_TOOLS_SESSION_TOOL.call(self._peer, params)

    async def mgp_tools_session_evict_tool(
        self, *, tools_: list[str], reason: str | None = None
    ) -> ToolsSessionEvictResult:
        """Take tools out of the session's cache.

        mgp.tools.session.evict, a tool. Source: Model General Protocol 0.2.0, 16.7 mgp/tools/session/evict.

        Args:
            tools_: Their names.
            reason: Why, for logs and people.
        """
        params = _mgp_models.ToolsSessionEvictParams(tools=tools_, reason=reason)
        return await tools.MGP_TOOLS_SESSION_EVICT_TOOL.call(self._peer, params)


class ClientStub:
    """The kernel as the server sees it: every method that the server may send."""

    def __init__(self, peer: Peer) -> None:
        self._peer = peer

    async def mgp_access_query(
        self, *, agent_id: str, server_id: str, tool_name: str
    ) -> AccessQueryResult:
        """Ask whether an agent may use a tool, and why.

        mgp/access/query, a request. Source: Model General Protocol 0.2.0, 5.4 mgp/access/query.

        Args:
            agent_id: The agent.
            server_id: The server.
            tool_name: The tool.

        Raises:
            PermissionDeniedError: The caller lacks a permission that is needed.
            MethodNotFoundError: The receiver does not serve that method, or the capability for it was not negotiated.
            InvalidParamsError: The params do not fit the method's type, or name something that the receiver does not have.
            InternalError: The receiver failed while it worked on the request; the request itself is not to blame.
        """
        params = _mgp_models.AccessQueryParams(
            agent_id=agent_id, server_id=server_id, tool_name=tool_name
        )
        return await self._peer.call(methods.MGP_ACCESS_QUERY, params)

    async def mgp_access_grant(
        self,
        *,
        entry_type: AccessEntryType,
        agent_id: str,
        server_id: str,
        tool_name: str | None | MISSING = MISSING,
        permission: AccessPermission,
        granted_by: str | None = None,
        justification: str | None = None,
        expires_at: str | None | MISSING = MISSING,
    ) -> AccessEntry:
        """Make an entry about an agent's access to a server or tool.

        mgp/access/grant, a request. Source: Model General Protocol 0.2.0, 5.4 mgp/access/grant.

        Args:
            entry_type: Whether it is about a server or a tool.
            agent_id: The agent.
            server_id: The server.
            tool_name: The tool; null for an entry about a server.
            permission: What the entry says.
            granted_by: Who makes it.
            justification: Why, for people and audits.
            expires_at: When it ends.

        Raises:
            PermissionDeniedError: The caller lacks a permission that is needed.
            MethodNotFoundError: The receiver does not serve that method, or the capability for it was not negotiated.
            InvalidParamsError: The params do not fit the method's type, or name something that the receiver does not have.
            InternalError: The receiver failed while it worked on the request; the request itself is not to blame.
        """
        params = _mgp_models.AccessGrantParams(
            entry_type=entry_type,
            agent_id=agent_id,
            server_id=server_id,
            tool_name=tool_name,
            permission=permission,
            granted_by=granted_by,
            justification=justification,
            expires_at=expires_at,
        )
        return await self._peer.call(methods.MGP_ACCESS_GRANT, params)

    async def mgp_access_revoke(
        self,
        *,
        agent_id: str,
        server_id: str,
        entry_type: AccessEntryType,
        tool_name: str | None | MISSING = MISSING,
    ) -> AccessRevokeResult:
        """Take an entry about an agent's access back.

        mgp/access/revoke, a request. Source: Model General Protocol 0.2.0, 5.4 mgp/access/revoke.

        Args:
            agent_id: The agent.
            server_id: The server.
            entry_type: Whether the entry is about the server or a tool.
            tool_name: The tool, where the entry is about one.

        Raises:
            PermissionDeniedError: The caller lacks a permission that is needed.
            MethodNotFoundError: The receiver does not serve that method, or the capability for it was not negotiated.
            InvalidParamsError: The params do not fit the method's type, or name something that the receiver does not have.
            InternalError: The receiver failed while it worked on the request; the request itself is not to blame.
        """
        params = _mgp_models.AccessRevokeParams(
            agent_id=agent_id, server_id=server_id, entry_type=entry_type, tool_name=tool_name
        )
        return await self._peer.call(methods.MGP_ACCESS_REVOKE, params)

    async def notifications_mgp_audit(
        self,
        *,
        timestamp: str,
        trace_id: TraceId | None = None,
        event_type: AuditEventType | str,
        actor: AuditActor,
        target: AuditTarget | None = None,
        result: AuditOutcome | str,
        details: AuditDetails | None = None,
    ) -> None:
        """Hand over an audit event: to the audit server, or of a server's own to the kernel.

        notifications/mgp.audit, a notification. Source: Model General Protocol 0.2.0, 6.3.

        Args:
            timestamp: When it happened, to the millisecond.
            trace_id: What it belongs to.
            event_type: What happened: a standard type, or one of an implementation's own in reverse-domain notation.
            actor: Who caused it.
            target: What it happened to; absent where it is the kernel itself.
            result: How it ended.
            details: Further facts.
        """
        params = _mgp_models.AuditNotificationParams(
            timestamp=timestamp,
            trace_id=trace_id,
            event_type=event_type,
            actor=actor,
            target=target,
            result=result,
            details=details,
        )
        await self._peer.notify(methods.NOTIFICATIONS_MGP_AUDIT, params)

    async def notifications_mgp_lifecycle(
        self,
        *,
        server_id: str,
        previous_state: ServerState | str,
        new_state: ServerState | str,
        reason: ShutdownReason | str | None = None,
        timestamp: str | None = None,
    ) -> None:
        """Say that a server went from one state to another.

        notifications/mgp.lifecycle, a notification. Source: Model General Protocol 0.2.0, 11.4 notifications/mgp.lifecycle.

        Args:
            server_id: The server.
            previous_state: Where it was.
            new_state: Where it is.
            reason: Why the state changed.
            timestamp: When it happened.
        """
        params = _mgp_models.LifecycleNotificationParams(
            server_id=server_id,
            previous_state=previous_state,
            new_state=new_state,
            reason=reason,
            timestamp=timestamp,
        )
        await self._peer.notify(methods.NOTIFICATIONS_MGP_LIFECYCLE, params)

    async def notifications_mgp_stream_chunk(
        self, *, request_id: str | int, index: int, content: ContentBlock, done: bool | None = None
    ) -> None:
        """Send a piece of a tool's result before the rest.

        notifications/mgp.stream.chunk, a notification. Source: Model General Protocol 0.2.0, 12.4.

        Args:
            request_id: The id of the call that it belongs to.
            index: Its place: 0 for the first, then one more each time.
            content: The piece, to be put behind those before it.
            done: Whether it is the last one; absent means no.
        """
        params = _mgp_models.StreamChunkNotificationParams(
            request_id=request_id, index=index, content=content, done=done
        )
        await self._peer.notify(methods.NOTIFICATIONS_MGP_STREAM_CHUNK, params)

    async def notifications_mgp_stream_progress(
        self,
        *,
        request_id: str | int,
        progress: int | float,
        message: str | None = None,
        estimated_remaining_ms: int | float | None = None,
    ) -> None:
        """Report how far a long request has come.

        notifications/mgp.stream.progress, a notification. Source: Model General Protocol 0.2.0, 12.6.

        Args:
            request_id: The id of the request.
            progress: The share that is done, from 0 to 1.
            message: What is being done, for people.
            estimated_remaining_ms: How long it will take yet, in milliseconds.
        """
        params = _mgp_models.StreamProgressNotificationParams(
            request_id=request_id,
            progress=progress,
            message=message,
            estimated_remaining_ms=estimated_remaining_ms,
        )
        await self._peer.notify(methods.NOTIFICATIONS_MGP_STREAM_PROGRESS, params)

    async def notifications_mgp_event(
        self,
        *,
        subscription_id: str,
        channel: EventChannel,
        timestamp: str | None = None,
        severity: LoggingLevel | str | None = None,
        data: dict[str, Any] | None = None,
        dropped: int | None = None,
    ) -> None:
        """Send an event of a channel that the client subscribed to.

        notifications/mgp.event, a notification. Source: Model General Protocol 0.2.0, 13.3.

        Args:
            subscription_id: The subscription that it comes for.
            channel: The channel.
            timestamp: When it happened.
            severity: How severe it is.
            data: What happened, in the channel's own form.
            dropped: How many events of the subscription were dropped right before this one; absent means none.
        """
        params = _mgp_models.EventNotificationParams(
            subscription_id=subscription_id,
            channel=channel,
            timestamp=timestamp,
            severity=severity,
            data=data,
            dropped=dropped,
        )
        await self._peer.notify(methods.NOTIFICATIONS_MGP_EVENT, params)

    async def notifications_mgp_callback_request(
        self,
        *,
        callback_id: str,
        request_id: str | int | None = None,
        type: CallbackType | str,
        message: str,
        options: list[str] | None = None,
        timeout_ms: int | float | None = None,
    ) -> None:
        """Ask the client for something that a running tool needs.

        notifications/mgp.callback.request, a notification. Source: Model General Protocol 0.2.0, 13.4 notifications/mgp.callback.request.

        Args:
            callback_id: Names the question; the answer repeats it.
            request_id: The id of the call that needs the answer.
            type: What is wanted.
            message: The question, for people.
            options: The answers to choose from.
            timeout_ms: How long the server waits, in milliseconds.
        """
        params = _mgp_models.CallbackRequestNotificationParams(
            callback_id=callback_id,
            request_id=request_id,
            type=type,
            message=message,
            options=options,
            timeout_ms=timeout_ms,
        )
        await self._peer.notify(methods.NOTIFICATIONS_MGP_CALLBACK_REQUEST, params)

    async def mgp_discovery_list(
        self, *, filter: DiscoveryFilter | None = None
    ) -> DiscoveryListResult:
        """List the servers that a registry knows.

        mgp/discovery/list, a request. Source: Model General Protocol 0.2.0, 15.2 Registry Endpoint Discovery.

        Args:
            filter: Which; absent means all.

        Raises:
            MethodNotFoundError: The receiver does not serve that method, or the capability for it was not negotiated.
            InvalidParamsError: The params do not fit the method's type, or name something that the receiver does not have.
            InternalError: The receiver failed while it worked on the request; the request itself is not to blame.
        """
        params = _mgp_models.DiscoveryListParams(filter=filter)
        return await self._peer.call(methods.MGP_DISCOVERY_LIST, params)

    async def mgp_discovery_register(
        self,
        *,
        id: str,
        command: str | None = None,
        args: list[str] | None = None,
        transport: str | None = None,
        url: str | None = None,
        mgp: ServerProfile | None = None,
        created_by: str | None = None,
        justification: str | None = None,
    ) -> DiscoveredServer:
        """Register a server that was made at run time.

        mgp/discovery/register, a request. Source: Model General Protocol 0.2.0, 15.4.

        Args:
            id: What it is to be called.
            command: The program to start.
            args: Its arguments.
            transport: How to reach the server.
            url: Its address, where it is not started as a program.
            mgp: What it says about its MGP; absent means plain MCP.
            created_by: Who made it.
            justification: What it is for, for people and audits.

        Raises:
            PermissionDeniedError: The caller lacks a permission that is needed.
            ValidationBlockedError: A validator in the kernel blocked the request; the server has not seen it.
            CodeSafetyViolationError: The code safety framework rejected the code.
            ResourceExhaustedError: A limit of the server is reached, such as its memory or connections.
            MethodNotFoundError: The receiver does not serve that method, or the capability for it was not negotiated.
            InvalidParamsError: The params do not fit the method's type, or name something that the receiver does not have.
            InternalError: The receiver failed while it worked on the request; the request itself is not to blame.
        """
        params = _mgp_models.DiscoveryRegisterParams(
            id=id,
            command=command,
            args=args,
            transport=transport,
            url=url,
            mgp=mgp,
            created_by=created_by,
            justification=justification,
        )
        return await self._peer.call(methods.MGP_DISCOVERY_REGISTER, params)

    async def mgp_discovery_deregister(
        self, *, id: str, reason: str | None = None
    ) -> DiscoveryDeregisterResult:
        """Take a server out of the registry.

        mgp/discovery/deregister, a request. Source: Model General Protocol 0.2.0, 15.5.

        Args:
            id: The server.
            reason: Why, for logs and people.

        Raises:
            PermissionDeniedError: The caller lacks a permission that is needed.
            MethodNotFoundError: The receiver does not serve that method, or the capability for it was not negotiated.
            InvalidParamsError: The params do not fit the method's type, or name something that the receiver does not have.
            InternalError: The receiver failed while it worked on the request; the request itself is not to blame.
        """
        params = _mgp_models.DiscoveryDeregisterParams(id=id, reason=reason)
        return await self._peer.call(methods.MGP_DISCOVERY_DEREGISTER, params)

    async def mgp_tools_discover(
        self,
        *,
        query: str,
        strategy: SearchStrategy | None = None,
        max_results: int | None = None,
        filter: ToolSearchFilter | None = None,
    ) -> ToolsDiscoverResult:
        """Search the tools of all servers for one that fits.

        mgp/tools/discover, a request. Source: Model General Protocol 0.2.0, 16.5 mgp/tools/discover.

        Args:
            query: What it has to do, in natural language.
            strategy: How to search.
            max_results: The most tools that are wanted.
            filter: Which tools are looked at; absent means all.

        Raises:
            RateLimitedError: There were too many requests.
            MethodNotFoundError: The receiver does not serve that method, or the capability for it was not negotiated.
            InvalidParamsError: The params do not fit the method's type, or name something that the receiver does not have.
            InternalError: The receiver failed while it worked on the request; the request itself is not to blame.
        """
        params = _mgp_models.ToolsDiscoverParams(
            query=query, strategy=strategy, max_results=max_results, filter=filter
        )
        return await self._peer.call(methods.MGP_TOOLS_DISCOVER, params)

    async def mgp_tools_request(
        self,
        *,
        reason: str | None = None,
        context: str | None = None,
        requirements: ToolRequirements,
        task_trace_id: TraceId | None = None,
    ) -> ToolsRequestResult:
        """Ask for tools that a task turns out to need.

        mgp/tools/request, a request. Source: Model General Protocol 0.2.0, 16.6 mgp/tools/request.

        Args:
            reason: Why it asks.
            context: What it is doing, in natural language.
            requirements: What the tools have to be able to do.
            task_trace_id: The task that it is for.

        Raises:
            PermissionDeniedError: The caller lacks a permission that is needed.
            RateLimitedError: There were too many requests.
            QuotaExceededError: A quota is used up, such as tokens or calls of an API.
            MethodNotFoundError: The receiver does not serve that method, or the capability for it was not negotiated.
            InvalidParamsError: The params do not fit the method's type, or name something that the receiver does not have.
            InternalError: The receiver failed while it worked on the request; the request itself is not to blame.
        """
        params = _mgp_models.ToolsRequestParams(
            reason=reason, context=context, requirements=requirements, task_trace_id=task_trace_id
        )
        return await self._peer.call(methods.MGP_TOOLS_REQUEST, params)

    async def mgp_tools_session(self, *, meta: RequestMeta | None = None) -> ToolsSessionResult:
        """List the tools that the session has.

        mgp/tools/session, a request. Source: Model General Protocol 0.2.0, 16.7 mgp/tools/session.

        Args:
            meta: Metadata of the request, next to its own params.

        Raises:
            MethodNotFoundError: The receiver does not serve that method, or the capability for it was not negotiated.
            InvalidParamsError: The params do not fit the method's type, or name something that the receiver does not have.
            InternalError: The receiver failed while it worked on the request; the request itself is not to blame.
        """
        params = _mcp_models.RequestParams(meta=meta)
        return await self._peer.call(methods.MGP_TOOLS_SESSION, params)

    async def mgp_tools_session_evict(
        self, *, tools_: list[str], reason: str | None = None
    ) -> ToolsSessionEvictResult:
        """Take tools out of the session's cache.

        mgp/tools/session/evict, a request. Source: Model General Protocol 0.2.0, 16.7 mgp/tools/session/evict.

        Args:
            tools_: Their names.
            reason: Why, for logs and people.

        Raises:
            MethodNotFoundError: The receiver does not serve that method, or the capability for it was not negotiated.
            InvalidParamsError: The params do not fit the method's type, or name something that the receiver does not have.
            InternalError: The receiver failed while it worked on the request; the request itself is not to blame.
        """
        params = _mgp_models.ToolsSessionEvictParams(tools=tools_, reason=reason)
        return await self._peer.call(methods.MGP_TOOLS_SESSION_EVICT, params)
