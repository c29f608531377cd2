"""An outbox and a durable inbox, whose two sides end again and again in the middle of something."""

from __future__ import annotations

from collections import Counter
from typing import Any

import anyio
import pytest
from anyio.lowlevel import checkpoint
from trio.testing import MockClock

from kinwire import Host, Server, pair
from kinwire.mcpl import Channels, DurableInbox, McplHost, McplServer, Outbox
from kinwire.storage import Records, open_store
from kinwire_protocols import mcpl
from kinwire_protocols.mcp import TextContent
from tests.runtime.mcpl.fixtures_pairs import feature

ITEMS = 12
ROOM = mcpl.ChannelDescriptor(id="chat:a", type="chat", label="a", direction="inbound")
MANNERS = ("in the block", "after the block", "a little later")


@pytest.fixture
def anyio_backend() -> tuple[str, dict[str, Any]]:
    """A clock that jumps to the next deadline when nothing else is to do."""
    return "trio", {"clock": MockClock(autojump_threshold=0)}


class World:
    """What outlives both sides, and what was done for the items."""

    def __init__(self, hosts: Records, servers: Records) -> None:
        self.hosts, self.servers = hosts, servers
        self.done = list[str]()
        self.handed = Counter[str]()
        self.faults = list[str]()

    async def run(self, manner: str | None, *, begins: bool = False) -> None:
        """Run both sides until one item is reached, and end them in this manner; None for all."""
        live = McplServer(feature_sets={"bell": feature("pushEvents")}, channels=[ROOM])
        outbox = Outbox(live, records=self.servers)
        if begins:
            await bring(outbox)
        inbox = DurableInbox(self.hosts)
        host = McplHost(
            enabled=["bell"],
            channels=Channels(on_turn=inbox.turn),
            on_push=inbox.push,
            records=self.hosts,
        )
        server = Server("bell", "1", extensions=[live])
        with anyio.CancelScope() as scope:
            async with (
                pair(server, Host("h", "1", extensions=[host])),
                anyio.create_task_group() as tasks,
            ):
                tasks.start_soon(self.work, inbox, scope, manner)
                await outbox.drain()
                tasks.cancel_scope.cancel()

    async def work(self, inbox: DurableInbox, scope: anyio.CancelScope, manner: str | None) -> None:
        async for item in inbox:
            async with item:
                turn = item.turn.messages if item.turn else ()
                names = [item.event.event_id] if item.event else [one.message_id for one in turn]
                self.faults += [name for name in names if self.handed[name] and not item.again]
                self.handed.update(names)
                if manner == "in the block":
                    scope.cancel()
                    await checkpoint()
                self.done += names
            if manner == "a little later":
                for _ in range(len(self.done) % 7):
                    await checkpoint()
            if manner is not None:
                scope.cancel()


async def bring(outbox: Outbox) -> None:
    for number in range(ITEMS):
        await outbox.push("bell", str(number), event_id=f"evt_{number:02}")
        text: list[mcpl.Block] = [TextContent(text="Hello")]
        await outbox.incoming(
            mcpl.IncomingMessage(channel_id="chat:a", message_id=f"m_{number:02}", content=text)
        )


@pytest.mark.anyio
async def test_what_both_sides_record_is_done_once_marked_and_in_order() -> None:
    async with open_store("memory:") as store:
        world = World(await store.records("host"), await store.records("server"))
        for life in range(2 * ITEMS):
            with anyio.fail_after(3600):
                await world.run(MANNERS[life % 3], begins=life == 0)
        with anyio.fail_after(3600):
            await world.run(None)
        left = [one async for one in world.hosts.scan("inbox/pending/")]
    assert (world.faults, left) == ([], [])
    events = [name for name in world.done if name.startswith("evt")]
    messages = [name for name in world.done if name.startswith("m")]
    assert events == [f"evt_{number:02}" for number in range(ITEMS)]
    assert messages == [f"m_{number:02}" for number in range(ITEMS)]
    assert max(world.handed.values()) > 1
