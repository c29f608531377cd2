"""A host that does a few things with the server of `live.py`, and is killed in the middle of one.

`remember.py STORE SERVER MOMENT`: the server is a URL, or else the file of one that is started. The
moment is "push" or "turn", while it takes over an event or a message, or a number: before it writes
that many things. Then the process ends without any farewell. The events and messages that are
taken over are in a file next to the store, one a line.
"""

from __future__ import annotations

import os
import signal
import sys
from math import inf
from typing import Any

import anyio

from kinwire import Host, stdio
from kinwire.mcpl import Channels, McplHost, PushedEvent, ScopeRequest, Scopes, UserTurn
from kinwire.storage import Records, open_store
from kinwire_protocols import mcpl

STORE, SERVER, MOMENT = sys.argv[1:]


def taken_over(name: str) -> None:
    with open(f"{STORE.removeprefix('sqlite:///')}.taken", "a", encoding="ascii") as file:
        file.write(f"{name}\n")


class Deadly:
    """Records that end the process after a number of writes."""

    def __init__(self, records: Records, writes: float) -> None:
        self._records = records
        self._left = writes
        self.get, self.scan, self.watch = records.get, records.scan, records.watch

    async def put(self, key: str, value: Any, **options: Any) -> int:
        self._count()
        return await self._records.put(key, value, **options)

    async def delete(self, key: str, **options: Any) -> bool:
        self._count()
        return await self._records.delete(key, **options)

    def _count(self) -> None:
        self._left -= 1
        if self._left == 0:
            os.kill(os.getpid(), signal.SIGKILL)


async def yes(request: ScopeRequest) -> bool:
    return True


async def take(event: PushedEvent) -> mcpl.PushEventResult:
    taken_over(f"event {event.params.event_id}")
    if event.params.event_id == "last":
        os.kill(os.getpid(), signal.SIGKILL)
    return mcpl.PushEventResult(accepted=True, inference_id="inf_before")


async def turn(turn: UserTurn) -> None:
    taken_over(f"message {turn.messages[-1].message_id}")
    if turn.messages[-1].message_id == "last":
        os.kill(os.getpid(), signal.SIGKILL)


async def main() -> None:
    async with open_store(STORE) as store:
        records = await store.records("mcpl")
        live = McplHost(
            enabled=["*"],
            scopes=Scopes(ask=yes),
            channels=Channels(on_turn=turn),
            on_push=take,
            records=Deadly(records, float(MOMENT) if MOMENT.isdecimal() else inf),
        )
        async with Host("h", "1", extensions=[live]) as host:
            target = SERVER if "://" in SERVER else stdio(sys.executable, SERVER)
            connection = await host.connect(target, server_id="live")
            call = connection.mcp.tools_call
            for text in ("one", "two"):
                await call(name="add_note", arguments={"text": text, "place": "/home/a"})
            await call(name="elevate", arguments={"label": "/etc/hosts"})
            await call(name="push", arguments={"event_id": "first", "text": "Now"})
            for server in live.servers:
                await server.channels.open("chat", {"name": "#new"})
            await call(name="bring", arguments={"messages": ["first"], "thread_id": "t_1"})
            if MOMENT == "push":
                await call(name="push", arguments={"event_id": "last", "text": "Now"})
            elif MOMENT == "turn":
                await call(name="bring", arguments={"messages": ["last"], "thread_id": "t_1"})


anyio.run(main)
