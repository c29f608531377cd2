"""What is remembered of conversations: read from records once, and never older than it is."""

from __future__ import annotations

import pytest

from kinwire.mcpl.host.conversations import Conversations
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
