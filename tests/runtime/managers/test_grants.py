"""`GrantStore`: decisions that are asked for once, remembered, taken back, and seen elsewhere."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest

from kinwire.managers.durable_map import text_codec
from kinwire.managers.grants import Decided, GrantStore, StoredDecisions
from kinwire.storage import Records, StorageUnavailableError, open_store
from tests.runtime.managers.fixtures_records import FailingRecords

pytestmark = pytest.mark.anyio

KEY = "server/label"


def granting(records: Records | None = None, *, limit: int = 10, now: float = 0.0) -> Any:
    codec = text_codec(str, str)
    return GrantStore[str](
        records,
        approvals=StoredDecisions("grant/yes/", codec),
        denials=StoredDecisions("grant/no/", codec),
        limit=limit,
        clock=lambda: now,
    )


def answering(*decisions: Decided[str]) -> Callable[[], Awaitable[Decided[str]]]:
    rest = list(decisions)

    async def ask() -> Decided[str]:
        return rest.pop(0)

    return ask


async def test_a_decision_is_asked_for_once_and_remembered_as_long_as_it_lasts() -> None:
    grants = granting()
    once, yes, no = Decided(True, "once", 0.0), Decided(True, "yes"), Decided(False, "no", 5.0)
    ask = answering(once, yes)
    assert await grants.decide(KEY, ask) == once
    assert await grants.decide(KEY, ask) == yes
    assert await grants.decide(KEY, ask) == Decided(True, "yes")
    await grants.keep(KEY, no)
    assert grants.remembered(KEY).answer == "no"
    assert (len(grants), grants.items("server/")) == (1, [(KEY, Decided(False, "no"))])
    await grants.take_back("server/")
    assert (grants.remembered(KEY), len(grants)) == (None, 0)


async def test_a_denial_counts_more_where_a_failure_has_left_both() -> None:
    async with open_store("memory:") as store:
        records = FailingRecords(await store.records("tests"))
        grants = granting(records)
        await grants.keep(KEY, Decided(False, "no"))
        delete, records.delete = records.delete, failing  # type: ignore[method-assign]
        with pytest.raises(StorageUnavailableError):
            await grants.keep(KEY, Decided(True, "yes"))
        records.delete = delete  # type: ignore[method-assign]
        assert not grants.remembered(KEY).approved
        again = granting(records)
        await again.load("server/")
        assert again.items() == [(KEY, Decided(False, "no"))]
        await again.keep(KEY, Decided(True, "yes"))
        assert again.remembered(KEY).approved


async def failing(*_: Any, **__: Any) -> bool:
    raise StorageUnavailableError("records", expected="a", got="b", hint="c")


async def test_many_denials_push_no_approval_out() -> None:
    grants = granting(limit=2)
    await grants.keep("a", Decided(True, "yes"))
    for name in "bcdef":
        await grants.keep(name, Decided(False, "no"))
    assert grants.remembered("a").approved
    assert len(grants) == 3


async def test_an_answer_is_not_remembered_if_its_key_was_taken_back_since() -> None:
    async with open_store("memory:") as store:
        records = FailingRecords(await store.records("tests"))
        grants, asked, may_answer = granting(records), anyio.Event(), anyio.Event()

        async def ask() -> Decided[str]:
            asked.set()
            await may_answer.wait()
            return Decided(True, "yes")

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(grants.decide, KEY, ask)
            await asked.wait()
            await grants.take_back("server/")
            may_answer.set()
        assert grants.remembered(KEY) is None

        records.gate = anyio.Event()  # now while it is stored
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(grants.decide, KEY, ask)
            await records.waits.wait()
            gate, records.gate = records.gate, None
            await grants.take_back("server/")
            gate.set()
        assert grants.remembered(KEY) is None
        assert [one async for one in records.scan()] == []


async def test_decisions_of_another_process_arrive_and_end_the_wait_for_them() -> None:
    async with open_store("memory:") as store, anyio.create_task_group() as tasks:
        records = await store.records("tests")
        here, there = granting(records), granting(records)
        tasks.start_soon(here.follow, "grant/")
        with anyio.fail_after(5):
            await there.keep(KEY, Decided(True, "yes"))
            assert (await here.wait(KEY)).approved
            await there.keep(KEY, Decided(False, "no"))
            while here.remembered(KEY).approved:
                await here.news.wait()
            await there.take_back("server/")
            while here.remembered(KEY) is not None:
                await here.news.wait()
        tasks.cancel_scope.cancel()


async def test_a_late_report_of_a_watch_does_not_undo_a_newer_decision() -> None:
    async with open_store("memory:") as store:
        records = await store.records("tests")
        here, there = granting(records), granting(records)
        await there.keep(KEY, Decided(False, "no"))
        async with records.watch("grant/") as changes:
            late = await anext(changes)
            await here.load()
            await here.keep(KEY, Decided(True, "yes"))
            await here.keep(KEY, Decided(False, "newer"))
            here._take(late)
            assert here.remembered(KEY).answer == "newer"


async def test_following_goes_on_after_failures_and_what_cannot_be_read(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kinwire.managers.grants._BACKOFF", _AtOnce())
    async with anyio.create_task_group() as tasks, open_store("memory:") as store:
        records = await store.records("tests")
        watch, failed = records.watch, list[int]()

        def failing_first(prefix: str) -> Any:
            if failed:
                return watch(prefix)
            failed.append(1)
            raise StorageUnavailableError("records", expected="a", got="b", hint="c")

        monkeypatch.setattr(records, "watch", failing_first)
        grants = granting(records)
        await records.put("grant/yes/odd", "x")
        codec = text_codec(str, int)
        grants._maps["grant/yes/"]._codec = codec  # cannot read it
        await records.put(f"grant/no/{KEY}", "no")
        tasks.start_soon(grants.follow, "grant/")
        with anyio.fail_after(5), caplog.at_level(logging.WARNING):
            assert not (await grants.wait(KEY)).approved
    # The store is closed, so it has ended.
    assert len(caplog.messages) == 2
    assert "decisions of others are not seen" in caplog.messages[0]
    assert "cannot be read" in caplog.messages[1]


class _Interrupted:
    """What ends the watches of records while it is `down`, at each change of the key `other`."""

    def __init__(self, records: Any) -> None:
        self.down = False
        self._watch = records.watch

    @asynccontextmanager
    async def watch(self, prefix: str) -> AsyncGenerator[Any]:
        async with self._watch(prefix) as opened:
            yield self._changes(opened)

    async def _changes(self, opened: Any) -> AsyncGenerator[Any]:
        async for change in opened:
            if self.down and change.key.endswith("other"):
                raise StorageUnavailableError("records", expected="a", got="b", hint="c")
            yield change


async def test_what_others_may_take_back_unseen_is_not_approved(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("kinwire.managers.grants._BACKOFF", _AtOnce())
    async with anyio.create_task_group() as tasks, open_store("memory:") as store:
        records = await store.records("tests")
        here, there, interrupted = granting(records), granting(records), _Interrupted(records)
        monkeypatch.setattr(records, "watch", interrupted.watch)
        for key in ("server/denied", KEY):
            await there.keep(key, Decided(key == KEY, "yes"))
        tasks.start_soon(here.follow, "grant/")
        with anyio.fail_after(5):
            assert (await here.wait(KEY)).approved
            interrupted.down = True
            await there.keep("other", Decided(True, "yes"))
            while here.remembered(KEY) is not None:
                await here.news.wait()
            assert not here.remembered("server/denied").approved
            interrupted.down = False
            assert (await here.wait(KEY)).approved
        tasks.cancel_scope.cancel()


class _AtOnce:
    def delay(self, failures: int, *, jitter: float) -> float:
        return 0.0
