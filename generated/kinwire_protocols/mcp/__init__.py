"""Model Context Protocol 2024-11-05. Generated from mcp.json by `kinwire generate`: do not edit.

Servers lend tools, resources and prompts to the model of a client; the client lends its model and its folders to them.
"""

from __future__ import annotations

from importlib import import_module
from sys import modules
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kinwire_protocols.mcp import (
        errors as errors,
        handlers as handlers,
        methods as methods,
        models as models,
        stubs as stubs,
    )
    from kinwire_protocols.mcp.errors import (
        ResourceNotFoundError as ResourceNotFoundError,
        SamplingRejectedError as SamplingRejectedError,
    )
    from kinwire_protocols.mcp.handlers import (
        ClientHandlers as ClientHandlers,
        ClientOn as ClientOn,
        ServerHandlers as ServerHandlers,
        ServerOn as ServerOn,
    )
    from kinwire_protocols.mcp.methods import PROTOCOL as PROTOCOL
    from kinwire_protocols.mcp.models import (
        Annotations as Annotations,
        AudioContent as AudioContent,
        BlobResourceContents as BlobResourceContents,
        CallToolRequestParams as CallToolRequestParams,
        CallToolResult as CallToolResult,
        CancelledNotificationParams as CancelledNotificationParams,
        ClientCapabilities as ClientCapabilities,
        CompleteRequestParams as CompleteRequestParams,
        CompleteResult as CompleteResult,
        Completion as Completion,
        CompletionArgument as CompletionArgument,
        CompletionReference as CompletionReference,
        ContentBlock as ContentBlock,
        CreateMessageRequestParams as CreateMessageRequestParams,
        CreateMessageResult as CreateMessageResult,
        Cursor as Cursor,
        EmbeddedResource as EmbeddedResource,
        EmptyResult as EmptyResult,
        GetPromptRequestParams as GetPromptRequestParams,
        GetPromptResult as GetPromptResult,
        ImageContent as ImageContent,
        Implementation as Implementation,
        IncludeContext as IncludeContext,
        InitializeRequestParams as InitializeRequestParams,
        InitializeResult as InitializeResult,
        ListPromptsResult as ListPromptsResult,
        ListResourcesResult as ListResourcesResult,
        ListResourceTemplatesResult as ListResourceTemplatesResult,
        ListRootsResult as ListRootsResult,
        ListToolsResult as ListToolsResult,
        LoggingLevel as LoggingLevel,
        LoggingMessageNotificationParams as LoggingMessageNotificationParams,
        ModelHint as ModelHint,
        ModelPreferences as ModelPreferences,
        NotificationParams as NotificationParams,
        PaginatedRequestParams as PaginatedRequestParams,
        PaginatedResult as PaginatedResult,
        ProgressNotificationParams as ProgressNotificationParams,
        ProgressToken as ProgressToken,
        Prompt as Prompt,
        PromptArgument as PromptArgument,
        PromptMessage as PromptMessage,
        PromptReference as PromptReference,
        PromptsCapability as PromptsCapability,
        ReadResourceRequestParams as ReadResourceRequestParams,
        ReadResourceResult as ReadResourceResult,
        RequestMeta as RequestMeta,
        RequestParams as RequestParams,
        Resource as Resource,
        ResourceContents as ResourceContents,
        ResourceNotFoundData as ResourceNotFoundData,
        ResourceReference as ResourceReference,
        ResourcesCapability as ResourcesCapability,
        ResourceTemplate as ResourceTemplate,
        ResourceUpdatedNotificationParams as ResourceUpdatedNotificationParams,
        Role as Role,
        Root as Root,
        RootsCapability as RootsCapability,
        SamplingContent as SamplingContent,
        SamplingMessage as SamplingMessage,
        ServerCapabilities as ServerCapabilities,
        SetLevelRequestParams as SetLevelRequestParams,
        StopReason as StopReason,
        SubscribeRequestParams as SubscribeRequestParams,
        TextContent as TextContent,
        TextResourceContents as TextResourceContents,
        Tool as Tool,
        ToolInputSchema as ToolInputSchema,
        ToolsCapability as ToolsCapability,
        UnsubscribeRequestParams as UnsubscribeRequestParams,
    )
    from kinwire_protocols.mcp.stubs import ClientStub as ClientStub, ServerStub as ServerStub

_HOMES = {
    "PROTOCOL": "methods",
    "ClientHandlers": "handlers",
    "ClientOn": "handlers",
    "ClientStub": "stubs",
    "ServerHandlers": "handlers",
    "ServerOn": "handlers",
    "ServerStub": "stubs",
    "ResourceNotFoundError": "errors",
    "SamplingRejectedError": "errors",
    "Annotations": "models",
    "AudioContent": "models",
    "BlobResourceContents": "models",
    "CallToolRequestParams": "models",
    "CallToolResult": "models",
    "CancelledNotificationParams": "models",
    "ClientCapabilities": "models",
    "CompleteRequestParams": "models",
    "CompleteResult": "models",
    "Completion": "models",
    "CompletionArgument": "models",
    "CompletionReference": "models",
    "ContentBlock": "models",
    "CreateMessageRequestParams": "models",
    "CreateMessageResult": "models",
    "Cursor": "models",
    "EmbeddedResource": "models",
    "EmptyResult": "models",
    "GetPromptRequestParams": "models",
    "GetPromptResult": "models",
    "ImageContent": "models",
    "Implementation": "models",
    "IncludeContext": "models",
    "InitializeRequestParams": "models",
    "InitializeResult": "models",
    "ListPromptsResult": "models",
    "ListResourceTemplatesResult": "models",
    "ListResourcesResult": "models",
    "ListRootsResult": "models",
    "ListToolsResult": "models",
    "LoggingLevel": "models",
    "LoggingMessageNotificationParams": "models",
    "ModelHint": "models",
    "ModelPreferences": "models",
    "NotificationParams": "models",
    "PaginatedRequestParams": "models",
    "PaginatedResult": "models",
    "ProgressNotificationParams": "models",
    "ProgressToken": "models",
    "Prompt": "models",
    "PromptArgument": "models",
    "PromptMessage": "models",
    "PromptReference": "models",
    "PromptsCapability": "models",
    "ReadResourceRequestParams": "models",
    "ReadResourceResult": "models",
    "RequestMeta": "models",
    "RequestParams": "models",
    "Resource": "models",
    "ResourceContents": "models",
    "ResourceNotFoundData": "models",
    "ResourceReference": "models",
    "ResourceTemplate": "models",
    "ResourceUpdatedNotificationParams": "models",
    "ResourcesCapability": "models",
    "Role": "models",
    "Root": "models",
    "RootsCapability": "models",
    "SamplingContent": "models",
    "SamplingMessage": "models",
    "ServerCapabilities": "models",
    "SetLevelRequestParams": "models",
    "StopReason": "models",
    "SubscribeRequestParams": "models",
    "TextContent": "models",
    "TextResourceContents": "models",
    "Tool": "models",
    "ToolInputSchema": "models",
    "ToolsCapability": "models",
    "UnsubscribeRequestParams": "models",
}
_MODULES = ("errors", "handlers", "methods", "models", "stubs")


if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:  # a module is loaded when one of its names is first used
        if name in _MODULES:
            return import_module(f"{__name__}.{name}")
        if name not in _HOMES:
            raise AttributeError(
                f"module {__name__!r} has no attribute {name!r}", name=name, obj=modules[__name__]
            )
        value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted((*_HOMES, *_MODULES))
