"""Handlers of Model General Protocol. Generated from mgp.json by `kinwire generate`: do not edit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from kinwire_protocols.jsonrpc.errors import InvalidParamsError, MethodNotFoundError
from kinwire_protocols.mgp import methods, tools
from kinwire_protocols.peer import Handlers, Method, On, Register
from kinwire_protocols.tool_methods import ToolHandlers, ToolMethod

if TYPE_CHECKING:
    from kinwire_protocols.mcp.models import EmptyResult, RequestParams
    from kinwire_protocols.mgp.models import (
        AccessEntry,
        AccessGrantParams,
        AccessQueryParams,
        AccessQueryResult,
        AccessRevokeParams,
        AccessRevokeResult,
        AuditNotificationParams,
        CallbackRequestNotificationParams,
        CallbackRespondParams,
        DiscoveredServer,
        DiscoveryDeregisterParams,
        DiscoveryDeregisterResult,
        DiscoveryListParams,
        DiscoveryListResult,
        DiscoveryRegisterParams,
        EventNotificationParams,
        EventsSubscribeParams,
        EventsSubscribeResult,
        EventsUnsubscribeParams,
        EventsUnsubscribeResult,
        HealthPingParams,
        HealthPingResult,
        HealthStatusResult,
        LifecycleNotificationParams,
        LifecycleShutdownParams,
        LifecycleShutdownResult,
        PermissionRequestParams,
        PermissionRequestResult,
        PermissionResponseParams,
        StreamCancelParams,
        StreamCancelResult,
        StreamChunkNotificationParams,
        StreamProgressNotificationParams,
        ToolsDiscoverParams,
        ToolsDiscoverResult,
        ToolsRequestParams,
        ToolsRequestResult,
        ToolsSessionEvictParams,
        ToolsSessionEvictResult,
        ToolsSessionResult,
    )


class ServerHandlers(Handlers):
    """What a server handles: override what you serve; the rest answers "method not found"."""

    rows: ClassVar[Mapping[str, Method[Any, Any]]] = {
        "mgp/permission/request": methods.MGP_PERMISSION_REQUEST,
        "mgp/permission/await": methods.MGP_PERMISSION_REQUEST,
        "mgp/permission/response": methods.MGP_PERMISSION_RESPONSE,
        "mgp/permission/grant": methods.MGP_PERMISSION_RESPONSE,
        "mgp/access/query": methods.MGP_ACCESS_QUERY,
        "mgp/access/grant": methods.MGP_ACCESS_GRANT,
        "mgp/access/revoke": methods.MGP_ACCESS_REVOKE,
        "notifications/mgp.audit": methods.NOTIFICATIONS_MGP_AUDIT,
        "mgp/health/ping": methods.MGP_HEALTH_PING,
        "mgp/health/status": methods.MGP_HEALTH_STATUS,
        "mgp/lifecycle/shutdown": methods.MGP_LIFECYCLE_SHUTDOWN,
        "notifications/mgp.lifecycle": methods.NOTIFICATIONS_MGP_LIFECYCLE,
        "mgp/stream/cancel": methods.MGP_STREAM_CANCEL,
        "mgp/events/subscribe": methods.MGP_EVENTS_SUBSCRIBE,
        "mgp/events/unsubscribe": methods.MGP_EVENTS_UNSUBSCRIBE,
        "mgp/callback/respond": methods.MGP_CALLBACK_RESPOND,
        "mgp/discovery/list": methods.MGP_DISCOVERY_LIST,
        "mgp/discovery/register": methods.MGP_DISCOVERY_REGISTER,
        "mgp/discovery/deregister": methods.MGP_DISCOVERY_DEREGISTER,
        "mgp/tools/discover": methods.MGP_TOOLS_DISCOVER,
        "mgp/tools/request": methods.MGP_TOOLS_REQUEST,
        "mgp/tools/session": methods.MGP_TOOLS_SESSION,
        "mgp/tools/session/evict": methods.MGP_TOOLS_SESSION_EVICT,
    }

    async def mgp_permission_request(
        self, params: PermissionRequestParams
    ) -> PermissionRequestResult:
        """Tell the server that a human has to approve its permissions, and that it has to wait. (`mgp/permission/request`)"""
        raise MethodNotFoundError("Method not found: mgp/permission/request")

    async def mgp_permission_response(self, params: PermissionResponseParams) -> EmptyResult:
        """Deliver what was decided about the permissions of a request. (`mgp/permission/response`)"""
        raise MethodNotFoundError("Method not found: mgp/permission/response")

    async def mgp_access_query(self, params: AccessQueryParams) -> AccessQueryResult:
        """Ask whether an agent may use a tool, and why. (`mgp/access/query`)"""
        raise MethodNotFoundError("Method not found: mgp/access/query")

    async def mgp_access_grant(self, params: AccessGrantParams) -> AccessEntry:
        """Make an entry about an agent's access to a server or tool. (`mgp/access/grant`)"""
        raise MethodNotFoundError("Method not found: mgp/access/grant")

    async def mgp_access_revoke(self, params: AccessRevokeParams) -> AccessRevokeResult:
        """Take an entry about an agent's access back. (`mgp/access/revoke`)"""
        raise MethodNotFoundError("Method not found: mgp/access/revoke")

    async def notifications_mgp_audit(self, params: AuditNotificationParams) -> None:
        """Hand over an audit event: to the audit server, or of a server's own to the kernel. (`notifications/mgp.audit`)"""
        # A notification that nobody handles is ignored.

    async def mgp_health_ping(self, params: HealthPingParams) -> HealthPingResult:
        """Find out whether a server lives; it answers within 5 seconds. (`mgp/health/ping`)"""
        raise MethodNotFoundError("Method not found: mgp/health/ping")

    async def mgp_health_status(self, params: RequestParams) -> HealthStatusResult:
        """Find out how ready a server is. (`mgp/health/status`)"""
        raise MethodNotFoundError("Method not found: mgp/health/status")

    async def mgp_lifecycle_shutdown(
        self, params: LifecycleShutdownParams
    ) -> LifecycleShutdownResult:
        """Have a server finish what is under way and stop. (`mgp/lifecycle/shutdown`)"""
        raise MethodNotFoundError("Method not found: mgp/lifecycle/shutdown")

    async def notifications_mgp_lifecycle(self, params: LifecycleNotificationParams) -> None:
        """Say that a server went from one state to another. (`notifications/mgp.lifecycle`)"""
        # A notification that nobody handles is ignored.

    async def mgp_stream_cancel(self, params: StreamCancelParams) -> StreamCancelResult:
        """Give up on a request that is under way, and get what there is of its result. (`mgp/stream/cancel`)"""
        raise MethodNotFoundError("Method not found: mgp/stream/cancel")

    async def mgp_events_subscribe(self, params: EventsSubscribeParams) -> EventsSubscribeResult:
        """Ask to be sent the events of some channels. (`mgp/events/subscribe`)"""
        raise MethodNotFoundError("Method not found: mgp/events/subscribe")

    async def mgp_events_unsubscribe(
        self, params: EventsUnsubscribeParams
    ) -> EventsUnsubscribeResult:
        """End a subscription. (`mgp/events/unsubscribe`)"""
        raise MethodNotFoundError("Method not found: mgp/events/unsubscribe")

    async def mgp_callback_respond(self, params: CallbackRespondParams) -> EmptyResult:
        """Answer a callback. (`mgp/callback/respond`)"""
        raise MethodNotFoundError("Method not found: mgp/callback/respond")

    async def mgp_discovery_list(self, params: DiscoveryListParams) -> DiscoveryListResult:
        """List the servers that a registry knows. (`mgp/discovery/list`)"""
        raise MethodNotFoundError("Method not found: mgp/discovery/list")

    async def mgp_discovery_register(self, params: DiscoveryRegisterParams) -> DiscoveredServer:
        """Register a server that was made at run time. (`mgp/discovery/register`)"""
        raise MethodNotFoundError("Method not found: mgp/discovery/register")

    async def mgp_discovery_deregister(
        self, params: DiscoveryDeregisterParams
    ) -> DiscoveryDeregisterResult:
        """Take a server out of the registry. (`mgp/discovery/deregister`)"""
        raise MethodNotFoundError("Method not found: mgp/discovery/deregister")

    async def mgp_tools_discover(self, params: ToolsDiscoverParams) -> ToolsDiscoverResult:
        """Search the tools of all servers for one that fits. (`mgp/tools/discover`)"""
        raise MethodNotFoundError("Method not found: mgp/tools/discover")

    async def mgp_tools_request(self, params: ToolsRequestParams) -> ToolsRequestResult:
        """Ask for tools that a task turns out to need. (`mgp/tools/request`)"""
        raise MethodNotFoundError("Method not found: mgp/tools/request")

    async def mgp_tools_session(self, params: RequestParams) -> ToolsSessionResult:
        """List the tools that the session has. (`mgp/tools/session`)"""
        raise MethodNotFoundError("Method not found: mgp/tools/session")

    async def mgp_tools_session_evict(
        self, params: ToolsSessionEvictParams
    ) -> ToolsSessionEvictResult:
        """Take tools out of the session's cache. (`mgp/tools/session/evict`)"""
        raise MethodNotFoundError("Method not found: mgp/tools/session/evict")


