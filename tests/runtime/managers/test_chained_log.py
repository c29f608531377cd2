"""A chained log has one chain for all writers, and says what was not written."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any, cast

import anyio
import pytest

from kinwire.managers.chained_log import ChainedLog
from kinwire.managers.hash_chain import ChainCheck
from kinwire.storage import Log, StorageError, StorageUnavailableError, open_store

MARK = ("mgp.mark", {"mark": True})


def unavailable(*, unknown: bool) -> StorageUnavailableError:
    return StorageUnavailableError(
        "log", expected="an answer", got="none", hint="Wait.", outcome_unknown=unknown
    )


class FaultyLog:
    """A log in whose way something can be put."""

    def __init__(self, inner: Log) -> None:
        self.inner = inner
        self.calls = list[int]()
        self.before: Callable[[], Awaitable[object]] | None = None
        self.after: Callable[[], Awaitable[object]] | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    async def append_after(self, sequence: int, entries: Sequence[tuple[str, Any]]) -> int:
        self.calls.append(len(entries))
        if self.before is not None:
            await self.before()
        count = await self.inner.append_after(sequence, entries)
        if self.after is not None:
            await self.after()
        return count


async def events_of(log: Log) -> list[Any]:
    return [entry.value["event"] for entry in await log.read(limit=5000)]


async def problems_of(log: Log) -> list[Any]:
    check = ChainCheck(from_start=True)
    found = [check.problem(entry.subject, entry.value) for entry in await log.read(limit=5000)]
    return [one for one in found if one is not None]


@pytest.mark.anyio
async def test_what_waits_together_is_appended_together() -> None:
    async with open_store("memory:") as store:
        log = FaultyLog(await store.log("audit"))
        chain = ChainedLog(cast("Log", log))
        async with anyio.create_task_group() as tasks:
            for number in range(2500):
                if number % 2:
                    chain.add("a.b", {"n": number})
                else:
                    tasks.start_soon(chain.append, "a.b", {"n": number})
        await chain.drain()
        assert chain.waiting == 0
        assert sorted(event["n"] for event in await events_of(log.inner)) == list(range(2500))
        assert await problems_of(log.inner) == []
        assert len(log.calls) <= 6
        assert max(log.calls) == 1000


@pytest.mark.anyio
async def test_entries_of_one_task_are_in_its_order() -> None:
    async with open_store("memory:") as store:
        log = await store.log("audit")
        chain = ChainedLog(log)
        chain.add("a", {"n": 0})
        await chain.append("a", {"n": 1})
        chain.add("a", {"n": 2})
        await chain.append("a", {"n": 3})
        assert await events_of(log) == [{"n": number} for number in range(4)]


@pytest.mark.anyio
async def test_writers_of_one_file_continue_one_chain(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/store.db"
    async with open_store(url) as store, open_store(url) as other:
        chains = [ChainedLog(await one.log("audit")) for one in (store, other)]

        async def write(writer: int) -> None:
            for number in range(15):
                await chains[writer % 2].append("a", {"writer": writer, "n": number})

        async with anyio.create_task_group() as tasks:
            for writer in range(4):
                tasks.start_soon(write, writer)
        log = await store.log("audit")
        assert await problems_of(log) == []
        events = await events_of(log)
        for writer in range(4):
            assert [event["n"] for event in events if event["writer"] == writer] == [*range(15)]


@pytest.mark.anyio
async def test_a_chain_continues_after_a_restart(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/store.db"
    for number in range(3):
        async with open_store(url) as store:
            await ChainedLog(await store.log("audit")).append("a", {"n": number})
    async with open_store(url) as store:
        log = await store.log("audit")
        assert [entry.value["seq"] for entry in await log.read(limit=5000)] == [1, 2, 3]
        assert await problems_of(log) == []


@pytest.mark.parametrize("before", [0, 3])
@pytest.mark.anyio
async def test_damage_at_the_end_is_marked_and_writing_continues(before: int) -> None:
    async with open_store("memory:") as store:
        log = await store.log("audit")
        for number in range(before):
            await ChainedLog(log).append("a", {"n": number})
        await log.append("a", {"seq": "torn"})
        chain = ChainedLog(log, mark=MARK)
        await chain.append("a", {"n": 8})
        await chain.append("a", {"n": 9})
        tail = (await log.read())[before + 1 :]
        assert [entry.value["event"] for entry in tail] == [{"mark": True}, {"n": 8}, {"n": 9}]
        assert tail[0].subject == "mgp.mark"
        assert await problems_of(log) == [(before + 1, "is not an entry of the chain")]


@pytest.mark.anyio
async def test_a_failure_reaches_who_waits_and_the_rest_is_kept() -> None:
    async with open_store("memory:") as store:
        log = FaultyLog(await store.log("audit"))
        chain = ChainedLog(cast("Log", log))
        failing = True

        async def fail() -> None:
            if failing:
                raise unavailable(unknown=False)

        log.before = fail
        chain.add("a", {"n": 0})
        with pytest.raises(StorageError, match="expected an answer"):
            await chain.append("a", {"n": 1})
        assert chain.waiting == 1
        chain.add("a", {"n": 2})
        await chain.drain()
        assert chain.waiting == 2
        failing = False
        await chain.drain()
        assert await events_of(log.inner) == [{"n": 0}, {"n": 2}]
        await chain.append("a", {"n": 3})
        assert await problems_of(log.inner) == []


@pytest.mark.anyio
async def test_an_append_without_an_answer_is_looked_for() -> None:
    async with open_store("memory:") as store:
        log = FaultyLog(await store.log("audit"))
        chain = ChainedLog(cast("Log", log))

        async def lose_the_answer() -> None:
            raise unavailable(unknown=True)

        log.after = lose_the_answer
        await chain.append("a", {"n": 1})
        log.after, log.before = None, lose_the_answer
        with pytest.raises(StorageError):
            await chain.append("a", {"n": 2})
        log.before = None
        await chain.append("a", {"n": 3})
        assert await events_of(log.inner) == [{"n": 1}, {"n": 3}]
        assert await problems_of(log.inner) == []


@pytest.mark.anyio
async def test_a_writer_that_is_never_first_gives_up() -> None:
    async with open_store("memory:") as store:
        log = FaultyLog(await store.log("audit"))
        chain = ChainedLog(cast("Log", log))
        other = ChainedLog(log.inner)

        async def be_first() -> None:
            await other.append("a", {})

        log.before = be_first
        with pytest.raises(StorageUnavailableError, match="another writer was first 100 times"):
            await chain.append("a", {"n": 1})
        log.before = None
        await chain.append("a", {"n": 2})
        assert await problems_of(log.inner) == []


def test_the_end_of_the_loop_is_no_success() -> None:
    async def end_early() -> None:
        async with open_store("memory:") as store:
            log = FaultyLog(await store.log("audit"))
            log.before = anyio.sleep_forever
            chain = ChainedLog(cast("Log", log))
            waiting = asyncio.create_task(chain.append("a", {}))
            await anyio.wait_all_tasks_blocked()
            (writing,) = (one for one in asyncio.all_tasks() if "_write_all" in repr(one))
            writing.cancel()
            with pytest.raises(RuntimeError, match="the event loop ended"):
                await waiting

    asyncio.run(end_early())
