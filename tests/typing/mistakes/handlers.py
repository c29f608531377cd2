"""Functions that do not fit where they are given; `right_uses.py` does it right.

Below a line is the beginning of what each checker says of it.
"""

from __future__ import annotations

from typing import Any

from kinwire import (
    Context,
    Host,
    ModelProfile,
    Sampling,
    SamplingRequest,
    Server,
    Session,
    choose_model,
    unattended,
)
from kinwire_protocols import mcp
from kinwire_protocols.mcp.methods import PING, PROMPTS_LIST, TOOLS_CALL, TOOLS_LIST

server = Server("notes", "1.0")
host = Host("desk", "1.0")


# Handlers of methods.


@server.on.tools_list
# mypy says: Argument 1 to "__call__" of "Register" has incompatible type "Callable[[CallToolRequestParams], Coroutine[Any, Any, ListToolsResult]]"; expected "Callable[[PaginatedRequestParams], Awaitable[ListToolsResult]]"  [arg-type]
# pyright says: Argument of type "(params: CallToolRequestParams) -> CoroutineType[Any, Any, ListToolsResult]" cannot be assigned to parameter "handler" of type "(PaginatedRequestParams, Any) -> Awaitable[ListToolsResult]" in function "__call__" (reportArgumentType)
# pyright says: No overloads for "__call__" match the provided arguments (reportCallIssue)
async def other_params(params: mcp.CallToolRequestParams) -> mcp.ListToolsResult:
    raise NotImplementedError


@server.on.tools_list
# mypy says: Argument 1 to "__call__" of "Register" has incompatible type "Callable[[PaginatedRequestParams], Coroutine[Any, Any, ListPromptsResult]]"; expected "Callable[[PaginatedRequestParams], Awaitable[ListToolsResult]]"  [arg-type]
# pyright says: Argument of type "(params: PaginatedRequestParams) -> CoroutineType[Any, Any, ListPromptsResult]" cannot be assigned to parameter "handler" of type "(PaginatedRequestParams, Any) -> Awaitable[ListToolsResult]" in function "__call__" (reportArgumentType)
# pyright says: No overloads for "__call__" match the provided arguments (reportCallIssue)
async def other_result(params: mcp.PaginatedRequestParams) -> mcp.ListPromptsResult:
    raise NotImplementedError


@server.on.tools_list
# mypy says: Argument 1 to "__call__" of "Register" has incompatible type "Callable[[PaginatedRequestParams], Coroutine[Any, Any, None]]"; expected "Callable[[PaginatedRequestParams], Awaitable[ListToolsResult]]"  [arg-type]
# pyright says: Argument of type "(params: PaginatedRequestParams) -> CoroutineType[Any, Any, None]" cannot be assigned to parameter "handler" of type "(PaginatedRequestParams, Any) -> Awaitable[ListToolsResult]" in function "__call__" (reportArgumentType)
# pyright says: No overloads for "__call__" match the provided arguments (reportCallIssue)
async def no_result(params: mcp.PaginatedRequestParams) -> None:
    raise NotImplementedError


@server.on.tools_list
# mypy says: Argument 1 to "__call__" of "Register" has incompatible type "Callable[[PaginatedRequestParams], ListToolsResult]"; expected "Callable[[PaginatedRequestParams], Awaitable[ListToolsResult]]"  [arg-type]
# pyright says: Argument of type "(params: PaginatedRequestParams) -> ListToolsResult" cannot be assigned to parameter "handler" of type "(PaginatedRequestParams, Any) -> Awaitable[ListToolsResult]" in function "__call__" (reportArgumentType)
# pyright says: No overloads for "__call__" match the provided arguments (reportCallIssue)
def not_async(params: mcp.PaginatedRequestParams) -> mcp.ListToolsResult:
    raise NotImplementedError


