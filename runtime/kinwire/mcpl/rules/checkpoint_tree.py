"""The checkpoints of one feature set of one server: a tree, and which of them is the head (MCPL 8).

A checkpoint has data or is opaque, where the server keeps the state itself. Each shares with its
parent what did not change, so a rollback costs nothing and a checkpoint what is new in it.
"""

from __future__ import annotations

__all__ = ("MOST_CHECKPOINTS", "Checkpoint", "CheckpointTree", "Recorded", "StateError")

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from pydantic import MISSING

from kinwire.mcpl.rules.json_patch import PatchError, patched
from kinwire.mcpl.rules.json_values import depth, same, text
from kinwire_protocols.mcpl.models import StateUpdate

MOST_CHECKPOINTS = 1000
_MOST_BYTES = 64 * 1024 * 1024  # of all checkpoints of a set, in characters of JSON
_STATE_SIZE = 4 * 1024 * 1024  # as much as a message may have
_STATE_DEPTH = 60  # a message has 64 levels at most, and some stand around the state


class StateError(ValueError):
    """An update that cannot be; nothing of it was kept. The text begins with a JSON pointer."""


@dataclass(slots=True)
class Checkpoint:
    """One node."""

    id: str
    parent: str | None
    """The checkpoint that it follows, also where that one is gone; None for none."""
    order: int
    """Rises from checkpoint to checkpoint."""
    data: Any = MISSING
    """The state; MISSING where the server keeps it itself."""
    brought: int = 0
    """Characters of JSON that are this one's own."""
    children: list[str] = field(default_factory=list[str])


@dataclass(frozen=True, slots=True)
class Recorded:
    """What an update has come to."""

    checkpoint: Checkpoint
    is_new: bool
    warning: str | None = None
    pruned: Sequence[Checkpoint] = ()
    uprooted: Sequence[Checkpoint] = ()
    """Those whose parent was pruned: from now on they bring their whole state themselves."""


