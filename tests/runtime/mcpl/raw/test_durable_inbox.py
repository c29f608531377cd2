"""Events and messages of a raw server that a program confirms: none is lost, repeats are marked."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest

from kinwire import Host
from kinwire.mcpl import Channels, DurableInbox, McplHost
from kinwire.storage import Records, StorageUnavailableError, open_store
from tests.runtime.managers.fixtures_records import FailingRecords
from tests.runtime.mcpl.raw.peer import Message, RawServer
from tests.runtime.mcpl.raw.scenarios import ConnectServer, against_raw_server

ROOM = {"id": "chat:1", "type": "chat", "label": "Chat", "direction": "bidirectional"}
ACCEPTED = {"accepted": True}


def event(number: int = 1, **fields: Any) -> Message:
    return {
        "featureSet": "bell",
        "eventId": f"evt_{number}",
        "timestamp": "2026-01-23T10:30:00Z",
        "payload": {"content": [{"type": "text", "text": f"Ring {number}"}]},
        **fields,
    }


def messages(*ids: str) -> Message:
    content = [{"type": "text", "text": "Hello"}]
    return {
        "messages": [{"channelId": "chat:1", "messageId": id, "content": content} for id in ids]
    }


@asynccontextmanager
async def hosting(
    connect: ConnectServer, inbox: DurableInbox, records: Records | None = None, **host: Any
) -> AsyncGenerator[RawServer]:
    """Yield a raw server that is connected to a host with this inbox."""
    raw = RawServer(
        {
            "version": "0.4",
            "pushEvents": True,
            "channels": {"register": True, "incoming": True},
            "featureSets": {"bell": {"description": "Ring", "uses": ["pushEvents"]}},
        }
    )
    live = McplHost(
        enabled=["*"],
        on_push=inbox.push,
        channels=Channels(on_turn=inbox.turn),
        records=records,
        **host,
    )
    async with Host("h", "1", extensions=[live]) as opened:
        await connect(opened, raw, server_id="raw")
        await raw.expect("featureSets/update")
        await raw.result("channels/register", {"channels": [ROOM]})
        yield raw


async def taken_from(inbox: DurableInbox) -> Any:
    return await anext(aiter(inbox))


@pytest.mark.spec("mcpl-9.3-1", "mcpl-9.3-2")
@against_raw_server
async def test_an_event_is_acknowledged_when_it_is_confirmed(connect: ConnectServer) -> None:
    inbox = DurableInbox()
    async with hosting(connect, inbox) as raw:
        id = await raw.begin("push/event", event())
        item = await taken_from(inbox)
        async with item:
            assert (item.event.event_id, item.turn, item.again) == ("evt_1", None, False)
            await raw.settle()
            assert not any(one.get("id") == id and "result" in one for one in raw.received)
            item.inference_id = "inf_1"
        assert (await raw.reply(id))["result"] == {**ACCEPTED, "inferenceId": "inf_1"}
        with pytest.raises(RuntimeError, match="block has ended"):
            await item.__aenter__()


@pytest.mark.spec("mcpl-9.3-3")
@against_raw_server
async def test_a_program_may_refuse_an_event(connect: ConnectServer) -> None:
    inbox = DurableInbox()
    async with hosting(connect, inbox) as raw:
        for _ in range(2):  # what was refused may come again
            id = await raw.begin("push/event", event())
            async with await taken_from(inbox) as item:
                assert not item.again
                item.refuse("not today")
            assert (await raw.reply(id))["result"] == {"accepted": False, "reason": "not today"}


@against_raw_server
@pytest.mark.spec("mcpl-9.4-1")
async def test_what_a_block_did_not_finish_comes_again_marked(connect: ConnectServer) -> None:
    inbox = DurableInbox(retry_delay=0.001)
    async with hosting(connect, inbox) as raw:
        id = await raw.begin("push/event", event())
        with pytest.raises(ValueError, match="broken"):
            async with await taken_from(inbox):
                raise ValueError("broken")
        with anyio.CancelScope() as scope:
            async with await taken_from(inbox) as item:
                assert item.again
                scope.cancel()
                await anyio.sleep_forever()
        async with await taken_from(inbox) as item:
            assert item.again
        assert (await raw.reply(id))["result"] == ACCEPTED


@against_raw_server
@pytest.mark.spec("mcpl-9.4-1")
async def test_a_slow_program_gets_an_event_once(connect: ConnectServer) -> None:
    """The answer is late, and the server repeats the event until it gets it."""
    inbox = DurableInbox()
    async with hosting(connect, inbox, push_timeout=0.01) as raw:
        late = {"accepted": False, "reason": "it was not taken in time"}
        assert await raw.result("push/event", event()) == late
        async with await taken_from(inbox) as item:
            assert not item.again
            assert await raw.result("push/event", event()) == late
        assert await raw.result("push/event", event()) == ACCEPTED
        id = await raw.begin("push/event", event(2))
        assert (await taken_from(inbox)).event.event_id == "evt_2"
        await raw.reply(id)


@pytest.mark.spec("mcpl-9.4-1")
@pytest.mark.parametrize("confirmed", [False, True], ids=["not confirmed", "confirmed"])
@against_raw_server
async def test_a_host_that_ended_goes_on_with_what_it_had(
    connect: ConnectServer, confirmed: bool
) -> None:
    """The server got no answer, and the program may have finished with the event or not."""
    async with open_store("memory:") as store:
        records = await store.records("mcpl")
        inbox = DurableInbox(records)
        async with hosting(connect, inbox, records, push_timeout=0.01) as raw:
            assert not (await raw.result("push/event", event()))["accepted"]
            item = await taken_from(inbox)
            if confirmed:
                await item.__aexit__(None, None, None)
        inbox = DurableInbox(records)
        if not confirmed:  # also before the server is there again
            async with await taken_from(inbox) as item:
                assert (item.event.event_id, item.again, item.turn) == ("evt_1", True, None)
        async with hosting(connect, inbox, records) as raw:
            assert await raw.result("push/event", event()) == ACCEPTED
            id = await raw.begin("push/event", event(2))
            async with await taken_from(inbox) as item:
                assert (item.event.event_id, item.again) == ("evt_2", False)
            await raw.reply(id)
        assert [one async for one in records.scan("inbox/pending/")] == []


@pytest.mark.spec("mcpl-14.3-15")
@against_raw_server
async def test_messages_are_acknowledged_when_their_turn_is_confirmed(
    connect: ConnectServer,
) -> None:
    async with open_store("memory:") as store:
        records = await store.records("mcpl")
        inbox = DurableInbox(records)
        async with hosting(connect, inbox, records) as raw:
            id = await raw.begin("channels/incoming", messages("m1", "m2"))
            item = await taken_from(inbox)
            assert [one.message_id for one in item.turn.messages] == ["m1", "m2"]
            assert (item.event, item.again, list(item.turn.again)) == (None, False, [])
            with pytest.raises(ValueError, match="expected an event, got a turn"):
                item.refuse("no")
            await raw.settle()
            assert not any(one.get("id") == id and "result" in one for one in raw.received)
        inbox = DurableInbox(records)
        async with hosting(connect, inbox, records) as raw:
            id = await raw.begin("channels/incoming", messages("m1", "m2", "m3"))
            async with await taken_from(inbox) as item:
                assert [one.message_id for one in item.turn.again] == ["m1", "m2"]
                assert item.again
            async with await taken_from(inbox) as item:
                assert [one.message_id for one in item.turn.messages] == ["m3"]
                assert not item.again
            outcomes = (await raw.reply(id))["result"]["results"]
            assert [one["accepted"] for one in outcomes] == [True] * 3
            again = await raw.result("channels/incoming", messages("m1", "m2", "m3"))
            assert again["results"] == outcomes


@against_raw_server
@pytest.mark.spec("mcpl-9.3-1")
async def test_a_burst_of_a_thousand_events_is_complete_and_in_order(
    connect: ConnectServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the default limits; the server sends one event after the other, and obeys the limit."""
    inbox, now, refused, taken = DurableInbox(), [1000.0], 0, list[str]()
    monkeypatch.setattr("kinwire.mcpl.host.event_inbox.current_time", lambda: now[0])

    async def consume() -> None:
        async for item in inbox:
            async with item:
                assert item.event is not None
                assert not item.again
                taken.append(item.event.event_id)

    async with (
        hosting(connect, inbox) as raw,
        anyio.create_task_group() as tasks,
    ):
        tasks.start_soon(consume)
        for number in range(1000):
            while (answer := await raw.result("push/event", event(number))) != ACCEPTED:
                assert answer == {"accepted": False, "reason": "backpressure"}
                refused += 1
                now[0] += 0.25
        tasks.cancel_scope.cancel()
    assert taken == [f"evt_{number}" for number in range(1000)]
    assert refused >= 30