class ServerOn(On):
    """Where a server registers handlers: `@server.on.NAME`."""

    @property
    def mgp_permission_request(self) -> Register[PermissionRequestParams, PermissionRequestResult]:
        """Tell the server that a human has to approve its permissions, and that it has to wait. (`mgp/permission/request`)"""
        return self(methods.MGP_PERMISSION_REQUEST)

    @property
    def mgp_permission_response(self) -> Register[PermissionResponseParams, EmptyResult]:
        """Deliver what was decided about the permissions of a request. (`mgp/permission/response`)"""
        return self(methods.MGP_PERMISSION_RESPONSE)

    @property
    def mgp_access_query(self) -> Register[AccessQueryParams, AccessQueryResult]:
        """Ask whether an agent may use a tool, and why. (`mgp/access/query`)"""
        return self(methods.MGP_ACCESS_QUERY)

    @property
    def mgp_access_grant(self) -> Register[AccessGrantParams, AccessEntry]:
        """Make an entry about an agent's access to a server or tool. (`mgp/access/grant`)"""
        return self(methods.MGP_ACCESS_GRANT)

    @property
    def mgp_access_revoke(self) -> Register[AccessRevokeParams, AccessRevokeResult]:
        """Take an entry about an agent's access back. (`mgp/access/revoke`)"""
        return self(methods.MGP_ACCESS_REVOKE)

    @property
    def notifications_mgp_audit(self) -> Register[AuditNotificationParams, None]:
        """Hand over an audit event: to the audit server, or of a server's own to the kernel. (`notifications/mgp.audit`)"""
        return self(methods.NOTIFICATIONS_MGP_AUDIT)

    @property
    def mgp_health_ping(self) -> Register[HealthPingParams, HealthPingResult]:
        """Find out whether a server lives; it answers within 5 seconds. (`mgp/health/ping`)"""
        return self(methods.MGP_HEALTH_PING)

    @property
    def mgp_health_status(self) -> Register[RequestParams, HealthStatusResult]:
        """Find out how ready a server is. (`mgp/health/status`)"""
        return self(methods.MGP_HEALTH_STATUS)

    @property
    def mgp_lifecycle_shutdown(self) -> Register[LifecycleShutdownParams, LifecycleShutdownResult]:
        """Have a server finish what is under way and stop. (`mgp/lifecycle/shutdown`)"""
        return self(methods.MGP_LIFECYCLE_SHUTDOWN)

    @property
    def notifications_mgp_lifecycle(self) -> Register[LifecycleNotificationParams, None]:
        """Say that a server went from one state to another. (`notifications/mgp.lifecycle`)"""
        return self(methods.NOTIFICATIONS_MGP_LIFECYCLE)

    @property
    def mgp_stream_cancel(self) -> Register[StreamCancelParams, StreamCancelResult]:
        """Give up on a request that is under way, and get what there is of its result. (`mgp/stream/cancel`)"""
        return self(methods.MGP_STREAM_CANCEL)

    @property
    def mgp_events_subscribe(self) -> Register[EventsSubscribeParams, EventsSubscribeResult]:
        """Ask to be sent the events of some channels. (`mgp/events/subscribe`)"""
        return self(methods.MGP_EVENTS_SUBSCRIBE)

    @property
    def mgp_events_unsubscribe(self) -> Register[EventsUnsubscribeParams, EventsUnsubscribeResult]:
        """End a subscription. (`mgp/events/unsubscribe`)"""
        return self(methods.MGP_EVENTS_UNSUBSCRIBE)

    @property
    def mgp_callback_respond(self) -> Register[CallbackRespondParams, EmptyResult]:
        """Answer a callback. (`mgp/callback/respond`)"""
        return self(methods.MGP_CALLBACK_RESPOND)

    @property
    def mgp_discovery_list(self) -> Register[DiscoveryListParams, DiscoveryListResult]:
        """List the servers that a registry knows. (`mgp/discovery/list`)"""
        return self(methods.MGP_DISCOVERY_LIST)

    @property
    def mgp_discovery_register(self) -> Register[DiscoveryRegisterParams, DiscoveredServer]:
        """Register a server that was made at run time. (`mgp/discovery/register`)"""
        return self(methods.MGP_DISCOVERY_REGISTER)

    @property
    def mgp_discovery_deregister(
        self,
    ) -> Register[DiscoveryDeregisterParams, DiscoveryDeregisterResult]:
        """Take a server out of the registry. (`mgp/discovery/deregister`)"""
        return self(methods.MGP_DISCOVERY_DEREGISTER)

    @property
    def mgp_tools_discover(self) -> Register[ToolsDiscoverParams, ToolsDiscoverResult]:
        """Search the tools of all servers for one that fits. (`mgp/tools/discover`)"""
        return self(methods.MGP_TOOLS_DISCOVER)

    @property
    def mgp_tools_request(self) -> Register[ToolsRequestParams, ToolsRequestResult]:
        """Ask for tools that a task turns out to need. (`mgp/tools/request`)"""
        return self(methods.MGP_TOOLS_REQUEST)

    @property
    def mgp_tools_session(self) -> Register[RequestParams, ToolsSessionResult]:
        """List the tools that the session has. (`mgp/tools/session`)"""
        return self(methods.MGP_TOOLS_SESSION)

    @property
    def mgp_tools_session_evict(self) -> Register[ToolsSessionEvictParams, ToolsSessionEvictResult]:
        """Take tools out of the session's cache. (`mgp/tools/session/evict`)"""
        return self(methods.MGP_TOOLS_SESSION_EVICT)


