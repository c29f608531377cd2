"""A file that is locked, a disk that refuses, and jobs that fail while others succeed."""

from __future__ import annotations

import resource
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic

import anyio
import pytest

from kinwire.storage import (
    Appended,
    ConflictError,
    Log,
    StorageLockedError,
    StorageUnavailableError,
    open_store,
)

pytestmark = pytest.mark.anyio


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "notes.db"


@contextmanager
def locked(path: Path) -> Iterator[sqlite3.Connection]:
    """Somebody else who writes and does not end."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield connection
    finally:
        connection.close()


async def test_a_lock_is_waited_for(path: Path) -> None:
    async with open_store(f"sqlite:///{path}") as store:
        log = await store.log("events")
        results: list[Appended] = []

        async def append() -> None:
            results.append(await log.append("a", 1))

        async with anyio.create_task_group() as tasks:
            with locked(path):
                tasks.start_soon(append)
                for _ in range(10):
                    assert await log.read() == []  # readers do not wait
                assert results == []
        assert results == [Appended(1)]


async def test_what_tasks_write_at_the_same_time_is_one_transaction(path: Path) -> None:
    async with open_store(f"sqlite:///{path}") as store:
        log = await store.log("events")

        async def append() -> None:
            for _ in range(4):
                await log.append("a", 1)

        async with anyio.create_task_group() as tasks:
            for _ in range(200):
                tasks.start_soon(append)
        entries = await log.read()
        assert len(entries) == 800
        assert len({entry.at for entry in entries}) == 4  # a transaction has one time


async def test_a_lock_that_stays_is_an_error_after_the_timeout(path: Path) -> None:
    async with open_store(f"sqlite:///{path}", timeout=0.3) as store:
        log = await store.log("events")
        begun = monotonic()
        with locked(path), pytest.raises(StorageLockedError, match="long transaction") as failed:
            await log.append("a", 1)
        assert monotonic() - begun >= 0.29
        assert not failed.value.outcome_unknown
        assert await log.append("a", 2) == Appended(1)  # the same store, without a restart
        assert [entry.value for entry in await log.read()] == [2]


async def test_those_that_come_while_the_lock_stays_have_their_own_timeout(path: Path) -> None:
    async with open_store(f"sqlite:///{path}", timeout=0.3) as store:
        log = await store.log("events")
        failed: list[int] = []

        async def append(number: int) -> None:
            try:
                await log.append("a", number)
            except StorageLockedError:
                failed.append(number)

        with locked(path):
            async with anyio.create_task_group() as tasks:
                for number in range(20):
                    tasks.start_soon(append, number)
                    await anyio.lowlevel.checkpoint()
        assert sorted(failed) == list(range(20))
        assert await log.read() == []


async def test_a_store_that_is_locked_does_not_open(path: Path) -> None:
    async with open_store(f"sqlite:///{path}"):
        pass
    with locked(path), pytest.raises(StorageLockedError, match=r"notes\.db"):
        async with open_store(f"sqlite:///{path}", timeout=0.2):
            pass


@contextmanager
def files_at_most(size: int) -> Iterator[None]:
    """Let the system refuse to write beyond `size`: a disk that fails, as far as SQLite knows."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


async def fill(log: Log, acknowledged: list[int]) -> None:
    while True:
        acknowledged.append((await log.append("a", "x" * 20_000)).sequence)


async def test_a_refusing_disk_is_reported_and_recovers_without_a_restart(path: Path) -> None:
    async with open_store(f"sqlite:///{path}") as store:
        log = await store.log("events", durable=False)
        acknowledged: list[int] = []
        with files_at_most(500_000), pytest.raises(StorageUnavailableError, match=r"notes\.db"):
            await fill(log, acknowledged)
        assert acknowledged
        kept = [entry.sequence for entry in await log.read()]
        assert kept[: len(acknowledged)] == acknowledged
        assert len(kept) - len(acknowledged) <= 1  # of the last one it was said that nobody knows
        assert (await log.append("a", "y")).sequence == kept[-1] + 1
        assert await store.check() == []


async def test_of_jobs_in_one_transaction_only_those_fail_that_must(path: Path) -> None:
    async with open_store(f"sqlite:///{path}") as store:
        log, records = await store.log("events"), await store.records("things")
        await records.put("a", 0)
        failed: list[str] = []

        async def large() -> None:
            try:
                await log.append("large", "x" * 4_000_000)
            except StorageUnavailableError:
                failed.append("large")

        async def conflicting() -> None:
            try:
                await records.put("a", 1, revision=0)
            except ConflictError:
                failed.append("conflicting")

        with files_at_most(1_000_000):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(large)
                tasks.start_soon(conflicting)
                tasks.start_soon(records.put, "b", 1)
                tasks.start_soon(log.append, "small", 1)
        assert sorted(failed) == ["conflicting", "large"]
        assert [entry.subject for entry in await log.read()] == ["small"]
        assert await records.get("b") is not None


async def test_what_was_given_before_the_end_of_the_block_is_written(path: Path) -> None:
    async with open_store(f"sqlite:///{path}") as store:
        log = await store.log("events")
        with anyio.move_on_after(0) as scope:
            await log.append("a", 1)
    assert scope.cancelled_caught
    async with open_store(f"sqlite:///{path}") as store:
        assert len(await (await store.log("events")).read()) == 1
