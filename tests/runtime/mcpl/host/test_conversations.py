"""What is remembered of conversations: read from records once, and never older than it is."""

from __future__ import annotations

import pytest

from kinwire.managers.peer_records import PeerRecords
from kinwire.mcpl.host.conversations import Conversations
from kinwire.rpc.identity import PeerIdentity
from kinwire.storage import open_store
from tests.runtime.mcpl.fixtures_chat import message

pytestmark = [pytest.mark.anyio, pytest.mark.spec("mcpl-14.3-14")]


async def test_what_was_read_from_records_is_not_read_again() -> None:
    asked = message(1, thread_id="t")
    async with open_store("memory:") as store:
        records = await store.records("mcpl")
        before = Conversations(records)
        joined = await before.join("chat", asked, None)
        after = Conversations(records)
        assert await after.of_thread("chat", asked) == joined
        first = await after.of(joined)
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