class CheckpointTree:
    """The checkpoints that are kept; `head` is the one that the next call builds on."""

    def __init__(self, *, checkpoints: int = MOST_CHECKPOINTS, size: int = _MOST_BYTES) -> None:
        self.head: str | None = None
        self._kept: dict[str, Checkpoint] = {}  # the oldest first
        self._most, self._size = checkpoints, size
        self._brought = 0
        self._order = 0

    def __len__(self) -> int:
        return len(self._kept)

    def __contains__(self, checkpoint: str) -> bool:
        return checkpoint in self._kept

    def __getitem__(self, checkpoint: str) -> Checkpoint:
        return self._kept[checkpoint]

    @property
    def checkpoints(self) -> list[Checkpoint]:
        """All of them, the oldest first."""
        return list(self._kept.values())

    @property
    def data(self) -> Any:
        """The state at the head; MISSING where there is none, or the server keeps it."""
        return MISSING if self.head is None else self._kept[self.head].data

    def record(self, update: StateUpdate, *, base: str | None, advance: bool = True) -> Recorded:
        """Take in what a call has made, and have the head follow unless not to `advance`.

        `base` is the head that the call was sent with: the parent of an update that names none.

        Raises:
            StateError: the patch cannot be applied, the state is too large or too deep, or there
                is another checkpoint of that id. Nothing has changed.
        """
        parent = base if update.parent is MISSING else update.parent
        if parent == update.checkpoint and update.checkpoint not in self._kept:
            raise StateError("/parent: expected another checkpoint, got this one. Name its parent.")
        data, brought, warning = self._state_of(update, parent)
        known = self._kept.get(update.checkpoint)
        if known is not None:
            self._must_be_the_same(known, update, known.data if warning else data)
        checkpoint = known or self._added(update.checkpoint, parent, data, brought)
        if advance:
            self.head = checkpoint.id
        pruned, uprooted = self._prune(checkpoint)
        return Recorded(checkpoint, known is None, warning, pruned, uprooted)

    def restore(self, update: StateUpdate, order: int) -> None:
        """Take in a checkpoint as it was recorded before; parents come before their children.

        Raises:
            StateError: it could not have been recorded so.
        """
        parent = None if update.parent is MISSING else update.parent
        data, brought, _ = self._state_of(update, parent)
        self._order = order - 1
        self._added(update.checkpoint, parent, data, brought)

    def render(self, form: Literal["text", "svg"] = "text") -> str:
        """Return the tree as lines of text, or as an SVG document."""
        from kinwire.mcpl.rules.tree_drawing import as_svg, as_text

        return as_svg(self) if form == "svg" else as_text(self)

    def roll_back(self, checkpoint: str) -> None:
        """Have the head be a checkpoint that the server has returned to, also an unknown one."""
        if checkpoint not in self._kept:
            self._added(checkpoint, None, MISSING, 0)
        self.head = checkpoint

    def _state_of(self, update: StateUpdate, parent: str | None) -> tuple[Any, int, str | None]:
        """Return the data, how much of it is new, and a warning."""
        if update.data is not MISSING:
            return update.data, _checked(update.data, "/data"), None
        if update.patch is None:
            return MISSING, 0, None
        before = None if parent is None else self._kept.get(parent)
        if before is None or before.data is MISSING:
            why = "is not known" if before is None else "has no data here"
            return MISSING, 0, f"its parent {parent!r:.60} {why}: the patch was not applied"
        try:
            data = patched(before.data, update.patch)
        except PatchError as error:
            raise StateError(str(error)) from None
        _checked(data, "/patch")
        return data, sum(len(text(one.model_dump(by_alias=True))) for one in update.patch), None

    def _must_be_the_same(self, known: Checkpoint, update: StateUpdate, data: Any) -> None:
        brings = update.data is not MISSING or update.patch is not None
        differs = brings and not _equal(known.data, data)
        if update.parent is not MISSING and update.parent != known.parent:
            differs = True
        if differs:
            raise StateError(
                f"/checkpoint: expected a new id or the same content, got {known.id!r:.60} with "
                "other content. Give each checkpoint an id of its own."
            )

    def _added(self, id: str, parent: str | None, data: Any, brought: int) -> Checkpoint:
        self._order += 1
        checkpoint = Checkpoint(id, parent, self._order, data, brought)
        self._kept[id] = checkpoint
        self._brought += brought
        if parent in self._kept:
            self._kept[parent].children.append(id)
        return checkpoint

    def _prune(self, newest: Checkpoint) -> tuple[list[Checkpoint], list[Checkpoint]]:
        pruned: list[Checkpoint] = []
        uprooted: dict[str, Checkpoint] = {}
        while len(self._kept) > self._most or (self._brought > self._size and len(self._kept) > 1):
            gone = self._oldest(newest)
            if gone is None:
                break
            pruned.append(gone)
            uprooted.pop(gone.id, None)
            uprooted |= {child.id: child for child in self._cut(gone)}
        return pruned, list(uprooted.values())

    def _oldest(self, newest: Checkpoint) -> Checkpoint | None:
        """Return what goes next: the oldest with something after it, else the oldest."""
        spared = {newest.id, self.head}
        kept = self._kept.values()
        followed = (one for one in kept if one.children and one.id not in spared)
        free = (one for one in kept if one.id not in spared)
        return next(followed, None) or next(free, None)

    def _cut(self, gone: Checkpoint) -> list[Checkpoint]:
        del self._kept[gone.id]
        self._brought -= gone.brought
        if gone.parent in self._kept:
            self._kept[gone.parent].children.remove(gone.id)
        children = [self._kept[id] for id in gone.children]
        for child in children:
            if child.data is not MISSING:
                whole = len(text(child.data))
                self._brought += whole - child.brought
                child.brought = whole
        return children


def _checked(data: Any, pointer: str) -> int:
    """Return how long a state is."""
    levels = depth(data)
    if levels > _STATE_DEPTH:
        raise StateError(f"{pointer}: expected a state of at most {_STATE_DEPTH} levels, got more.")
    size = len(text(data))
    if size > _STATE_SIZE:
        raise StateError(
            f"{pointer}: expected a state of at most {_STATE_SIZE} characters of JSON, got {size}. "
            "Keep it on the server, and send checkpoints without data."
        )
    return size


def _equal(one: Any, other: Any) -> bool:
    if one is MISSING or other is MISSING:
        return one is other
    return same(one, other)
