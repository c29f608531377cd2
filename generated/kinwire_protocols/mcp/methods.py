"""The method table of Model Context Protocol. Generated from mcp.json by `kinwire generate`: do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kinwire_protocols import lazy
from kinwire_protocols.jsonrpc import errors as jsonrpc_errors
from kinwire_protocols.mcp import errors
from kinwire_protocols.peer import Method, ProtocolTable

if TYPE_CHECKING:
    from kinwire_protocols.mcp.models import (
        CallToolRequestParams,
        CallToolResult,
        CancelledNotificationParams,
        CompleteRequestParams,
        CompleteResult,
        CreateMessageRequestParams,
        CreateMessageResult,
        EmptyResult,
        GetPromptRequestParams,
        GetPromptResult,
        InitializeRequestParams,
        InitializeResult,
        ListPromptsResult,
        ListResourcesResult,
        ListResourceTemplatesResult,
        ListRootsResult,
        ListToolsResult,
        LoggingMessageNotificationParams,
        NotificationParams,
        PaginatedRequestParams,
        ProgressNotificationParams,
        ReadResourceRequestParams,
        ReadResourceResult,
        RequestParams,
        ResourceUpdatedNotificationParams,
        SetLevelRequestParams,
        SubscribeRequestParams,
        UnsubscribeRequestParams,
    )

INITIALIZE: Final[Method[InitializeRequestParams, InitializeResult]] = Method(
    name="initialize",
    protocol="mcp",
    attribute="initialize",
    kind="request",
    sender="client",
    params=lazy.Lazy("kinwire_protocols.mcp.models.InitializeRequestParams"),
    result=lazy.Lazy("kinwire_protocols.mcp.models.InitializeResult"),
    errors=(
        jsonrpc_errors.InvalidRequestError,
        jsonrpc_errors.InvalidParamsError,
        jsonrpc_errors.InternalError,
    ),
    section="Lifecycle Specification > Initialize Request",
)
"""Open the session: each side says which version it speaks, who it is and what it can do."""

NOTIFICATIONS_INITIALIZED: Final[Method[NotificationParams, None]] = Method(
    name="notifications/initialized",
    protocol="mcp",
    attribute="notifications_initialized",
    kind="notification",
    sender="client",
    params=lazy.Lazy("kinwire_protocols.mcp.models.NotificationParams"),
    result=None,
    section="Lifecycle Specification > Initialized Notification",
)
"""Say that the handshake is done and that work may begin."""

PING: Final[Method[RequestParams, EmptyResult]] = Method(
    name="ping",
    protocol="mcp",
    attribute="ping",
    kind="request",
    sender="both",
    params=lazy.Lazy("kinwire_protocols.mcp.models.RequestParams"),
    result=lazy.Lazy("kinwire_protocols.mcp.models.EmptyResult"),
    section="Utilities Specification > Ping",
)
"""Find out whether the other side still answers."""

NOTIFICATIONS_CANCELLED: Final[Method[CancelledNotificationParams, None]] = Method(
    name="notifications/cancelled",
    protocol="mcp",
    attribute="notifications_cancelled",
    kind="notification",
    sender="both",
    params=lazy.Lazy("kinwire_protocols.mcp.models.CancelledNotificationParams"),
    result=None,
    section="Utilities Specification > Cancellation",
)
"""Give up on a request that the sender made earlier."""

NOTIFICATIONS_PROGRESS: Final[Method[ProgressNotificationParams, None]] = Method(
    name="notifications/progress",
    protocol="mcp",
    attribute="notifications_progress",
    kind="notification",
    sender="both",
    params=lazy.Lazy("kinwire_protocols.mcp.models.ProgressNotificationParams"),
    result=None,
    section="Utilities Specification > Progress",
    serial=True,
)
"""Report how far a long request has come."""

RESOURCES_LIST: Final[Method[PaginatedRequestParams, ListResourcesResult]] = Method(
    name="resources/list",
    protocol="mcp",
    attribute="resources_list",
    kind="request",
    sender="client",
    params=lazy.Lazy("kinwire_protocols.mcp.models.PaginatedRequestParams"),
    result=lazy.Lazy("kinwire_protocols.mcp.models.ListResourcesResult"),
    errors=(
        jsonrpc_errors.MethodNotFoundError,
        jsonrpc_errors.InvalidParamsError,
        jsonrpc_errors.InternalError,
    ),
    gate="server:resources",
    section="Official specification > Server Features > Resources > Listing Resources",
)
"""List the resources that the server offers, a page at a time."""

RESOURCES_TEMPLATES_LIST: Final[Method[PaginatedRequestParams, ListResourceTemplatesResult]] = (
    Method(
        name="resources/templates/list",
        protocol="mcp",
        attribute="resources_templates_list",
        kind="request",
        sender="client",
        params=lazy.Lazy("kinwire_protocols.mcp.models.PaginatedRequestParams"),
        result=lazy.Lazy("kinwire_protocols.mcp.models.ListResourceTemplatesResult"),
        errors=(
            jsonrpc_errors.MethodNotFoundError,
            jsonrpc_errors.InvalidParamsError,
            jsonrpc_errors.InternalError,
        ),
        gate="server:resources",
        section="Official specification > Server Features > Resources > Resource Templates",
    )
)
"""List the templates that make addresses of resources, a page at a time."""

RESOURCES_READ: Final[Method[ReadResourceRequestParams, ReadResourceResult]] = Method(
    name="resources/read",
    protocol="mcp",
    attribute="resources_read",
    kind="request",
    sender="client",
    params=lazy.Lazy("kinwire_protocols.mcp.models.ReadResourceRequestParams"),
    result=lazy.Lazy("kinwire_protocols.mcp.models.ReadResourceResult"),
    errors=(
        errors.ResourceNotFoundError,
        jsonrpc_errors.MethodNotFoundError,
        jsonrpc_errors.InvalidParamsError,
        jsonrpc_errors.InternalError,
    ),
    gate="server:resources",
    section="Resources Specification > resources/read Response",
)
"""Read what a resource holds."""

RESOURCES_SUBSCRIBE: Final[Method[SubscribeRequestParams, EmptyResult]] = Method(
    name="resources/subscribe",
    protocol="mcp",
    attribute="resources_subscribe",
    kind="request",
    sender="client",
    params=lazy.Lazy("kinwire_protocols.mcp.models.SubscribeRequestParams"),
    result=lazy.Lazy("kinwire_protocols.mcp.models.EmptyResult"),
    errors=(
        errors.ResourceNotFoundError,
        jsonrpc_errors.MethodNotFoundError,
        jsonrpc_errors.InvalidParamsError,
        jsonrpc_errors.InternalError,
    ),
    gate="server:resources.subscribe",
    section="Resources Specification > Resource Subscriptions",
)
"""Ask for a notification whenever a resource changes."""

RESOURCES_UNSUBSCRIBE: Final[Method[UnsubscribeRequestParams, EmptyResult]] = Method(
    name="resources/unsubscribe",
    protocol="mcp",
    attribute="resources_unsubscribe",
    kind="request",
    sender="client",
    params=lazy.Lazy("kinwire_protocols.mcp.models.UnsubscribeRequestParams"),
    result=lazy.Lazy("kinwire_protocols.mcp.models.EmptyResult"),
    errors=(
        jsonrpc_errors.MethodNotFoundError,
        jsonrpc_errors.InvalidParamsError,
        jsonrpc_errors.InternalError,
    ),
    gate="server:resources.subscribe",
    section="Resources Specification > Resource Subscriptions",
)
"""End a subscription to a resource."""

NOTIFICATIONS_RESOURCES_LIST_CHANGED: Final[Method[NotificationParams, None]] = Method(
    name="notifications/resources/list_changed",
    protocol="mcp",
    attribute="notifications_resources_list_changed",
    kind="notification",
    sender="server",
    params=lazy.Lazy("kinwire_protocols.mcp.models.NotificationParams"),
    result=None,
    gate="server:resources.listChanged",
    section="Resources Specification > Resource Subscriptions",
)
"""Say that the list of resources or of templates is no longer what it was."""

NOTIFICATIONS_RESOURCES_UPDATED: Final[Method[ResourceUpdatedNotificationParams, None]] = Method(
    name="notifications/resources/updated",
    protocol="mcp",
    attribute="notifications_resources_updated",
    kind="notification",
    sender="server",
    params=lazy.Lazy("kinwire_protocols.mcp.models.ResourceUpdatedNotificationParams"),
    result=None,
    gate="server:resources.subscribe",
    section="Resources Specification > Resource Subscriptions",
)
"""Say that a resource which the client subscribed to has changed."""

PROMPTS_LIST: Final[Method[PaginatedRequestParams, ListPromptsResult]] = Method(
    name="prompts/list",
    protocol="mcp",
    attribute="prompts_list",
    kind="request",
    sender="client",
    params=lazy.Lazy("kinwire_protocols.mcp.models.PaginatedRequestParams"),
    result=lazy.Lazy("kinwire_protocols.mcp.models.ListPromptsResult"),
    errors=(
        jsonrpc_errors.MethodNotFoundError,
        jsonrpc_errors.InvalidParamsError,
        jsonrpc_errors.InternalError,
    ),
    gate="server:prompts",
    section="Official specification > Server Features > Prompts > Listing Prompts",
)
"""List the prompts that the server offers, a page at a time."""

PROMPTS_GET: Final[Method[GetPromptRequestParams, GetPromptResult]] = Method(
    name="prompts/get",
    protocol="mcp",
    attribute="prompts_get",
    kind="request",
    sender="client",
    params=lazy.Lazy("kinwire_protocols.mcp.models.GetPromptRequestParams"),
    result=lazy.Lazy("kinwire_protocols.mcp.models.GetPromptResult"),
    errors=(
        jsonrpc_errors.MethodNotFoundError,
        jsonrpc_errors.InvalidParamsError,
        jsonrpc_errors.InternalError,
    ),
    gate="server:prompts",
    section="Prompts Specification > prompts/get Response",
)
"""Fill a prompt with arguments and return its messages."""

NOTIFICATIONS_PROMPTS_LIST_CHANGED: Final[Method[NotificationParams, None]] = Method(
    name="notifications/prompts/list_changed",
    protocol="mcp",
    attribute="notifications_prompts_list_changed",
    kind="notification",
    sender="server",
    params=lazy.Lazy("kinwire_protocols.mcp.models.NotificationParams"),
    result=None,
    gate="server:prompts.listChanged",
    section="Capability Reference > listChanged Flag",
)
"""Say that the list of prompts is no longer what it was."""

TOOLS_LIST: Final[Method[PaginatedRequestParams, ListToolsResult]] = Method(
    name="tools/list",
    protocol="mcp",
    attribute="tools_list",
    kind="request",
    sender="client",
    params=lazy.Lazy("kinwire_protocols.mcp.models.PaginatedRequestParams"),
    result=lazy.Lazy("kinwire_protocols.mcp.models.ListToolsResult"),
    errors=(
        jsonrpc_errors.MethodNotFoundError,
        jsonrpc_errors.InvalidParamsError,
        jsonrpc_errors.InternalError,
    ),
    gate="server:tools",
    section="Tools Specification > tools/list Request",
)
"""List the tools that the server offers, a page at a time."""

TOOLS_CALL: Final[Method[CallToolRequestParams, CallToolResult]] = Method(
    name="tools/call",
    protocol="mcp",
    attribute="tools_call",
    kind="request",
    sender="client",
    params=lazy.Lazy("kinwire_protocols.mcp.models.CallToolRequestParams"),
    result=lazy.Lazy("kinwire_protocols.mcp.models.CallToolResult"),
    errors=(
        jsonrpc_errors.MethodNotFoundError,
        jsonrpc_errors.InvalidParamsError,
        jsonrpc_errors.InternalError,
    ),
    gate="server:tools",
    section="Tools Specification > tools/call Request",
)
"""Run a tool and return what it gives."""

NOTIFICATIONS_TOOLS_LIST_CHANGED: Final[Method[NotificationParams, None]] = Method(
    name="notifications/tools/list_changed",
    protocol="mcp",
    attribute="notifications_tools_list_changed",
    kind="notification",
    sender="server",
    params=lazy.Lazy("kinwire_protocols.mcp.models.NotificationParams"),
    result=None,
    gate="server:tools.listChanged",
    section="Capability Reference > listChanged Flag",
)
"""Say that the list of tools is no longer what it was."""

SAMPLING_CREATE_MESSAGE: Final[Method[CreateMessageRequestParams, CreateMessageResult]] = Method(
    name="sampling/createMessage",
    protocol="mcp",
    attribute="sampling_create_message",
    kind="request",
    sender="server",
    params=lazy.Lazy("kinwire_protocols.mcp.models.CreateMessageRequestParams"),
    result=lazy.Lazy("kinwire_protocols.mcp.models.CreateMessageResult"),
    errors=(
        errors.SamplingRejectedError,
        jsonrpc_errors.MethodNotFoundError,
        jsonrpc_errors.InvalidParamsError,
        jsonrpc_errors.InternalError,
    ),
    gate="client:sampling",
    section="Sampling Specification > sampling/createMessage Request",
)
"""Have the client's model continue a conversation."""

