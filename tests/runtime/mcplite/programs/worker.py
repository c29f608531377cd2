"""One worker process of a service of MCP-lite, driven by lines of JSON on stdin.

usage: worker.py STORE

A line is [name, arguments, meta, times]; the answer is a line with the distinct results. The tool
`slow` takes the given number of seconds; `large` has a result of 3.5 MB; `finish` is over once its
promise was printed, and its process is killed before the result is stored.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from typing import Any

from kinwire import Server
from kinwire.mcplite.rules.calls import ToolCall
from kinwire.mcplite.rules.limits import LiteLimits
from kinwire.mcplite.server.service import LiteServer
from kinwire.mcplite.server.work_ends import WorkEnds
from kinwire.storage import open_store

server = Server("workers", "1")
printed = asyncio.Event()
"""Set when an answer was printed."""


@server.tool(promise_after=0)
async def slow(seconds: float) -> dict[str, int]:
    await asyncio.sleep(seconds)
    return {"process": os.getpid()}


@server.tool(promise_after=0)
async def large(seconds: float) -> str:
    await asyncio.sleep(seconds)
    return "large" * 700_000


@server.tool(promise_after=0)
async def finish(seconds: float) -> str:
    await printed.wait()
    await asyncio.sleep(seconds)
    WorkEnds.store = _killed  # type: ignore[method-assign,assignment]
    return "finished"


async def _killed(*arguments: Any) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


async def answer(lite: LiteServer, name: str, arguments: Any, meta: Any, times: int) -> list[Any]:
    calls = (lite.call(ToolCall(name, arguments, meta)) for _ in range(times))
    results = await asyncio.gather(*calls)
    return [json.loads(one) for one in {json.dumps(result) for result in results}]


async def main(url: str) -> None:
    loop = asyncio.get_running_loop()
    async with open_store(url) as store:
        records = await store.records("promises")
        lite = LiteServer(server, records=records, limits=LiteLimits(worker_lease=0.6))
        print("ready", flush=True)
        while line := await loop.run_in_executor(None, sys.stdin.readline):
            print(json.dumps(await answer(lite, *json.loads(line))), flush=True)
            printed.set()
        await lite.close(0.1)


asyncio.run(main(*sys.argv[1:]))
