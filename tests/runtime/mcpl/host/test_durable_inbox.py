"""A durable inbox over a crash at every write, and a host that is killed."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any

import anyio
import pytest

from kinwire import Host, stdio
from kinwire.mcpl import Channels, DurableInbox, InboxItem, McplHost, PushedEvent, UserTurn
from kinwire.mcpl.host.event_inbox import EventInbox
from kinwire.storage import Records, open_store
from kinwire_protocols.mcpl import (
    ChannelContext,
    IncomingMessage,
    PushEventParams,
    PushEventPayload,
    PushEventResult,
)
from tests.each import each
from tests.runtime.fixtures_wire import PROGRAMS
from tests.runtime.programs import live

EVENTS = [f"evt_{number}" for number in range(3)]
PATIENCE = 30


class CrashError(BaseException):
    """The process ends here: nothing may catch it."""


class CrashingRecords:
    """Records of which one write ends the process, before or after it has taken effect."""

    def __init__(self, records: Records, writes: int, *, after: bool) -> None:
        self.inner, self.left, self.after = records, writes, after
        self.get, self.scan, self.watch = records.get, records.scan, records.watch

    async def put(self, key: str, value: Any, **options: Any) -> int:
        return int(await self._written(self.inner.put, key, value, **options))

    async def delete(self, key: str, **options: Any) -> bool:
        return bool(await self._written(self.inner.delete, key, **options))

    async def _written(self, write: Any, *arguments: Any, **options: Any) -> Any:
        self.left -= 1
        if self.left < 0:  # nothing happens in a process that has ended
            raise CrashError
        if self.left == 0 and not self.after:
            raise CrashError
        result = await write(*arguments, **options)
        if self.left == 0:
            raise CrashError
        return result


class Sender:
    """As much of a server as an inbox needs to know."""

    id = key = "s" * 32


class World:
    """What outlives the hosts: the server with its events, and what was done for them."""

    def __init__(self) -> None:
        self.handed = Counter[str]()
        self.done = Counter[str]()
        self.unmarked = list[str]()
        self.acknowledged = list[str]()

    async def host(self, records: Any) -> None:
        """Run a host until the server has all answers, or until it crashes."""
        inbox = DurableInbox(records)
        events = EventInbox(inbox.push, PATIENCE, 1e9, records, lambda: 0.0)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self.consume, inbox)
            for name in EVENTS:
                if name not in self.acknowledged:
                    answer = await events.take(*pushed(name))
                    assert answer == PushEventResult(accepted=True)
                    self.acknowledged.append(name)
            tasks.cancel_scope.cancel()

    async def consume(self, inbox: DurableInbox) -> None:
        async for item in inbox:
            async with item:
                assert item.event is not None
                name = item.event.event_id
                self.unmarked += [name] if self.handed[name] and not item.again else []
                self.handed[name] += 1
                self.done[name] += 1


def pushed(name: str) -> tuple[Any, PushEventParams]:
    params = PushEventParams(
        feature_set="bell",
        event_id=name,
        timestamp="2026-01-23T10:30:00Z",
        payload=PushEventPayload(content=[]),
    )
    return Sender(), params


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_a_crash_at_any_write_loses_nothing_and_repeats_marked(after: bool) -> None:
    async def crash_at(write: int) -> bool:
        world = World()
        async with open_store("memory:") as store:
            records = await store.records("mcpl")
            crashing = CrashingRecords(records, write, after=after)
            with suppress(BaseExceptionGroup):
                await world.host(crashing)
            crashed = crashing.left <= 0
            with anyio.fail_after(PATIENCE):
                await world.host(records)
            left = [one async for one in records.scan("inbox/pending/")]
        assert (world.acknowledged, world.unmarked, left) == (EVENTS, [], []), write
        assert set(world.done) == set(EVENTS)
        assert sum(world.done.values()) <= len(EVENTS) + crashed
        return crashed

    async def main() -> int:
        write = 1
        while await crash_at(write):
            write += 1
        return write

    assert asyncio.run(main()) > 10


def turn(*ids: str) -> UserTurn:
    return UserTurn(
        server_key="s" * 32,
        conversation_id="conv_1",
        index=3,
        messages=[IncomingMessage(channel_id="c", message_id=id, content=[]) for id in ids],
        infer=True,
        channels=ChannelContext(candidates=["c"]),
    )


@pytest.mark.anyio
@pytest.mark.spec("mcpl-14.3-14")
async def test_a_recorded_turn_is_the_same_after_a_restart(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level("INFO")
    async with open_store("memory:") as store:
        records = await store.records("mcpl")
        before, given = DurableInbox(records), turn("a", "b")
        with anyio.move_on_after(0.01):
            await before.turn(given)
        item = await anext(aiter(DurableInbox(records)))
        assert item.turn is not None
        assert (item.turn.again, item.again) == (item.turn.messages, True)
        for name in ("server_key", "conversation_id", "index", "messages", "infer", "channels"):
            assert getattr(item.turn, name) == getattr(given, name)
        assert caplog.messages == ["1 items that were not confirmed are handed over again"]


@pytest.mark.anyio
@pytest.mark.spec("mcpl-9.4-1")
async def test_an_event_whose_block_fails_comes_again_after_a_time() -> None:
    for delay, comes in ((60.0, False), (0.001, True)):
        inbox = DurableInbox(retry_delay=delay)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(inbox.push, PushedEvent(*pushed("evt_0")))
            with pytest.raises(KeyError):
                async with await anext(aiter(inbox)):
                    raise KeyError
            with anyio.move_on_after(20 if comes else 0.005) as scope:
                assert (await anext(aiter(inbox))).again
            assert scope.cancelled_caught is not comes
            tasks.cancel_scope.cancel()


@pytest.mark.anyio
@pytest.mark.spec("mcpl-9.4-1")
async def test_an_event_whose_block_is_cancelled_comes_again_before_all_others() -> None:
    inbox = DurableInbox(retry_delay=60)
    async with anyio.create_task_group() as tasks:
        for name in ("evt_0", "evt_1"):
            tasks.start_soon(inbox.push, PushedEvent(*pushed(name)))
            await anyio.wait_all_tasks_blocked()
        with anyio.CancelScope() as scope:
            async with await anext(aiter(inbox)):
                scope.cancel()
                await anyio.lowlevel.checkpoint()
        with anyio.fail_after(PATIENCE):
            found = [await anext(aiter(inbox)) for _ in range(2)]
        assert [name_of(one) for one in found] == ["evt_0", "evt_1"]
        assert [one.again for one in found] == [True, False]
        tasks.cancel_scope.cancel()


@pytest.mark.anyio
@pytest.mark.spec("mcpl-9.3-1")
async def test_servers_wait_while_a_thousand_items_are_not_confirmed() -> None:
    inbox, answers = DurableInbox(), list[PushEventResult]()

    async def push(name: str) -> None:
        answers.append(await inbox.push(PushedEvent(*pushed(name))))

    async def taken() -> list[InboxItem]:
        found = list[InboxItem]()
        with anyio.move_on_after(0.005):
            while True:
                found.append(await anext(aiter(inbox)))
        return found

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(inbox.turn, turn(*map(str, range(999))))
        for name in ("evt_0", "evt_1"):
            await anyio.wait_all_tasks_blocked()
            tasks.start_soon(push, name)
        first, second = await taken()
        assert name_of(second) == "evt_0"
        async with first:
            pass
        (third,) = await taken()
        assert name_of(third) == "evt_1"
        for item in (second, third):
            async with item:
                pass
    assert [one.accepted for one in answers] == [True, True]


@pytest.mark.anyio
@pytest.mark.spec("mcpl-9.4-1")
async def test_what_was_confirmed_before_a_crash_is_not_handed_over_again() -> None:
    """The confirmation was recorded, and the process ended before the item was removed."""
    async with open_store("memory:") as store:
        records = await store.records("mcpl")
        inbox = DurableInbox(CrashingRecords(records, 3, after=False))
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(inbox.push, PushedEvent(*pushed("evt_0")))
            item = await anext(aiter(inbox))
            with pytest.raises(CrashError):
                await item.__aexit__(None, None, None)
            tasks.cancel_scope.cancel()
        assert len([one async for one in records.scan("inbox/pending/")]) == 1
        with anyio.move_on_after(0.01) as scope:
            await anext(aiter(DurableInbox(records)))
        assert scope.cancelled_caught
        assert [one async for one in records.scan("inbox/pending/")] == []


@pytest.mark.anyio
@pytest.mark.spec("mcpl-14.3-14")
async def test_a_turn_whose_messages_are_all_here_is_not_handed_over_twice() -> None:
    inbox, items = DurableInbox(), list[InboxItem]()

    async def consume() -> None:
        async for item in inbox:
            async with item:
                items.append(item)
                await anyio.lowlevel.checkpoint()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(consume)
        async with anyio.create_task_group() as turns:
            for ids in (("a", "b"), ("b", "a"), ("a",), ("b", "c")):
                turns.start_soon(inbox.turn, turn(*ids))
        await inbox.turn(turn("a", "c"))
        tasks.cancel_scope.cancel()
    taken = [one.message_id for item in items if item.turn for one in item.turn.messages]
    assert sorted(taken) == ["a", "b", "c"]


@each(
    ("arguments", "error", "text"),
    [
        ({"records": "store"}, TypeError, "DurableInbox.records: expected records of a store"),
        ({"retry_delay": 0}, ValueError, "DurableInbox.retry_delay: expected seconds"),
        ({"clock": 3}, TypeError, "DurableInbox.clock: expected"),
    ],
)
def test_wrong_arguments_are_refused(
    arguments: dict[str, Any], error: type[Exception], text: str
) -> None:
    with pytest.raises(error, match=text):
        DurableInbox(**arguments)


def killed(store: str, moment: str) -> list[str]:
    """Run a host until it is killed, and return what it has printed."""
    program = (sys.executable, str(PROGRAMS / "durable.py"), store, live.__file__, moment)
    done = subprocess.run(program, capture_output=True, timeout=PATIENCE, text=True)
    assert (done.stderr, done.returncode) == ("", -signal.SIGKILL)
    return done.stdout.splitlines()


@pytest.mark.slow
@pytest.mark.anyio
@pytest.mark.parametrize("moment", ["in the block", "after the block"])
async def test_a_killed_host_loses_nothing_and_repeats_marked(moment: str, tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path}/host.db"
    assert await anyio.to_thread.run_sync(killed, store, moment) == ["evt_1 False", "m_1 False"]
    async with open_store(store) as opened:
        records = await opened.records("mcpl")
        inbox, taken = DurableInbox(records), list[str]()

        async def consume() -> None:
            async for item in inbox:
                async with item:
                    taken.append(f"{name_of(item)} {item.again}")

        mcpl_host = McplHost(
            enabled=["*"],
            on_push=inbox.push,
            channels=Channels(on_turn=inbox.turn),
            records=records,
        )
        async with (
            Host("h", "1", extensions=[mcpl_host]) as host,
            anyio.create_task_group() as tasks,
        ):
            tasks.start_soon(consume)
            server = stdio(sys.executable, live.__file__)
            call = (await host.connect(server, server_id="live")).mcp.tools_call
            with anyio.fail_after(PATIENCE):
                for name in ("evt_1", "evt_2"):
                    await call(name="push", arguments={"event_id": name, "text": "Now"})
                bring = {"messages": ["m_1", "m_2"], "thread_id": "t_1"}
                await call(name="bring", arguments=bring)
            tasks.cancel_scope.cancel()
    repeated = ["m_1 True"] if moment == "in the block" else []
    assert taken == [*repeated, "evt_2 False", "m_2 False"]


def name_of(item: InboxItem) -> str:
    if item.event is not None:
        return item.event.event_id
    assert item.turn is not None
    (message,) = item.turn.messages
    return message.message_id
