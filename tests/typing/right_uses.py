"""What `mistakes.py` gets wrong, done right: both checkers accept all of it."""

from __future__ import annotations

from collections.abc import Sequence

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
    pair,
    stdio,
    unattended,
)
from kinwire.mcp.extension import Next
from kinwire.rpc.request import Request
from kinwire_protocols import mcp, mcpe, mcpl
from kinwire_protocols.base import JsonObject, UnknownVariant
from kinwire_protocols.mcp.methods import NOTIFICATIONS_INITIALIZED, TOOLS_CALL, TOOLS_LIST

server = Server(
    "notes", "1.0", limits=Limits(request_timeout=5), offers=["tools"], log_level="debug"
)
host = Host("desk", "1.0")


def show(report: mcp.ProgressNotificationParams) -> None:
    print(report.progress)


async def tools_of_a_protocol(connection: Connection) -> None:
    events = mcpe.ServerStub(connection)
    made: mcpe.Subscription = await events.events_subscribe(
        filter=mcpe.EventFilter(event_types=["github.*"]),
        delivery=mcpe.DeliveryPreferences(channels=["realtime"]),
    )
    paused = await events.events_pause(subscription_id=made.id)
    print(paused.success, mcpe.tables.SUBSCRIPTION_LIFECYCLE.after(made.status, "events_pause"))


class Tools(mcpe.ServerTools):
    async def events_list(self, params: mcpe.EventsListParams) -> mcpe.EventsListResult:
        return mcpe.EventsListResult(subscriptions=[])


def augmented(params: mcp.CallToolRequestParams, wire: JsonObject) -> mcp.CallToolRequestParams:
    scope = mcpl.augments.TOOLS_CALL_PARAMS_SCOPE
    found: mcpl.Scope | None = scope.read(params)
    print(found.label if found is not None else scope.read(wire))
    return scope.write(params, mcpl.Scope(label="/src"))


async def calls(connection: Connection) -> None:
    result = await connection.mcp.tools_call(name="find", arguments={"title": "Emma"})
    print(result.is_error, [block.text for block in result.content if block.type == "text"])
    for block in result.content:
        match block:
            case mcp.TextContent(text=text):
                print(text)
            case mcp.ImageContent() | mcp.AudioContent() | mcp.EmbeddedResource():
                print(block.annotations)
            case UnknownVariant():
                print(block)
    await connection.with_options(timeout=5, on_progress=show).mcp.tools_call(name="find")
    await connection.mcp.logging_set_level(level="debug")
    async for tool in connection.tools():
        print(tool.name, tool.input_schema)
    async with connection.subscription("note://1") as updates:
        async for uri in updates:
            print(uri.upper())
    with connection.changes() as changes:
        async for name in changes:
            print(name == "tools")


async def rows(session: Session) -> None:
    result: mcp.CallToolResult = await session.call(
        TOOLS_CALL, mcp.CallToolRequestParams(name="find"), timeout=None
    )
    page = await session.call(TOOLS_LIST, mcp.PaginatedRequestParams(cursor="next"))
    print(result.content, page.next_cursor)
    await session.notify(NOTIFICATIONS_INITIALIZED, mcp.NotificationParams())
    session.intercept_inbound(watch, TOOLS_CALL)


async def watch(
    params: mcp.CallToolRequestParams,
    request: Request,
    go_on: Next[mcp.CallToolRequestParams, mcp.CallToolResult],
) -> mcp.CallToolResult:
    return await go_on(params)


@server.on.prompts_list
async def prompts(params: mcp.PaginatedRequestParams) -> mcp.ListPromptsResult:
    return mcp.ListPromptsResult(prompts=[mcp.Prompt(name="greet")])


@server.on.prompts_get
async def prompt(params: mcp.GetPromptRequestParams, context: Context) -> mcp.GetPromptResult:
    await context.progress(1, total=2)
    await context.log("info", {"prompt": params.name})
    return mcp.GetPromptResult(messages=[])


@server.on(TOOLS_LIST)
async def tools(params: mcp.PaginatedRequestParams) -> mcp.ListToolsResult:
    schema = mcp.ToolInputSchema()
    return mcp.ListToolsResult(tools=[mcp.Tool(name="find", input_schema=schema)])


@host.on.roots_list
async def roots(params: mcp.RequestParams) -> mcp.ListRootsResult:
    return mcp.ListRootsResult(roots=[])


class Handlers(mcp.ServerHandlers):
    async def tools_list(self, params: mcp.PaginatedRequestParams) -> mcp.ListToolsResult:
        return mcp.ListToolsResult(tools=[])


@server.tool(name="search", description="Search.")
def find(title: str, limit: int = 10) -> list[str]:
    return [title] * limit


@server.tool
async def ask(question: str, context: Context) -> str:
    written = await context.sample(question, max_tokens=10)
    return written.model + str(len(await context.roots()))


@server.resource("note://{name}")
def note(name: str) -> str:
    return find(name)[0]


@server.completion("note://{name}", "name")
def names(typed: str) -> list[str]:
    return [typed]


async def model(params: mcp.CreateMessageRequestParams) -> mcp.CreateMessageResult:
    chosen = choose_model(params.model_preferences, [ModelProfile("m", intelligence=0.5)])
    content = mcp.TextContent(text="Yes.")
    return mcp.CreateMessageResult(role="assistant", content=content, model=chosen.name)


async def approve(request: SamplingRequest) -> mcp.CreateMessageRequestParams | None:
    return request.params if request.connection.server_info.name == "notes" else None


async def context_of(request: SamplingRequest) -> Sequence[mcp.SamplingMessage]:
    return request.params.messages


async def main() -> None:
    sampling = Sampling(
        model, approve_request=approve, approve_result=unattended, context=context_of
    )
    async with (
        Host("desk", "1.0", sampling=sampling, roots=["file:///home/ada"]) as desk,
        connect(stdio("python", "notes.py", env={"A": "1"})) as other,
        pair(server) as paired,
    ):
        connection = await desk.connect(stdio("python", "notes.py"), on_log=print)
        try:
            await calls(connection)
        except RpcError as error:
            print(error.code, other.protocol_version, paired.frames[0].sender)