class ClientHandlers(Handlers):
    """What a kernel handles: override what you serve; the rest answers "method not found"."""

    rows: ClassVar[Mapping[str, Method[Any, Any]]] = {
        "mgp/access/query": methods.MGP_ACCESS_QUERY,
        "mgp/access/grant": methods.MGP_ACCESS_GRANT,
        "mgp/access/revoke": methods.MGP_ACCESS_REVOKE,
        "notifications/mgp.audit": methods.NOTIFICATIONS_MGP_AUDIT,
        "notifications/mgp.lifecycle": methods.NOTIFICATIONS_MGP_LIFECYCLE,
        "notifications/mgp.stream.chunk": methods.NOTIFICATIONS_MGP_STREAM_CHUNK,
        "notifications/mgp.stream.progress": methods.NOTIFICATIONS_MGP_STREAM_PROGRESS,
        "notifications/mgp.event": methods.NOTIFICATIONS_MGP_EVENT,
        "notifications/mgp.callback.request": methods.NOTIFICATIONS_MGP_CALLBACK_REQUEST,
        "mgp/discovery/list": methods.MGP_DISCOVERY_LIST,
        "mgp/discovery/register": methods.MGP_DISCOVERY_REGISTER,
        "mgp/discovery/deregister": methods.MGP_DISCOVERY_DEREGISTER,
        "mgp/tools/discover": methods.MGP_TOOLS_DISCOVER,
        "mgp/tools/request": methods.MGP_TOOLS_REQUEST,
        "mgp/tools/session": methods.MGP_TOOLS_SESSION,
        "mgp/tools/session/evict": methods.MGP_TOOLS_SESSION_EVICT,
    }

    async def mgp_access_query(self, params: AccessQueryParams) -> AccessQueryResult:
        """Ask whether an agent may use a tool, and why. (`mgp/access/query`)"""
        raise MethodNotFoundError("Method not found: mgp/access/query")

    async def mgp_access_grant(self, params: AccessGrantParams) -> AccessEntry:
        """Make an entry about an agent's access to a server or tool. (`mgp/access/grant`)"""
        raise MethodNotFoundError("Method not found: mgp/access/grant")

    async def mgp_access_revoke(self, params: AccessRevokeParams) -> AccessRevokeResult:
        """Take an entry about an agent's access back. (`mgp/access/revoke`)"""
        raise MethodNotFoundError("Method not found: mgp/access/revoke")

    async def notifications_mgp_audit(self, params: AuditNotificationParams) -> None:
        """Hand over an audit event: to the audit server, or of a server's own to the kernel. (`notifications/mgp.audit`)"""
        # A notification that nobody handles is ignored.

    async def notifications_mgp_lifecycle(self, params: LifecycleNotificationParams) -> None:
        """Say that a server went from one state to another. (`notifications/mgp.lifecycle`)"""
        # A notification that nobody handles is ignored.

    async def notifications_mgp_stream_chunk(self, params: StreamChunkNotificationParams) -> None:
        """Send a piece of a tool's result before the rest. (`notifications/mgp.stream.chunk`)"""
        # A notification that nobody handles is ignored.

    async def notifications_mgp_stream_progress(
        self, params: StreamProgressNotificationParams
    ) -> None:
        """Report how far a long request has come. (`notifications/mgp.stream.progress`)"""
        # A notification that nobody handles is ignored.

    async def notifications_mgp_event(self, params: EventNotificationParams) -> None:
        """Send an event of a channel that the client subscribed to. (`notifications/mgp.event`)"""
        # A notification that nobody handles is ignored.

    async def notifications_mgp_callback_request(
        self, params: CallbackRequestNotificationParams
    ) -> None:
        """Ask the client for something that a running tool needs. (`notifications/mgp.callback.request`)"""
        # A notification that nobody handles is ignored.

    async def mgp_discovery_list(self, params: DiscoveryListParams) -> DiscoveryListResult:
        """List the servers that a registry knows. (`mgp/discovery/list`)"""
        raise MethodNotFoundError("Method not found: mgp/discovery/list")

    async def mgp_discovery_register(self, params: DiscoveryRegisterParams) -> DiscoveredServer:
        """Register a server that was made at run time. (`mgp/discovery/register`)"""
        raise MethodNotFoundError("Method not found: mgp/discovery/register")

    async def mgp_discovery_deregister(
        self, params: DiscoveryDeregisterParams
    ) -> DiscoveryDeregisterResult:
        """Take a server out of the registry. (`mgp/discovery/deregister`)"""
        raise MethodNotFoundError("Method not found: mgp/discovery/deregister")

    async def mgp_tools_discover(self, params: ToolsDiscoverParams) -> ToolsDiscoverResult:
        """Search the tools of all servers for one that fits. (`mgp/tools/discover`)"""
        raise MethodNotFoundError("Method not found: mgp/tools/discover")

    async def mgp_tools_request(self, params: ToolsRequestParams) -> ToolsRequestResult:
        """Ask for tools that a task turns out to need. (`mgp/tools/request`)"""
        raise MethodNotFoundError("Method not found: mgp/tools/request")

    async def mgp_tools_session(self, params: RequestParams) -> ToolsSessionResult:
        """List the tools that the session has. (`mgp/tools/session`)"""
        raise MethodNotFoundError("Method not found: mgp/tools/session")

    async def mgp_tools_session_evict(
        self, params: ToolsSessionEvictParams
    ) -> ToolsSessionEvictResult:
        """Take tools out of the session's cache. (`mgp/tools/session/evict`)"""
        raise MethodNotFoundError("Method not found: mgp/tools/session/evict")