ROOTS_LIST: Final[Method[RequestParams, ListRootsResult]] = Method(
    name="roots/list",
    protocol="mcp",
    attribute="roots_list",
    kind="request",
    sender="server",
    params=lazy.Lazy("kinwire_protocols.mcp.models.RequestParams"),
    result=lazy.Lazy("kinwire_protocols.mcp.models.ListRootsResult"),
    errors=(
        jsonrpc_errors.MethodNotFoundError,
        jsonrpc_errors.InternalError,
    ),
    gate="client:roots",
    section="Official specification > Client Features > Roots > Listing Roots",
)
"""List the folders and files that the server may work on."""

NOTIFICATIONS_ROOTS_LIST_CHANGED: Final[Method[NotificationParams, None]] = Method(
    name="notifications/roots/list_changed",
    protocol="mcp",
    attribute="notifications_roots_list_changed",
    kind="notification",
    sender="client",
    params=lazy.Lazy("kinwire_protocols.mcp.models.NotificationParams"),
    result=None,
    gate="client:roots.listChanged",
    section="Official specification > Client Features > Roots > Root List Changes",
)
"""Say that the list of roots is no longer what it was."""

COMPLETION_COMPLETE: Final[Method[CompleteRequestParams, CompleteResult]] = Method(
    name="completion/complete",
    protocol="mcp",
    attribute="completion_complete",
    kind="request",
    sender="client",
    params=lazy.Lazy("kinwire_protocols.mcp.models.CompleteRequestParams"),
    result=lazy.Lazy("kinwire_protocols.mcp.models.CompleteResult"),
    errors=(
        jsonrpc_errors.MethodNotFoundError,
        jsonrpc_errors.InvalidParamsError,
        jsonrpc_errors.InternalError,
    ),
    section="Utilities Specification > Completion (Auto-complete)",
)
"""Suggest values for an argument of a prompt or a variable of a resource template."""

