"""One process of a cluster: `event_node.py STORE NOW`. It prints its port, and obeys its tools."""

from __future__ import annotations

import sys

import anyio

from kinwire import Server, serve_websocket
from kinwire.mcpe import EventCluster, EventRates, McpeServer, new_event
from kinwire.storage import open_store


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
            print(await tasks.start(serve_websocket, server.serve, "127.0.0.1"), flush=True)


anyio.run(main, sys.argv[1], float(sys.argv[2]))
