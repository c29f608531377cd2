"""A whole server on its own stdio, for the cases from public reports: `cases.py asyncio|trio`."""

from __future__ import annotations

import json
import sys
from typing import Any

import anyio
import anyio.lowlevel

from kinwire import Server
from kinwire.transports.stdio import OwnStdio
from kinwire_protocols import mcp
from kinwire_protocols.base import from_wire

server = Server("cases", "1")
begun: dict[str, anyio.Event] = {}


@server.tool
async def typed(p: str) -> str:
    return json.dumps([type(p).__name__, p])


@server.tool
async def number(p: int) -> int:
    return p


@server.tool
async def slow(name: str) -> str:
    """Wait until `release` is called with that name."""
    await begun.setdefault(name, anyio.Event()).wait()
    return f"slow {name}"


@server.tool
async def release(name: str) -> str:
    begun.setdefault(name, anyio.Event()).set()
    return f"released {name}"


@server.tool
async def soon(turns: int) -> str:
    for _ in range(turns):
        await anyio.lowlevel.checkpoint()
    return "done"


async def echo(params: mcp.CallToolRequestParams) -> str:
    return json.dumps(params.arguments)


ANY: dict[str, Any] = {"name": "echo", "inputSchema": {"type": "object"}}
server.add_tool(from_wire(mcp.Tool, ANY), echo)


async def main() -> None:
    await server.serve(OwnStdio())


if __name__ == "__main__":
    anyio.run(main, backend=sys.argv[1])
