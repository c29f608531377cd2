"""`DurableMap` against a plain model: memory and records agree, whatever fails and expires."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack
from itertools import count
from pathlib import Path
from typing import Any, ClassVar

import anyio
import pytest
from anyio.from_thread import start_blocking_portal
from hypothesis import settings, strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from kinwire.managers.durable_map import DurableMap, RecordCodec, text_codec
from kinwire.storage import Record, StorageDamagedError, StorageUnavailableError, open_store
from kinwire.support.json_values import short_digest
from tests.runtime.managers.fixtures_records import FailingRecords
from tests.sample import rounds

LIMIT, TTL = 3, 10.0
NUMBERS = text_codec(int, int)
KEYS = st.sampled_from(["a/1", "a/2", "b/1", "b/2", "c/1"])
PREFIXES = st.sampled_from(["", "a/", "b"])


class MapAgainstModel(RuleBasedStateMachine):
    """The same calls to both. The model holds value and expiry, the oldest first."""

    url: ClassVar[str | None]
    names: ClassVar[Iterator[int]] = count()
    store: FailingRecords | None = None

    def __init__(self) -> None:
        super().__init__()
        self.now, self.values, self.place = 1e9, count(), f"{next(self.names)}/"
        self.memory: dict[str, tuple[int, float]] = {}
        self.stored: dict[str, tuple[int, float]] = {}
        self.closing = ExitStack()
        self.portal = self.closing.enter_context(start_blocking_portal("asyncio"))
        if self.url is not None:
            opened = open_store(self.url, clock=lambda: self.now)
            store = self.closing.enter_context(self.portal.wrap_async_context_manager(opened))
            self.store = FailingRecords(self.portal.call(store.records, "tests"))
        self.restart()

    def teardown(self) -> None:
        self.closing.close()

    @property
    def fails(self) -> bool:
        return self.store is not None and self.store.fails

    @rule()
    def restart(self) -> None:
        self.real = DurableMap(
            self.store, self.place, NUMBERS, limit=LIMIT, ttl=TTL, clock=lambda: self.now
        )
        self.memory.clear()
        if self.store is None:
            self.stored.clear()

    @rule(fails=st.booleans())
    def break_or_repair(self, fails: bool) -> None:
        if self.store is not None:
            self.store.fails = fails

    @rule(seconds=st.sampled_from([1.0, 4.0, 9.0]))
    def wait(self, seconds: float) -> None:
        self.now += seconds
        for kept in (self.memory, self.stored):
            for key in [key for key, (_, until) in kept.items() if until <= self.now]:
                del kept[key]

    @rule(key=KEYS, ttl=st.sampled_from([None, 3.0, 20.0]))
    def put(self, key: str, ttl: float | None) -> None:
        value = next(self.values)
        if not self.run(lambda: self.real.put(key, value, ttl=ttl)):
            return
        if key not in self.memory:
            self.make_room(LIMIT - 1)
        for kept in (self.memory, self.stored):
            kept.pop(key, None)
            kept[key] = value, self.now + (ttl or TTL)

    @rule(key=KEYS)
    def delete(self, key: str) -> None:
        if self.run(lambda: self.real.delete(key)):
            self.memory.pop(key, None)
            self.stored.pop(key, None)

    @rule(prefix=PREFIXES)
    def delete_all(self, prefix: str) -> None:
        if self.run(lambda: self.real.delete_all(prefix)):
            for kept in (self.memory, self.stored):
                for key in [key for key in kept if key.startswith(prefix)]:
                    del kept[key]

    @rule(prefix=PREFIXES)
    def forget(self, prefix: str) -> None:
        self.real.forget(prefix)
        for key in [key for key in self.memory if key.startswith(prefix)]:
            del self.memory[key]
            if self.store is None:  # nothing else has it
                del self.stored[key]

    @rule(key=KEYS)
    def find(self, key: str) -> None:
        found = list[int | None]()

        async def find() -> None:
            found.append(await self.real.find(key))

        known = key in self.memory
        if self.run(find, fails=self.fails and not known):
            assert found == [self.stored[key][0] if key in self.stored else None]
            if key in self.stored and not known:
                while len(self.memory) >= LIMIT:
                    del self.memory[next(iter(self.memory))]
                self.memory[key] = self.stored[key]

    @rule(prefix=PREFIXES)
    def load(self, prefix: str) -> None:
        if self.run(lambda: self.real.load(prefix)):
            older = {key: one for key, one in self.stored.items() if key.startswith(prefix)}
            loaded = {key: one for key, one in older.items() if key not in self.memory}
            self.memory = {**loaded, **self.memory}
            self.make_room(LIMIT)

    def make_room(self, most: int) -> None:
        while len(self.memory) > most:
            oldest = next(iter(self.memory))
            del self.memory[oldest], self.stored[oldest]

    def run(self, work: Any, *, fails: bool | None = None) -> bool:
        """Run a call; return whether it succeeded, which it does unless the store fails."""
        if not (self.fails if fails is None else fails):
            self.portal.call(work)
            return True
        with pytest.raises(StorageUnavailableError):
            self.portal.call(work)
        return False

    @invariant()
    def memory_and_records_are_as_in_the_model(self) -> None:
        assert self.real.items() == [(key, value) for key, (value, _) in self.memory.items()]
        assert len(self.real) == len(self.memory) <= LIMIT
        if self.store is not None:
            found = self.portal.call(self.records)
            assert found == {self.place + key: value for key, (value, _) in self.stored.items()}

    async def records(self) -> dict[str, Any]:
        assert self.store is not None
        return {one.key: one.value async for one in self.store.records.scan(self.place)}


def run_machine(url: str | None, examples: int, steps: int) -> None:
    machine: Any = type("Machine", (MapAgainstModel,), {"url": url})
    options = settings(max_examples=examples, stateful_step_count=steps, deadline=None)
    run_state_machine_as_test(machine, settings=options)


def url_of(kind: str, folder: Path) -> str | None:
    return {"none": None, "memory": "memory:", "sqlite": f"sqlite:///{folder}/store.db"}[kind]


@pytest.mark.parametrize("kind", ["none", "memory", "sqlite"])
def test_memory_and_records_agree(kind: str, tmp_path: Path) -> None:
    run_machine(url_of(kind, tmp_path), 8, 25)


@pytest.mark.faults
@pytest.mark.parametrize("kind", ["none", "memory", "sqlite"])
def test_memory_and_records_agree_for_long(kind: str, tmp_path: Path) -> None:
    run_machine(url_of(kind, tmp_path), rounds(100), 60)


@pytest.fixture
async def store() -> AsyncIterator[FailingRecords]:
    async with open_store("memory:") as opened:
        yield FailingRecords(await opened.records("tests"))


def numbers(store: FailingRecords, limit: int = LIMIT) -> DurableMap[str, int]:
    return DurableMap(store, "n/", NUMBERS, limit=limit)


async def stored(store: FailingRecords) -> dict[str, Any]:
    return {one.key: one.value async for one in store.records.scan()}


@pytest.mark.anyio
async def test_a_value_is_not_in_memory_before_it_is_stored(store: FailingRecords) -> None:
    found = numbers(store)
    store.gate = anyio.Event()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(found.put, "a", 1)
        await anyio.wait_all_tasks_blocked()
        assert found.get("a") is None
        store.gate.set()
    assert found.get("a") == 1
    assert await stored(store) == {"n/a": 1}


@pytest.mark.anyio
async def test_calls_for_one_key_take_turns(store: FailingRecords) -> None:
    found = numbers(store)
    store.gate = anyio.Event()
    async with anyio.create_task_group() as tasks:
        for value in (1, 2):
            tasks.start_soon(found.put, "a", value)
        tasks.start_soon(found.put, "b", 3)
        await anyio.wait_all_tasks_blocked()
        assert store.begun == 2  # one for each key
        store.gate.set()
    assert {f"n/{key}": value for key, value in found.items()} == await stored(store)


@pytest.mark.anyio
async def test_both_agree_after_a_write_that_was_cancelled(store: FailingRecords) -> None:
    found = numbers(store)
    store.gate = anyio.Event()
    async with anyio.create_task_group() as tasks:
        writing = anyio.CancelScope()

        async def write() -> None:
            with writing:
                await found.put("a", 1)

        tasks.start_soon(write)
        await anyio.wait_all_tasks_blocked()
        writing.cancel()
        await anyio.wait_all_tasks_blocked()
        store.gate.set()
    assert found.get("a") == 1
    assert await stored(store) == {"n/a": 1}


@pytest.mark.anyio
async def test_an_entry_that_is_written_again_does_not_fall_to_the_limit(
    store: FailingRecords,
) -> None:
    found = numbers(store, limit=2)
    for key in "ab":
        await found.put(key, 1)
    store.gate = anyio.Event()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(found.put, "a", 2)
        await anyio.wait_all_tasks_blocked()
        tasks.start_soon(found.put, "c", 3)  # the oldest is "a", until it is written
        await anyio.wait_all_tasks_blocked()
        store.gate.set()
    assert found.items() == [("a", 2), ("c", 3)]
    assert await stored(store) == {"n/a": 2, "n/c": 3}


@pytest.mark.anyio
async def test_a_load_does_not_bring_back_what_was_deleted_during_it(
    store: FailingRecords,
) -> None:
    await numbers(store).put("a", 1)
    found = numbers(store)
    scanned, go_on = anyio.Event(), anyio.Event()

    class Slow(FailingRecords):
        async def scan(self, prefix: str = "") -> AsyncIterator[Record]:
            async for record in self.records.scan(prefix):
                yield record
                scanned.set()
                await go_on.wait()

    found = numbers(Slow(store.records))
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(found.load)
        await scanned.wait()
        await found.delete("a")
        go_on.set()
    assert found.items() == []
    await found.put("a", 2)
    await found.load()
    assert found.items() == [("a", 2)]


@pytest.mark.anyio
async def test_keys_of_any_kind_are_stored_under_a_hash(store: FailingRecords) -> None:
    codec = RecordCodec[tuple[str, str], str](
        name=lambda key: short_digest(*key),
        write=lambda key, value: {"key": list(key), "value": value},
        read=lambda _, had: ((had["key"][0], had["key"][1]), had["value"]),
    )
    long = "x" * 10_000
    await DurableMap(store, "t/", codec, limit=9).put((long, "b"), "value")
    found = DurableMap(store, "t/", codec, limit=9)
    await found.load()
    assert found.items() == [((long, "b"), "value")]
    assert (long, "b") in found


@pytest.mark.anyio
async def test_forever_is_stored_without_an_end(store: FailingRecords) -> None:
    found = numbers(store)
    await found.put("a", 1)
    await found.put("b", 1, ttl=float("inf"))
    ends = {one.key: one.expires_at async for one in store.records.scan()}
    assert ends["n/a"] is None
    assert ends["n/b"] is not None


@pytest.mark.anyio
async def test_a_record_that_cannot_be_read_harms_no_other() -> None:
    async with open_store("memory:") as store:
        records = await store.records("tests")
        numbers = DurableMap(records, "n/", NUMBERS, limit=None)
        await numbers.put("a/1", 1)
        await numbers.put("b/1", 2)
        await records.put("n/b/2", ["not", "a", "number"])
        for read in (numbers.load("b/"), numbers.find("b/2"), numbers.load("")):
            with pytest.raises(StorageDamagedError, match="n/b/2: expected a record"):
                await read
            assert numbers.items() == [("a/1", 1), ("b/1", 2)]
        await numbers.delete_all("b/")
        assert [one.key async for one in records.scan("n/")] == ["n/a/1"]
        await numbers.load("")
        assert numbers.items() == [("a/1", 1)]
