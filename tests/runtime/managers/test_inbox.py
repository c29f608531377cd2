"""Items are handed over as often as they must be, and remembered within limits."""

from __future__ import annotations

import asyncio
import gc
import tracemalloc
from functools import partial
from itertools import count
from typing import Any

import anyio
import pytest
from anyio.lowlevel import checkpoint
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule

from kinwire.managers.inbox import REMEMBERED, Fate, Inbox, Remembered, ReusedIdError
from kinwire.storage import Records, open_store
from kinwire.support.bounded import DEDUP_SECONDS
from kinwire_protocols.base import from_wire, to_wire
from kinwire_protocols.mcpl import PushEventResult
from tests.runtime.mcpl.fixtures_long_runs import BRIEF, long_run


def inbox_of(now: list[float], records: Records | None = None, **limit: int) -> Inbox[str, str]:
    return Inbox("box/", write=str, read=str, records=records, clock=lambda: now[0], **limit)


class Consumer:
    """Answers with the number of the hand-over, unless it is given another fate."""

    def __init__(self) -> None:
        self.handed: list[tuple[str, bool]] = []
        self.fate: Fate | str = Fate.ANSWERED
        self.scope: anyio.CancelScope | None = None

    async def __call__(self, item: str, again: bool) -> tuple[str, Fate]:
        self.handed.append((item, again))
        if self.fate == "fails":
            raise RuntimeError("it failed")
        if self.fate == "hangs":
            assert self.scope is not None
            self.scope.cancel()
            await anyio.sleep_forever()
        assert isinstance(self.fate, Fate)
        return f"answer {len(self.handed)}", self.fate


class AnyInboxAgainstModel(RuleBasedStateMachine):
    """The model keeps every item that was ever handed over: its digest, answer, and time."""

    with_records = False

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.Runner()
        self.now, self.consumer = [0.0], Consumer()
        self.store: Any = open_store("memory:", clock=lambda: self.now[0])
        self.records = self.loop.run(self.opened()) if self.with_records else None
        self.model: dict[tuple[str, str], tuple[str, str | None, float]] = {}
        self.restart()

    async def opened(self) -> Records:
        opened = await self.store.__aenter__()
        records: Records = await opened.records("inbox")
        return records

    def teardown(self) -> None:
        self.loop.close()

    @rule()
    def restart(self) -> None:
        self.real = inbox_of(self.now, self.records)
        if self.records is None:
            self.model.clear()

    @rule(hours=st.integers(1, 20))
    def wait(self, hours: int) -> None:
        self.now[0] += hours * 3600

    @rule(
        sender=st.sampled_from("ab"),
        id=st.sampled_from("xyz"),
        digest=st.sampled_from("12"),
        fate=st.sampled_from([*Fate, Fate.ANSWERED, "fails", "hangs"]),
        times=st.integers(1, 2),
    )
    def take(self, sender: str, id: str, digest: str, fate: Fate | str, times: int) -> None:
        self.consumer.fate = fate
        for _ in range(times):
            self.take_once(sender, id, digest)

    def take_once(self, sender: str, id: str, digest: str) -> None:
        self.consumer.handed.clear()
        known = self.model.get((sender, id))
        if known is not None and self.now[0] - known[2] >= DEDUP_SECONDS:
            known = None
        answer = self.loop.run(self.answered(sender, id, digest))
        if known is not None and known[0] != digest:
            assert (answer, self.consumer.handed) == ("reused", [])
        elif known is not None and known[1] is not None:
            assert (answer, self.consumer.handed) == (known[1], [])
        else:
            assert self.consumer.handed == [("item", known is not None)]
            self.remember((sender, id), digest, answer)

    def remember(self, key: tuple[str, str], digest: str, answer: str) -> None:
        if self.consumer.fate in (Fate.REFUSED, "fails"):
            self.model.pop(key, None)
        else:
            final = answer if self.consumer.fate is Fate.ANSWERED else None
            self.model[key] = (digest, final, self.now[0])

    async def answered(self, sender: str, id: str, digest: str) -> str:
        key = self.real.key(sender, id)
        with anyio.CancelScope() as self.consumer.scope:
            try:
                return await self.real.take(key, "item", self.consumer, digest=digest)
            except ReusedIdError:
                return "reused"
            except RuntimeError as error:
                return str(error)
        return "cancelled"


class RecordedInboxAgainstModel(AnyInboxAgainstModel):
    with_records = True


TestInMemory = AnyInboxAgainstModel.TestCase
TestInMemory.settings = BRIEF
TestInMemoryAtLength = long_run(AnyInboxAgainstModel)
TestInRecords = RecordedInboxAgainstModel.TestCase
TestInRecords.settings = BRIEF
TestInRecordsAtLength = long_run(RecordedInboxAgainstModel)