class ClientOn(On):
    """Where a kernel registers handlers: `@client.on.NAME`."""

    @property
    def mgp_access_query(self) -> Register[AccessQueryParams, AccessQueryResult]:
        """Ask whether an agent may use a tool, and why. (`mgp/access/query`)"""
        return self(methods.MGP_ACCESS_QUERY)

    @property
    def mgp_access_grant(self) -> Register[AccessGrantParams, AccessEntry]:
        """Make an entry about an agent's access to a server or tool. (`mgp/access/grant`)"""
        return self(methods.MGP_ACCESS_GRANT)

    @property
    def mgp_access_revoke(self) -> Register[AccessRevokeParams, AccessRevokeResult]:
        """Take an entry about an agent's access back. (`mgp/access/revoke`)"""
        return self(methods.MGP_ACCESS_REVOKE)

    @property
    def notifications_mgp_audit(self) -> Register[AuditNotificationParams, None]:
        """Hand over an audit event: to the audit server, or of a server's own to the kernel. (`notifications/mgp.audit`)"""
        return self(methods.NOTIFICATIONS_MGP_AUDIT)

    @property
    def notifications_mgp_lifecycle(self) -> Register[LifecycleNotificationParams, None]:
        """Say that a server went from one state to another. (`notifications/mgp.lifecycle`)"""
        return self(methods.NOTIFICATIONS_MGP_LIFECYCLE)

    @property
    def notifications_mgp_stream_chunk(self) -> Register[StreamChunkNotificationParams, None]:
        """Send a piece of a tool's result before the rest. (`notifications/mgp.stream.chunk`)"""
        return self(methods.NOTIFICATIONS_MGP_STREAM_CHUNK)

    @property
    def notifications_mgp_stream_progress(self) -> Register[StreamProgressNotificationParams, None]:
        """Report how far a long request has come. (`notifications/mgp.stream.progress`)"""
        return self(methods.NOTIFICATIONS_MGP_STREAM_PROGRESS)

    @property
    def notifications_mgp_event(self) -> Register[EventNotificationParams, None]:
        """Send an event of a channel that the client subscribed to. (`notifications/mgp.event`)"""
        return self(methods.NOTIFICATIONS_MGP_EVENT)

    @property
    def notifications_mgp_callback_request(
        self,
    ) -> Register[CallbackRequestNotificationParams, None]:
        """Ask the client for something that a running tool needs. (`notifications/mgp.callback.request`)"""
        return self(methods.NOTIFICATIONS_MGP_CALLBACK_REQUEST)

    @property
    def mgp_discovery_list(self) -> Register[DiscoveryListParams, DiscoveryListResult]:
        """List the servers that a registry knows. (`mgp/discovery/list`)"""
        return self(methods.MGP_DISCOVERY_LIST)

    @property
    def mgp_discovery_register(self) -> Register[DiscoveryRegisterParams, DiscoveredServer]:
        """Register a server that was made at run time. (`mgp/discovery/register`)"""
        return self(methods.MGP_DISCOVERY_REGISTER)

    @property
    def mgp_discovery_deregister(
        self,
    ) -> Register[DiscoveryDeregisterParams, DiscoveryDeregisterResult]:
        """Take a server out of the registry. (`mgp/discovery/deregister`)"""
        return self(methods.MGP_DISCOVERY_DEREGISTER)

    @property
    def mgp_tools_discover(self) -> Register[ToolsDiscoverParams, ToolsDiscoverResult]:
        """Search the tools of all servers for one that fits. (`mgp/tools/discover`)"""
        return self(methods.MGP_TOOLS_DISCOVER)

    @property
    def mgp_tools_request(self) -> Register[ToolsRequestParams, ToolsRequestResult]:
        """Ask for tools that a task turns out to need. (`mgp/tools/request`)"""
        return self(methods.MGP_TOOLS_REQUEST)

    @property
    def mgp_tools_session(self) -> Register[RequestParams, ToolsSessionResult]:
        """List the tools that the session has. (`mgp/tools/session`)"""
        return self(methods.MGP_TOOLS_SESSION)

    @property
    def mgp_tools_session_evict(self) -> Register[ToolsSessionEvictParams, ToolsSessionEvictResult]:
        """Take tools out of the session's cache. (`mgp/tools/session/evict`)"""
        return self(methods.MGP_TOOLS_SESSION_EVICT)


