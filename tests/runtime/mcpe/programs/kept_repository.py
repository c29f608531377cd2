"""A server of events that keeps what it has promised in a file: `kept_repository.py FILE`."""

import sys

import anyio

from kinwire import Server
from kinwire.mcpe import McpeServer, new_event
from kinwire.storage import open_store


async def main(file: str) -> None:
    async with open_store(f"sqlite:///{file}") as store:
        events = McpeServer(records=await store.records("mcpe"), log=await store.log("mcpe"))
        server = Server("repository", "1.0", extensions=[events])

        @server.tool
        async def push(branch: str, source_id: str) -> int:
            """Push to a branch, and return how many subscriptions want to know."""
            event = new_event("github.push", {"branch": branch}, source_event_id=source_id)
            return (await events.publish(event)).subscriptions

        await server.serve_stdio()


anyio.run(main, sys.argv[1])
