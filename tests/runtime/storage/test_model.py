"""Each engine against one dull model: whatever is asked in whatever order, it answers alike."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from itertools import count
from typing import Any, ClassVar

import pytest
from anyio.from_thread import start_blocking_portal
from hypothesis import settings, strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test

from kinwire.storage import Appended, ConflictError, Log, Record, Records, Retention
from kinwire.support.patterns.subjects import subject_matcher
from tests.runtime.storage.fixtures_engines import ON_ALL, Engine

KEPT = 6  # entries
KEYS = st.sampled_from(["a", "a/b", "a/c", "b"])
SUBJECTS = st.sampled_from(["a", "a.b", "b.b"])
REVISIONS = st.sampled_from(["any", "right", "wrong", "none"])


class Model:
    """What a store is to do, in as few lines as there can be."""

    def __init__(self) -> None:
        self.records: dict[str, tuple[Any, int, float | None]] = {}
        self.entries: list[tuple[str, Any]] = []
        self.ids: dict[str, int] = {}

    def alive(self, now: float) -> dict[str, tuple[Any, int, float | None]]:
        return {k: r for k, r in self.records.items() if r[2] is None or r[2] > now}

    def append(self, subject: str, value: Any, id: str | None) -> Appended:
        if id in self.ids:
            return Appended(self.ids[id], duplicate=True)
        self.entries.append((subject, value))
        if id is not None:
            self.ids[id] = len(self.entries)
        return Appended(len(self.entries))

    def kept(self, subjects: str, after: int) -> list[tuple[int, str, Any]]:
        kept = [(n, *entry) for n, entry in enumerate(self.entries, 1)][-KEPT:]
        return [row for row in kept if row[0] > after and subject_matcher(subjects)(row[1])]


class StoreAgainstModel(RuleBasedStateMachine):
    """The same calls to both; a file is closed and opened again now and then."""

    engine: ClassVar[Engine]
    backend: ClassVar[str]
    names: ClassVar[Iterator[int]] = count()
    records: Records
    log: Log

    def __init__(self) -> None:
        super().__init__()
        self.model, self.values = Model(), count()
        self.name = f"n{next(self.names)}"
        self.last = 0
        self.outer, self.inner = ExitStack(), ExitStack()
        self.portal = self.outer.enter_context(start_blocking_portal(self.backend))
        self.open()

    def open(self) -> None:
        store = self.inner.enter_context(self.portal.wrap_async_context_manager(self.engine.open()))
        self.records = self.portal.call(store.records, self.name)
        retention = Retention(max_entries=KEPT, dedup_window=86_400)
        self.log = self.portal.call(lambda: store.log(self.name, retention=retention))

    def teardown(self) -> None:
        self.inner.close()
        self.outer.close()

    @rule(key=KEYS, expected=REVISIONS, expires_in=st.sampled_from([None, None, 5.0]))
    def put(self, key: str, expected: str, expires_in: float | None) -> None:
        value, revision = next(self.values), self.revision(key, expected)
        found = self.alive().get(key, (None, 0, None))[1]
        call = self.portal.start_task_soon(
            lambda: self.records.put(key, value, revision=revision, expires_in=expires_in)
        )
        if revision not in (None, found):
            with pytest.raises(ConflictError) as refused:
                call.result()
            assert refused.value.found == found
            return
        written = call.result()
        assert written > self.last
        self.last = written
        expires_at = None if expires_in is None else self.engine.clock.now + expires_in
        self.model.records[key] = value, written, expires_at

    @rule(key=KEYS, expected=REVISIONS)
    def delete(self, key: str, expected: str) -> None:
        revision = self.revision(key, expected)
        found = self.alive().get(key, (None, 0, None))[1]
        call = self.portal.start_task_soon(lambda: self.records.delete(key, revision=revision))
        if revision not in (None, found):
            with pytest.raises(ConflictError):
                call.result()
            return
        assert call.result() is (found > 0)
        self.model.records.pop(key, None)

    @rule(key=KEYS)
    def get(self, key: str) -> None:
        row = self.alive().get(key)
        assert self.portal.call(self.records.get, key) == (row and Record(key, *row))

    @rule(prefix=st.sampled_from(["", "a", "a/", "b", "c"]))
    def scan(self, prefix: str) -> None:
        async def scanned() -> dict[str, Record]:
            return {record.key: record async for record in self.records.scan(prefix)}

        wanted = {k: Record(k, *r) for k, r in self.alive().items() if k.startswith(prefix)}
        assert self.portal.call(scanned) == wanted

    @rule(seconds=st.sampled_from([1.0, 4.0, 5.0]))
    def wait(self, seconds: float) -> None:
        self.engine.clock.now += seconds

    @rule(subject=SUBJECTS, id=st.sampled_from([None, None, "x", "y"]))
    def append(self, subject: str, id: str | None) -> None:
        value = next(self.values)
        wanted = self.model.append(subject, value, id)
        assert self.portal.call(lambda: self.log.append(subject, value, id=id)) == wanted

    @rule(subjects=st.sampled_from([">", "a.*", "*.b", "a"]), back=st.integers(0, KEPT))
    def read(self, subjects: str, back: int) -> None:
        after = max(0, len(self.model.entries) - back)
        found = self.portal.call(lambda: self.log.read(subjects, after=after))
        assert [(e.sequence, e.subject, e.value) for e in found] == self.model.kept(subjects, after)

    @rule()
    def open_again(self) -> None:
        if self.engine.kind != "memory":
            self.inner.close()
            self.open()

    def alive(self) -> dict[str, tuple[Any, int, float | None]]:
        return self.model.alive(self.engine.clock.now)

    def revision(self, key: str, expected: str) -> int | None:
        right = self.model.records.get(key, (None, 0, None))[1]  # also of one that has expired
        return {"any": None, "right": right, "wrong": right + 1, "none": 0}[expected]


# Examples on a disk are slower: one in N of the profile's number, of 30 steps each.
ONE_IN = {"memory": 2, "sqlite": 5, "nats": 10}


@pytest.mark.hypothesis
@ON_ALL
def test_a_store_answers_as_the_model_does(engine: Engine, anyio_backend: tuple[str, Any]) -> None:
    class Machine(StoreAgainstModel):
        pass

    Machine.engine, Machine.backend = engine, anyio_backend[0]
    count = settings().max_examples // ONE_IN[engine.kind]
    few = settings(max_examples=count, stateful_step_count=30)
    run_state_machine_as_test(Machine, settings=few)
