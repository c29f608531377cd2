"""A host with a durable inbox, which is killed while it takes a message.

`durable.py STORE SERVER MOMENT`: the server is the file of `live.py`. It pushes an event, which is
confirmed, and brings a message. The process ends without any farewell "in the block" of the message
or "after the block", before the server has its answer. Each item is printed, and if it comes again.
"""

from __future__ import annotations

import os
import signal
import sys
from typing import Any

import anyio

from kinwire import Host, stdio
from kinwire.mcpl import Channels, DurableInbox, McplHost
from kinwire.storage import open_store

STORE, SERVER, MOMENT = sys.argv[1:]


async def consume(inbox: DurableInbox) -> None:
    async for item in inbox:
        async with item:
            names = [one.message_id for one in item.turn.messages] if item.turn else []
            print(*names, *([item.event.event_id] if item.event else []), item.again, flush=True)
            if names and MOMENT == "in the block":
                os.kill(os.getpid(), signal.SIGKILL)
        if names:
            os.kill(os.getpid(), signal.SIGKILL)


async def main() -> None:
    async with open_store(STORE) as store:
        records: Any = await store.records("mcpl")
        inbox = DurableInbox(records)
        live = McplHost(
            enabled=["*"],
            on_push=inbox.push,
            channels=Channels(on_turn=inbox.turn),
            records=records,
        )
        async with (
            Host("h", "1", extensions=[live]) as host,
            anyio.create_task_group() as tasks,
        ):
            tasks.start_soon(consume, inbox)
            connection = await host.connect(stdio(sys.executable, SERVER), server_id="live")
            call = connection.mcp.tools_call
            await call(name="push", arguments={"event_id": "evt_1", "text": "Now"})
            await call(name="bring", arguments={"messages": ["m_1"], "thread_id": "t_1"})


anyio.run(main)
