"""The server of the interop tests, on PyPI's `mcp` 2.x; see `kinwire_server.py`.

usage: mcp2_server.py [http], which serves over HTTP in place of stdio

Built on its lower level, which has subscriptions and levels of log messages.
"""

from __future__ import annotations

import sys
import warnings
from typing import Any

import anyio
import mcp_types as types
from mcp.server.lowlevel import NotificationOptions, Server
from mcp.server.stdio import stdio_server
from over_http import listen

warnings.simplefilter("ignore")  # it calls what 2026-07-28 has no more deprecated

TODAY = "memo://today"
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday")
LEVELS = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")
ONE = {"echo": "message", "count": "to"}
TOOLS = ("echo", "count", "wait", "ask", "where", "knock", "speak", "change", "heard")
PAGE = 3

heard: set[str] = set()
watched: set[str] = set()
level = "info"


def tool(name: str) -> types.Tool:
    argument = ONE.get(name)
    kind = "integer" if name == "count" else "string"
    properties = {argument: {"type": kind}} if argument else {}
    schema = {"type": "object", "properties": properties, "required": list(properties)}
    return types.Tool(name=name, input_schema=schema)


async def list_tools(ctx: Any, params: Any) -> types.ListToolsResult:
    begin = int(params.cursor) if params and params.cursor else 0
    end = begin + PAGE
    following = str(end) if end < len(TOOLS) else None
    return types.ListToolsResult(
        tools=[tool(name) for name in TOOLS[begin:end]], next_cursor=following
    )


async def echo(ctx: Any, message: str) -> str:
    return message


async def count(ctx: Any, to: int) -> str:
    for step in range(1, to + 1):
        await ctx.session.report_progress(step, to)
    return "counted"


async def wait(ctx: Any) -> str:
    try:
        await ctx.session.report_progress(0)
        await anyio.sleep_forever()
    finally:
        heard.add("cancelled")


async def ask(ctx: Any) -> str:
    content = types.TextContent(type="text", text="What is 6 times 7?")
    message = types.SamplingMessage(role="user", content=content)
    answer = await ctx.session.create_message([message], max_tokens=10)
    return f"{answer.model}: {answer.content.text}"


async def where(ctx: Any) -> str:
    return " ".join(str(root.uri) for root in (await ctx.session.list_roots()).roots)


async def knock(ctx: Any) -> str:
    await ctx.session.send_ping()
    return "answered"


async def speak(ctx: Any) -> str:
    for one, data in (("info", "not to be heard"), ("notice", {"said": "hello"})):
        if LEVELS.index(one) >= LEVELS.index(level):
            await ctx.session.send_log_message(one, data)
    return ""


async def change(ctx: Any) -> str:
    if TODAY in watched:
        await ctx.session.send_resource_updated(TODAY)
    await ctx.session.send_tool_list_changed()
    await ctx.session.send_resource_list_changed()
    await ctx.session.send_prompt_list_changed()
    return ""


async def tell(ctx: Any) -> str:
    return " ".join(sorted(heard))


FUNCTIONS = (echo, count, wait, ask, where, knock, speak, change, tell)


async def call_tool(ctx: Any, params: Any) -> types.CallToolResult:
    function = dict(zip(TOOLS, FUNCTIONS, strict=True))[params.name]
    text = await function(ctx, **(params.arguments or {}))
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)])


async def list_resources(ctx: Any, params: Any) -> types.ListResourcesResult:
    return types.ListResourcesResult(resources=[types.Resource(uri=TODAY, name="today")])


async def list_templates(ctx: Any, params: Any) -> types.ListResourceTemplatesResult:
    day = types.ResourceTemplate(uri_template="memo://day/{day}", name="day")
    return types.ListResourceTemplatesResult(resource_templates=[day])


async def read(ctx: Any, params: Any) -> types.ReadResourceResult:
    text = types.TextResourceContents(uri=params.uri, text="Water the plants.")
    return types.ReadResourceResult(contents=[text])


async def subscribe(ctx: Any, params: Any) -> types.EmptyResult:
    watched.add(str(params.uri))
    return types.EmptyResult()


async def unsubscribe(ctx: Any, params: Any) -> types.EmptyResult:
    watched.discard(str(params.uri))
    return types.EmptyResult()


async def list_prompts(ctx: Any, params: Any) -> types.ListPromptsResult:
    day = types.PromptArgument(name="day", required=True)
    return types.ListPromptsResult(prompts=[types.Prompt(name="plan", arguments=[day])])


async def get_prompt(ctx: Any, params: Any) -> types.GetPromptResult:
    content = types.TextContent(type="text", text=f"Plan my {params.arguments['day']}.")
    return types.GetPromptResult(messages=[types.PromptMessage(role="user", content=content)])


async def complete(ctx: Any, params: Any) -> types.CompleteResult:
    values = [day for day in DAYS if day.startswith(params.argument.value)]
    return types.CompleteResult(completion=types.Completion(values=values))


async def set_level(ctx: Any, params: Any) -> types.EmptyResult:
    global level
    level = params.level
    return types.EmptyResult()


async def roots_changed(ctx: Any, params: Any) -> None:
    heard.add("roots")


server = Server(
    "interop",
    version="1.0",
    on_list_tools=list_tools,
    on_call_tool=call_tool,
    on_list_resources=list_resources,
    on_list_resource_templates=list_templates,
    on_read_resource=read,
    on_subscribe_resource=subscribe,
    on_unsubscribe_resource=unsubscribe,
    on_list_prompts=list_prompts,
    on_get_prompt=get_prompt,
    on_completion=complete,
    on_set_logging_level=set_level,
    on_roots_list_changed=roots_changed,
)


def initialization_options() -> Any:
    changes = NotificationOptions(prompts_changed=True, resources_changed=True, tools_changed=True)
    return server.create_initialization_options(changes)


async def main() -> None:
    async with stdio_server() as (read_stream, write_stream):
        await server.run(read_stream, write_stream, initialization_options())


if __name__ == "__main__":
    if sys.argv[1:] == ["http"]:
        listen(server, initialization_options())
    else:
        anyio.run(main)
