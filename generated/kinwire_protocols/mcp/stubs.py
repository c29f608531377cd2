"""Typed calls of Model Context Protocol. Generated from mcp.json by `kinwire generate`: do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kinwire_protocols.mcp import methods, models as _mcp_models
from kinwire_protocols.peer import Peer

if TYPE_CHECKING:
    from kinwire_protocols.mcp.models import (
        CallToolResult,
        ClientCapabilities,
        CompleteResult,
        CompletionArgument,
        CompletionReference,
        CreateMessageResult,
        Cursor,
        EmptyResult,
        GetPromptResult,
        Implementation,
        IncludeContext,
        InitializeResult,
        ListPromptsResult,
        ListResourcesResult,
        ListResourceTemplatesResult,
        ListRootsResult,
        ListToolsResult,
        LoggingLevel,
        ModelPreferences,
        ProgressToken,
        ReadResourceResult,
        RequestMeta,
        SamplingMessage,
    )


class ServerStub:
    """The server as the client sees it: every method that the client may send."""

    def __init__(self, peer: Peer) -> None:
        self._peer = peer

    async def initialize(
        self,
        *,
        protocol_version: str,
        capabilities: ClientCapabilities,
        client_info: Implementation,
        meta: RequestMeta | None = None,
    ) -> InitializeResult:
        """Open the session: each side says which version it speaks, who it is and what it can do.

        initialize, a request. Source: Model Context Protocol 2024-11-05, Lifecycle Specification > Initialize Request.

        Args:
            protocol_version: The newest version that the client speaks; it may speak older ones too.
            capabilities: What the client can do.
            client_info: Which program the client is.
            meta: Metadata of the request, next to its own params.

        Raises:
            InvalidRequestError: The frame is JSON, yet no JSON-RPC message, or it comes at a moment when it is not allowed.
            InvalidParamsError: The params do not fit the method's type, or name something that the receiver does not have.
            InternalError: The receiver failed while it worked on the request; the request itself is not to blame.
        """
        params = _mcp_models.InitializeRequestParams(
            protocol_version=protocol_version,
            capabilities=capabilities,
            client_info=client_info,
            meta=meta,
        )
        return await self._peer.call(methods.INITIALIZE, params)

    async def notifications_initialized(self, *, meta: dict[str, Any] | None = None) -> None:
        """Say that the handshake is done and that work may begin.

        notifications/initialized, a notification. Source: Model Context Protocol 2024-11-05, Lifecycle Specification > Initialized Notification.

        Args:
            meta: Metadata of the notification, next to its own params.
        """
        params = _mcp_models.NotificationParams(meta=meta)
        await self._peer.notify(methods.NOTIFICATIONS_INITIALIZED, params)

    async def ping(self, *, meta: RequestMeta | None = None) -> EmptyResult:
        """Find out whether the other side still answers.

        ping, a request. Source: Model Context Protocol 2024-11-05, Utilities Specification > Ping.

        Args:
            meta: Metadata of the request, next to its own params.
        """
        params = _mcp_models.RequestParams(meta=meta)
        return await self._peer.call(methods.PING, params)

    async def notifications_cancelled(
        self,
        *,
        request_id: str | int,
        reason: str | None = None,
        meta: dict[str, Any] | None = None,
    ) -> None:
        """Give up on a request that the sender made earlier.

        notifications/cancelled, a notification. Source: Model Context Protocol 2024-11-05, Utilities Specification > Cancellation.

        Args:
            request_id: The id of a request that the same side sent earlier.
            reason: Why, for logs and people.
            meta: Metadata of the notification, next to its own params.
        """
        params = _mcp_models.CancelledNotificationParams(
            request_id=request_id, reason=reason, meta=meta
        )
        await self._peer.notify(methods.NOTIFICATIONS_CANCELLED, params)

    async def notifications_progress(
        self,
        *,
        progress_token: ProgressToken,
        progress: int | float,
        total: int | float | None = None,
        message: str | None = None,
        meta: dict[str, Any] | None = None,
    ) -> None:
        """Report how far a long request has come.

        notifications/progress, a notification. Source: Model Context Protocol 2024-11-05, Utilities Specification > Progress.

        Args:
            progress_token: The token that the request carried.
            progress: How much is done; it rises with every report, even where the total is unknown.
            total: How much there is to do, if known.
            message: What is being done just now, for people.
            meta: Metadata of the notification, next to its own params.
        """
        params = _mcp_models.ProgressNotificationParams(
            progress_token=progress_token,
            progress=progress,
            total=total,
            message=message,
            meta=meta,
        )
        await self._peer.notify(methods.NOTIFICATIONS_PROGRESS, params)

    async def resources_list(
        self, *, cursor: Cursor | None = None, meta: RequestMeta | None = None
    ) -> ListResourcesResult:
        """List the resources that the server offers, a page at a time.

        resources/list, a request. Source: Model Context Protocol 2024-11-05, Official specification > Server Features > Resources > Listing Resources.

        Args:
            cursor: Where the wanted page begins, as the page before it said; absent for the first page.
            meta: Metadata of the request, next to its own params.

        Raises:
            MethodNotFoundError: The receiver does not serve that method, or the capability for it was not negotiated.
            InvalidParamsError: The params do not fit the method's type, or name something that the receiver does not have.
            InternalError: The receiver failed while it worked on the request; the request itself is not to blame.
        """
        params = _mcp_models.PaginatedRequestParams(cursor=cursor, meta=meta)
        return await self._peer.call(methods.RESOURCES_LIST, params)

    async def resources_templates_list(
        self, *, cursor: Cursor | None = None, meta: RequestMeta | None = None
    ) -> ListResourceTemplatesResult:
        """List the templates that make addresses of resources, a page at a time.

        resources/templates/list, a request. Source: Model Context Protocol 2024-11-05, Official specification > Server Features > Resources > Resource Templates.

        Args:
            cursor: Where the wanted page begins, as the page before it said; absent for the first page.
            meta: Metadata of the request, next to its own params.

        Raises:
            MethodNotFoundError: The receiver does not serve that method, or the capability for it was not negotiated.
            InvalidParamsError: The params do not fit the method's type, or name something that the receiver does not have.
            InternalError: The receiver failed while it worked on the request; the request itself is not to blame.
        """
        params = _mcp_models.PaginatedRequestParams(cursor=cursor, meta=meta)
        return await self._peer.call(methods.RESOURCES_TEMPLATES_LIST, params)

    async def resources_read(
        self, *, uri: str, meta: RequestMeta | None = None
    ) -> ReadResourceResult:
        """Read what a resource holds.

        resources/read, a request. Source: Model Context Protocol 2024-11-05, Resources Specification > resources/read Response.

        Args:
            uri: The address of the resource; what its scheme means is the server's affair.
            meta: Metadata of the request, next to its own params.

        Raises:
            ResourceNotFoundError: The server has no resource at that address.
            MethodNotFoundError: The receiver does not serve that method, or the capability for it was not negotiated.
            InvalidParamsError: The params do not fit the method's type, or name something that the receiver does not have.
            InternalError: The receiver failed while it worked on the request; the request itself is not to blame.
        """
        params = _mcp_models.ReadResourceRequestParams(uri=uri, meta=meta)
        return await self._peer.call(methods.RESOURCES_READ, params)

    async def resources_subscribe(
        self, *, uri: str, meta: RequestMeta | None = None
    ) -> EmptyResult:
        """Ask for a notification whenever a resource changes.

        resources/subscribe, a request. Source: Model Context Protocol 2024-11-05, Resources Specification > Resource Subscriptions.

        Args:
            uri: The address of the resource; what its scheme means is the server's affair.
            meta: Metadata of the request, next to its own params.

        Raises:
            ResourceNotFoundError: The server has no resource at that address.
            MethodNotFoundError: The receiver does not serve that method, or the capability for it was not negotiated.
            InvalidParamsError: The params do not fit the method's type, or name something that the receiver does not have.
            InternalError: The receiver failed while it worked on the request; the request itself is not to blame.
        """
        params = _mcp_models.SubscribeRequestParams(uri=uri, meta=meta)
        return await self._peer.call(methods.RESOURCES_SUBSCRIBE, params)

    async def resources_unsubscribe(
        self, *, uri: str, meta: RequestMeta | None = None
    ) -> EmptyResult:
        """End a subscription to a resource.

        resources/unsubscribe, a request. Source: Model Context Protocol 2024-11-05, Resources Specification > Resource Subscriptions.

        Args:
            uri: The address of the resource.
            meta: Metadata of the request, next to its own params.

        Raises:
            MethodNotFoundError: The receiver does not serve that method, or the capability for it was not negotiated.
            InvalidParamsError: The params do not fit the method's type, or name something that the receiver does not have.
            InternalError: The receiver failed while it worked on the request; the request itself is not to blame.
        """
        params = _mcp_models.UnsubscribeRequestParams(uri=uri, meta=meta)
        return await self._peer.call(methods.RESOURCES_UNSUBSCRIBE, params)

    async def prompts_list(
        self, *, cursor: Cursor | None = None, meta: RequestMeta | None = None
    ) -> ListPromptsResult:
        """List the prompts that the server offers, a page at a time.

        prompts/list, a request. Source: Model Context Protocol 2024-11-05, Official specification > Server Features > Prompts > Listing Prompts.

        Args:
            cursor: Where the wanted page begins, as the page before it said; absent for the first page.
            meta: Metadata of the request, next to its own params.

        Raises:
            MethodNotFoundError: The receiver does not serve that method, or the capability for it was not negotiated.
            InvalidParamsError: The params do not fit the method's type, or name something that the receiver does not have.
            InternalError: The receiver failed while it worked on the request; the request itself is not to blame.
        """
        params = _mcp_models.PaginatedRequestParams(cursor=cursor, meta=meta)
        return await self._peer.call(methods.PROMPTS_LIST, params)

    async def prompts_get(
        self, *, name: str, arguments: dict[str, str] | None = None, meta: RequestMeta | None = None
    ) -> GetPromptResult:
        """Fill a prompt with arguments and return its messages.

        prompts/get, a request. Source: Model Context Protocol 2024-11-05, Prompts Specification > prompts/get Response.

        Args:
            name: The prompt's name, as the list of prompts gives it.
            arguments: The prompt's arguments by name, each of them text; absent means none.
            meta: Metadata of the request, next to its own params.

        Raises:
            MethodNotFoundError: The receiver does not serve that method, or the capability for it was not negotiated.
            InvalidParamsError: The params do not fit the method's type, or name something that the receiver does not have.
            InternalError: The receiver failed while it worked on the request; the request itself is not to blame.
        """
        params = _mcp_models.GetPromptRequestParams(name=name, arguments=arguments, meta=meta)
        return await self._peer.call(methods.PROMPTS_GET, params)

    async def tools_list(
        self, *, cursor: Cursor | None = None, meta: RequestMeta | None = None
    ) -> ListToolsResult:
        """List the tools that the server offers, a page at a time.

        tools/list, a request. Source: Model Context Protocol 2024-11-05, Tools Specification > tools/list Request.

        Args:
            cursor: Where the wanted page begins, as the page before it said; absent for the first page.
            meta: Metadata of the request, next to its own params.

        Raises:
            MethodNotFoundError: The receiver does not serve that method, or the capability for it was not negotiated.
            InvalidParamsError: The params do not fit the method's type, or name something that the receiver does not have.
            InternalError: The receiver failed while it worked on the request; the request itself is not to blame.
        """
        params = _mcp_models.PaginatedRequestParams(cursor=cursor, meta=meta)
        return await self._peer.call(methods.TOOLS_LIST, params)

    async def tools_call(
        self, *, name: str, arguments: dict[str, Any] | None = None, meta: RequestMeta | None = None
    ) -> CallToolResult:
        """Run a tool and return what it gives.

        tools/call, a request. Source: Model Context Protocol 2024-11-05, Tools Specification > tools/call Request.

        Args:
            name: The tool's name, as the list of tools gives it.
            arguments: The tool's arguments by name; absent means none.
            meta: Metadata of the request, next to its own params.

        Raises:
            MethodNotFoundError: The receiver does not serve that method, or the capability for it was not negotiated.
            InvalidParamsError: The params do not fit the method's type, or name something that the receiver does not have.
            InternalError: The receiver failed while it worked on the request; the request itself is not to blame.
        """
        params = _mcp_models.CallToolRequestParams(name=name, arguments=arguments, meta=meta)
        return await self._peer.call(methods.TOOLS_CALL, params)

    async def notifications_roots_list_changed(self, *, meta: dict[str, Any] | None = None) -> None:
        """Say that the list of roots is no longer what it was.

        notifications/roots/list_changed, a notification. Source: Model Context Protocol 2024-11-05, Official specification > Client Features > Roots > Root List Changes.

        Args:
            meta: Metadata of the notification, next to its own params.
        """
        params = _mcp_models.NotificationParams(meta=meta)
        await self._peer.notify(methods.NOTIFICATIONS_ROOTS_LIST_CHANGED, params)

    async def completion_complete(
        self,
        *,
        ref: CompletionReference,
        argument: CompletionArgument,
        meta: RequestMeta | None = None,
    ) -> CompleteResult:
        """Suggest values for an argument of a prompt or a variable of a resource template.

        completion/complete, a request. Source: Model Context Protocol 2024-11-05, Utilities Specification > Completion (Auto-complete).

        Args:
            ref: The prompt or the resource template that the argument belongs to.
            argument: The argument to complete.
            meta: Metadata of the request, next to its own params.

        Raises:
            MethodNotFoundError: The receiver does not serve that method, or the capability for it was not negotiated.
            InvalidParamsError: The params do not fit the method's type, or name something that the receiver does not have.
            InternalError: The receiver failed while it worked on the request; the request itself is not to blame.
        """
        params = _mcp_models.CompleteRequestParams(ref=ref, argument=argument, meta=meta)
        return await self._peer.call(methods.COMPLETION_COMPLETE, params)

    async def logging_set_level(
        self, *, level: LoggingLevel, meta: RequestMeta | None = None
    ) -> EmptyResult:
        """Choose the least severe level of log message that the client wants to see.

        logging/setLevel, a request. Source: Model Context Protocol 2024-11-05, Utilities Specification > Logging.

        Args:
            level: The least severe level that is sent; all above it are sent too.
            meta: Metadata of the request, next to its own params.

        Raises:
            MethodNotFoundError: The receiver does not serve that method, or the capability for it was not negotiated.
            InvalidParamsError: The params do not fit the method's type, or name something that the receiver does not have.
            InternalError: The receiver failed while it worked on the request; the request itself is not to blame.
        """
        params = _mcp_models.SetLevelRequestParams(level=level, meta=meta)
        return await self._peer.call(methods.LOGGING_SET_LEVEL, params)


class ClientStub:
    """The client as the server sees it: every method that the server may send."""

    def __init__(self, peer: Peer) -> None:
        self._peer = peer

    async def ping(self, *, meta: RequestMeta | None = None) -> EmptyResult:
        """Find out whether the other side still answers.

        ping, a request. Source: Model Context Protocol 2024-11-05, Utilities Specification > Ping.

        Args:
            meta: Metadata of the request, next to its own params.
        """
        params = _mcp_models.RequestParams(meta=meta)
        return await self._peer.call(methods.PING, params)

    async def notifications_cancelled(
        self,
        *,
        request_id: str | int,
        reason: str | None = None,
        meta: dict[str, Any] | None = None,
    ) -> None:
        """Give up on a request that the sender made earlier.

        notifications/cancelled, a notification. Source: Model Context Protocol 2024-11-05, Utilities Specification > Cancellation.

        Args:
            request_id: The id of a request that the same side sent earlier.
            reason: Why, for logs and people.
            meta: Metadata of the notification, next to its own params.
        """
        params = _mcp_models.CancelledNotificationParams(
            request_id=request_id, reason=reason, meta=meta
        )
        await self._peer.notify(methods.NOTIFICATIONS_CANCELLED, params)

    async def notifications_progress(
        self,
        *,
        progress_token: ProgressToken,
        progress: int | float,
        total: int | float | None = None,
        message: str | None = None,
        meta: dict[str, Any] | None = None,
    ) -> None:
        """Report how far a long request has come.

        notifications/progress, a notification. Source: Model Context Protocol 2024-11-05, Utilities Specification > Progress.

        Args:
            progress_token: The token that the request carried.
            progress: How much is done; it rises with every report, even where the total is unknown.
            total: How much there is to do, if known.
            message: What is being done just now, for people.
            meta: Metadata of the notification, next to its own params.
        """
        params = _mcp_models.ProgressNotificationParams(
            progress_token=progress_token,
            progress=progress,
            total=total,
            message=message,
            meta=meta,
        )
        await self._peer.notify(methods.NOTIFICATIONS_PROGRESS, params)

    async def notifications_resources_list_changed(
        self, *, meta: dict[str, Any] | None = None
    ) -> None:
        """Say that the list of resources or of templates is no longer what it was.

        notifications/resources/list_changed, a notification. Source: Model Context Protocol 2024-11-05, Resources Specification > Resource Subscriptions.

        Args:
            meta: Metadata of the notification, next to its own params.
        """
        params = _mcp_models.NotificationParams(meta=meta)
        await self._peer.notify(methods.NOTIFICATIONS_RESOURCES_LIST_CHANGED, params)

    async def notifications_resources_updated(
        self, *, uri: str, meta: dict[str, Any] | None = None
    ) -> None:
        """Say that a resource which the client subscribed to has changed.

        notifications/resources/updated, a notification. Source: Model Context Protocol 2024-11-05, Resources Specification > Resource Subscriptions.

        Args:
            uri: Its address; it may lie below the one that the client subscribed to.
            meta: Metadata of the notification, next to its own params.
        """
        params = _mcp_models.ResourceUpdatedNotificationParams(uri=uri, meta=meta)
        await self._peer.notify(methods.NOTIFICATIONS_RESOURCES_UPDATED, params)

    async def notifications_prompts_list_changed(
        self, *, meta: dict[str, Any] | None = None
    ) -> None:
        """Say that the list of prompts is no longer what it was.

        notifications/prompts/list_changed, a notification. Source: Model Context Protocol 2024-11-05, Capability Reference > listChanged Flag.

        Args:
            meta: Metadata of the notification, next to its own params.
        """
        params = _mcp_models.NotificationParams(meta=meta)
        await self._peer.notify(methods.NOTIFICATIONS_PROMPTS_LIST_CHANGED, params)

    async def notifications_tools_list_changed(self, *, meta: dict[str, Any] | None = None) -> None:
        """Say that the list of tools is no longer what it was.

        notifications/tools/list_changed, a notification. Source: Model Context Protocol 2024-11-05, Capability Reference > listChanged Flag.

        Args:
            meta: Metadata of the notification, next to its own params.
        """
        params = _mcp_models.NotificationParams(meta=meta)
        await self._peer.notify(methods.NOTIFICATIONS_TOOLS_LIST_CHANGED, params)

    async def sampling_create_message(
        self,
        *,
        messages: list[SamplingMessage],
        model_preferences: ModelPreferences | None = None,
        system_prompt: str | None = None,
        include_context: IncludeContext | None = None,
        temperature: int | float | None = None,
        max_tokens: int,
        stop_sequences: list[str] | None = None,
        metadata: dict[str, Any] | None = None,
        meta: RequestMeta | None = None,
    ) -> CreateMessageResult:
        """Have the client's model continue a conversation.

        sampling/createMessage, a request. Source: Model Context Protocol 2024-11-05, Sampling Specification > sampling/createMessage Request.

        Args:
            messages: The conversation so far, oldest first.
            model_preferences: Which kind of model the server would like; advice that the client may pass over.
            system_prompt: The system prompt; the client may change or drop it.
            include_context: Which servers' context the client should add; it may decline.
            temperature: How freely the model chooses its words; the scale is the model's own.
            max_tokens: The most tokens that the model may write; the client may stop earlier.
            stop_sequences: Texts at which the model stops.
            metadata: What is handed on to the maker of the model, in a form of its own.
            meta: Metadata of the request, next to its own params.

        Raises:
            SamplingRejectedError: A person looked at the request for a message, or at what the model wrote, and said no.
            MethodNotFoundError: The receiver does not serve that method, or the capability for it was not negotiated.
            InvalidParamsError: The params do not fit the method's type, or name something that the receiver does not have.
            InternalError: The receiver failed while it worked on the request; the request itself is not to blame.
        """
        params = _mcp_models.CreateMessageRequestParams(
            messages=messages,
            model_preferences=model_preferences,
            system_prompt=system_prompt,
            include_context=include_context,
            temperature=temperature,
            max_tokens=max_tokens,
            stop_sequences=stop_sequences,
            metadata=metadata,
            meta=meta,
        )
        return await self._peer.call(methods.SAMPLING_CREATE_MESSAGE, params)

    async def roots_list(self, *, meta: RequestMeta | None = None) -> ListRootsResult:
        """List the folders and files that the server may work on.

        roots/list, a request. Source: Model Context Protocol 2024-11-05, Official specification > Client Features > Roots > Listing Roots.

        Args:
            meta: Metadata of the request, next to its own params.

        Raises:
            MethodNotFoundError: The receiver does not serve that method, or the capability for it was not negotiated.
            InternalError: The receiver failed while it worked on the request; the request itself is not to blame.
        """
        params = _mcp_models.RequestParams(meta=meta)
        return await self._peer.call(methods.ROOTS_LIST, params)

    async def notifications_message(
        self,
        *,
        level: LoggingLevel | str,
        logger: str | None = None,
        data: Any,
        meta: dict[str, Any] | None = None,
    ) -> None:
        """Hand one log message to the client.

        notifications/message, a notification. Source: Model Context Protocol 2024-11-05, Utilities Specification > Logging.

        Args:
            level: How severe it is.
            logger: Which part of the server it comes from.
            data: What is logged: any JSON value, a sentence or an object as a rule.
            meta: Metadata of the notification, next to its own params.
        """
        params = _mcp_models.LoggingMessageNotificationParams(
            level=level, logger=logger, data=data, meta=meta
        )
        await self._peer.notify(methods.NOTIFICATIONS_MESSAGE, params)
