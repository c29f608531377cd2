"""What all logs keep, whatever the engine."""

from __future__ import annotations

from math import inf, nan
from typing import Any, cast

import anyio
import pytest

from kinwire.storage import Appended, CursorLostError, Log, Retention, StorageInputError
from kinwire.support.patterns.subjects import subject_matcher
from tests.runtime.storage.fixtures_engines import ON_ALL, Engine

pytestmark = [pytest.mark.anyio, ON_ALL]

SUBJECTS = ["a", "a.b", "a.b.c", "b", "b.b", "ä.b", "a-b.c=d"]


async def values_of(log: Log, subjects: str = ">", after: int = 0, limit: int = 1000) -> list[int]:
    return [entry.value for entry in await log.read(subjects, after=after, limit=limit)]


async def test_entries_come_in_the_order_of_their_sequence(engine: Engine) -> None:
    async with engine.open() as store:
        log = await store.log("events")
        assert await log.bounds() == (1, 0)
        for number in range(1, 6):
            assert await log.append("a.b", number) == Appended(number)
        entries = await log.read()
        assert [entry.sequence for entry in entries] == [1, 2, 3, 4, 5]
        assert [entry.value for entry in entries] == [1, 2, 3, 4, 5]
        assert {entry.subject for entry in entries} == {"a.b"}
        assert await log.bounds() == (1, 5)


async def test_a_reader_goes_on_from_its_cursor(engine: Engine) -> None:
    async with engine.open() as store:
        log = await store.log("events")
        for number in range(1, 8):
            await log.append("a", number)
        assert await values_of(log, limit=3) == [1, 2, 3]
        assert await values_of(log, after=3, limit=3) == [4, 5, 6]
        assert await values_of(log, after=6) == [7]
        assert await values_of(log, after=7) == []


async def test_a_pattern_means_the_same_subjects_everywhere(engine: Engine) -> None:
    async with engine.open() as store:
        log = await store.log("events")
        for subject in SUBJECTS:
            await log.append(subject, subject)
        for pattern in [">", "a", "*", "a.*", "a.>", "*.b", "*.*", "*.>", "ä.*", "a.b.c", "x.>"]:
            wanted = [subject for subject in SUBJECTS if subject_matcher(pattern)(subject)]
            assert [entry.value for entry in await log.read(pattern)] == wanted, pattern


BAD_SUBJECTS: list[Any] = [
    *["", ".", "a.", ".a", "a..b", "a b", "*", "a.>", "a\n", "x" * 257, "\ud800", 5, None]
]


async def test_a_subject_that_no_log_takes_is_refused(engine: Engine) -> None:
    async with engine.open() as store:
        log = await store.log("events")
        for subject in BAD_SUBJECTS:
            with pytest.raises(StorageInputError, match="subject: expected words"):
                await log.append(subject, 1)
        assert await log.read() == []


async def test_a_pattern_that_means_nothing_is_refused(engine: Engine) -> None:
    async with engine.open() as store:
        log = await store.log("events")
        for pattern in ["", "a.", ">.a", "a>", "a*", "a b"]:
            with pytest.raises(StorageInputError, match="> at most as the last"):
                await log.read(pattern)


async def test_entries_are_appended_after_the_one_that_is_expected(engine: Engine) -> None:
    async with engine.open() as store:
        log = await store.log("events")
        assert await log.append_after(0, []) == 0
        assert await log.append_after(1, [("a", 1)]) == 0
        assert await log.append_after(0, [("a", 1), ("b", 2)]) == 2
        assert await log.append("a", 3) == Appended(3)
        assert await log.append_after(2, [("a", 4)]) == 0
        assert await log.append_after(3, [("a", 4), ("c", 5)]) == 2
        with pytest.raises(StorageInputError, match="subject"):
            await log.append_after(5, [("a", 6), ("*", 7)])
        with pytest.raises(StorageInputError, match="a JSON value"):
            await log.append_after(5, [("a", 6), ("a", nan)])
        found = [(entry.sequence, entry.subject, entry.value) for entry in await log.read()]
        assert found == [(1, "a", 1), (2, "b", 2), (3, "a", 3), (4, "a", 4), (5, "c", 5)]


