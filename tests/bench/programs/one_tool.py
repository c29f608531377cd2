"""A server with one tool as each project's users write it; what it takes until it is there.

usage: one_tool.py kinwire|mcp|fastmcp create|serve

`create` prints how many modules were loaded for it.
"""

from __future__ import annotations

import sys
from typing import Any

PROJECT, WHAT = sys.argv[1:]


async def echo(text: str) -> str:
    """Return the text."""
    return text


if PROJECT == "kinwire":
    from kinwire import Server

    server: Any = Server("echo", "1")
    server.tool(echo)
elif PROJECT == "mcp":
    from mcp.server.mcpserver import MCPServer

    server = MCPServer("echo", log_level="WARNING")
    server.tool()(echo)
else:
    from fastmcp import FastMCP

    server = FastMCP("echo")
    server.tool(echo)

if WHAT == "create":
    print(len(sys.modules))
elif PROJECT == "fastmcp":
    server.run("stdio", show_banner=False, log_level="ERROR")
else:
    server.run()
