"""A server with one tool as each project's users write it; what it takes until it is there.

usage: one_tool.py kinwire|mcp|fastmcp create|serve

`create` prints how many modules were loaded for it, and on Linux how many kibibytes were resident
at most.
"""

from __future__ import annotations

import sys
from pathlib import Path
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
    status = Path("/proc/self/status")
    # The peak that `wait4` has of this process is also that of the one that it was forked from.
    most = status.read_text().split("VmHWM:")[1].split()[0] if status.exists() else "0"
    print(len(sys.modules), most)
elif PROJECT == "fastmcp":
    server.run("stdio", show_banner=False, log_level="ERROR")
else:
    server.run()
