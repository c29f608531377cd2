"""The method table of Model General Protocol. Generated from mgp.json by `kinwire generate`: do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kinwire_protocols import lazy
from kinwire_protocols.jsonrpc import errors as jsonrpc_errors
from kinwire_protocols.mgp import errors
from kinwire_protocols.peer import Method, ProtocolTable

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

MGP_PERMISSION_REQUEST: Final[Method[PermissionRequestParams, PermissionRequestResult]] = Method(
    name="mgp/permission/request",
    protocol="mgp",
    attribute="mgp_permission_request",
    kind="request",
    sender="client",
    params=lazy.Lazy("kinwire_protocols.mgp.models.PermissionRequestParams"),
    result=lazy.Lazy("kinwire_protocols.mgp.models.PermissionRequestResult"),
    errors=(
        jsonrpc_errors.MethodNotFoundError,
        jsonrpc_errors.InvalidParamsError,
        jsonrpc_errors.InternalError,
    ),
    gate="mgp:extensions.security",
    section="3.5",
    aliases=("mgp/permission/await",),
)
"""Tell the server that a human has to approve its permissions, and that it has to wait."""

MGP_PERMISSION_RESPONSE: Final[Method[PermissionResponseParams, EmptyResult]] = Method(
    name="mgp/permission/response",
    protocol="mgp",
    attribute="mgp_permission_response",
    kind="request",
    sender="client",
    params=lazy.Lazy("kinwire_protocols.mgp.models.PermissionResponseParams"),
    result=lazy.Lazy("kinwire_protocols.mcp.models.EmptyResult"),
    errors=(
        jsonrpc_errors.MethodNotFoundError,
        jsonrpc_errors.InvalidParamsError,
        jsonrpc_errors.InternalError,
    ),
    gate="mgp:extensions.security",
    section="3.6",
    aliases=("mgp/permission/grant",),
)
"""Deliver what was decided about the permissions of a request."""

MGP_ACCESS_QUERY: Final[Method[AccessQueryParams, AccessQueryResult]] = Method(
    name="mgp/access/query",
    protocol="mgp",
    attribute="mgp_access_query",
    kind="request",
    sender="both",
    params=lazy.Lazy("kinwire_protocols.mgp.models.AccessQueryParams"),
    result=lazy.Lazy("kinwire_protocols.mgp.models.AccessQueryResult"),
    errors=(
        errors.PermissionDeniedError,
        jsonrpc_errors.MethodNotFoundError,
        jsonrpc_errors.InvalidParamsError,
        jsonrpc_errors.InternalError,
    ),
    gate="mgp:extensions.access_control",
    section="5.4 mgp/access/query",
)
"""Ask whether an agent may use a tool, and why."""

MGP_ACCESS_GRANT: Final[Method[AccessGrantParams, AccessEntry]] = Method(
    name="mgp/access/grant",
    protocol="mgp",
    attribute="mgp_access_grant",
    kind="request",
    sender="both",
    params=lazy.Lazy("kinwire_protocols.mgp.models.AccessGrantParams"),
    result=lazy.Lazy("kinwire_protocols.mgp.models.AccessEntry"),
    errors=(
        errors.PermissionDeniedError,
        jsonrpc_errors.MethodNotFoundError,
        jsonrpc_errors.InvalidParamsError,
        jsonrpc_errors.InternalError,
    ),
    gate="mgp:extensions.access_control",
    section="5.4 mgp/access/grant",
)
"""Make an entry about an agent's access to a server or tool."""

MGP_ACCESS_REVOKE: Final[Method[AccessRevokeParams, AccessRevokeResult]] = Method(
    name="mgp/access/revoke",
    protocol="mgp",
    attribute="mgp_access_revoke",
    kind="request",
    sender="both",
    params=lazy.Lazy("kinwire_protocols.mgp.models.AccessRevokeParams"),
    result=lazy.Lazy("kinwire_protocols.mgp.models.AccessRevokeResult"),
    errors=(
        errors.PermissionDeniedError,
        jsonrpc_errors.MethodNotFoundError,
        jsonrpc_errors.InvalidParamsError,
        jsonrpc_errors.InternalError,
    ),
    gate="mgp:extensions.access_control",
    section="5.4 mgp/access/revoke",
)
"""Take an entry about an agent's access back."""