@server.on.tools_list
# mypy says: Argument 1 to "__call__" of "Register" has incompatible type "Callable[[], Coroutine[Any, Any, ListToolsResult]]"; expected "Callable[[PaginatedRequestParams], Awaitable[ListToolsResult]]"  [arg-type]
# pyright says: Argument of type "() -> CoroutineType[Any, Any, ListToolsResult]" cannot be assigned to parameter "handler" of type "(PaginatedRequestParams, Any) -> Awaitable[ListToolsResult]" in function "__call__" (reportArgumentType)
# pyright says: No overloads for "__call__" match the provided arguments (reportCallIssue)
async def no_params() -> mcp.ListToolsResult:
    raise NotImplementedError


@server.on.tools_list
# mypy says: Argument 1 to "__call__" of "Register" has incompatible type "Callable[[PaginatedRequestParams, Context, int], Coroutine[Any, Any, ListToolsResult]]"; expected "Callable[[PaginatedRequestParams], Awaitable[ListToolsResult]]"  [arg-type]
# pyright says: Argument of type "(params: PaginatedRequestParams, context: Context, more: int) -> CoroutineType[Any, Any, ListToolsResult]" cannot be assigned to parameter "handler" of type "(PaginatedRequestParams, Any) -> Awaitable[ListToolsResult]" in function "__call__" (reportArgumentType)
# pyright says: No overloads for "__call__" match the provided arguments (reportCallIssue)
async def too_many_params(
    params: mcp.PaginatedRequestParams, context: Context, more: int
) -> mcp.ListToolsResult:
    raise NotImplementedError


@server.on(TOOLS_LIST)
# mypy says: Argument 1 to "__call__" of "Register" has incompatible type "Callable[[GetPromptRequestParams], Coroutine[Any, Any, GetPromptResult]]"; expected "Callable[[PaginatedRequestParams], Awaitable[ListToolsResult]]"  [arg-type]
# pyright says: Argument of type "(params: GetPromptRequestParams) -> CoroutineType[Any, Any, GetPromptResult]" cannot be assigned to parameter "handler" of type "(PaginatedRequestParams, Any) -> Awaitable[ListToolsResult]" in function "__call__" (reportArgumentType)
# pyright says: No overloads for "__call__" match the provided arguments (reportCallIssue)
async def other_row(params: mcp.GetPromptRequestParams) -> mcp.GetPromptResult:
    raise NotImplementedError


@host.on.notifications_message
# mypy says: Argument 1 to "__call__" of "Register" has incompatible type "Callable[[LoggingMessageNotificationParams], Coroutine[Any, Any, str]]"; expected "Callable[[LoggingMessageNotificationParams], Awaitable[None]]"  [arg-type]
# pyright says: Argument of type "(params: LoggingMessageNotificationParams) -> CoroutineType[Any, Any, str]" cannot be assigned to parameter "handler" of type "(LoggingMessageNotificationParams, Any) -> Awaitable[None]" in function "__call__" (reportArgumentType)
# pyright says: No overloads for "__call__" match the provided arguments (reportCallIssue)
async def answers(params: mcp.LoggingMessageNotificationParams) -> str:
    raise NotImplementedError


class Handlers(mcp.ServerHandlers):
    async def tools_list(self, params: mcp.CallToolRequestParams) -> mcp.ListToolsResult:
        # mypy says: Argument 1 of "tools_list" is incompatible with supertype "kinwire_protocols.mcp.handlers.ServerHandlers"; supertype defines the argument type as "PaginatedRequestParams"  [override]
        # pyright says: Method "tools_list" overrides class "ServerHandlers" in an incompatible manner (reportIncompatibleMethodOverride)
        raise NotImplementedError

    async def prompts_list(self, params: mcp.PaginatedRequestParams) -> mcp.ListToolsResult:
        # mypy says: Return type "Coroutine[Any, Any, ListToolsResult]" of "prompts_list" incompatible with return type "Coroutine[Any, Any, ListPromptsResult]" in supertype "kinwire_protocols.mcp.handlers.ServerHandlers"  [override]
        # pyright says: Method "prompts_list" overrides class "ServerHandlers" in an incompatible manner (reportIncompatibleMethodOverride)
        raise NotImplementedError

    def ping(self, params: mcp.RequestParams) -> mcp.EmptyResult:
        # mypy says: Return type "EmptyResult" of "ping" incompatible with return type "Coroutine[Any, Any, EmptyResult]" in supertype "kinwire_protocols.mcp.handlers.ServerHandlers"  [override]
        # pyright says: Method "ping" overrides class "ServerHandlers" in an incompatible manner (reportIncompatibleMethodOverride)
        raise NotImplementedError


