"""Handlers of Model Context Protocol. Generated from mcp.json by `kinwire generate`: do not edit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from kinwire_protocols.jsonrpc.errors import MethodNotFoundError
from kinwire_protocols.mcp import methods
from kinwire_protocols.peer import Handlers, Method, On, Register

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


class ServerHandlers(Handlers):
    """What a server handles: override what you serve; the rest answers "method not found"."""

    rows: ClassVar[Mapping[str, Method[Any, Any]]] = {
        "initialize": methods.INITIALIZE,
        "notifications/initialized": methods.NOTIFICATIONS_INITIALIZED,
        "ping": methods.PING,
        "notifications/cancelled": methods.NOTIFICATIONS_CANCELLED,
        "notifications/progress": methods.NOTIFICATIONS_PROGRESS,
        "resources/list": methods.RESOURCES_LIST,
        "resources/templates/list": methods.RESOURCES_TEMPLATES_LIST,
        "resources/read": methods.RESOURCES_READ,
        "resources/subscribe": methods.RESOURCES_SUBSCRIBE,
        "resources/unsubscribe": methods.RESOURCES_UNSUBSCRIBE,
        "prompts/list": methods.PROMPTS_LIST,
        "prompts/get": methods.PROMPTS_GET,
        "tools/list": methods.TOOLS_LIST,
        "tools/call": methods.TOOLS_CALL,
        "notifications/roots/list_changed": methods.NOTIFICATIONS_ROOTS_LIST_CHANGED,
        "completion/complete": methods.COMPLETION_COMPLETE,
        "logging/setLevel": methods.LOGGING_SET_LEVEL,
    }

    async def initialize(self, params: InitializeRequestParams) -> InitializeResult:
        """Open the session: each side says which version it speaks, who it is and what it can do. (`initialize`)"""
        raise MethodNotFoundError("Method not found: initialize")

    async def notifications_initialized(self, params: NotificationParams) -> None:
        """Say that the handshake is done and that work may begin. (`notifications/initialized`)"""
        # A notification that nobody handles is ignored.

    async def ping(self, params: RequestParams) -> EmptyResult:
        """Find out whether the other side still answers. (`ping`)"""
        raise MethodNotFoundError("Method not found: ping")

    async def notifications_cancelled(self, params: CancelledNotificationParams) -> None:
        """Give up on a request that the sender made earlier. (`notifications/cancelled`)"""
        # A notification that nobody handles is ignored.

    async def notifications_progress(self, params: ProgressNotificationParams) -> None:
        """Report how far a long request has come. (`notifications/progress`)"""
        # A notification that nobody handles is ignored.

    async def resources_list(self, params: PaginatedRequestParams) -> ListResourcesResult:
        """List the resources that the server offers, a page at a time. (`resources/list`)"""
        raise MethodNotFoundError("Method not found: resources/list")

    async def resources_templates_list(
        self, params: PaginatedRequestParams
    ) -> ListResourceTemplatesResult:
        """List the templates that make addresses of resources, a page at a time. (`resources/templates/list`)"""
        raise MethodNotFoundError("Method not found: resources/templates/list")

    async def resources_read(self, params: ReadResourceRequestParams) -> ReadResourceResult:
        """Read what a resource holds. (`resources/read`)"""
        raise MethodNotFoundError("Method not found: resources/read")

    async def resources_subscribe(self, params: SubscribeRequestParams) -> EmptyResult:
        """Ask for a notification whenever a resource changes. (`resources/subscribe`)"""
        raise MethodNotFoundError("Method not found: resources/subscribe")

    async def resources_unsubscribe(self, params: UnsubscribeRequestParams) -> EmptyResult:
        """End a subscription to a resource. (`resources/unsubscribe`)"""
        raise MethodNotFoundError("Method not found: resources/unsubscribe")

    async def prompts_list(self, params: PaginatedRequestParams) -> ListPromptsResult:
        """List the prompts that the server offers, a page at a time. (`prompts/list`)"""
        raise MethodNotFoundError("Method not found: prompts/list")

    async def prompts_get(self, params: GetPromptRequestParams) -> GetPromptResult:
        """Fill a prompt with arguments and return its messages. (`prompts/get`)"""
        raise MethodNotFoundError("Method not found: prompts/get")

    async def tools_list(self, params: PaginatedRequestParams) -> ListToolsResult:
        """List the tools that the server offers, a page at a time. (`tools/list`)"""
        raise MethodNotFoundError("Method not found: tools/list")

    async def tools_call(self, params: CallToolRequestParams) -> CallToolResult:
        """Run a tool and return what it gives. (`tools/call`)"""
        raise MethodNotFoundError("Method not found: tools/call")

    async def notifications_roots_list_changed(self, params: NotificationParams) -> None:
        """Say that the list of roots is no longer what it was. (`notifications/roots/list_changed`)"""
        # A notification that nobody handles is ignored.

    async def completion_complete(self, params: CompleteRequestParams) -> CompleteResult:
        """Suggest values for an argument of a prompt or a variable of a resource template. (`completion/complete`)"""
        raise MethodNotFoundError("Method not found: completion/complete")

    async def logging_set_level(self, params: SetLevelRequestParams) -> EmptyResult:
        """Choose the least severe level of log message that the client wants to see. (`logging/setLevel`)"""
        raise MethodNotFoundError("Method not found: logging/setLevel")


class ServerOn(On):
    """Where a server registers handlers: `@server.on.NAME`."""

    @property
    def initialize(self) -> Register[InitializeRequestParams, InitializeResult]:
        """Open the session: each side says which version it speaks, who it is and what it can do. (`initialize`)"""
        return self(methods.INITIALIZE)

    @property
    def notifications_initialized(self) -> Register[NotificationParams, None]:
        """Say that the handshake is done and that work may begin. (`notifications/initialized`)"""
        return self(methods.NOTIFICATIONS_INITIALIZED)

    @property
    def ping(self) -> Register[RequestParams, EmptyResult]:
        """Find out whether the other side still answers. (`ping`)"""
        return self(methods.PING)

    @property
    def notifications_cancelled(self) -> Register[CancelledNotificationParams, None]:
        """Give up on a request that the sender made earlier. (`notifications/cancelled`)"""
        return self(methods.NOTIFICATIONS_CANCELLED)

    @property
    def notifications_progress(self) -> Register[ProgressNotificationParams, None]:
        """Report how far a long request has come. (`notifications/progress`)"""
        return self(methods.NOTIFICATIONS_PROGRESS)

    @property
    def resources_list(self) -> Register[PaginatedRequestParams, ListResourcesResult]:
        """List the resources that the server offers, a page at a time. (`resources/list`)"""
        return self(methods.RESOURCES_LIST)

    @property
    def resources_templates_list(
        self,
    ) -> Register[PaginatedRequestParams, ListResourceTemplatesResult]:
        """List the templates that make addresses of resources, a page at a time. (`resources/templates/list`)"""
        return self(methods.RESOURCES_TEMPLATES_LIST)

    @property
    def resources_read(self) -> Register[ReadResourceRequestParams, ReadResourceResult]:
        """Read what a resource holds. (`resources/read`)"""
        return self(methods.RESOURCES_READ)

    @property
    def resources_subscribe(self) -> Register[SubscribeRequestParams, EmptyResult]:
        """Ask for a notification whenever a resource changes. (`resources/subscribe`)"""
        return self(methods.RESOURCES_SUBSCRIBE)

    @property
    def resources_unsubscribe(self) -> Register[UnsubscribeRequestParams, EmptyResult]:
        """End a subscription to a resource. (`resources/unsubscribe`)"""
        return self(methods.RESOURCES_UNSUBSCRIBE)

    @property
    def prompts_list(self) -> Register[PaginatedRequestParams, ListPromptsResult]:
        """List the prompts that the server offers, a page at a time. (`prompts/list`)"""
        return self(methods.PROMPTS_LIST)

    @property
    def prompts_get(self) -> Register[GetPromptRequestParams, GetPromptResult]:
        """Fill a prompt with arguments and return its messages. (`prompts/get`)"""
        return self(methods.PROMPTS_GET)

    @property
    def tools_list(self) -> Register[PaginatedRequestParams, ListToolsResult]:
        """List the tools that the server offers, a page at a time. (`tools/list`)"""
        return self(methods.TOOLS_LIST)

    @property
    def tools_call(self) -> Register[CallToolRequestParams, CallToolResult]:
        """Run a tool and return what it gives. (`tools/call`)"""
        return self(methods.TOOLS_CALL)

    @property
    def notifications_roots_list_changed(self) -> Register[NotificationParams, None]:
        """Say that the list of roots is no longer what it was. (`notifications/roots/list_changed`)"""
        return self(methods.NOTIFICATIONS_ROOTS_LIST_CHANGED)

    @property
    def completion_complete(self) -> Register[CompleteRequestParams, CompleteResult]:
        """Suggest values for an argument of a prompt or a variable of a resource template. (`completion/complete`)"""
        return self(methods.COMPLETION_COMPLETE)

    @property
    def logging_set_level(self) -> Register[SetLevelRequestParams, EmptyResult]:
        """Choose the least severe level of log message that the client wants to see. (`logging/setLevel`)"""
        return self(methods.LOGGING_SET_LEVEL)


class ClientHandlers(Handlers):
    """What a client handles: override what you serve; the rest answers "method not found"."""

    rows: ClassVar[Mapping[str, Method[Any, Any]]] = {
        "ping": methods.PING,
        "notifications/cancelled": methods.NOTIFICATIONS_CANCELLED,
        "notifications/progress": methods.NOTIFICATIONS_PROGRESS,
        "notifications/resources/list_changed": methods.NOTIFICATIONS_RESOURCES_LIST_CHANGED,
        "notifications/resources/updated": methods.NOTIFICATIONS_RESOURCES_UPDATED,
        "notifications/prompts/list_changed": methods.NOTIFICATIONS_PROMPTS_LIST_CHANGED,
        "notifications/tools/list_changed": methods.NOTIFICATIONS_TOOLS_LIST_CHANGED,
        "sampling/createMessage": methods.SAMPLING_CREATE_MESSAGE,
        "roots/list": methods.ROOTS_LIST,
        "notifications/message": methods.NOTIFICATIONS_MESSAGE,
    }

    async def ping(self, params: RequestParams) -> EmptyResult:
        """Find out whether the other side still answers. (`ping`)"""
        raise MethodNotFoundError("Method not found: ping")

    async def notifications_cancelled(self, params: CancelledNotificationParams) -> None:
        """Give up on a request that the sender made earlier. (`notifications/cancelled`)"""
        # A notification that nobody handles is ignored.

    async def notifications_progress(self, params: ProgressNotificationParams) -> None:
        """Report how far a long request has come. (`notifications/progress`)"""
        # A notification that nobody handles is ignored.

    async def notifications_resources_list_changed(self, params: NotificationParams) -> None:
        """Say that the list of resources or of templates is no longer what it was. (`notifications/resources/list_changed`)"""
        # A notification that nobody handles is ignored.

    async def notifications_resources_updated(
        self, params: ResourceUpdatedNotificationParams
    ) -> None:
        """Say that a resource which the client subscribed to has changed. (`notifications/resources/updated`)"""
        # A notification that nobody handles is ignored.

    async def notifications_prompts_list_changed(self, params: NotificationParams) -> None:
        """Say that the list of prompts is no longer what it was. (`notifications/prompts/list_changed`)"""
        # A notification that nobody handles is ignored.

    async def notifications_tools_list_changed(self, params: NotificationParams) -> None:
        """Say that the list of tools is no longer what it was. (`notifications/tools/list_changed`)"""
        # A notification that nobody handles is ignored.

    async def sampling_create_message(
        self, params: CreateMessageRequestParams
    ) -> CreateMessageResult:
        """Have the client's model continue a conversation. (`sampling/createMessage`)"""
        raise MethodNotFoundError("Method not found: sampling/createMessage")

    async def roots_list(self, params: RequestParams) -> ListRootsResult:
        """List the folders and files that the server may work on. (`roots/list`)"""
        raise MethodNotFoundError("Method not found: roots/list")

    async def notifications_message(self, params: LoggingMessageNotificationParams) -> None:
        """Hand one log message to the client. (`notifications/message`)"""
        # A notification that nobody handles is ignored.