LOGGING_SET_LEVEL: Final[Method[SetLevelRequestParams, EmptyResult]] = Method(
    name="logging/setLevel",
    protocol="mcp",
    attribute="logging_set_level",
    kind="request",
    sender="client",
    params=lazy.Lazy("kinwire_protocols.mcp.models.SetLevelRequestParams"),
    result=lazy.Lazy("kinwire_protocols.mcp.models.EmptyResult"),
    errors=(
        jsonrpc_errors.MethodNotFoundError,
        jsonrpc_errors.InvalidParamsError,
        jsonrpc_errors.InternalError,
    ),
    gate="server:logging",
    section="Utilities Specification > Logging",
)
"""Choose the least severe level of log message that the client wants to see."""

NOTIFICATIONS_MESSAGE: Final[Method[LoggingMessageNotificationParams, None]] = Method(
    name="notifications/message",
    protocol="mcp",
    attribute="notifications_message",
    kind="notification",
    sender="server",
    params=lazy.Lazy("kinwire_protocols.mcp.models.LoggingMessageNotificationParams"),
    result=None,
    gate="server:logging",
    section="Utilities Specification > Logging",
    serial=True,
)
"""Hand one log message to the client."""

PROTOCOL: Final = ProtocolTable(
    name="mcp",
    title="Model Context Protocol",
    version="2024-11-05",
    capability=None,
    methods={
        "initialize": INITIALIZE,
        "notifications/initialized": NOTIFICATIONS_INITIALIZED,
        "ping": PING,
        "notifications/cancelled": NOTIFICATIONS_CANCELLED,
        "notifications/progress": NOTIFICATIONS_PROGRESS,
        "resources/list": RESOURCES_LIST,
        "resources/templates/list": RESOURCES_TEMPLATES_LIST,
        "resources/read": RESOURCES_READ,
        "resources/subscribe": RESOURCES_SUBSCRIBE,
        "resources/unsubscribe": RESOURCES_UNSUBSCRIBE,
        "notifications/resources/list_changed": NOTIFICATIONS_RESOURCES_LIST_CHANGED,
        "notifications/resources/updated": NOTIFICATIONS_RESOURCES_UPDATED,
        "prompts/list": PROMPTS_LIST,
        "prompts/get": PROMPTS_GET,
        "notifications/prompts/list_changed": NOTIFICATIONS_PROMPTS_LIST_CHANGED,
        "tools/list": TOOLS_LIST,
        "tools/call": TOOLS_CALL,
        "notifications/tools/list_changed": NOTIFICATIONS_TOOLS_LIST_CHANGED,
        "sampling/createMessage": SAMPLING_CREATE_MESSAGE,
        "roots/list": ROOTS_LIST,
        "notifications/roots/list_changed": NOTIFICATIONS_ROOTS_LIST_CHANGED,
        "completion/complete": COMPLETION_COMPLETE,
        "logging/setLevel": LOGGING_SET_LEVEL,
        "notifications/message": NOTIFICATIONS_MESSAGE,
    },
    errors={
        "ResourceNotFound": errors.ResourceNotFoundError,
        "SamplingRejected": errors.SamplingRejectedError,
    },
    error_data=lazy.LazyTypes(
        {
            "ResourceNotFound": "kinwire_protocols.mcp.models.ResourceNotFoundData",
        }
    ),
)
"""The protocol as a table."""
