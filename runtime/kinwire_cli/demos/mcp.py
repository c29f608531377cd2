"""The server that `kinwire demo` and `kinwire serve demo mcp` start."""

from __future__ import annotations

__all__ = ("server",)

from typing import Annotated

import anyio
from pydantic import Field

from kinwire.managers.tool_outcomes import ToolError
from kinwire.mcp.context import Context
from kinwire.mcp.server import Server

server = Server("kinwire-demo", "1.0", instructions="Four small tools to try a client with.")


@server.tool
def add(a: int, b: int) -> int:
    """Add two whole numbers."""
    return a + b


@server.tool
async def echo(message: str) -> str:
    """Return the message."""
    return message


@server.tool
async def countdown(
    context: Context,
    start: Annotated[int, Field(ge=1, le=100, description="The number to begin with.")] = 3,
    pause: Annotated[float, Field(ge=0, le=1, description="Seconds between numbers.")] = 0.05,
) -> str:
    """Count down to zero and report progress at each number."""
    for left in range(start, 0, -1):
        await context.progress(start - left + 1, total=start, message=f"{left} ...")
        await anyio.sleep(pause)
    return "Lift-off"


@server.tool
def divide(a: float, b: float) -> float:
    """Divide one number by another; dividing by zero fails as a tool may fail."""
    if b == 0:
        raise ToolError("Nothing can be divided by zero.")
    return a / b