async def test_of_writers_that_expect_the_same_entry_one_appends(engine: Engine) -> None:
    async with engine.open() as store, engine.open() as other:
        shares = engine.kind != "memory"
        logs = [await one.log("events") for one in (store, other if shares else store)]
        size = 1 if engine.kind == "nats" else 2  # a cluster may append a part of the entries

        async def write(writer: int) -> None:
            done = 0
            while done < 5:
                log = logs[writer % 2]
                _, last = await log.bounds()
                appended = await log.append_after(last, [("a", [writer, done, last])] * size)
                assert appended in (0, size)
                done += appended // size

        async with anyio.create_task_group() as tasks:
            for writer in range(4):
                tasks.start_soon(write, writer)
        found = [entry.value for entry in (await logs[0].read())[::size]]
        assert [last for _, _, last in found] == list(range(0, 20 * size, size))
        for writer in range(4):
            assert [done for one, done, _ in found if one == writer] == list(range(5))


async def test_an_id_that_came_already_appends_nothing(engine: Engine) -> None:
    async with engine.open() as store:
        log = await store.log("events")
        for id in ("one", "zwei ä\n", "w.0"):
            first = await log.append("a", 1, id=id)
            assert not first.duplicate
            again = await log.append("b", 2, id=id)
            assert again == Appended(first.sequence, duplicate=True)
        assert [entry.id for entry in await log.read()] == ["one", "zwei ä\n", "w.0"]
        assert await log.append("a", 4) == Appended(4)


async def test_of_fifty_with_one_id_one_is_appended(engine: Engine) -> None:
    async with engine.open() as store:
        log = await store.log("events")
        results: list[Appended] = []

        async def append(number: int) -> None:
            results.append(await log.append("a", number, id="same"))

        async with anyio.create_task_group() as tasks:
            for number in range(50):
                tasks.start_soon(append, number)
        assert sorted(result.duplicate for result in results) == [False] + [True] * 49
        assert {result.sequence for result in results} == {1}
        assert len(await log.read()) == 1


async def test_concurrent_appends_have_a_sequence_each(engine: Engine) -> None:
    async with engine.open() as store:
        log = await store.log("events")
        got: dict[int, int] = {}

        async def append(number: int) -> None:
            got[number] = (await log.append("a", number)).sequence

        async with anyio.create_task_group() as tasks:
            for number in range(200):
                tasks.start_soon(append, number)
        assert sorted(got.values()) == list(range(1, 201))
        assert {entry.value: entry.sequence for entry in await log.read()} == got


async def test_the_oldest_go_when_there_are_too_many(engine: Engine) -> None:
    async with engine.open() as store:
        log = await store.log("events", retention=Retention(max_entries=3))
        for number in range(1, 8):
            await log.append("a", number)
        assert await values_of(log) == [5, 6, 7]
        assert await log.bounds() == (5, 7)


async def test_a_log_that_is_opened_without_a_retention_keeps_its_own(engine: Engine) -> None:
    kept = Retention(max_entries=3, dedup_window=60)
    async with engine.open() as store:
        await store.log("events", retention=kept)
        log = await store.log("events")
        assert [entry.retention for entry in await store.entries()] == [kept]
        for number in range(1, 6):
            await log.append("a", number)
        assert await values_of(log) == [3, 4, 5]
        log = await store.log("events", retention=Retention())
        await log.append("a", 6)
        assert await values_of(log) == [3, 4, 5, 6]
        assert [entry.retention for entry in await store.entries()] == [Retention()]


async def test_a_cursor_that_retention_has_overtaken_is_refused(engine: Engine) -> None:
    async with engine.open() as store:
        log = await store.log("events", retention=Retention(max_entries=3))
        for number in range(1, 8):
            await log.append("a", number)
        assert await values_of(log, after=4) == [5, 6, 7]
        with pytest.raises(CursorLostError, match="Continue after 4") as lost:
            await log.read("b", after=3)
        assert lost.value.first == 5


