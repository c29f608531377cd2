"""A server with one thing of each kind, which must be the same on every transport."""

from __future__ import annotations

from typing import Any

import anyio

from kinwire import Context, Server, ToolError
from kinwire_protocols import mcp

server = Server("everywhere", "1.0", page_size=2, offers=["prompts"])
heard: list[str] = []


@server.tool
def echo(value: Any) -> Any:
    """Return the value as it came."""
    return value


@server.tool
async def count(to: int, context: Context) -> str:
    """Report each step."""
    for step in range(1, to + 1):
        await context.progress(step, total=to)
    return "counted"


@server.tool
async def speak(context: Context) -> None:
    """Log at two levels."""
    await context.log("info", "quiet")
    await context.log("error", {"loud": "line\u2028end\r\n"})


@server.tool
async def ask(context: Context) -> str:
    """Have the client's model answer, and name its roots."""
    answer = await context.sample("What is 6 times 7?", max_tokens=10)
    roots = await context.roots()
    return f"{getattr(answer.content, 'text', '')} {[root.uri for root in roots]}"


@server.tool
def fail() -> None:
    """Fail."""
    raise ToolError("It is broken.")


@server.tool
def stumble() -> None:
    """Fail in a way that nobody thought of."""
    raise RuntimeError("a secret")


@server.tool
async def wait(context: Context) -> None:
    """Wait until the call is taken back."""
    try:
        await context.progress(0)
        await anyio.sleep_forever()
    finally:
        heard.append("cancelled")


@server.tool
async def change() -> None:
    """Change a resource, and the list of prompts."""
    server.resource_updated("memo://today")
    server.prompt(plan)
    server.remove_prompt("plan")


@server.tool
def tell() -> list[str]:
    """Say what was taken back."""
    return heard


@server.resource("memo://today", mime_type="text/plain")
def today() -> str:
    """What is to be done today."""
    return "Water the plants."


@server.resource("memo://bytes", mime_type="application/octet-stream")
def blob() -> bytes:
    """All bytes."""
    return bytes(range(256))


@server.resource("memo://day/{day}")
def some_day(day: str) -> str:
    """What is to be done on a day."""
    if day == "never":
        raise mcp.ResourceNotFoundError("There is no such day.")
    return f"Nothing on {day}."


def plan() -> str:
    """Come and go."""
    return ""


if __name__ == "__main__":
    server.run()