NOTIFICATIONS_MGP_AUDIT: Final[Method[AuditNotificationParams, None]] = Method(
    name="notifications/mgp.audit",
    protocol="mgp",
    attribute="notifications_mgp_audit",
    kind="notification",
    sender="both",
    params=lazy.Lazy("kinwire_protocols.mgp.models.AuditNotificationParams"),
    result=None,
    gate="mgp:extensions.audit",
    section="6.3",
    serial=True,
)
"""Hand over an audit event: to the audit server, or of a server's own to the kernel."""

MGP_HEALTH_PING: Final[Method[HealthPingParams, HealthPingResult]] = Method(
    name="mgp/health/ping",
    protocol="mgp",
    attribute="mgp_health_ping",
    kind="request",
    sender="client",
    params=lazy.Lazy("kinwire_protocols.mgp.models.HealthPingParams"),
    result=lazy.Lazy("kinwire_protocols.mgp.models.HealthPingResult"),
    errors=(
        jsonrpc_errors.MethodNotFoundError,
        jsonrpc_errors.InvalidParamsError,
        jsonrpc_errors.InternalError,
    ),
    gate="mgp:extensions.lifecycle",
    section="11.3 mgp/health/ping",
)
"""Find out whether a server lives; it answers within 5 seconds."""

MGP_HEALTH_STATUS: Final[Method[RequestParams, HealthStatusResult]] = Method(
    name="mgp/health/status",
    protocol="mgp",
    attribute="mgp_health_status",
    kind="request",
    sender="client",
    params=lazy.Lazy("kinwire_protocols.mcp.models.RequestParams"),
    result=lazy.Lazy("kinwire_protocols.mgp.models.HealthStatusResult"),
    errors=(
        jsonrpc_errors.MethodNotFoundError,
        jsonrpc_errors.InvalidParamsError,
        jsonrpc_errors.InternalError,
    ),
    gate="mgp:extensions.lifecycle",
    section="11.3 mgp/health/status",
)
"""Find out how ready a server is."""

MGP_LIFECYCLE_SHUTDOWN: Final[Method[LifecycleShutdownParams, LifecycleShutdownResult]] = Method(
    name="mgp/lifecycle/shutdown",
    protocol="mgp",
    attribute="mgp_lifecycle_shutdown",
    kind="request",
    sender="client",
    params=lazy.Lazy("kinwire_protocols.mgp.models.LifecycleShutdownParams"),
    result=lazy.Lazy("kinwire_protocols.mgp.models.LifecycleShutdownResult"),
    errors=(
        errors.ServerDrainingError,
        jsonrpc_errors.MethodNotFoundError,
        jsonrpc_errors.InvalidParamsError,
        jsonrpc_errors.InternalError,
    ),
    gate="mgp:extensions.lifecycle",
    section="11.4 mgp/lifecycle/shutdown",
)
"""Have a server finish what is under way and stop."""

NOTIFICATIONS_MGP_LIFECYCLE: Final[Method[LifecycleNotificationParams, None]] = Method(
    name="notifications/mgp.lifecycle",
    protocol="mgp",
    attribute="notifications_mgp_lifecycle",
    kind="notification",
    sender="both",
    params=lazy.Lazy("kinwire_protocols.mgp.models.LifecycleNotificationParams"),
    result=None,
    gate="mgp:extensions.lifecycle",
    section="11.4 notifications/mgp.lifecycle",
    serial=True,
)
"""Say that a server went from one state to another."""

NOTIFICATIONS_MGP_STREAM_CHUNK: Final[Method[StreamChunkNotificationParams, None]] = Method(
    name="notifications/mgp.stream.chunk",
    protocol="mgp",
    attribute="notifications_mgp_stream_chunk",
    kind="notification",
    sender="server",
    params=lazy.Lazy("kinwire_protocols.mgp.models.StreamChunkNotificationParams"),
    result=None,
    gate="mgp:extensions.streaming",
    section="12.4",
    serial=True,
)
"""Send a piece of a tool's result before the rest."""

