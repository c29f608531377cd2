"""Both sides of a connection that are killed: `sides.py server|host STORE PORT OUTPUT FIRST LAST`.

The server records events by its outbox, from number FIRST to before LAST, and writes the number of
each one that is recorded. The host writes each event that it gets, and if it is marked `again`.
"""

from __future__ import annotations

import sys
from pathlib import Path

import anyio

from kinwire import Host, KinwireError, Server, serve_websocket
from kinwire.mcpl import DurableInbox, McplHost, McplServer, Outbox, content_text
from kinwire.storage import open_store
from kinwire.support.backoff import Backoff
from kinwire_protocols.mcpl import FeatureSet

ROLE, STORE, PORT, OUTPUT, FIRST, LAST = sys.argv[1:]


def note(line: str) -> None:
    with Path(OUTPUT).open("a", encoding="ascii") as file:
        file.write(f"{line}\n")


async def serve() -> None:
    sets = {"bell": FeatureSet(description="Ring", uses=["pushEvents"])}
    live = McplServer(feature_sets=sets, enabled_at_first=False)
    server = Server("bell", "1", extensions=[live])
    async with open_store(STORE) as store:
        records = await store.records("outbox")
        outbox = Outbox(live, records=records, backoff=Backoff(first=0.01, longest=0.1))
        async with anyio.create_task_group() as tasks:
            await tasks.start(serve_websocket, server.serve, "127.0.0.1", int(PORT))
            for number in range(int(FIRST), int(LAST)):
                await outbox.push("bell", str(number), event_id=f"evt_{number}")
                note(str(number))
            await anyio.sleep_forever()


async def consume(inbox: DurableInbox) -> None:
    async for item in inbox:
        async with item:
            assert item.event is not None
            note(f"{content_text(item.event.payload.content)} {item.again}")


async def connect() -> None:
    async with open_store(STORE) as store:
        records = await store.records("mcpl")
        inbox = DurableInbox(records)
        live = McplHost(enabled=["bell"], on_push=inbox.push, push_rate=10_000, records=records)
        async with Host("h", "1", extensions=[live]) as host, anyio.create_task_group() as tasks:
            tasks.start_soon(consume, inbox)
            while True:
                try:
                    bell = await host.connect(f"ws://127.0.0.1:{PORT}/", server_id="bell")
                    await bell.session.wait_closed()
                except KinwireError:
                    pass
                await anyio.sleep(0.05)


anyio.run(serve if ROLE == "server" else connect)