# Rows with the params and results of others.


async def rows(session: Session) -> None:
    await session.call(TOOLS_CALL, mcp.GetPromptRequestParams(name="find"))
    # mypy says: Cannot infer value of type parameter "P" of "call" of "Session"  [misc]
    # pyright says: Argument of type "GetPromptRequestParams" cannot be assigned to parameter "params" of type "P@call" in function "call" (reportArgumentType)
    await session.call(TOOLS_CALL, {"name": "find"})
    # mypy says: Cannot infer value of type parameter "P" of "call" of "Session"  [misc]
    # pyright says: Argument of type "dict[str, str]" cannot be assigned to parameter "params" of type "P@call" in function "call" (reportArgumentType)
    await session.call("tools/call", mcp.CallToolRequestParams(name="find"))
    # mypy says: Argument 1 to "call" of "Session" has incompatible type "str"; expected "Method[CallToolRequestParams, Never]"  [arg-type]
    # pyright says: Argument of type "Literal['tools/call']" cannot be assigned to parameter "method" of type "Method[P@call, R@call]" in function "call" (reportArgumentType)
    await session.call(TOOLS_CALL)
    # mypy says: Too few arguments for "call" of "Session"  [call-arg]
    # pyright says: Expected 1 more positional argument (reportCallIssue)
    await session.call(PING, mcp.RequestParams(), timeout="5")
    # mypy says: Argument "timeout" to "call" of "Session" has incompatible type "Literal['5']"; expected "float | Literal[Default.TIMEOUT] | None"  [arg-type]
    # pyright says: Argument of type "Literal['5']" cannot be assigned to parameter "timeout" of type "Timeout" in function "call" (reportArgumentType)
    page: mcp.ListToolsResult = await session.call(PROMPTS_LIST, mcp.PaginatedRequestParams())
    # mypy says: Argument 1 to "call" of "Session" has incompatible type "Method[PaginatedRequestParams, ListPromptsResult]"; expected "Method[PaginatedRequestParams, ListToolsResult]"  [arg-type]
    # pyright says: Type "ListPromptsResult" is not assignable to declared type "ListToolsResult" (reportAssignmentType)
    assert page
    await session.notify(TOOLS_LIST, mcp.CallToolRequestParams(name="find"))
    # mypy says: Cannot infer value of type parameter "P" of "notify" of "Session"  [misc]
    # pyright says: Argument of type "CallToolRequestParams" cannot be assigned to parameter "params" of type "P@notify" in function "notify" (reportArgumentType)
    await session.raw(TOOLS_LIST)
    # mypy says: Argument 1 to "raw" of "Session" has incompatible type "Method[PaginatedRequestParams, ListToolsResult]"; expected "str"  [arg-type]
    # pyright says: Argument of type "Method[PaginatedRequestParams, ListToolsResult]" cannot be assigned to parameter "name" of type "str" in function "raw" (reportArgumentType)
    session.intercept_inbound(watch, TOOLS_CALL)
    # mypy says: Argument 1 to "intercept_inbound" of "SessionInterceptors" has incompatible type "Callable[[CallToolRequestParams, Any], Coroutine[Any, Any, CallToolResult]]"; expected "Callable[[CallToolRequestParams, Request, Callable[[CallToolRequestParams], Awaitable[CallToolResult]]], Awaitable[CallToolResult]]"  [arg-type]
    # pyright says: Argument of type "(params: CallToolRequestParams, request: Any) -> CoroutineType[Any, Any, CallToolResult]" cannot be assigned to parameter "interceptor" of type "InboundInterceptor[P@intercept_inbound, R@intercept_inbound]" in function "intercept_inbound" (reportArgumentType)


