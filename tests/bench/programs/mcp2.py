"""PyPI's `mcp` 2.x as its users write it; runs in an environment that has it and not kinwire.

usage: mcp2.py serve|memory|http|http-json|client [COMMAND...|URL]

`http` is its default, a session and an event stream for each answer; `http-json` answers in JSON,
which is its best when it is driven without a session (2026-07-28).
"""

from __future__ import annotations

import logging
import sys

import anyio
from mcp import Client, StdioServerParameters
from mcp.server.mcpserver import MCPServer

from tests.bench.programs.driving import drive
from tests.bench.programs.listening import listen

MODE, *COMMAND = sys.argv[1:]

logging.disable(logging.INFO)  # a log line a call would be most of its cost
server = MCPServer("echo", log_level="WARNING")


@server.tool()
async def echo(text: str) -> str:
    """Return the text."""
    return text


async def use(target: MCPServer | StdioServerParameters | str) -> None:
    # "legacy" is the handshake that protocol versions up to 2025-11-25 have.
    async with Client(target, mode="legacy") as client:
        await drive(lambda text: client.call_tool("echo", {"text": text}))


if MODE == "serve":
    server.run("stdio")
elif MODE == "memory":
    anyio.run(use, server)
elif MODE.startswith("http"):
    listen(server.streamable_http_app(json_response=MODE == "http-json"))
elif COMMAND[0].startswith("http"):
    anyio.run(use, COMMAND[0])
else:
    anyio.run(use, StdioServerParameters(command=COMMAND[0], args=COMMAND[1:]))
