"""What is remembered of conversations: read from records once, and never older than it is."""

from __future__ import annotations

import anyio
import pytest

from kinwire.managers.peer_records import PeerRecords
from kinwire.mcpl.host.conversations import Conversation, Conversations
from kinwire.rpc.identity import PeerIdentity
from kinwire.storage import Record, Records, open_store
from tests.runtime.managers.fixtures_records import FailingRecords
from tests.runtime.mcpl.fixtures_chat import message

pytestmark = [pytest.mark.anyio, pytest.mark.spec("mcpl-14.3-14")]


class SlowRecords(FailingRecords):
    """Records that hand over what they have read when the test lets them."""

    def __init__(self, records: Records) -> None:
        super().__init__(records)
        self.gate = anyio.Event()

    async def get(self, key: str) -> Record | None:
        found, gate = await self.records.get(key), self.gate
        if gate is not None:
            await gate.wait()
        return found


async def test_what_was_read_from_records_is_not_read_again() -> None:
    asked = message(1, thread_id="t")
    async with open_store("memory:") as store:
        records = await store.records("mcpl")
        before = Conversations(records)
        joined = await before.join("chat", asked, None)
        failing = FailingRecords(records)
        after = Conversations(failing)
        assert await after.of_thread("chat", asked) == joined
        first = await after.of(joined)
        read = failing.begun
        assert await after.of_thread("chat", asked) == joined
        assert await after.of(joined) == first
        assert failing.begun == read
        for record in [one async for one in records.scan("channel/")]:
            await records.delete(record.key)
        assert await after.of_thread("chat", asked) == joined
        assert await after.of(joined) == first
        assert await after.join("chat", asked, None) == joined


async def test_a_server_without_an_identity_leaves_no_conversation_in_the_store() -> None:
    """Apart from conversations that the program has chosen, which others may continue."""
    server = PeerIdentity.of(None).key
    async with open_store("memory:") as store:
        records = await store.records("mcpl")
        conversations = Conversations(PeerRecords(records))
        made = await conversations.join(server, message(1, thread_id="t"), None)
        assert await conversations.count(made) == 0
        assert [one.key async for one in records.scan()] == []
        assert await conversations.of_thread(server, message(2, thread_id="t")) == made
        await conversations.join(server, message(3, thread_id="u"), "chosen")
        assert await conversations.count("chosen") == 0
        assert await conversations.count("chosen") == 1
        after = await Conversations(PeerRecords(records)).of("chosen")
        assert after is not None
        assert after.turns == 2
        assert await conversations.join(server, message(4, thread_id="u"), None) == "chosen"
        assert await conversations.count("chosen") == 2
        after = await Conversations(PeerRecords(records)).of("chosen")
        assert after is not None
        assert after.turns == 3


async def test_what_is_read_takes_the_place_of_nothing_newer() -> None:
    """A turn is counted while an older value is being read."""
    asked = message(1, thread_id="t")
    async with open_store("memory:") as store:
        records = await store.records("mcpl")
        joined = await Conversations(records).join("chat", asked, None)
        slow = SlowRecords(records)
        conversations, read = Conversations(slow), list[Conversation | None]()

        async def look() -> None:
            read.append(await conversations.of(joined))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(look)
            await anyio.wait_all_tasks_blocked()
            gate, slow.gate = slow.gate, None
            assert gate is not None
            assert await conversations.count(joined) == 0
            gate.set()
        assert read[0] is not None
        assert read[0].turns == 1
        assert await conversations.count(joined) == 1
