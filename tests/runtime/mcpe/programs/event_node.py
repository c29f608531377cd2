"""Processes of a cluster: `event_node.py STORE`.

For each time that it reads, in seconds since 1970, it becomes two processes. The new one serves,
with a clock that shows this time, prints its process id and its port, and obeys its tools. So it
serves a moment later: what it needs is loaded.
"""

from __future__ import annotations

import os
import signal
import sys
from importlib import import_module

import anyio

from kinwire import Server, serve_websocket
from kinwire.mcpe import EventCluster, EventRates, McpeServer, new_event
from kinwire.storage import open_store

NEEDED = (
    "anyio._backends._asyncio",
    "kinwire.mcpe.rules.cron",
    "kinwire.storage.nats.store",
    "websockets.server",
)


async def main(url: str, now: float) -> None:
    async with open_store(url, timeout=20) as store:
        events = McpeServer(
            records=await store.records("mcpe"),
            log=await store.log("mcpe"),
            cluster=EventCluster(lease=2),
            rates=EventRates(subscriptions=None),
            clock=lambda: now,
        )
        server = Server("node", "1", extensions=[events])

        @server.tool
        async def publish(type: str, id: str) -> bool:
            """Publish an event, and return whether it was published before."""
            event = new_event(type).model_copy(update={"id": id})
            return (await events.publish(event)).duplicate

        @server.tool
        async def put_clock(at: float) -> None:
            """Put the clock."""
            nonlocal now
            now = at
            events.look_at_clock()

        async with anyio.create_task_group() as tasks:
            port = await tasks.start(serve_websocket, server.serve, "127.0.0.1")
            print(os.getpid(), port, flush=True)


for name in NEEDED:
    import_module(name)
signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # those that are killed leave nothing behind
for line in iter(sys.stdin.readline, ""):
    if os.fork() == 0:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        anyio.run(main, sys.argv[1], float(line))
