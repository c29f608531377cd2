"""Two tools on PyPI's `mcp` 2.x over HTTP, one of which is slow; `slow_kinwire.py` is ours."""

from __future__ import annotations

import anyio
import uvicorn
from mcp.server.mcpserver import MCPServer

server = MCPServer("slow", log_level="WARNING")


@server.tool()
async def slow() -> str:
    """Take two seconds."""
    await anyio.sleep(2)
    return "first"


@server.tool()
async def quick() -> str:
    """End immediately."""
    return "second"


if __name__ == "__main__":
    uvicorn.run(server.streamable_http_app(), host="127.0.0.1", port=0)
