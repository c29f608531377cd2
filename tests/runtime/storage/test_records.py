"""What all records keep, whatever the engine."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from kinwire.storage import (
    ConflictError,
    Record,
    Records,
    StorageClosedError,
    StorageInputError,
)
from tests.runtime.storage.fixtures_engines import ON_ALL, Engine

pytestmark = [pytest.mark.anyio, ON_ALL]

KEYS = [
    "a",
    "a/b",
    "a//b",
    "/",
    "/a/",
    "a.b",
    "a b",
    "ä/ö",
    "*",
    ">",
    "=2F",
    "\0",
    "\U0010ffff",
    "k",
]
VALUES: list[Any] = [
    None,
    True,
    0,
    -1.5,
    10**30,
    1e300,
    "",
    "\u2028\u0085\0\n",
    [],
    {},
    {"a": [1, {"b": None}]},
]


async def keys_of(records: Records, prefix: str = "") -> list[str]:
    return sorted({record.key async for record in records.scan(prefix)})


async def test_what_was_put_is_there(engine: Engine) -> None:
    async with engine.open() as store:
        records = await store.records("things")
        revision = await records.put("a", {"n": 1})
        assert await records.get("a") == Record("a", {"n": 1}, revision)
        assert await records.get("b") is None


async def test_every_value_of_json_comes_back_equal_and_of_its_type(engine: Engine) -> None:
    async with engine.open() as store:
        records = await store.records("things")
        for value in VALUES:
            await records.put("a", value)
            found = await records.get("a")
            assert found is not None
            assert found.value == value
            assert type(found.value) is type(value)


async def test_keys_are_any_text_and_none_is_taken_for_another(engine: Engine) -> None:
    async with engine.open() as store:
        records = await store.records("things")
        for key in KEYS:
            await records.put(key, key)
        assert await keys_of(records) == sorted(KEYS)
        for key in KEYS:
            found = await records.get(key)
            assert found is not None
            assert found.value == key


async def test_a_scan_gives_the_keys_with_the_prefix(engine: Engine) -> None:
    async with engine.open() as store:
        records = await store.records("things")
        for key in KEYS:
            await records.put(key, 0)
        await records.put("a/gone", 0)
        await records.delete("a/gone")
        for prefix in ["", "a", "a/", "a//", "/", "ä", "a.", "\U0010ffff", "zz"]:
            wanted = sorted(key for key in KEYS if key.startswith(prefix))
            assert await keys_of(records, prefix) == wanted, prefix


async def test_a_scan_of_many_gives_each(engine: Engine) -> None:
    async with engine.open() as store:
        records = await store.records("things", durable=False)
        wanted = [f"many/{number:04}" for number in range(250)]
        async with anyio.create_task_group() as tasks:
            for key in wanted:
                tasks.start_soon(records.put, key, 0)
        assert await keys_of(records, "many/") == wanted


async def test_revisions_rise_and_are_never_used_twice(engine: Engine) -> None:
    async with engine.open() as store:
        records = await store.records("things")
        seen = [await records.put("a", 0), await records.put("b", 0), await records.put("a", 0)]
        await records.delete("a")
        seen.append(await records.put("a", 0))
        assert seen == sorted(set(seen))


async def test_a_compare_and_set_needs_the_revision(engine: Engine) -> None:
    async with engine.open() as store:
        records = await store.records("things")
        first = await records.put("a", 1, revision=0)
        with pytest.raises(ConflictError, match="expected no record, got revision") as refused:
            await records.put("a", 2, revision=0)
        assert refused.value.found == first
        second = await records.put("a", 2, revision=first)
        with pytest.raises(ConflictError):
            await records.put("a", 3, revision=first)
        found = await records.get("a")
        assert found == Record("a", 2, second)


async def test_a_compare_and_set_of_what_is_not_there_is_refused(engine: Engine) -> None:
    async with engine.open() as store:
        records = await store.records("things")
        with pytest.raises(ConflictError, match="got no record"):
            await records.put("a", 1, revision=7)
        gone = await records.put("a", 1)
        await records.delete("a")
        with pytest.raises(ConflictError):
            await records.put("a", 2, revision=gone)
        assert await records.get("a") is None
        assert await records.put("a", 3, revision=0) > gone


async def test_a_delete_says_whether_there_was_one(engine: Engine) -> None:
    async with engine.open() as store:
        records = await store.records("things")
        assert await records.delete("a") is False
        revision = await records.put("a", 1)
        with pytest.raises(ConflictError):
            await records.delete("a", revision=revision + 1)
        with pytest.raises(ConflictError):
            await records.delete("a", revision=0)
        assert await records.delete("a", revision=revision) is True
        assert await records.delete("a") is False


async def test_what_has_expired_is_gone_for_every_call(engine: Engine) -> None:
    async with engine.open() as store:
        records = await store.records("things")
        revision = await records.put("a", 1, expires_in=60)
        found = await records.get("a")
        assert found is not None
        assert found.expires_at == pytest.approx(engine.clock.now + 60)
        engine.clock.now += 60
        with pytest.raises(ConflictError):
            await records.put("a", 2, revision=revision)
        assert await records.get("a") is None
        assert await keys_of(records) == []
        assert await records.delete("a") is False
        assert await records.put("a", 2, revision=0) > revision


async def test_a_clock_that_is_put_back_revives_nothing(engine: Engine) -> None:
    async with engine.open() as store:
        records = await store.records("things")
        await records.put("a", 1, expires_in=60)
        engine.clock.now += 61
        assert await records.get("a") is None
        engine.clock.now -= 86_400
        assert await records.get("a") is None


async def test_a_later_put_without_expiry_stays(engine: Engine) -> None:
    async with engine.open() as store:
        records = await store.records("things")
        await records.put("a", 1, expires_in=60)
        await records.put("a", 2)
        engine.clock.now += 61
        found = await records.get("a")
        assert found is not None
        assert found.expires_at is None


async def test_names_and_stores_do_not_see_each_other(engine: Engine) -> None:
    async with engine.open() as store:
        one, other = await store.records("one"), await store.records("other")
        await one.put("a", 1)
        await other.put("b", 2)
        assert await keys_of(one) == ["a"]
        assert await keys_of(other) == ["b"]


async def test_a_name_that_is_opened_twice_is_the_same(engine: Engine) -> None:
    async with engine.open() as store:
        await (await store.records("things")).put("a", 1)
        again = await store.records("things", durable=False)
        assert await keys_of(again) == ["a"]
        assert [entry.durable for entry in await store.entries()] == [False]


async def test_a_watch_yields_the_records_then_the_changes(engine: Engine) -> None:
    async with engine.open() as store:
        records = await store.records("things")
        await records.put("x/gone", 0)
        await records.delete("x/gone")
        await records.put("x/a", 1)
        await records.put("y/a", 1)
        with anyio.fail_after(20):
            async with records.watch("x/") as changes:
                first = await anext(changes)
                assert first.record is not None
                assert (first.key, first.record.value) == ("x/a", 1)
                await records.put("y/b", 2)
                await records.put("x/b", 2)
                second = await anext(changes)
                assert (second.key, second.record and second.record.value) == ("x/b", 2)
                await records.delete("x/a")
                third = await anext(changes)
                assert (third.key, third.record) == ("x/a", None)
                assert first.revision < second.revision < third.revision


async def test_a_watch_yields_a_removal_that_is_the_first_change(engine: Engine) -> None:
    async with engine.open() as store:
        records = await store.records("things")
        await records.put("a", 1)
        with anyio.fail_after(20):
            async with records.watch() as changes:
                assert (await anext(changes)).record is not None
                await records.delete("a")
                assert (await anext(changes)).record is None


async def test_a_slow_watch_gets_the_last_state_of_each_key(engine: Engine) -> None:
    async with engine.open() as store:
        records = await store.records("things")
        with anyio.fail_after(20):
            async with records.watch() as changes:
                for value in range(5):
                    last = await records.put("a", value)
                told = await anext(changes)
                while told.revision < last:
                    told = await anext(changes)
                assert told.record == Record("a", 4, last)


async def test_a_watch_yields_an_expiry(engine: Engine) -> None:
    async with engine.open() as store:
        records = await store.records("things")
        with anyio.fail_after(20):
            async with records.watch() as changes:
                await records.put("a", 1, expires_in=1)
                assert (await anext(changes)).record is not None
                engine.clock.now += 2
                assert (await anext(changes)).record is None


async def test_of_many_that_expect_the_same_one_succeeds(engine: Engine) -> None:
    async with engine.open() as store:
        records = await store.records("things")
        done: list[int] = []
        refused: list[int] = []

        async def attempt(number: int) -> None:
            try:
                await records.put("a", number, revision=0)
                done.append(number)
            except ConflictError:
                refused.append(number)

        async with anyio.create_task_group() as tasks:
            for number in range(20):
                tasks.start_soon(attempt, number)
        assert (len(done), len(refused)) == (1, 19)
        found = await records.get("a")
        assert found is not None
        assert found.value == done[0]


async def test_a_cancelled_put_leaves_the_store_usable(engine: Engine) -> None:
    async with engine.open() as store:
        records = await store.records("things")
        with anyio.CancelScope() as scope:
            scope.cancel()
            await records.put("a", 1)
        await records.put("b", 2)
        assert "b" in await keys_of(records)


REFUSED: list[tuple[str, dict[str, Any]]] = [
    ("got none. Pass a string that is not empty", {"key": "", "value": 1}),
    ("got 513. Hash longer values", {"key": "k" * 513, "value": 1}),
    ("bytes of UTF-8, got half of a surrogate pair", {"key": "\ud800", "value": 1}),
    ("bytes of UTF-8, got int", {"key": 5, "value": 1}),
    ("bytes of UTF-8, got bytes", {"key": b"a", "value": 1}),
    ("expected strings as keys, got a key that is 1", {"key": "a", "value": [{"b": {1: 2}}]}),
    ("expected strings as keys, got a key that is NoneType", {"key": "a", "value": {None: 2}}),
    ("expected a JSON value", {"key": "a", "value": {1, 2}}),
    ("ValueError", {"key": "a", "value": [float("nan")]}),
    ("half of a surrogate pair", {"key": "a", "value": "\udc00"}),
    ("got 0", {"key": "a", "value": 1, "expires_in": 0}),
    ("got inf", {"key": "a", "value": 1, "expires_in": float("inf")}),
    ("got nan", {"key": "a", "value": 1, "expires_in": float("nan")}),
    ("got 1e\\+300", {"key": "a", "value": 1, "expires_in": 1e300}),
    ("got a larger number", {"key": "a", "value": 1, "expires_in": 10**400}),
    ("got str", {"key": "a", "value": 1, "expires_in": "5"}),
    ("got True", {"key": "a", "value": 1, "expires_in": True}),
    ("got -1", {"key": "a", "value": 1, "revision": -1}),
    ("got 1.5", {"key": "a", "value": 1, "revision": 1.5}),
    ("got str", {"key": "a", "value": 1, "revision": "1"}),
    ("got a larger number", {"key": "a", "value": 1, "revision": 2**64}),
]


async def test_what_no_store_takes_is_refused_with_the_place(engine: Engine) -> None:
    async with engine.open() as store:
        records = await store.records("things")
        for said, given in REFUSED:
            with pytest.raises(StorageInputError, match=said):
                await records.put(**given)
        assert await keys_of(records) == []


@pytest.mark.parametrize("depth", [100, 101])
async def test_a_value_is_at_most_so_deep_that_it_can_be_read(engine: Engine, depth: int) -> None:
    value: Any = "[[" * 200
    for _ in range(depth):
        value = [value]
    async with engine.open() as store:
        records = await store.records("things")
        if depth > 100:
            with pytest.raises(StorageInputError, match="100 levels"):
                await records.put("a", value)
        else:
            await records.put("a", value)
            found = await records.get("a")
            assert found is not None
            assert found.value == value


async def test_a_name_that_no_store_takes_is_refused(engine: Engine) -> None:
    async with engine.open() as store:
        names: list[Any] = ["", "A", "a b", "a.b", "n" * 65, "a\n", 5, None]
        for name in names:
            with pytest.raises(StorageInputError, match="Rename it"):
                await store.records(name)
            with pytest.raises(StorageInputError, match="Rename it"):
                await store.log(name)
        assert await store.entries() == []


async def test_a_closed_store_says_so(engine: Engine) -> None:
    async with engine.open() as store:
        records, log = await store.records("things"), await store.log("events")
    for call in (
        lambda: records.get("a"),
        lambda: records.put("a", 1),
        lambda: records.delete("a"),
        lambda: log.append("a", 1),
        lambda: log.read(),
        lambda: log.bounds(),
        lambda: store.records("more"),
        lambda: store.entries(),
    ):
        with pytest.raises(StorageClosedError, match="async with"):
            await call()