NOTIFICATIONS_MGP_STREAM_PROGRESS: Final[Method[StreamProgressNotificationParams, None]] = Method(
    name="notifications/mgp.stream.progress",
    protocol="mgp",
    attribute="notifications_mgp_stream_progress",
    kind="notification",
    sender="server",
    params=lazy.Lazy("kinwire_protocols.mgp.models.StreamProgressNotificationParams"),
    result=None,
    gate="mgp:extensions.streaming",
    section="12.6",
    serial=True,
)
"""Report how far a long request has come."""

MGP_STREAM_CANCEL: Final[Method[StreamCancelParams, StreamCancelResult]] = Method(
    name="mgp/stream/cancel",
    protocol="mgp",
    attribute="mgp_stream_cancel",
    kind="request",
    sender="client",
    params=lazy.Lazy("kinwire_protocols.mgp.models.StreamCancelParams"),
    result=lazy.Lazy("kinwire_protocols.mgp.models.StreamCancelResult"),
    errors=(
        jsonrpc_errors.MethodNotFoundError,
        jsonrpc_errors.InvalidParamsError,
        jsonrpc_errors.InternalError,
    ),
    gate="mgp:extensions.streaming",
    section="12.7",
)
"""Give up on a request that is under way, and get what there is of its result."""

MGP_EVENTS_SUBSCRIBE: Final[Method[EventsSubscribeParams, EventsSubscribeResult]] = Method(
    name="mgp/events/subscribe",
    protocol="mgp",
    attribute="mgp_events_subscribe",
    kind="request",
    sender="client",
    params=lazy.Lazy("kinwire_protocols.mgp.models.EventsSubscribeParams"),
    result=lazy.Lazy("kinwire_protocols.mgp.models.EventsSubscribeResult"),
    errors=(
        errors.ResourceExhaustedError,
        jsonrpc_errors.MethodNotFoundError,
        jsonrpc_errors.InvalidParamsError,
        jsonrpc_errors.InternalError,
    ),
    gate="mgp:extensions.bidirectional",
    section="13.2 mgp/events/subscribe",
)
"""Ask to be sent the events of some channels."""

MGP_EVENTS_UNSUBSCRIBE: Final[Method[EventsUnsubscribeParams, EventsUnsubscribeResult]] = Method(
    name="mgp/events/unsubscribe",
    protocol="mgp",
    attribute="mgp_events_unsubscribe",
    kind="request",
    sender="client",
    params=lazy.Lazy("kinwire_protocols.mgp.models.EventsUnsubscribeParams"),
    result=lazy.Lazy("kinwire_protocols.mgp.models.EventsUnsubscribeResult"),
    errors=(
        jsonrpc_errors.MethodNotFoundError,
        jsonrpc_errors.InvalidParamsError,
        jsonrpc_errors.InternalError,
    ),
    gate="mgp:extensions.bidirectional",
    section="13.2 mgp/events/unsubscribe",
)
"""End a subscription."""

NOTIFICATIONS_MGP_EVENT: Final[Method[EventNotificationParams, None]] = Method(
    name="notifications/mgp.event",
    protocol="mgp",
    attribute="notifications_mgp_event",
    kind="notification",
    sender="server",
    params=lazy.Lazy("kinwire_protocols.mgp.models.EventNotificationParams"),
    result=None,
    gate="mgp:extensions.bidirectional",
    section="13.3",
    serial=True,
)
"""Send an event of a channel that the client subscribed to."""

NOTIFICATIONS_MGP_CALLBACK_REQUEST: Final[Method[CallbackRequestNotificationParams, None]] = Method(
    name="notifications/mgp.callback.request",
    protocol="mgp",
    attribute="notifications_mgp_callback_request",
    kind="notification",
    sender="server",
    params=lazy.Lazy("kinwire_protocols.mgp.models.CallbackRequestNotificationParams"),
    result=None,
    gate="mgp:extensions.bidirectional",
    section="13.4 notifications/mgp.callback.request",
)
"""Ask the client for something that a running tool needs."""

