"""A client on PyPI's `mcp` 2.x: uses the demo server that it is given as a command, prints JSON.

Runs in an environment of its own, which has that package and not kinwire.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import anyio
from mcp import Client, MCPError, StdioServerParameters

TIMEOUT = 20.0  # seconds


async def use(client: Client) -> dict[str, Any]:
    progress: list[tuple[float, float | None]] = []

    async def on_progress(done: float, total: float | None, message: str | None) -> None:
        progress.append((done, total))

    async def text_of(tool: str, **arguments: Any) -> dict[str, Any]:
        result = await client.call_tool(tool, arguments, progress_callback=on_progress)
        return {"text": result.content[0].text, "is_error": bool(result.is_error)}

    return {
        "protocol_version": client.protocol_version,
        "server": client.server_info.name,
        "tools": {tool.name: tool.input_schema for tool in (await client.list_tools()).tools},
        "add": await text_of("add", a=2, b=3),
        "echo": await text_of("echo", message="grüße, 世界 \U0001f600\u2028"),
        "divide": await text_of("divide", a=1, b=0),
        "countdown": await text_of("countdown", start=3, pause=0),
        "progress": progress,
        "unknown_tool": await error_of(client, "nosuch", {}),
        "bad_arguments": await error_of(client, "add", {"a": "two"}),
        "after_all": await text_of("add", a=1, b=1),
    }


async def error_of(client: Client, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    try:
        result = await client.call_tool(tool, arguments)
    except MCPError as error:
        return {"code": error.code, "message": error.message}
    return {"is_error": bool(result.is_error), "text": result.content[0].text}


async def main(mode: str, command: str, *arguments: str) -> None:
    server = StdioServerParameters(command=command, args=list(arguments))
    with anyio.fail_after(3 * TIMEOUT):
        async with Client(server, mode=mode, read_timeout_seconds=TIMEOUT) as client:
            found = await use(client)
    print(json.dumps(found))


if __name__ == "__main__":
    anyio.run(main, *sys.argv[1:])
