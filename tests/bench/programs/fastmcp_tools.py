"""fastmcp's search of tools, end to end: its own client calls the tool that searches.

usage: fastmcp_tools.py < JSON of {"tools": [[name, description]...], "queries": [text...]}

Prints the milliseconds of CPU time of each call, as a JSON array.
"""

from __future__ import annotations

import asyncio
import json
import logging
import sys
import time

from fastmcp import Client, FastMCP
from fastmcp.server.transforms.search.bm25 import BM25SearchTransform
from fastmcp.tools.base import Tool

logging.disable(logging.WARNING)


async def answer(a: str, b: int = 0) -> str:
    return a


async def main() -> None:
    given = json.load(sys.stdin)
    server = FastMCP("tools")
    one = Tool.from_function(answer, name="one")
    for name, description in given["tools"]:
        server.add_tool(one.model_copy(update={"name": name, "description": description}))
    server.add_transform(BM25SearchTransform())
    times = []
    async with Client(server) as client:
        await client.call_tool("search_tools", {"query": given["queries"][0]})
        for query in given["queries"]:
            begun = time.process_time()
            await client.call_tool("search_tools", {"query": query})
            times.append((time.process_time() - begun) * 1e3)
    print(json.dumps(times))


asyncio.run(main())
