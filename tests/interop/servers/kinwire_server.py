"""The server of the interop tests, on kinwire: every method of MCP has something to find here.

The servers next to it are the same on other libraries. It speaks MCPL too, of which clients that do
not are to notice nothing.
"""

from __future__ import annotations

import anyio

from kinwire import Context, Server
from kinwire.mcpl import McplServer
from kinwire_protocols import mcp, mcpl
from kinwire_protocols.base import from_wire

live = McplServer(
    feature_sets={
        "interop.tools": mcpl.FeatureSet(
            description="What there is", uses=["tools", "pushEvents"], scoped=True, rollback=True
        )
    },
    tools={"count": "interop.tools"},
    channels=[],
    model_info=True,
    strict_scopes=True,
)
server = Server("interop", "1.0", page_size=3, extensions=[live])
heard: set[str] = set()

DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday")
SECURITY = {"riskLevel": "low", "note": "not a member of MCP"}


@server.on.notifications_roots_list_changed
async def roots_changed(params: mcp.NotificationParams) -> None:
    heard.add("roots")


async def echo(params: mcp.CallToolRequestParams) -> str:
    return str((params.arguments or {})["message"])


ECHO = {
    "name": "echo",
    "description": "Return the message.",
    "inputSchema": {
        "type": "object",
        "properties": {"message": {"type": "string"}},
        "required": ["message"],
    },
    "security": SECURITY,
    "_meta": {"security": SECURITY},
}
server.add_tool(from_wire(mcp.Tool, ECHO), echo)


@server.tool
async def count(to: int, context: Context) -> str:
    """Count, and report each step."""
    for step in range(1, to + 1):
        await context.progress(step, total=to)
        # The TypeScript SDKs drop a report that they read together with the answer.
        await mcp.ClientStub(context.session).ping()
    return "counted"


@server.tool
async def wait(context: Context) -> None:
    """Report that the call is under way, then wait until it is cancelled."""
    try:
        await context.progress(0)
        await anyio.sleep_forever()
    finally:
        heard.add("cancelled")


@server.tool
async def ask(context: Context) -> str:
    """Have the client's model answer."""
    answer = await context.sample("What is 6 times 7?", max_tokens=10)
    assert isinstance(answer.content, mcp.TextContent)
    return f"{answer.model}: {answer.content.text}"


@server.tool
async def where(context: Context) -> str:
    """Name the client's roots."""
    return " ".join(root.uri for root in await context.roots())


@server.tool
async def knock(context: Context) -> str:
    """Ping the client."""
    await mcp.ClientStub(context.session).ping()
    return "answered"


@server.tool
async def speak(context: Context) -> None:
    """Log at two levels."""
    await context.log("info", "not to be heard")
    await context.log("notice", {"said": "hello"})


@server.tool
async def change() -> None:
    """Change a resource and all lists."""
    server.resource_updated("memo://today")
    server.add_tool(from_wire(mcp.Tool, {**ECHO, "name": "extra"}), echo)
    server.remove_tool("extra")
    server.resource("memo://extra")(today)
    server.remove_resource("memo://extra")
    server.prompt(extra)
    server.remove_prompt("extra")


@server.tool(name="heard")
def tell() -> str:
    """Return what the client has sent to this server."""
    return " ".join(sorted(heard))


@server.resource("memo://today")
def today() -> str:
    """What is to be done today."""
    return "Water the plants."


@server.resource("memo://day/{day}")
def some_day(day: str) -> str:
    """What is to be done on a day."""
    return f"Nothing on {day}."


@server.prompt
def plan(day: str) -> str:
    """Plan a day."""
    return f"Plan my {day}."


def extra() -> str:
    """Come and go."""
    return ""


@server.completion("plan", "day")
def days(typed: str) -> list[str]:
    return [day for day in DAYS if day.startswith(typed)]


if __name__ == "__main__":
    server.run()