@pytest.mark.anyio
async def test_repeats_wait_for_the_answer_to_the_first() -> None:
    inbox, go_on, answers = inbox_of([0.0]), anyio.Event(), list[str]()
    key = inbox.key("a", "x")

    async def slow(item: str, again: bool) -> tuple[str, Fate]:
        await go_on.wait()
        return item, Fate.ANSWERED

    async def take(item: str) -> None:
        answers.append(await inbox.take(key, item, slow))

    async with anyio.create_task_group() as tasks:
        for number in range(3):
            tasks.start_soon(take, f"item {number}")
            await checkpoint()
        assert inbox.is_under_way(key)
        go_on.set()
    assert answers == ["item 0"] * 3
    assert not inbox.is_under_way(key)


@pytest.mark.anyio
@pytest.mark.parametrize("stored", [False, True], ids=["in memory", "in records"])
async def test_a_cancelled_hand_over_comes_again_marked(stored: bool) -> None:
    async with open_store("memory:") as store:
        records = await store.records("inbox") if stored else None
        inbox, consumer = inbox_of([0.0], records), Consumer()
        key = inbox.key("a", "x")
        consumer.fate = "hangs"
        with anyio.CancelScope() as consumer.scope:
            await inbox.take(key, "item", consumer)
        assert await inbox.look(key) == Remembered("", None)
        consumer.fate = Fate.ANSWERED
        assert await inbox.take(key, "item", consumer) == "answer 2"
    assert consumer.handed == [("item", False), ("item", True)]


@pytest.mark.anyio
async def test_items_may_be_handed_over_by_hand() -> None:
    """Several at a time, as the messages of one turn."""
    async with open_store("memory:") as store:
        records = await store.records("inbox")
        inbox = inbox_of([0.0], records)
        key = inbox.key("a", "channel", "message")
        async with inbox.turn(key):
            assert inbox.is_under_way(key)
            await inbox.record(key, None)
        assert await inbox.look(key) == Remembered("", None)
        await inbox.record(key, "done")
        for box in (inbox, inbox_of([0.0], records)):
            assert await box.look(key) == Remembered("", "done")
        await inbox.forget(key)
        assert await inbox.look(key) is None


@pytest.mark.anyio
async def test_one_sender_cannot_make_an_inbox_forget_the_ids_of_others() -> None:
    now, consumer = [0.0], Consumer()
    inbox = inbox_of(now, limit=100)
    for number in range(20):
        await inbox.take(inbox.key("quiet", str(number)), "item", consumer)
    for number in range(1000):
        await inbox.take(inbox.key("loud", str(number)), "item", consumer)
    consumer.handed.clear()
    for number in range(20):
        await inbox.take(inbox.key("quiet", str(number)), "item", consumer)
    for number in range(950, 1000):
        await inbox.take(inbox.key("loud", str(number)), "item", consumer)
    assert consumer.handed == []
    await inbox.take(inbox.key("loud", "0"), "item", consumer)
    assert consumer.handed == [("item", False)]


SERVERS, EVENTS_A_SECOND, WEEK, MOST_BYTES = 50, 1.2, 7 * 86_400, 200_000_000
SCALE = 400


def test_remembered_events_of_a_week_take_bounded_memory() -> None:
    """50 servers push 1.2 events a second each for a simulated week.

    That is 36 million events, which would take an hour here. So the limit is a 400th of the
    default one, and only as many events are pushed as reach the steady state, twice the limit, and
    as many as show that it is steady; the rest of the week is one jump of the clock. The bytes are
    those that tracemalloc counts, of all that is remembered; their number for each id, which does
    not depend on the limit, is multiplied with the default limit.
    """
    now, limit = [0.0], REMEMBERED // SCALE
    make = partial(Inbox[str, PushEventResult], "push/", write=to_wire, records=None)
    inbox = make(read=partial(from_wire, PushEventResult), clock=lambda: now[0], limit=limit)
    asyncio.run(push_events(inbox, now, 10))  # loads what is loaded on first use
    tracemalloc.start()
    try:
        grown = used_after(inbox, now, 2 * limit)
        steady = used_after(inbox, now, limit)
        now[0] += WEEK
        idle = used_after(inbox, now, limit // 20)
    finally:
        tracemalloc.stop()
    assert abs(steady - grown) < 0.2 * grown, "not the steady state"
    assert steady / limit < 600  # bytes for each id
    assert steady / limit * REMEMBERED < MOST_BYTES / 2  # the rest is for the messages of channels
    assert idle < steady / 4, "what has expired is not removed"


def used_after(inbox: Inbox[str, PushEventResult], now: list[float], events: int) -> int:
    """Push events, and return how many bytes are in use."""
    asyncio.run(push_events(inbox, now, events))
    gc.collect()
    return tracemalloc.get_traced_memory()[0]


async def push_events(inbox: Inbox[str, PushEventResult], now: list[float], events: int) -> None:
    numbers = count(int(now[0] * 1000))

    async def accept(item: str, again: bool) -> tuple[PushEventResult, Fate]:
        name = f"inf_{next(numbers):032x}"
        return PushEventResult(accepted=True, inference_id=name), Fate.ANSWERED

    for number in range(events):
        now[0] += 1 / (SERVERS * EVENTS_A_SECOND)
        key = inbox.key(f"server {number % SERVERS}", f"{now[0]} {number}")
        await inbox.take(key, "item", accept, digest=key.id)
