"""The server of the interop tests, on PyPI's `mcp` 1.x; see `kinwire_server.py`.

usage: mcp1_server.py [http], which serves over HTTP in place of stdio

Built on its lower level, which has subscriptions and levels of log messages.
"""

from __future__ import annotations

import sys
from typing import Any

import anyio
from mcp import types
from mcp.server.lowlevel import NotificationOptions, Server
from mcp.server.lowlevel.helper_types import ReadResourceContents
from mcp.server.stdio import stdio_server
from over_http import listen

TODAY = "memo://today"
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday")
LEVELS = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")
ONE = {"echo": "message", "count": "to"}
TOOLS = ("echo", "count", "wait", "ask", "where", "knock", "speak", "change", "heard")
PAGE = 3

server: Server[Any] = Server("interop", version="1.0")
heard: set[str] = set()
watched: set[str] = set()
level = "info"


def tool(name: str) -> types.Tool:
    argument = ONE.get(name)
    kind = "integer" if name == "count" else "string"
    properties = {argument: {"type": kind}} if argument else {}
    schema = {"type": "object", "properties": properties, "required": list(properties)}
    return types.Tool(name=name, inputSchema=schema)


@server.list_tools()
async def list_tools(request: types.ListToolsRequest) -> types.ListToolsResult:
    begin = int(request.params.cursor) if request.params and request.params.cursor else 0
    end = begin + PAGE
    following = str(end) if end < len(TOOLS) else None
    return types.ListToolsResult(
        tools=[tool(name) for name in TOOLS[begin:end]], nextCursor=following
    )


async def progress(done: float, total: float | None = None) -> None:
    context = server.request_context
    token = context.meta.progressToken if context.meta else None
    if token is not None:
        # Over HTTP this puts it on the stream of the call; elsewhere it says nothing.
        call = str(context.request_id)
        await context.session.send_progress_notification(
            token, done, total, related_request_id=call
        )


async def echo(session: Any, message: str) -> str:
    return message


async def count(session: Any, to: int) -> str:
    for step in range(1, to + 1):
        await progress(step, to)
    return "counted"


async def wait(session: Any) -> str:
    try:
        await progress(0)
        await anyio.sleep_forever()
    finally:
        heard.add("cancelled")


async def ask(session: Any) -> str:
    content = types.TextContent(type="text", text="What is 6 times 7?")
    message = types.SamplingMessage(role="user", content=content)
    answer = await session.create_message([message], max_tokens=10)
    return f"{answer.model}: {answer.content.text}"


async def where(session: Any) -> str:
    return " ".join(str(root.uri) for root in (await session.list_roots()).roots)


async def knock(session: Any) -> str:
    await session.send_ping()
    return "answered"


async def speak(session: Any) -> str:
    for one, data in (("info", "not to be heard"), ("notice", {"said": "hello"})):
        if LEVELS.index(one) >= LEVELS.index(level):
            await session.send_log_message(one, data)
    return ""


async def change(session: Any) -> str:
    if TODAY in watched:
        await session.send_resource_updated(types.AnyUrl(TODAY))
    await session.send_tool_list_changed()
    await session.send_resource_list_changed()
    await session.send_prompt_list_changed()
    return ""


async def tell(session: Any) -> str:
    return " ".join(sorted(heard))


FUNCTIONS = (echo, count, wait, ask, where, knock, speak, change, tell)


@server.call_tool()
async def call_tool(name: str, arguments: dict[str, Any]) -> list[types.ContentBlock]:
    function = dict(zip(TOOLS, FUNCTIONS, strict=True))[name]
    text = await function(server.request_context.session, **arguments)
    return [types.TextContent(type="text", text=text)]


@server.list_resources()
async def list_resources() -> list[types.Resource]:
    return [types.Resource(uri=types.AnyUrl(TODAY), name="today")]


@server.list_resource_templates()
async def list_templates() -> list[types.ResourceTemplate]:
    return [types.ResourceTemplate(uriTemplate="memo://day/{day}", name="day")]


@server.read_resource()
async def read(uri: types.AnyUrl) -> list[ReadResourceContents]:
    return [ReadResourceContents(content="Water the plants.", mime_type="text/plain")]


@server.subscribe_resource()
async def subscribe(uri: types.AnyUrl) -> None:
    watched.add(str(uri))


@server.unsubscribe_resource()
async def unsubscribe(uri: types.AnyUrl) -> None:
    watched.discard(str(uri))


@server.list_prompts()
async def list_prompts() -> list[types.Prompt]:
    day = types.PromptArgument(name="day", required=True)
    return [types.Prompt(name="plan", arguments=[day])]


@server.get_prompt()
async def get_prompt(name: str, arguments: dict[str, str] | None) -> types.GetPromptResult:
    content = types.TextContent(type="text", text=f"Plan my {(arguments or {})['day']}.")
    return types.GetPromptResult(messages=[types.PromptMessage(role="user", content=content)])


@server.completion()
async def complete(ref: Any, argument: Any, context: Any) -> types.Completion:
    return types.Completion(values=[day for day in DAYS if day.startswith(argument.value)])


@server.set_logging_level()
async def set_level(wanted: types.LoggingLevel) -> None:
    global level
    level = wanted


async def roots_changed(notification: types.RootsListChangedNotification) -> None:
    heard.add("roots")


server.notification_handlers[types.RootsListChangedNotification] = roots_changed


def initialization_options() -> Any:
    changes = NotificationOptions(prompts_changed=True, resources_changed=True, tools_changed=True)
    options = server.create_initialization_options(changes)
    # It serves subscriptions, yet says in any case that it does not.
    assert options.capabilities.resources is not None
    options.capabilities.resources.subscribe = True
    return options


async def main() -> None:
    async with stdio_server() as (read_stream, write_stream):
        await server.run(read_stream, write_stream, initialization_options())


if __name__ == "__main__":
    if sys.argv[1:] == ["http"]:
        listen(server, initialization_options())
    else:
        anyio.run(main)
