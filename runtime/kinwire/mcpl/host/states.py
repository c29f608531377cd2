"""The checkpoints of all servers of a host, and their copy that outlives the process (MCPL 8).

`rules/checkpoint_tree.py` has the trees. A record is written for each checkpoint, one for the head;
what a later one needs is written before what refers to it, so a process may end at any moment.
"""

from __future__ import annotations

__all__ = ("StateMode", "States", "StoredTree")

import logging
from typing import Any, Literal, get_args

import anyio
from pydantic import MISSING

from kinwire.mcpl.rules.checkpoint_tree import CheckpointTree, StateError
from kinwire.mcpl.rules.checkpoints import Checkpoint
from kinwire.storage.records import Record, Records
from kinwire.support.json_values import short_digest
from kinwire_protocols.base import JsonObject, from_wire, to_wire
from kinwire_protocols.mcpl.models import StateUpdate

logger = logging.getLogger("kinwire.mcpl")

StateMode = Literal["tree", "latest", "none"]


class States:
    """The trees of one host, by server and feature set."""

    def __init__(self, mode: StateMode, records: Records | None) -> None:
        if mode not in get_args(StateMode):
            raise ValueError(f"state: expected 'tree', 'latest' or 'none', got {mode!r:.60}")
        self.mode = mode
        self._records = records
        self._trees: dict[tuple[str, str], StoredTree] = {}
        self._turn = anyio.Lock()

    async def of(self, server: str, feature_set: str) -> StoredTree:
        """Return the tree of a set, as it was left by this process or the one before."""
        stored = self._trees.get((server, feature_set))
        if stored is not None:
            return stored
        async with self._turn:
            stored = self._trees.get((server, feature_set))
            if stored is None:
                place = f"state/{short_digest(server)}/{short_digest(feature_set)}/"
                tree = CheckpointTree() if self.mode == "tree" else CheckpointTree(checkpoints=1)
                stored = StoredTree(tree, self._records, place)
                await stored.load()
                self._trees[server, feature_set] = stored
            return stored


class StoredTree:
    """The tree of one set of one server."""

    def __init__(self, tree: CheckpointTree, records: Records | None, place: str) -> None:
        self.tree = tree
        self.turns = 0
        """How often the head was put elsewhere: a call from before does not put it back."""
        self._records = records
        self._place = place
        self._unwritten: set[str] = set()  # writing them failed: what follows them brings all
        self._turn = anyio.Lock()

    async def load(self) -> None:
        """Take up what was written."""
        if self._records is None:
            return
        found = [record async for record in self._records.scan(f"{self._place}checkpoint/")]
        for record in sorted(found, key=lambda one: one.value["order"]):
            self._restore(record)
        head = await self._records.get(f"{self._place}head")
        if head is not None and head.value in self.tree:
            self.tree.head = head.value

    async def record(self, update: StateUpdate, *, base: str | None, turns: int) -> None:
        """Keep the checkpoint that a call has made; return when it is written.

        `base` and `turns` are head and turns when the call was sent.

        Raises:
            StateError: it cannot be kept; nothing has changed.
            StorageError: it is kept, but could not be written.
        """
        async with self._turn:
            recorded = self.tree.record(update, base=base, advance=turns == self.turns)
            if recorded.warning is not None:
                logger.warning("checkpoint %.60r: %s", update.checkpoint, recorded.warning)
            if self._records is None:
                return
            if recorded.is_new:
                self._unwritten.add(update.checkpoint)
                patch = None if recorded.warning else update.patch
                await self._write(recorded.checkpoint, patch)
            for child in recorded.rebased:
                await self._write(child, None)
            await self._write_head()
            for gone in recorded.pruned:
                await self._records.delete(self._key(gone.id))
                self._unwritten.discard(gone.id)

    async def put_head(self, checkpoint: str | None) -> None:
        """Have the next call build on a checkpoint, or on nothing."""
        async with self._turn:
            self.turns += 1
            if checkpoint is None:
                self.tree.head = None
            else:
                is_new = checkpoint not in self.tree
                self.tree.roll_back(checkpoint)
                if is_new:
                    await self._write(self.tree[checkpoint], None)
            await self._write_head()

    async def _write_head(self) -> None:
        if self._records is not None:
            await self._records.put(f"{self._place}head", self.tree.head)

    async def _write(self, checkpoint: Checkpoint, patch: list[Any] | None) -> None:
        if self._records is None:
            return
        value: JsonObject = {
            "checkpoint": checkpoint.id,
            "parent": checkpoint.parent,
            "order": checkpoint.order,
        }
        if patch is not None and checkpoint.parent not in self._unwritten:
            value["patch"] = [to_wire(one) for one in patch]
        elif checkpoint.data is not MISSING:
            value["data"] = checkpoint.data
        await self._records.put(self._key(checkpoint.id), value)
        self._unwritten.discard(checkpoint.id)

    def _restore(self, record: Record) -> None:
        members = dict(record.value)
        order = members.pop("order")
        try:
            self.tree.restore(from_wire(StateUpdate, members), order)
        except StateError as error:
            logger.warning("checkpoint %.60r is left out: %s", members["checkpoint"], error)

    def _key(self, checkpoint: str) -> str:
        return f"{self._place}checkpoint/{short_digest(checkpoint)}"