async def watch(params: mcp.CallToolRequestParams, request: Any) -> mcp.CallToolResult:
    raise NotImplementedError


# Tools, resources, suggestions.


@server.tool("search")
# mypy says: No overload variant of "tool" of "Registry" matches argument type "str"  [call-overload]
# pyright says: Argument of type "Literal['search']" cannot be assigned to parameter "function" of type "F@tool" in function "tool" (reportArgumentType)
def named(title: str) -> str:
    return title


@server.tool(nme="search")
# mypy says: Unexpected keyword argument "nme" for overloaded function "tool" of "Registry"; did you mean "name"?  [call-overload]
# pyright says: No overloads for "tool" match the provided arguments (reportCallIssue)
def misnamed(title: str) -> str:
    return title


@server.resource
# mypy says: Argument 1 to "resource" of "Registry" has incompatible type "Callable[[], str]"; expected "str"  [arg-type]
# pyright says: Argument of type "() -> str" cannot be assigned to parameter "uri" of type "str" in function "resource" (reportArgumentType)
def without_address() -> str:
    return ""


@server.resource(5)
# mypy says: Argument 1 to "resource" of "Registry" has incompatible type "int"; expected "str"  [arg-type]
# pyright says: Argument of type "Literal[5]" cannot be assigned to parameter "uri" of type "str" in function "resource" (reportArgumentType)
def with_number() -> str:
    return ""


@server.completion("plan")
# mypy says: Too few arguments for "completion" of "Registry"  [call-arg]
# pyright says: Expected 1 more positional argument (reportCallIssue)
def without_argument(typed: str) -> list[str]:
    return [typed]


# Sampling and its approvals.
async def model(params: mcp.CreateMessageRequestParams) -> mcp.CreateMessageResult:
    raise NotImplementedError


def plain_model(params: mcp.CreateMessageRequestParams) -> mcp.CreateMessageResult:
    raise NotImplementedError


async def text_model(params: mcp.CreateMessageRequestParams) -> str:
    raise NotImplementedError


async def yes(request: SamplingRequest) -> bool:
    raise NotImplementedError


async def yes_to_result(request: SamplingRequest, result: mcp.CreateMessageResult) -> bool:
    raise NotImplementedError


async def of_params(params: mcp.CreateMessageRequestParams) -> mcp.CreateMessageRequestParams:
    raise NotImplementedError


