"""A server on its own stdio: `server.py asyncio|uvloop|trio`. A tool does what it is called."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from contextlib import suppress
from typing import Any

import anyio

from kinwire.mcp.profile import PROFILE
from kinwire.rpc.limits import Limits
from kinwire.rpc.request import Request
from kinwire.rpc.routes import Route
from kinwire.rpc.session import Session
from kinwire.transports.stdio import OwnStdio
from kinwire_protocols import mcp
from kinwire_protocols.mcp import methods


def pollute() -> str:
    """Write to the standard output in every way there is, and try to read from the input."""
    print("printed", flush=True)
    os.write(1, b"written\n")
    subprocess.run([sys.executable, "-c", "print('by a child')"], check=True)
    os.system("echo by a shell")
    return f"read {os.read(0, 100)!r}"


async def act(params: mcp.CallToolRequestParams, request: Request) -> str:
    arguments = params.arguments or {}
    match params.name:
        case "echo":
            return json.dumps(arguments, ensure_ascii=False)
        case "pollute":
            return pollute()
        case "long":
            return "x" * int(arguments["size"])
        case "wait":
            print("waiting", file=sys.stderr, flush=True)
            await anyio.sleep(float(arguments["seconds"]))
            return "waited"
        case "exit":
            os._exit(int(arguments["code"]))
        case _:
            return params.name


async def call(params: mcp.CallToolRequestParams, request: Request) -> mcp.CallToolResult:
    return mcp.CallToolResult(content=[mcp.TextContent(text=await act(params, request))])


async def pong(params: Any, request: Request) -> dict[str, Any]:
    return {}


async def initialize(params: Any, request: Request) -> dict[str, Any]:
    return {"protocolVersion": "2024-11-05", "capabilities": {}, "serverInfo": {}}


async def main() -> None:
    routes = {
        row.name: Route(row, handler)
        for row, handler in (
            (methods.PING, pong),
            (methods.TOOLS_CALL, call),
            (methods.INITIALIZE, initialize),
        )
    }
    limits = Limits(errors_per_second=1000)
    async with Session(OwnStdio(), profile=PROFILE, routes=routes, limits=limits) as session:
        await session.wait_closed()
    print("ended:", session.closed_why, file=sys.stderr, flush=True)
    with suppress(BrokenPipeError):
        os.write(1, b"after\n")


if __name__ == "__main__":
    threading.Thread(target=time.sleep, args=(300,), daemon=True).start()
    backend = sys.argv[1]
    if backend == "uvloop":
        anyio.run(main, backend="asyncio", backend_options={"use_uvloop": True})
    else:
        anyio.run(main, backend=backend)