MGP_CALLBACK_RESPOND: Final[Method[CallbackRespondParams, EmptyResult]] = Method(
    name="mgp/callback/respond",
    protocol="mgp",
    attribute="mgp_callback_respond",
    kind="request",
    sender="client",
    params=lazy.Lazy("kinwire_protocols.mgp.models.CallbackRespondParams"),
    result=lazy.Lazy("kinwire_protocols.mcp.models.EmptyResult"),
    errors=(
        errors.InvalidToolArgsError,
        jsonrpc_errors.MethodNotFoundError,
        jsonrpc_errors.InvalidParamsError,
        jsonrpc_errors.InternalError,
    ),
    gate="mgp:extensions.bidirectional",
    section="13.4 mgp/callback/respond",
)
"""Answer a callback."""

MGP_DISCOVERY_LIST: Final[Method[DiscoveryListParams, DiscoveryListResult]] = Method(
    name="mgp/discovery/list",
    protocol="mgp",
    attribute="mgp_discovery_list",
    kind="request",
    sender="both",
    params=lazy.Lazy("kinwire_protocols.mgp.models.DiscoveryListParams"),
    result=lazy.Lazy("kinwire_protocols.mgp.models.DiscoveryListResult"),
    errors=(
        jsonrpc_errors.MethodNotFoundError,
        jsonrpc_errors.InvalidParamsError,
        jsonrpc_errors.InternalError,
    ),
    gate="mgp:extensions.discovery",
    section="15.2 Registry Endpoint Discovery",
)
"""List the servers that a registry knows."""

MGP_DISCOVERY_REGISTER: Final[Method[DiscoveryRegisterParams, DiscoveredServer]] = Method(
    name="mgp/discovery/register",
    protocol="mgp",
    attribute="mgp_discovery_register",
    kind="request",
    sender="both",
    params=lazy.Lazy("kinwire_protocols.mgp.models.DiscoveryRegisterParams"),
    result=lazy.Lazy("kinwire_protocols.mgp.models.DiscoveredServer"),
    errors=(
        errors.PermissionDeniedError,
        errors.ValidationBlockedError,
        errors.CodeSafetyViolationError,
        errors.ResourceExhaustedError,
        jsonrpc_errors.MethodNotFoundError,
        jsonrpc_errors.InvalidParamsError,
        jsonrpc_errors.InternalError,
    ),
    gate="mgp:extensions.discovery",
    section="15.4",
)
"""Register a server that was made at run time."""

MGP_DISCOVERY_DEREGISTER: Final[Method[DiscoveryDeregisterParams, DiscoveryDeregisterResult]] = (
    Method(
        name="mgp/discovery/deregister",
        protocol="mgp",
        attribute="mgp_discovery_deregister",
        kind="request",
        sender="both",
        params=lazy.Lazy("kinwire_protocols.mgp.models.DiscoveryDeregisterParams"),
        result=lazy.Lazy("kinwire_protocols.mgp.models.DiscoveryDeregisterResult"),
        errors=(
            errors.PermissionDeniedError,
            jsonrpc_errors.MethodNotFoundError,
            jsonrpc_errors.InvalidParamsError,
            jsonrpc_errors.InternalError,
        ),
        gate="mgp:extensions.discovery",
        section="15.5",
    )
)
"""Take a server out of the registry."""

MGP_TOOLS_DISCOVER: Final[Method[ToolsDiscoverParams, ToolsDiscoverResult]] = Method(
    name="mgp/tools/discover",
    protocol="mgp",
    attribute="mgp_tools_discover",
    kind="request",
    sender="both",
    params=lazy.Lazy("kinwire_protocols.mgp.models.ToolsDiscoverParams"),
    result=lazy.Lazy("kinwire_protocols.mgp.models.ToolsDiscoverResult"),
    errors=(
        errors.RateLimitedError,
        jsonrpc_errors.MethodNotFoundError,
        jsonrpc_errors.InvalidParamsError,
        jsonrpc_errors.InternalError,
    ),
    gate="mgp:extensions.tool_discovery",
    section="16.5 mgp/tools/discover",
)
"""Search the tools of all servers for one that fits."""

