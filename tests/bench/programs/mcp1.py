"""PyPI's `mcp` 1.x over WebSocket, which 2.x has not; runs in an environment that has it.

usage: mcp1.py ws
"""

from __future__ import annotations

import logging
import warnings
from typing import Any

from mcp.server.fastmcp import FastMCP
from mcp.server.websocket import websocket_server

from tests.bench.programs.listening import listen

warnings.simplefilter("ignore")
logging.disable(logging.INFO)  # a log line a call would be much of its cost
server = FastMCP("echo", log_level="ERROR")


@server.tool()
async def echo(text: str) -> str:
    """Return the text."""
    return text


async def application(scope: Any, receive: Any, send: Any) -> None:
    if scope["type"] == "lifespan":
        for _ in range(2):
            message = await receive()
            await send({"type": f"{message['type']}.complete"})
        return
    lower = server._mcp_server
    async with websocket_server(scope, receive, send) as (read, write):
        await lower.run(read, write, lower.create_initialization_options())


listen(application, websocket=True)