async def test_a_follower_gets_what_is_there_and_what_comes(engine: Engine) -> None:
    async with engine.open() as store:
        log = await store.log("events")
        for number in range(1, 4):
            await log.append("a.x" if number % 2 else "b", number)
        with anyio.fail_after(20):
            async with log.follow("a.>", after=1) as entries:
                assert (await anext(entries)).value == 3
                await log.append("b", 4)
                await log.append("a.y", 5)
                assert (await anext(entries)).value == 5


async def test_followers_of_many_entries_miss_none(engine: Engine) -> None:
    async with engine.open() as store:
        log = await store.log("events", durable=False)
        got: list[list[int]] = [[], []]

        async def follow(mine: list[int]) -> None:
            async with log.follow() as entries:
                async for entry in entries:
                    mine.append(entry.value)
                    if entry.value == 349:
                        return

        with anyio.fail_after(20):
            async with anyio.create_task_group() as tasks:
                for mine in got:
                    tasks.start_soon(follow, mine)
                for number in range(350):
                    await log.append("a", number)
        assert got == [list(range(350))] * 2


async def test_a_follower_that_retention_overtakes_gets_an_error(engine: Engine) -> None:
    async with engine.open() as store:
        log = await store.log("events", durable=False, retention=Retention(max_entries=2))
        await log.append("a", 1)
        with anyio.fail_after(20):
            async with log.follow() as entries:
                assert (await anext(entries)).value == 1
                for number in range(2, 500):  # more than may be on their way already
                    await log.append("a", number)
                with pytest.raises(CursorLostError):
                    _ = [entry async for entry in entries]


NEVER: Any = None
TEXT: Any = "5"
BAD_RETENTIONS = [
    *[Retention(max_age=seconds) for seconds in (0, 0.01, -1, nan, inf, 1e300, 10**400, TEXT)],
    *[Retention(dedup_window=seconds) for seconds in (0, -1, nan, inf, NEVER, TEXT)],
    *[Retention(max_entries=count) for count in (0, -1, 10**30, True, cast("int", 1.5), TEXT)],
]


async def test_a_retention_that_no_engine_keeps_is_refused(engine: Engine) -> None:
    async with engine.open() as store:
        for kept in BAD_RETENTIONS:
            with pytest.raises(StorageInputError, match=r"Retention\..*Leave it out"):
                await store.log("events", retention=kept)
        assert await store.entries() == []


BAD_COUNTS: list[Any] = [-1, 2**63, 10**5000, 1.5, True, "1", None]


async def test_a_cursor_or_limit_that_no_log_has_is_refused(engine: Engine) -> None:
    async with engine.open() as store:
        log = await store.log("events")
        await log.append("a", 1)
        for count in BAD_COUNTS:
            with pytest.raises(StorageInputError, match="after: expected a whole number"):
                await log.read(after=count)
            with pytest.raises(StorageInputError, match="limit: expected a whole number"):
                await log.read(limit=count)
            with pytest.raises(StorageInputError, match="after: expected a whole number"):
                log.follow(after=count)


BAD_IDS: list[Any] = ["", "i" * 513, "\ud800", 5, b"i"]


async def test_an_id_that_no_log_takes_is_refused(engine: Engine) -> None:
    async with engine.open() as store:
        log = await store.log("events")
        for id in BAD_IDS:
            with pytest.raises(StorageInputError, match="id: expected 1 to 512 bytes"):
                await log.append("a", 1, id=id)
        assert await log.read() == []


async def test_the_store_says_what_it_holds(engine: Engine) -> None:
    async with engine.open() as store:
        kept = Retention(max_age=600, max_entries=9, dedup_window=60)
        await store.log("events", durable=False, retention=kept)
        await store.records("things")
        log, records = await store.entries()
        assert (log.kind, log.name, log.durable, log.retention) == ("log", "events", False, kept)
        assert (records.kind, records.name, records.durable) == ("records", "things", True)
        assert await store.check() == []
