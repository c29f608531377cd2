"""One call that is tried again, and the queue: order, room, restarts, and what may be repeated."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import ExitStack, asynccontextmanager
from itertools import count, groupby, islice, pairwise
from typing import Any

import anyio
import pytest
from anyio.from_thread import start_blocking_portal
from anyio.lowlevel import checkpoint
from hypothesis import settings, strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from kinwire.managers.retry import QueuedItem, RetryQueue, retry
from kinwire.storage import Record, Records, StorageUnavailableError, open_store
from kinwire.support.backoff import Backoff

pytestmark = pytest.mark.anyio

BACKOFF = Backoff(first=1, longest=4)


async def no_wait(seconds: float) -> None:
    await checkpoint()


# -- one call --


@pytest.mark.parametrize(
    ("script", "expected", "waits"),
    [
        (["ok"], "ok", []),
        (["no", "ok"], "ok", [1]),
        ([KeyError, "no", "ok"], "ok", [1, 2]),
        (["no", "no", "no", "no"], "no", [1, 2, 4]),
        ([KeyError] * 4, KeyError, [1, 2, 4]),
        ([ValueError, "ok"], ValueError, []),
    ],
)
async def test_a_call_is_repeated_until_its_result_is_final(
    script: list[Any], expected: Any, waits: list[float]
) -> None:
    waited: list[float] = []
    numbers: list[int] = []

    async def attempt(number: int) -> str:
        numbers.append(number)
        outcome = script[number - 1]
        if isinstance(outcome, str):
            return outcome
        raise outcome

    async def wait(seconds: float) -> None:
        waited.append(seconds)

    async def call() -> str:
        return await retry(
            attempt,
            attempts=4,
            again=lambda result: result == "no",
            errors=KeyError,
            backoff=BACKOFF,
            draw=lambda: 0.0,
            sleep=wait,
        )

    if isinstance(expected, str):
        assert await call() == expected
    else:
        with pytest.raises(expected):
            await call()
    assert waited == waits
    assert numbers == list(range(1, len(waits) + 2))


# -- the queue --

Delivered = list[tuple[str, Any]]


def delivering(delivered: Delivered) -> Callable[[QueuedItem], Awaitable[bool]]:
    async def deliver(item: QueuedItem) -> bool:
        delivered.append((item.key, item.value))
        return True

    return deliver


class Gate:
    """A receiver that takes nothing until it is opened."""

    def __init__(self) -> None:
        self.opened = anyio.Event()
        self.begun = anyio.Event()
        self.delivered: Delivered = []

    async def deliver(self, item: QueuedItem) -> bool:
        self.begun.set()
        await self.opened.wait()
        self.delivered.append((item.key, item.value))
        return True


@asynccontextmanager
async def new_records() -> AsyncGenerator[Records]:
    async with open_store("memory:") as store:
        yield await store.records("queue")


async def test_a_key_that_cannot_be_delivered_does_not_block_others() -> None:
    gate = Gate()
    others: Delivered = []

    async def deliver(item: QueuedItem) -> bool:
        one = gate.deliver if item.key == "a" else delivering(others)
        return await one(item)

    queue = RetryQueue(deliver)
    async with queue.running():
        await queue.put("a", 1)
        await queue.put("b", 2)
        await gate.begun.wait()
        while not others:
            await checkpoint()
        assert queue.pending == 1
        gate.opened.set()
        await queue.drain()
    assert gate.delivered == [("a", 1)]
    assert others == [("b", 2)]


async def test_a_producer_waits_while_its_key_is_full() -> None:
    gate = Gate()
    queue = RetryQueue(gate.deliver, limit=3)
    put: list[int] = []

    async def produce() -> None:
        for number in range(10):
            await queue.put("a", number)
            put.append(number)

    async with queue.running(), anyio.create_task_group() as tasks:
        tasks.start_soon(produce)
        await anyio.wait_all_tasks_blocked()
        assert put == [0, 1, 2]
        with anyio.move_on_after(0) as waiting:
            await queue.put("a", "never added")
        assert waiting.cancelled_caught
        await queue.put("b", 0)
        gate.opened.set()
        while len(put) < 10:
            await checkpoint()
        await queue.drain()
    assert [value for key, value in gate.delivered if key == "a"] == list(range(10))
    assert queue.pending == 0


async def test_delays_grow_and_an_exception_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    waited: list[float] = []
    attempts: list[int] = []

    async def deliver(item: QueuedItem) -> bool:
        attempts.append(item.attempt)
        if item.attempt == 1:
            raise KeyError("gone")
        return item.attempt == 5

    async def wait(seconds: float) -> None:
        waited.append(seconds)

    queue = RetryQueue(deliver, backoff=BACKOFF, draw=lambda: 1.0, sleep=wait)
    async with queue.running():
        await queue.put("a\nb", 1)
        await queue.drain()
        await queue.put("a\nb", 2)
        await queue.drain()
    assert attempts == [1, 2, 3, 4, 5] * 2
    assert waited == [1.25, 2.5, 5, 5] * 2
    assert caplog.messages == ["attempt 1 for a b failed; it is repeated"] * 2


async def test_items_wait_in_a_queue_that_is_stopped() -> None:
    seen: list[QueuedItem] = []
    gate = Gate()

    async def deliver(item: QueuedItem) -> bool:
        seen.append(item)
        return await gate.deliver(item)

    queue = RetryQueue(deliver, limit=2)
    async with anyio.create_task_group() as tasks:
        async with queue.running():
            await queue.put("a", 1)
            await gate.begun.wait()
        assert queue.pending == 1
        await queue.put("a", 2)
        tasks.start_soon(queue.put, "a", 3)
        await anyio.wait_all_tasks_blocked()
        gate.opened.set()
        async with queue.running():
            while queue.pending:
                await queue.drain()
    assert gate.delivered == [("a", 1), ("a", 2), ("a", 3)]
    assert [item.may_be_repeated for item in seen] == [False, True, False, False]


async def test_records_that_cannot_be_read_are_read_by_the_next_call() -> None:
    delivered: Delivered = []
    async with new_records() as records:
        await records.put("queue/0000000000000001", {"key": "a", "value": 1})
        unreliable: Any = UnreliableRecords(records)
        unreliable.fails = "scan"
        queue = RetryQueue(delivering(delivered), records=unreliable)
        for call in (queue.drain(), queue.put("a", 2)):
            with pytest.raises(StorageUnavailableError):
                await call
        unreliable.fails = ""
        async with queue.running():
            await queue.put("a", 2)
            await queue.drain()
    assert delivered == [("a", 1), ("a", 2)]


async def test_errors_of_the_block_are_not_wrapped() -> None:
    queue = RetryQueue(Gate().deliver)
    with pytest.raises(KeyError):
        async with queue.running():
            raise KeyError


async def test_records_that_are_not_items_are_left_alone(caplog: pytest.LogCaptureFixture) -> None:
    delivered: Delivered = []
    async with new_records() as records:
        await records.put("queue/0000000000000003", {"key": "a", "value": None})
        await records.put("queue/0000000000000004", ["a", 1])
        await records.put("queue/x", {"key": "a", "value": 2})
        await records.put("other/0000000000000005", {"key": "a", "value": 3})
        queue = RetryQueue(delivering(delivered), records=records)
        async with queue.running():
            await queue.put("a", 6)
            await queue.drain()
        assert len([one async for one in records.scan()]) == 3
    assert delivered == [("a", None), ("a", 6)]
    assert caplog.messages == ["ignored a record below 'queue/' that is not an item"] * 2


class UnreliableRecords:
    """Records whose writes fail when they are asked to."""

    def __init__(self, records: Records) -> None:
        self._records = records
        self.fails = ""

    def scan(self, prefix: str) -> AsyncIterator[Record]:
        self._check("scan", prefix)
        return self._records.scan(prefix)

    async def put(self, key: str, value: Any, *, revision: int | None = None) -> int:
        self._check("put", key)
        return await self._records.put(key, value, revision=revision)

    async def delete(self, key: str) -> bool:
        self._check("delete", key)
        return await self._records.delete(key)

    def _check(self, call: str, key: str) -> None:
        if self.fails == call:
            raise StorageUnavailableError(key, expected="a disk", got="smoke", hint="Run.")


async def test_an_item_that_cannot_be_recorded_is_not_delivered() -> None:
    delivered: Delivered = []
    async with new_records() as records:
        unreliable: Any = UnreliableRecords(records)
        queue = RetryQueue(delivering(delivered), records=unreliable)
        async with queue.running():
            unreliable.fails = "put"
            with pytest.raises(StorageUnavailableError):
                await queue.put("a", 1)
            unreliable.fails = ""
            await queue.put("a", 2)
            await queue.drain()
    assert delivered == [("a", 2)]


async def test_an_item_whose_end_is_not_recorded_comes_again(
    caplog: pytest.LogCaptureFixture,
) -> None:
    seen: list[tuple[Any, bool]] = []

    async def deliver(item: QueuedItem) -> bool:
        seen.append((item.value, item.may_be_repeated))
        return True

    async with new_records() as records:
        unreliable: Any = UnreliableRecords(records)
        queue = RetryQueue(deliver, records=unreliable)
        async with queue.running():
            unreliable.fails = "delete"
            await queue.put("a", 1)
            await queue.drain()
        unreliable.fails = ""
        later = RetryQueue(deliver, records=records)
        async with later.running():
            await later.drain()
    assert seen == [(1, False), (1, True)]
    assert "may come again after a restart" in caplog.text


async def test_an_item_that_is_recorded_is_queued_although_its_producer_is_cancelled() -> None:
    delivered: Delivered = []
    async with new_records() as records:
        queue = RetryQueue(delivering(delivered), records=records)
        async with queue.running():
            with anyio.CancelScope() as scope:
                scope.cancel()
                await queue.put("a", 1)
            await queue.put("a", 2)
            await queue.drain()
        assert [one async for one in records.scan()] == []
    assert [value for _, value in delivered] in ([2], [1, 2])


class QueueModel(RuleBasedStateMachine):
    """Per key the items come in order, none is lost, and repeats are only those with a reason."""

    backend = "asyncio"

    def __init__(self) -> None:
        super().__init__()
        self.values = count()
        self.put_values: dict[str, list[int]] = defaultdict(list)
        self.seen: dict[str, list[QueuedItem]] = defaultdict(list)
        self.script: dict[str, deque[str]] = defaultdict(deque)
        self.outer, self.inner = ExitStack(), ExitStack()
        self.portal = self.outer.enter_context(start_blocking_portal(self.backend))
        wrap = self.portal.wrap_async_context_manager
        self.records = self.outer.enter_context(wrap(new_records()))
        self.begin()

    def begin(self) -> None:
        self.queue = RetryQueue(self.deliver, records=self.records, draw=lambda: 0.5, sleep=no_wait)
        wrap = self.portal.wrap_async_context_manager
        self.inner.enter_context(wrap(self.queue.running()))

    async def deliver(self, item: QueuedItem) -> bool:
        script = self.script[item.key]
        outcome = script.popleft() if script else "done"
        if outcome != "refused":
            self.seen[item.key].append(item)
        if outcome == "hangs":
            await anyio.sleep_forever()
        if outcome == "breaks":
            raise ConnectionError
        return outcome == "done"

    def taken(self, key: str) -> list[int]:
        return [value for value, _ in groupby(self.seen[key], lambda item: item.value)]

    @rule(key=st.sampled_from("ab"), number=st.integers(1, 4))
    def put(self, key: str, number: int) -> None:
        for value in islice(self.values, number):
            self.portal.call(self.queue.put, key, value)
            self.put_values[key].append(value)

    @rule(key=st.sampled_from("ab"), outcome=st.sampled_from(["refused", "breaks", "hangs"]))
    def fail(self, key: str, outcome: str) -> None:
        self.script[key].append(outcome)

    @rule()
    def restart(self) -> None:
        self.inner.close()
        self.script.clear()
        self.begin()

    @invariant()
    def repeats_are_marked_and_in_order(self) -> None:
        for key, items in self.seen.items():
            assert self.taken(key) == self.put_values[key][: len(self.taken(key))]
            for before, item in pairwise(items):
                assert item.may_be_repeated or item.value != before.value

    def teardown(self) -> None:
        self.restart()
        self.portal.call(self.queue.drain)
        assert {key: self.taken(key) for key in self.seen} == {
            key: values for key, values in self.put_values.items() if values
        }
        assert self.portal.call(self.left) == 0
        self.inner.close()
        self.outer.close()

    async def left(self) -> int:
        return len([one async for one in self.records.scan()])


def test_nothing_is_lost_and_the_order_is_kept() -> None:
    run_state_machine_as_test(
        QueueModel, settings=settings(max_examples=40, stateful_step_count=12, deadline=None)
    )
