"""Mistakes that users make, and what mypy and pyright say of each. `right_uses.py` does it right.

Below a line is what each checker says of it. `python -m tests.typing.messages` writes that anew.
"""

from __future__ import annotations

from typing import Any

from kinwire import (
    Connection,
    Context,
    Host,
    Limits,
    ModelProfile,
    RpcError,
    Sampling,
    SamplingRequest,
    Server,
    Session,
    choose_model,
    connect,
    stdio,
    unattended,
)
from kinwire_protocols import mcp
from kinwire_protocols.mcp.methods import PING, PROMPTS_LIST, TOOLS_CALL, TOOLS_LIST

# What a server or host is made of.

_ = Server("notes")
_ = Server("notes", 1.0)
_ = Server("notes", "1.0", log_level="loud")
_ = Server("notes", "1.0", offers=["tool"])
_ = Server("notes", "1.0", instruction="Be brief.")
_ = Server("notes", "1.0", extensions=[object()])
_ = Host("desk", "1.0", limits=Limits(timeout=5))
_ = Host("desk", "1.0", roots=[5])
_ = connect("python notes.py")
_ = stdio(["python", "notes.py"])

server = Server("notes", "1.0")
host = Host("desk", "1.0")

# Names of methods.

_ = server.on.tools_lst
_ = server.on.roots_list
_ = host.on.tools_list
_ = host.on.root_list
_ = server.on("tools/list")


async def names(connection: Connection) -> None:
    await connection.mcp.tool_call(name="find")
    await connection.mcp.roots_list()
    await connection.tools_call(name="find")
    await connection.aclos()


# Arguments of calls, and what comes back.


async def arguments(connection: Connection) -> None:
    await connection.mcp.tools_call()
    await connection.mcp.tools_call("find")
    await connection.mcp.tools_call(nme="find")
    await connection.mcp.tools_call(name=5)
    await connection.mcp.tools_call(name="find", arguments=["Emma"])
    await connection.mcp.tools_call(name="find", timeout=5)
    await connection.mcp.logging_set_level(level="loud")
    await connection.mcp.completion_complete(ref="plan", argument=("tone", "f"))
    _ = connection.with_options(timeout="5")
    _ = connection.with_options(on_progres=print)
    _ = connection.with_options(on_progress=on_text)
    _ = connection.subscription(uri=5)


def on_text(report: str) -> None:
    print(report)


async def results(connection: Connection) -> None:
    _ = connection.mcp.tools_call(name="find").content
    result = await connection.mcp.tools_call(name="find")
    _ = result.isError
    _ = result.text
    _ = result.content[0].text
    for tool in connection.tools():
        _ = tool
    async for resource in connection.resources():
        _ = resource.url
    async with connection.changes() as changes:
        _ = changes
    with connection.subscription("note://1") as updates:
        _ = updates


# Rows with the params and results of others.


async def rows(session: Session) -> None:
    await session.call(TOOLS_CALL, mcp.GetPromptRequestParams(name="find"))
    await session.call(TOOLS_CALL, {"name": "find"})
    await session.call("tools/call", mcp.CallToolRequestParams(name="find"))
    await session.call(TOOLS_CALL)
    await session.call(PING, mcp.RequestParams(), timeout="5")
    page: mcp.ListToolsResult = await session.call(PROMPTS_LIST, mcp.PaginatedRequestParams())
    await session.notify(TOOLS_LIST, mcp.CallToolRequestParams(name="find"))
    await session.raw(TOOLS_LIST)
    session.intercept_inbound(watch, TOOLS_CALL)
    _ = page


async def watch(params: mcp.CallToolRequestParams, request: Any) -> mcp.CallToolResult:
    raise NotImplementedError


# Messages.


def messages(tool: mcp.Tool) -> None:
    _ = mcp.Tool(name="find")
    _ = mcp.Tool(name="find", inputSchema=mcp.ToolInputSchema())
    _ = mcp.Tool(name="find", input_schema={"type": "object"})
    _ = mcp.TextContent(text=5)
    _ = mcp.SamplingMessage(role="system", content=mcp.TextContent(text="Hi."))
    _ = mcp.Prompts(name="greet")
    tool.name = "search"


# Handlers.


@server.on.tools_list
async def other_params(params: mcp.CallToolRequestParams) -> mcp.ListToolsResult:
    raise NotImplementedError


@server.on.tools_list
async def other_result(params: mcp.PaginatedRequestParams) -> mcp.ListPromptsResult:
    raise NotImplementedError


@server.on.tools_list
async def no_result(params: mcp.PaginatedRequestParams) -> None:
    raise NotImplementedError


@server.on.tools_list
def not_async(params: mcp.PaginatedRequestParams) -> mcp.ListToolsResult:
    raise NotImplementedError


@server.on.tools_list
async def no_params() -> mcp.ListToolsResult:
    raise NotImplementedError


@server.on.tools_list
async def too_many_params(
    params: mcp.PaginatedRequestParams, context: Context, more: int
) -> mcp.ListToolsResult:
    raise NotImplementedError


@server.on(TOOLS_LIST)
async def other_row(params: mcp.GetPromptRequestParams) -> mcp.GetPromptResult:
    raise NotImplementedError


@host.on.notifications_message
async def answers(params: mcp.LoggingMessageNotificationParams) -> str:
    raise NotImplementedError


class Handlers(mcp.ServerHandlers):
    async def tools_list(self, params: mcp.CallToolRequestParams) -> mcp.ListToolsResult:
        raise NotImplementedError

    async def prompts_list(self, params: mcp.PaginatedRequestParams) -> mcp.ListToolsResult:
        raise NotImplementedError

    def ping(self, params: mcp.RequestParams) -> mcp.EmptyResult:
        raise NotImplementedError


# Tools, resources, prompts, and their context.


@server.tool("search")
def named(title: str) -> str:
    return title


@server.tool(nme="search")
def misnamed(title: str) -> str:
    return title


@server.resource
def without_address() -> str:
    return ""


@server.resource(5)
def with_number() -> str:
    return ""


@server.completion("plan")
def without_argument(typed: str) -> list[str]:
    return [typed]


@server.completion("plan", "tone")
def other_suggestions(typed: int) -> list[int]:
    return [typed]


async def context_of_a_request(context: Context) -> None:
    await context.progres(1)
    await context.progress("half")
    await context.log("loud", "Hi.")
    await context.sample("Hi.")
    await context.sample(5, max_tokens=10)
    await context.sample("Hi.", max_tokens=10, include_context="everything")
    _ = (await context.roots()).roots


# Sampling.


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


_ = Sampling(model)
_ = Sampling(model, unattended, unattended)
_ = Sampling(plain_model, approve_request=unattended, approve_result=unattended)
_ = Sampling(text_model, approve_request=unattended, approve_result=unattended)
_ = Sampling(model, approve_request=yes, approve_result=unattended)
_ = Sampling(model, approve_request=of_params, approve_result=unattended)
_ = Sampling(model, approve_request=unattended, approve_result=yes_to_result)
_ = Sampling(model, approve_request=unattended, approve_result=unattended, consent=model)
_ = Host("desk", "1.0", sampling=model)
_ = choose_model(None, ["large"])
_ = ModelProfile("large", smartness=1.0)

# Errors.

try:
    pass
except RpcError as error:
    _ = error.kode
_ = mcp.ResourceNotFoundEror
