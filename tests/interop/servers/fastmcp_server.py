"""The server of the interop tests, on PyPI's `fastmcp`; see `kinwire_server.py`.

It has no subscriptions.
"""

from __future__ import annotations

from typing import Any

import anyio
import mcp_types as types
from fastmcp import Context, FastMCP
from fastmcp.server.middleware import Middleware

TODAY = "memo://today"
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday")

heard: set[str] = set()


class Listener(Middleware):
    async def on_notification(self, context: Any, call_next: Any) -> Any:
        if context.method == "notifications/roots/list_changed":
            heard.add("roots")
        return await call_next(context)


server: FastMCP[Any] = FastMCP("interop", version="1.0", middleware=[Listener()])


@server.tool
async def echo(message: str) -> str:
    return message


@server.tool
async def count(to: int, context: Context) -> str:
    for step in range(1, to + 1):
        await context.report_progress(step, to)
    return "counted"


@server.tool
async def wait(context: Context) -> None:
    try:
        await context.report_progress(0)
        await anyio.sleep_forever()
    finally:
        heard.add("cancelled")


@server.tool
async def ask(context: Context) -> str:
    content = types.TextContent(type="text", text="What is 6 times 7?")
    message = types.SamplingMessage(role="user", content=content)
    answer = await context.session.create_message([message], max_tokens=10)
    return f"{answer.model}: {answer.content.text}"


@server.tool
async def where(context: Context) -> str:
    return " ".join(str(root.uri) for root in (await context.session.list_roots()).roots)


@server.tool
async def knock(context: Context) -> str:
    await context.session.send_ping()
    return "answered"


@server.tool
async def speak(context: Context) -> None:
    await context.log("not to be heard", level="info")
    await context.log("hello", level="notice")


@server.tool
async def change(context: Context) -> None:
    await context.send_notification(types.ToolListChangedNotification())
    await context.send_notification(types.ResourceListChangedNotification())
    await context.send_notification(types.PromptListChangedNotification())


@server.tool(name="heard")
async def tell() -> str:
    return " ".join(sorted(heard))


@server.resource(TODAY, mime_type="text/plain")
def today() -> str:
    return "Water the plants."


@server.resource("memo://day/{day}")
def some_day(day: str) -> str:
    return f"Nothing on {day}."


@server.prompt
def plan(day: str) -> str:
    return f"Plan my {day}."


@server.completion
async def complete(ref: Any, argument: Any, context: Any) -> list[str]:
    return [day for day in DAYS if day.startswith(argument.value)]


if __name__ == "__main__":
    server.run("stdio", show_banner=False)