class ServerTools(ToolHandlers):
    """The tools that a server serves: override them; the rest are unknown tools."""

    rows: ClassVar[Mapping[str, ToolMethod[Any, Any]]] = {
        "mgp.access.query": tools.MGP_ACCESS_QUERY_TOOL,
        "mgp/access/query": tools.MGP_ACCESS_QUERY_TOOL,
        "mgp_access_query": tools.MGP_ACCESS_QUERY_TOOL,
        "mgp.access.grant": tools.MGP_ACCESS_GRANT_TOOL,
        "mgp/access/grant": tools.MGP_ACCESS_GRANT_TOOL,
        "mgp_access_grant": tools.MGP_ACCESS_GRANT_TOOL,
        "mgp.access.revoke": tools.MGP_ACCESS_REVOKE_TOOL,
        "mgp/access/revoke": tools.MGP_ACCESS_REVOKE_TOOL,
        "mgp_access_revoke": tools.MGP_ACCESS_REVOKE_TOOL,
        "mgp.discovery.list": tools.MGP_DISCOVERY_LIST_TOOL,
        "mgp/discovery/list": tools.MGP_DISCOVERY_LIST_TOOL,
        "mgp_discovery_list": tools.MGP_DISCOVERY_LIST_TOOL,
        "mgp.discovery.register": tools.MGP_DISCOVERY_REGISTER_TOOL,
        "mgp/discovery/register": tools.MGP_DISCOVERY_REGISTER_TOOL,
        "mgp_discovery_register": tools.MGP_DISCOVERY_REGISTER_TOOL,
        "mgp.discovery.deregister": tools.MGP_DISCOVERY_DEREGISTER_TOOL,
        "mgp/discovery/deregister": tools.MGP_DISCOVERY_DEREGISTER_TOOL,
        "mgp_discovery_deregister": tools.MGP_DISCOVERY_DEREGISTER_TOOL,
        "mgp.tools.discover": tools.MGP_TOOLS_DISCOVER_TOOL,
        "mgp/tools/discover": tools.MGP_TOOLS_DISCOVER_TOOL,
        "mgp_tools_discover": tools.MGP_TOOLS_DISCOVER_TOOL,
        "mgp.tools.request": tools.MGP_TOOLS_REQUEST_TOOL,
        "mgp/tools/request": tools.MGP_TOOLS_REQUEST_TOOL,
        "mgp_tools_request": tools.MGP_TOOLS_REQUEST_TOOL,
        "mgp.tools.session": tools.MGP_TOOLS_SESSION_TOOL,
        "mgp/tools/session": tools.MGP_TOOLS_SESSION_TOOL,
        "mgp_tools_session": tools.MGP_TOOLS_SESSION_TOOL,
        "mgp.tools.session.evict": tools.MGP_TOOLS_SESSION_EVICT_TOOL,
        "mgp/tools/session/evict": tools.MGP_TOOLS_SESSION_EVICT_TOOL,
        "mgp_tools_session_evict": tools.MGP_TOOLS_SESSION_EVICT_TOOL,
    }

    async def mgp_access_query_tool(self, params: AccessQueryParams) -> AccessQueryResult:
        """Ask whether an agent may use a tool, and why. (`mgp.access.query`)"""
        raise InvalidParamsError("Unknown tool: mgp.access.query")

    async def mgp_access_grant_tool(self, params: AccessGrantParams) -> AccessEntry:
        """Make an entry about an agent's access to a server or tool. (`mgp.access.grant`)"""
        raise InvalidParamsError("Unknown tool: mgp.access.grant")

    async def mgp_access_revoke_tool(self, params: AccessRevokeParams) -> AccessRevokeResult:
        """Take an entry about an agent's access back. (`mgp.access.revoke`)"""
        raise InvalidParamsError("Unknown tool: mgp.access.revoke")

    async def mgp_discovery_list_tool(self, params: DiscoveryListParams) -> DiscoveryListResult:
        """List the servers that a registry knows. (`mgp.discovery.list`)"""
        raise InvalidParamsError("Unknown tool: mgp.discovery.list")

    async def mgp_discovery_register_tool(
        self, params: DiscoveryRegisterParams
    ) -> DiscoveredServer:
        """Register a server that was made at run time. (`mgp.discovery.register`)"""
        raise InvalidParamsError("Unknown tool: mgp.discovery.register")

    async def mgp_discovery_deregister_tool(
        self, params: DiscoveryDeregisterParams
    ) -> DiscoveryDeregisterResult:
        """Take a server out of the registry. (`mgp.discovery.deregister`)"""
        raise InvalidParamsError("Unknown tool: mgp.discovery.deregister")

    async def mgp_tools_discover_tool(self, params: ToolsDiscoverParams) -> ToolsDiscoverResult:
        """Search the tools of all servers for one that fits. (`mgp.tools.discover`)"""
        raise InvalidParamsError("Unknown tool: mgp.tools.discover")

    async def mgp_tools_request_tool(self, params: ToolsRequestParams) -> ToolsRequestResult:
        """Ask for tools that a task turns out to need. (`mgp.tools.request`)"""
        raise InvalidParamsError("Unknown tool: mgp.tools.request")

    async def mgp_tools_session_tool(self, params: RequestParams) -> ToolsSessionResult:
        """List the tools that the session has. (`mgp.tools.session`)"""
        raise InvalidParamsError("Unknown tool: mgp.tools.session")

    async def mgp_tools_session_evict_tool(
        self, params: ToolsSessionEvictParams
    ) -> ToolsSessionEvictResult:
        """Take tools out of the session's cache. (`mgp.tools.session.evict`)"""
        raise InvalidParamsError("Unknown tool: mgp.tools.session.evict")
