"""`Leases`: one holder at a time, whatever stops, hangs, or gets no answer."""

from __future__ import annotations

import logging
import random
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import anyio
import pytest
from anyio.abc import TaskGroup

from kinwire.managers.lease_rules import ENDS_AFTER, LeaseTerm, LeaseView
from kinwire.managers.leases import Lease, LeaseLostError, Leases, elapsed
from kinwire.storage import ConflictError, Record, Records, StorageUnavailableError, open_store
from kinwire.storage.errors import StorageDamagedError
from kinwire.support.background import background
from tests.runtime.managers.fixtures_records import FailingRecords
from tests.runtime.managers.fixtures_time import FakeTime
from tests.runtime.storage.fixtures_engines import ON_ALL, Engine

pytestmark = pytest.mark.anyio

LASTS = 12.0


class Process:
    """One process that wants a lease, and what it saw."""

    def __init__(self, name: str, records: Any, time: FakeTime) -> None:
        self.name, self.time = name, time
        self.leases = Leases(
            records, holder=name, lasts=LASTS, clock=time, wall=lambda: 0.0, sleep=time.sleep
        )
        self.lease: Lease | None = None
        self.fences: list[int] = []
        self.lost = 0
        self.note: Any = None
        self.waits = False
        self.scope = anyio.CancelScope()
        self.enough = anyio.Event()
        self.is_over = False

    @property
    def holds(self) -> bool:
        return self.lease is not None and self.lease.is_held

    async def wait(self) -> None:
        self.waits = True
        try:
            await anyio.sleep_forever()
        finally:
            self.waits = False

    async def run(self) -> None:
        with self.scope:
            try:
                async with self.leases.hold(
                    "files", waiting=self.wait, note=lambda: self.note
                ) as self.lease:
                    self.fences.append(self.lease.fence)
                    await self.enough.wait()
            except LeaseLostError:
                self.lost += 1
            self.lease = None
        self.is_over = True


class Silent:
    """Records of a process that was killed: it writes nothing more."""

    def __init__(self, records: Records) -> None:
        self._records = records
        self.killed = False

    def __getattr__(self, name: str) -> Any:
        if not self.killed:
            return getattr(self._records, name)
        raise StorageUnavailableError("killed", expected="a", got="b", hint="c")


@asynccontextmanager
async def contest(
    *wrapped: Callable[[Any], Any],
) -> AsyncGenerator[tuple[FakeTime, list[Process], TaskGroup]]:
    """Yield processes on one store, each with records that are wrapped, the first one started."""
    time = FakeTime()
    async with open_store("memory:") as store:
        records = await store.records("tests")
        found = [Process(str(at), wrap(records), time) for at, wrap in enumerate(wrapped)]
        async with background() as tasks:
            tasks.start_soon(found[0].run)
            await time.advance(0)
            yield time, found, tasks
            tasks.cancel_scope.cancel()


def plainly(records: Any) -> Any:
    return records


def test_a_view_takes_what_did_not_change_for_as_long_as_a_lease_lasts() -> None:
    view = LeaseView(LASTS)
    steps = [
        (0.0, 0, 0),
        (1.0, 7, None),  # somebody else was faster
        (12.9, 7, None),
        (12.95, 8, None),  # it was renewed
        (24.9, 8, None),
        (24.95, 8, 8),
        (25.0, 9, None),
        (30.0, 0, 0),  # it was given back
        (30.5, 9, None),
        (37.0, 9, 9),
    ]
    assert [view.expected(revision, now) for now, revision, _ in steps] == [
        expected for *_, expected in steps
    ]


def test_a_holder_stops_before_others_may_begin() -> None:
    term = LeaseTerm(LASTS, 100.0)
    assert term.left(100.0) == LASTS * ENDS_AFTER == 8.0
    assert (term.left(107.0), term.left(108.0), term.left(1e9)) == (1.0, 0.0, 0.0)
    term.renew(104.0)
    term.renew(101.0)  # an older answer does not count
    assert term.left(108.0) == 4.0
    term.end()
    term.renew(108.0)
    assert term.left(108.0) == 0.0


def test_the_clock_of_leases_goes_on() -> None:
    assert elapsed() <= elapsed()


async def test_the_next_one_begins_as_soon_as_a_lease_is_given_back() -> None:
    async with contest(plainly, plainly) as (time, (first, second), tasks):
        assert first.holds
        tasks.start_soon(second.run)
        await time.advance(20 * LASTS)
        assert (first.holds, second.holds, first.lost) == (True, False, 0)
        assert (first.waits, second.waits) == (False, True)
        first.enough.set()
        await time.advance(LASTS / 5)
        assert (first.holds, second.holds, second.waits) == (False, True, False)
        assert second.fences > first.fences
        second.enough.set()
        await time.advance(0)
        assert await second.leases.look("files") is None


async def test_the_lease_of_a_killed_holder_is_taken_when_its_time_is_over_and_not_earlier() -> (
    None
):
    async with contest(Silent, plainly) as (time, (first, second), tasks):
        await time.advance(4.0)
        first.leases._records.killed = True  # type: ignore[attr-defined]
        tasks.start_soon(second.run)
        await time.advance(LASTS - 0.1)
        assert not second.holds
        await time.advance(LASTS / 5 + 0.2)
        assert (second.holds, first.holds, first.lost) == (True, False, 1)
        assert second.fences > first.fences