MGP_TOOLS_REQUEST: Final[Method[ToolsRequestParams, ToolsRequestResult]] = Method(
    name="mgp/tools/request",
    protocol="mgp",
    attribute="mgp_tools_request",
    kind="request",
    sender="both",
    params=lazy.Lazy("kinwire_protocols.mgp.models.ToolsRequestParams"),
    result=lazy.Lazy("kinwire_protocols.mgp.models.ToolsRequestResult"),
    errors=(
        errors.PermissionDeniedError,
        errors.RateLimitedError,
        errors.QuotaExceededError,
        jsonrpc_errors.MethodNotFoundError,
        jsonrpc_errors.InvalidParamsError,
        jsonrpc_errors.InternalError,
    ),
    gate="mgp:extensions.tool_discovery",
    section="16.6 mgp/tools/request",
)
"""Ask for tools that a task turns out to need."""

MGP_TOOLS_SESSION: Final[Method[RequestParams, ToolsSessionResult]] = Method(
    name="mgp/tools/session",
    protocol="mgp",
    attribute="mgp_tools_session",
    kind="request",
    sender="both",
    params=lazy.Lazy("kinwire_protocols.mcp.models.RequestParams"),
    result=lazy.Lazy("kinwire_protocols.mgp.models.ToolsSessionResult"),
    errors=(
        jsonrpc_errors.MethodNotFoundError,
        jsonrpc_errors.InvalidParamsError,
        jsonrpc_errors.InternalError,
    ),
    gate="mgp:extensions.tool_discovery",
    section="16.7 mgp/tools/session",
)
"""List the tools that the session has."""

MGP_TOOLS_SESSION_EVICT: Final[Method[ToolsSessionEvictParams, ToolsSessionEvictResult]] = Method(
    name="mgp/tools/session/evict",
    protocol="mgp",
    attribute="mgp_tools_session_evict",
    kind="request",
    sender="both",
    params=lazy.Lazy("kinwire_protocols.mgp.models.ToolsSessionEvictParams"),
    result=lazy.Lazy("kinwire_protocols.mgp.models.ToolsSessionEvictResult"),
    errors=(
        jsonrpc_errors.MethodNotFoundError,
        jsonrpc_errors.InvalidParamsError,
        jsonrpc_errors.InternalError,
    ),
    gate="mgp:extensions.tool_discovery",
    section="16.7 mgp/tools/session/evict",
)
"""Take tools out of the session's cache."""

