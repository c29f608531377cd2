"""The copy of a tree in records: whatever happened, a restarted host finds the same tree."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from kinwire.mcpl.host.state import StoredTree
from kinwire.mcpl.rules.checkpoint_tree import CheckpointTree, StateError
from kinwire.storage import open_store
from kinwire_protocols.base import from_wire
from kinwire_protocols.mcpl import StateUpdate
from tests.runtime.mcpl.fixtures_long_runs import BRIEF, long_run

pytestmark = pytest.mark.spec("mcpl-8.3-2")


class StoredTreeAgainstItself(RuleBasedStateMachine):
    """Five checkpoints at most, so that they are pruned again and again."""

    def __init__(self) -> None:
        super().__init__()
        self.loop, self.number = asyncio.Runner(), 0
        self.stack = AsyncExitStack()
        store = self.loop.run(self.stack.enter_async_context(open_store("memory:")))
        self.records = self.loop.run(store.records("mcpl"))
        self.stored = self.new()

    def teardown(self) -> None:
        self.loop.run(self.stack.aclose())
        self.loop.close()

    def new(self) -> StoredTree:
        return StoredTree(CheckpointTree(checkpoints=5), self.records, "state/")

    def record(self, *, turns: int | None = None, **members: Any) -> None:
        update = from_wire(StateUpdate, {"checkpoint": f"c{self.number}", **members})
        turns = self.stored.turns if turns is None else turns
        base = self.stored.tree.head
        self.loop.run(self.stored.record(update, base=base, turns=turns))

    @rule(value=st.integers(0, 3), how=st.sampled_from(["patch", "data", "opaque", "late"]))
    def work(self, value: int, how: str) -> None:
        self.number += 1
        if how == "opaque":
            self.record()
        elif how == "data" or self.stored.tree.head is None:
            self.record(data={"l": [value]})
        else:
            late = self.stored.turns - 1 if how == "late" else None
            self.record(patch=[{"op": "add", "path": f"/n{value}", "value": value}], turns=late)

    @rule()
    def come_again(self) -> None:
        if f"c{self.number}" in self.stored.tree:
            self.record()

    @rule()
    def fail(self) -> None:
        if isinstance(self.stored.tree.data, dict):
            self.number += 1
            with pytest.raises(StateError):
                self.record(patch=[{"op": "remove", "path": "/nothing"}])

    @precondition(lambda self: len(self.stored.tree) > 0)
    @rule(data=st.data())
    def roll_back(self, data: st.DataObject) -> None:
        known = [one.id for one in self.stored.tree.checkpoints]
        to = data.draw(st.sampled_from([*known, "only the server knows it", None]))
        self.loop.run(self.stored.put_head(to))

    @invariant()
    def the_next_host_finds_it_as_it_is(self) -> None:
        found, kept = self.new(), self.stored.tree
        self.loop.run(found.load())
        assert found.tree.head == kept.head
        assert found.tree.render() == kept.render()
        assert [one.data for one in found.tree.checkpoints] == [
            one.data for one in kept.checkpoints
        ]


TestStoredTree = StoredTreeAgainstItself.TestCase
TestStoredTree.settings = BRIEF
TestStoredTreeAtLength = long_run(StoredTreeAgainstItself)