async def test_a_holder_that_was_stopped_knows_at_once_when_it_wakes() -> None:
    async with contest(plainly, plainly) as (time, (first, second), tasks):
        assert first.lease is not None
        time.now += ENDS_AFTER * LASTS  # no task of it has run since
        assert not first.lease.is_held
        tasks.start_soon(second.run)
        await time.advance(0)
        assert first.lost == 1
        assert first.lease is None
        await time.advance(LASTS / 5)
        assert second.holds


class Deaf:
    """Records whose writes take place, while their answers are lost."""

    def __init__(self, records: Records) -> None:
        self._records = records
        self.lost = 0

    async def put(self, key: str, value: Any, **options: Any) -> int:
        revision = await self._records.put(key, value, **options)
        if self.lost:
            self.lost -= 1
            raise StorageUnavailableError(
                key, expected="a", got="b", hint="c", outcome_unknown=True
            )
        return revision

    def __getattr__(self, name: str) -> Any:
        return getattr(self._records, name)


class Overtaken:
    """Records in which a renewal that was cancelled is written only while the lease is removed."""

    def __init__(self, records: Records) -> None:
        self._records = records
        self._is_written = False

    async def delete(self, key: str, *, revision: int | None = None) -> None:
        if not self._is_written:
            self._is_written = True
            record = await self._records.get(key)
            assert record is not None
            await self._records.put(key, record.value)
        await self._records.delete(key, revision=revision)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._records, name)


async def test_a_late_renewal_does_not_keep_a_lease_that_is_given_back() -> None:
    async with contest(Overtaken, plainly) as (time, (first, second), tasks):
        first.enough.set()
        await time.advance(0)
        assert await second.leases.look("files") is None
        tasks.start_soon(second.run)
        await time.advance(0)
        assert second.holds


async def test_a_write_whose_answer_is_lost_loses_no_lease() -> None:
    def deaf(records: Any) -> Deaf:
        found = Deaf(records)
        found.lost = 2
        return found

    async with contest(deaf, plainly) as (time, (first, second), tasks):
        assert not first.holds  # it does not know yet that it has it
        tasks.start_soon(second.run)
        await time.advance(LASTS)
        assert (first.holds, second.holds) == (True, False)
        first.leases._records.lost = 2  # type: ignore[attr-defined]
        await time.advance(10 * LASTS)
        assert (first.holds, second.holds, first.lost) == (True, False, 0)


async def test_a_lease_is_lost_where_its_record_is_anothers_or_gone() -> None:
    async with open_store("memory:") as store:
        records = await store.records("tests")
        for value in ({"token": "another's"}, None):
            time = FakeTime()
            process = Process("a", records, time)
            async with background() as tasks:
                tasks.start_soon(process.run)
                await time.advance(0)
                (record,) = [one async for one in records.scan()]
                if value is None:
                    await records.delete(record.key)
                else:
                    await records.put(record.key, value)
                await time.advance(LASTS / 3)
                assert process.lost == 1
                assert process.lease is None
                left = await records.get(record.key)
                assert (left and left.value) == value  # it removes nothing of others
            if value is not None:
                with pytest.raises(StorageDamagedError, match="expected a lease"):
                    await process.leases.look("files")
                await records.delete(record.key)


async def test_a_store_that_is_away_for_a_moment_is_tried_again(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.WARNING)
    async with contest(FailingRecords, FailingRecords) as (time, (first, second), tasks):
        away: Any = first.leases._records
        away.fails = True
        await time.advance(6.5)
        assert first.holds
        away.fails = False
        await time.advance(1.0)
        assert first.lease is not None
        assert first.lease.left > 6.0
        absent: Any = second.leases._records
        absent.fails = True
        tasks.start_soon(second.run)
        first.enough.set()
        await time.advance(3 * LASTS)
        assert not second.holds
        absent.fails = False
        await time.advance(LASTS / 5)
        assert second.holds
    said = [record.message.partition(":")[0] for record in caplog.records]
    assert said.count("a lease cannot be taken now") == 1
    assert "a lease is not renewed yet" in said


async def test_a_store_that_hangs_does_not_keep_a_lease() -> None:
    async with open_store("memory:") as store:
        records = FailingRecords(await store.records("tests"))
        leases = Leases(records, holder="a", lasts=0.06)

        async def hold() -> None:
            async with leases.hold("files"):
                records.gate = anyio.Event()
                await anyio.sleep_forever()

        with anyio.fail_after(5), pytest.raises(LeaseLostError, match="files"):
            await hold()


async def test_others_see_who_has_a_lease_and_what_it_says() -> None:
    async with contest(plainly) as (time, (first,), _tasks):
        assert first.lease is not None
        first.note = {"status": "connected"}
        found = await first.leases.look("files")
        assert found is not None
        assert (found.holder, found.fence, found.note) == ("0", first.lease.fence, None)
        first.lease.refresh()
        await time.advance(0)
        assert first.lease.left == LASTS * ENDS_AFTER
        (found,) = await first.leases.look_all()
        assert (found.name, found.fence) == ("files", first.lease.fence)
        assert found.note == {"status": "connected"}
        assert await first.leases.look("other") is None


