"""MCP-lite 0.042. Generated from mcp-lite.json by `kinwire generate`: do not edit.

A small, stateless relative of MCP: tools are listed and called, by HTTP or gRPC, and a call that takes long is answered with a promise.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kinwire_protocols import lazy

if TYPE_CHECKING:
    from kinwire_protocols.mcplite import (
        descriptor as descriptor,
        errors as errors,
        handlers as handlers,
        methods as methods,
        models as models,
        stubs as stubs,
        tables as tables,
        tools as tools,
    )
    from kinwire_protocols.mcplite.errors import ToolNotFoundError as ToolNotFoundError
    from kinwire_protocols.mcplite.handlers import (
        ClientHandlers as ClientHandlers,
        ClientOn as ClientOn,
        ServerHandlers as ServerHandlers,
        ServerOn as ServerOn,
        ServerTools as ServerTools,
    )
    from kinwire_protocols.mcplite.methods import PROTOCOL as PROTOCOL
    from kinwire_protocols.mcplite.models import (
        Binding as Binding,
        CallToolParams as CallToolParams,
        Elicitation as Elicitation,
        ElicitationQuestion as ElicitationQuestion,
        FailureCode as FailureCode,
        FailureDetail as FailureDetail,
        Heartbeat as Heartbeat,
        ListPromptsParams as ListPromptsParams,
        ListPromptsResult as ListPromptsResult,
        ListToolsParams as ListToolsParams,
        ListToolsResult as ListToolsResult,
        PartialResult as PartialResult,
        Prompt as Prompt,
        PromptParameter as PromptParameter,
        QuestionType as QuestionType,
        RedeemAction as RedeemAction,
        RedeemParams as RedeemParams,
        RequestMeta as RequestMeta,
        ResponseMeta as ResponseMeta,
        ResponseType as ResponseType,
        ResponseTypeRule as ResponseTypeRule,
        StreamEnd as StreamEnd,
        Tool as Tool,
        ToolNotFoundData as ToolNotFoundData,
        ToolResult as ToolResult,
    )
    from kinwire_protocols.mcplite.stubs import ClientStub as ClientStub, ServerStub as ServerStub

_HOMES = {
    "PROTOCOL": "methods",
    "ClientHandlers": "handlers",
    "ClientOn": "handlers",
    "ClientStub": "stubs",
    "ServerHandlers": "handlers",
    "ServerOn": "handlers",
    "ServerStub": "stubs",
    "ServerTools": "handlers",
    "ToolNotFoundError": "errors",
    "Binding": "models",
    "CallToolParams": "models",
    "Elicitation": "models",
    "ElicitationQuestion": "models",
    "FailureCode": "models",
    "FailureDetail": "models",
    "Heartbeat": "models",
    "ListPromptsParams": "models",
    "ListPromptsResult": "models",
    "ListToolsParams": "models",
    "ListToolsResult": "models",
    "PartialResult": "models",
    "Prompt": "models",
    "PromptParameter": "models",
    "QuestionType": "models",
    "RedeemAction": "models",
    "RedeemParams": "models",
    "RequestMeta": "models",
    "ResponseMeta": "models",
    "ResponseType": "models",
    "ResponseTypeRule": "models",
    "StreamEnd": "models",
    "Tool": "models",
    "ToolNotFoundData": "models",
    "ToolResult": "models",
}
_MODULES = ("descriptor", "errors", "handlers", "methods", "models", "stubs", "tables", "tools")

if not TYPE_CHECKING:
    # A module is loaded when one of its names is first used.
    __getattr__ = lazy.lazy_names(__name__, _HOMES, _MODULES)


def __dir__() -> list[str]:
    return sorted((*_HOMES, *_MODULES))