def sampling() -> None:
    Sampling(model)
    # mypy says: Missing named argument "approve_request" for "Sampling"  [call-arg]
    # mypy says: Missing named argument "approve_result" for "Sampling"  [call-arg]
    # pyright says: Arguments missing for parameters "approve_request", "approve_result" (reportCallIssue)
    Sampling(model, unattended, unattended)
    # mypy says: Too many positional arguments for "Sampling"  [call-arg]
    # pyright says: Expected 1 positional argument (reportCallIssue)
    Sampling(plain_model, approve_request=unattended, approve_result=unattended)
    # mypy says: Argument 1 to "Sampling" has incompatible type "Callable[[CreateMessageRequestParams], CreateMessageResult]"; expected "Callable[[CreateMessageRequestParams], Awaitable[CreateMessageResult]]"  [arg-type]
    # pyright says: Argument of type "(params: CreateMessageRequestParams) -> CreateMessageResult" cannot be assigned to parameter "model" of type "Model" in function "__init__" (reportArgumentType)
    Sampling(text_model, approve_request=unattended, approve_result=unattended)
    # mypy says: Argument 1 to "Sampling" has incompatible type "Callable[[CreateMessageRequestParams], Coroutine[Any, Any, str]]"; expected "Callable[[CreateMessageRequestParams], Awaitable[CreateMessageResult]]"  [arg-type]
    # pyright says: Argument of type "(params: CreateMessageRequestParams) -> CoroutineType[Any, Any, str]" cannot be assigned to parameter "model" of type "Model" in function "__init__" (reportArgumentType)
    Sampling(model, approve_request=yes, approve_result=unattended)
    # mypy says: Argument "approve_request" to "Sampling" has incompatible type "Callable[[SamplingRequest], Coroutine[Any, Any, bool]]"; expected "Callable[[SamplingRequest], Awaitable[CreateMessageRequestParams | None]]"  [arg-type]
    # pyright says: Argument of type "(request: SamplingRequest) -> CoroutineType[Any, Any, bool]" cannot be assigned to parameter "approve_request" of type "ApproveRequest" in function "__init__" (reportArgumentType)
    Sampling(model, approve_request=of_params, approve_result=unattended)
    # mypy says: Argument "approve_request" to "Sampling" has incompatible type "Callable[[CreateMessageRequestParams], Coroutine[Any, Any, CreateMessageRequestParams]]"; expected "Callable[[SamplingRequest], Awaitable[CreateMessageRequestParams | None]]"  [arg-type]
    # pyright says: Argument of type "(params: CreateMessageRequestParams) -> CoroutineType[Any, Any, CreateMessageRequestParams]" cannot be assigned to parameter "approve_request" of type "ApproveRequest" in function "__init__" (reportArgumentType)
    Sampling(model, approve_request=unattended, approve_result=yes_to_result)
    # mypy says: Argument "approve_result" to "Sampling" has incompatible type "Callable[[SamplingRequest, CreateMessageResult], Coroutine[Any, Any, bool]]"; expected "Callable[[SamplingRequest, CreateMessageResult], Awaitable[CreateMessageResult | None]]"  [arg-type]
    # pyright says: Argument of type "(request: SamplingRequest, result: CreateMessageResult) -> CoroutineType[Any, Any, bool]" cannot be assigned to parameter "approve_result" of type "ApproveResult" in function "__init__" (reportArgumentType)
    Sampling(model, approve_request=unattended, approve_result=unattended, consent=model)
    # mypy says: Argument "consent" to "Sampling" has incompatible type "Callable[[CreateMessageRequestParams], Coroutine[Any, Any, CreateMessageResult]]"; expected "Callable[[SamplingRequest], Awaitable[bool]] | None"  [arg-type]
    # pyright says: Argument of type "(params: CreateMessageRequestParams) -> CoroutineType[Any, Any, CreateMessageResult]" cannot be assigned to parameter "consent" of type "Consent | None" in function "__init__" (reportArgumentType)
    Host("desk", "1.0", sampling=model)
    # mypy says: Argument "sampling" to "Host" has incompatible type "Callable[[CreateMessageRequestParams], Coroutine[Any, Any, CreateMessageResult]]"; expected "Sampling | None"  [arg-type]
    # pyright says: Argument of type "(params: CreateMessageRequestParams) -> CoroutineType[Any, Any, CreateMessageResult]" cannot be assigned to parameter "sampling" of type "Sampling | None" in function "__init__" (reportArgumentType)
    choose_model(None, ["large"])
    # mypy says: Value of type variable "M" of "choose_model" cannot be "str"  [type-var]
    # pyright says: Argument of type "list[str]" cannot be assigned to parameter "models" of type "Sequence[M@choose_model]" in function "choose_model" (reportArgumentType)
    ModelProfile("large", smartness=1.0)
    # mypy says: Unexpected keyword argument "smartness" for "ModelProfile"  [call-arg]
    # pyright says: No parameter named "smartness" (reportCallIssue)