async def test_a_note_that_is_too_large_is_left_out_and_ends_no_lease() -> None:
    """A server with very many tools would else be stopped again and again."""
    async with contest(plainly) as (time, (first,), _):
        first.note = ["x" * 1000] * 9000
        await time.advance(3 * LASTS)
        assert (first.holds, first.lost) == (True, 0)
        found = await first.leases.look("files")
        assert found is not None
        assert found.note is None


async def test_an_error_of_the_block_gives_the_lease_back() -> None:
    async with open_store("memory:") as store:
        leases = Leases(await store.records("tests"), holder="a")
        with pytest.raises(KeyError):
            async with leases.hold("files"):
                raise KeyError
        assert await leases.look_all() == []


def test_options_are_checked() -> None:
    for wrong in ({"holder": 1}, {"holder": "a", "lasts": 0}, {"holder": "a", "lasts": "1"}):
        with pytest.raises((TypeError, ValueError)):
            Leases(None, **wrong)  # type: ignore[arg-type]


class Unlucky:
    """Records whose calls fail, are late, or take place without an answer, by chance."""

    def __init__(self, records: Records, chance: random.Random, time: FakeTime) -> None:
        self._records, self._chance, self._time = records, chance, time

    async def get(self, key: str) -> Record | None:
        await self._trouble()
        return await self._records.get(key)

    async def put(self, key: str, value: Any, *, revision: int) -> int:
        await self._trouble()
        written = await self._records.put(key, value, revision=revision)
        await self._trouble(unknown=True)
        return written

    async def delete(self, key: str, *, revision: int) -> bool:
        await self._trouble()
        return await self._records.delete(key, revision=revision)

    async def _trouble(self, unknown: bool = False) -> None:
        chosen = self._chance.random()
        if chosen < 0.15:
            await self._time.sleep(self._chance.uniform(0, LASTS))
        elif chosen < 0.3:
            raise StorageUnavailableError(
                "records", expected="a", got="b", hint="c", outcome_unknown=unknown
            )


@pytest.mark.parametrize(
    "seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.faults) for seed in range(2, 20))]
)
async def test_there_is_one_holder_at_a_time_whatever_happens(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Processes come, go, are stopped and killed, and their store is bad. Nobody cheats."""
    monkeypatch.setattr(logging.getLogger("kinwire.managers"), "disabled", True)
    chance, time, fences = random.Random(seed), FakeTime(), list[int]()
    async with open_store("memory:") as store, background() as tasks:
        records = await store.records("tests")
        running, left = list[Process](), list[Process]()
        for number in range(30):
            while len(running) < 3:
                name, unlucky = f"{number}-{len(running)}", Unlucky(records, chance, time)
                running.append(Process(name, unlucky, time))
                running[-1].fences = fences  # in the order in which they were given
                tasks.start_soon(running[-1].run)
            for _ in range(8):
                await time.advance(chance.uniform(0, LASTS / 3))
                assert sum(one.holds for one in running) <= 1
            left.append(running.pop(chance.randrange(3)))
            await leave(left[-1], time, killed=chance.random() < 0.5)
        for process in running:
            await leave(process, time, killed=True)
        for _ in range(100):  # those that still want it get it, one after the other
            await time.advance(LASTS)
            if all(one.is_over for one in left):
                break
        assert all(one.is_over for one in left)
        tasks.cancel_scope.cancel()
    assert len(fences) > 5
    assert fences == sorted(set(fences))


async def leave(process: Process, time: FakeTime, *, killed: bool) -> None:
    """End a process, also where it waits for its store."""
    if killed:
        process.scope.cancel()
    process.enough.set()
    await time.advance(0)


@ON_ALL
async def test_of_several_that_begin_together_one_has_the_lease(engine: Engine) -> None:
    time, held = FakeTime(), list[str]()
    async with engine.open() as store, background() as tasks:
        records = await store.records("tests", durable=False)

        async def take(name: str) -> None:
            leases = Leases(records, holder=name, lasts=LASTS, clock=time, sleep=time.sleep)
            async with leases.hold("files") as lease:
                held.append(name)
                assert (await leases.look("files")).fence == lease.fence  # type: ignore[union-attr]
                await anyio.sleep_forever()

        taker = Leases(records, holder="x", clock=time, sleep=time.sleep)
        with anyio.fail_after(10):
            for name in "abcd":
                tasks.start_soon(partial(take, name))
            async with records.watch() as changes:
                async for change in changes:
                    assert change.record is not None
                    break
            while not held:
                await taker.look("files")
        engine.clock.now += 1e6  # neither way of a wall clock ends a lease
        assert await taker.look("files") is not None
        engine.clock.now -= 2e6
        with pytest.raises(ConflictError):
            await records.put(change.key, 1, revision=0)
        assert len(held) == 1
        tasks.cancel_scope.cancel()
