"""A plain client on PyPI's `mcp` 2.x that finds and calls a tool through a gateway.

usage: mcp2_gateway_client.py COMMAND QUERY TOOL ARGUMENTS; the first and the last are JSON. It
prints the names that it was listed, what a search found, and two calls of the tool, as JSON.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import anyio
from mcp import Client, StdioServerParameters

TIMEOUT = 60.0  # seconds


async def main(command: str, query: str, tool: str, arguments: str) -> None:
    program, *words = json.loads(command)
    server = StdioServerParameters(command=program, args=words)
    with anyio.fail_after(TIMEOUT):
        async with Client(server, mode="auto", read_timeout_seconds=TIMEOUT) as client:
            listed = [one.name for one in (await client.list_tools()).tools]
            found = await client.call_tool("mgp_tools_discover", {"query": query})
            given = {"name": tool, "arguments": json.loads(arguments)}
            called = await client.call_tool("mgp_tools_call", given)
            again = await client.call_tool(tool, json.loads(arguments))
    results = {"found": found, "called": called, "again": again}
    print(json.dumps({"listed": listed, **{name: plain(one) for name, one in results.items()}}))


def plain(result: Any) -> Any:
    return result.model_dump(by_alias=True, mode="json", exclude_none=True)


if __name__ == "__main__":
    anyio.run(main, *sys.argv[1:])
