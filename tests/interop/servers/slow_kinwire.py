"""Two tools, one of which takes its time."""

from __future__ import annotations

import anyio

from kinwire import Server

server = Server("slow", "1.0")


@server.tool
async def slow() -> str:
    """Take two seconds."""
    await anyio.sleep(2)
    return "first"


@server.tool
async def quick() -> str:
    """End immediately."""
    return "second"