@pytest.mark.parametrize("damaged", [None, 5, "x", {"event": {}}, {"messages": []}])
@against_raw_server
async def test_a_record_that_is_no_item_stops_no_other(
    connect: ConnectServer, damaged: Any, caplog: pytest.LogCaptureFixture
) -> None:
    async with open_store("memory:") as store:
        records = await store.records("mcpl")
        await records.put("inbox/pending/server/1", damaged)
        inbox = DurableInbox(records)
        async with hosting(connect, inbox, records) as raw:
            id = await raw.begin("push/event", event())
            async with await taken_from(inbox) as item:
                assert (item.event.event_id, item.again) == ("evt_1", False)
            assert (await raw.reply(id))["result"] == ACCEPTED
    assert "ignored the record 'inbox/pending/server/1'" in caplog.text


@against_raw_server
async def test_items_that_are_read_again_come_once(connect: ConnectServer) -> None:
    """The store fails after the first of them was read."""
    async with open_store("memory:") as store:
        records = FailingRecords(await store.records("mcpl"))
        inbox = DurableInbox(records)
        async with hosting(connect, inbox, records, push_timeout=0.01) as raw:
            for number in range(2):
                assert not (await raw.result("push/event", event(number)))["accepted"]
        inbox = DurableInbox(FailsOnce(records, at=2))
        with pytest.raises(StorageUnavailableError):
            await taken_from(inbox)
        for number in range(2):
            async with await taken_from(inbox) as item:
                assert (item.event.event_id, item.again) == (f"evt_{number}", True)
        with anyio.move_on_after(0) as scope:
            await taken_from(inbox)
        assert scope.cancelled_caught


class FailsOnce(FailingRecords):
    """Records of which one `get` fails."""

    def __init__(self, records: Any, *, at: int) -> None:
        super().__init__(records)
        self.left = at

    async def get(self, key: str) -> Any:
        self.left -= 1
        self.fails = self.left == 0
        try:
            return await super().get(key)
        finally:
            self.fails = False