class ClientOn(On):
    """Where a client registers handlers: `@client.on.NAME`."""

    @property
    def ping(self) -> Register[RequestParams, EmptyResult]:
        """Find out whether the other side still answers. (`ping`)"""
        return self(methods.PING)

    @property
    def notifications_cancelled(self) -> Register[CancelledNotificationParams, None]:
        """Give up on a request that the sender made earlier. (`notifications/cancelled`)"""
        return self(methods.NOTIFICATIONS_CANCELLED)

    @property
    def notifications_progress(self) -> Register[ProgressNotificationParams, None]:
        """Report how far a long request has come. (`notifications/progress`)"""
        return self(methods.NOTIFICATIONS_PROGRESS)

    @property
    def notifications_resources_list_changed(self) -> Register[NotificationParams, None]:
        """Say that the list of resources or of templates is no longer what it was. (`notifications/resources/list_changed`)"""
        return self(methods.NOTIFICATIONS_RESOURCES_LIST_CHANGED)

    @property
    def notifications_resources_updated(self) -> Register[ResourceUpdatedNotificationParams, None]:
        """Say that a resource which the client subscribed to has changed. (`notifications/resources/updated`)"""
        return self(methods.NOTIFICATIONS_RESOURCES_UPDATED)

    @property
    def notifications_prompts_list_changed(self) -> Register[NotificationParams, None]:
        """Say that the list of prompts is no longer what it was. (`notifications/prompts/list_changed`)"""
        return self(methods.NOTIFICATIONS_PROMPTS_LIST_CHANGED)

    @property
    def notifications_tools_list_changed(self) -> Register[NotificationParams, None]:
        """Say that the list of tools is no longer what it was. (`notifications/tools/list_changed`)"""
        return self(methods.NOTIFICATIONS_TOOLS_LIST_CHANGED)

    @property
    def sampling_create_message(self) -> Register[CreateMessageRequestParams, CreateMessageResult]:
        """Have the client's model continue a conversation. (`sampling/createMessage`)"""
        return self(methods.SAMPLING_CREATE_MESSAGE)

    @property
    def roots_list(self) -> Register[RequestParams, ListRootsResult]:
        """List the folders and files that the server may work on. (`roots/list`)"""
        return self(methods.ROOTS_LIST)

    @property
    def notifications_message(self) -> Register[LoggingMessageNotificationParams, None]:
        """Hand one log message to the client. (`notifications/message`)"""
        return self(methods.NOTIFICATIONS_MESSAGE)