PROTOCOL: Final = ProtocolTable(
    name="mgp",
    title="Model General Protocol",
    version="0.2.0",
    capability="mgp",
    capability_aliases=("experimental.mgp",),
    offers=lazy.LazyTypes(
        {
            "client": "kinwire_protocols.mgp.models.ClientOffer",
            "server": "kinwire_protocols.mgp.models.ServerOffer",
        }
    ),
    methods={
        "mgp/permission/request": MGP_PERMISSION_REQUEST,
        "mgp/permission/response": MGP_PERMISSION_RESPONSE,
        "mgp/access/query": MGP_ACCESS_QUERY,
        "mgp/access/grant": MGP_ACCESS_GRANT,
        "mgp/access/revoke": MGP_ACCESS_REVOKE,
        "notifications/mgp.audit": NOTIFICATIONS_MGP_AUDIT,
        "mgp/health/ping": MGP_HEALTH_PING,
        "mgp/health/status": MGP_HEALTH_STATUS,
        "mgp/lifecycle/shutdown": MGP_LIFECYCLE_SHUTDOWN,
        "notifications/mgp.lifecycle": NOTIFICATIONS_MGP_LIFECYCLE,
        "notifications/mgp.stream.chunk": NOTIFICATIONS_MGP_STREAM_CHUNK,
        "notifications/mgp.stream.progress": NOTIFICATIONS_MGP_STREAM_PROGRESS,
        "mgp/stream/cancel": MGP_STREAM_CANCEL,
        "mgp/events/subscribe": MGP_EVENTS_SUBSCRIBE,
        "mgp/events/unsubscribe": MGP_EVENTS_UNSUBSCRIBE,
        "notifications/mgp.event": NOTIFICATIONS_MGP_EVENT,
        "notifications/mgp.callback.request": NOTIFICATIONS_MGP_CALLBACK_REQUEST,
        "mgp/callback/respond": MGP_CALLBACK_RESPOND,
        "mgp/discovery/list": MGP_DISCOVERY_LIST,
        "mgp/discovery/register": MGP_DISCOVERY_REGISTER,
        "mgp/discovery/deregister": MGP_DISCOVERY_DEREGISTER,
        "mgp/tools/discover": MGP_TOOLS_DISCOVER,
        "mgp/tools/request": MGP_TOOLS_REQUEST,
        "mgp/tools/session": MGP_TOOLS_SESSION,
        "mgp/tools/session/evict": MGP_TOOLS_SESSION_EVICT,
    },
    errors={
        "PermissionDenied": errors.PermissionDeniedError,
        "AccessDenied": errors.AccessDeniedError,
        "AuthRequired": errors.AuthRequiredError,
        "AuthExpired": errors.AuthExpiredError,
        "ValidationBlocked": errors.ValidationBlockedError,
        "CodeSafetyViolation": errors.CodeSafetyViolationError,
        "ServerNotReady": errors.ServerNotReadyError,
        "ServerDraining": errors.ServerDrainingError,
        "ServerRestarting": errors.ServerRestartingError,
        "RateLimited": errors.RateLimitedError,
        "ResourceExhausted": errors.ResourceExhaustedError,
        "QuotaExceeded": errors.QuotaExceededError,
        "TimedOut": errors.TimedOutError,
        "InvalidToolArgs": errors.InvalidToolArgsError,
        "ToolNotFound": errors.ToolNotFoundError,
        "ToolDisabled": errors.ToolDisabledError,
        "UpstreamError": errors.UpstreamError,
        "UpstreamTimeout": errors.UpstreamTimeoutError,
        "UpstreamUnavailable": errors.UpstreamUnavailableError,
    },
    error_data=lazy.LazyTypes(
        {
            "PermissionDenied": "kinwire_protocols.mgp.models.ErrorData",
            "AccessDenied": "kinwire_protocols.mgp.models.ErrorData",
            "AuthRequired": "kinwire_protocols.mgp.models.ErrorData",
            "AuthExpired": "kinwire_protocols.mgp.models.ErrorData",
            "ValidationBlocked": "kinwire_protocols.mgp.models.ErrorData",
            "CodeSafetyViolation": "kinwire_protocols.mgp.models.CodeSafetyErrorData",
            "ServerNotReady": "kinwire_protocols.mgp.models.ErrorData",
            "ServerDraining": "kinwire_protocols.mgp.models.ErrorData",
            "ServerRestarting": "kinwire_protocols.mgp.models.ErrorData",
            "RateLimited": "kinwire_protocols.mgp.models.ErrorData",
            "ResourceExhausted": "kinwire_protocols.mgp.models.ErrorData",
            "QuotaExceeded": "kinwire_protocols.mgp.models.ErrorData",
            "TimedOut": "kinwire_protocols.mgp.models.ErrorData",
            "InvalidToolArgs": "kinwire_protocols.mgp.models.ErrorData",
            "ToolNotFound": "kinwire_protocols.mgp.models.ErrorData",
            "ToolDisabled": "kinwire_protocols.mgp.models.ErrorData",
            "UpstreamError": "kinwire_protocols.mgp.models.ErrorData",
            "UpstreamTimeout": "kinwire_protocols.mgp.models.ErrorData",
            "UpstreamUnavailable": "kinwire_protocols.mgp.models.ErrorData",
        }
    ),
    added_errors={
        "tools/call": (
            errors.PermissionDeniedError,
            errors.AccessDeniedError,
            errors.AuthRequiredError,
            errors.AuthExpiredError,
            errors.ValidationBlockedError,
            errors.CodeSafetyViolationError,
            errors.ServerNotReadyError,
            errors.ServerDrainingError,
            errors.ServerRestartingError,
            errors.RateLimitedError,
            errors.ResourceExhaustedError,
            errors.QuotaExceededError,
            errors.TimedOutError,
            errors.InvalidToolArgsError,
            errors.ToolNotFoundError,
            errors.ToolDisabledError,
            errors.UpstreamError,
            errors.UpstreamTimeoutError,
            errors.UpstreamUnavailableError,
        ),
    },
    tools_in="kinwire_protocols.mgp.tools",
    augments_in="kinwire_protocols.mgp.augments",
)
"""The protocol as a table."""
