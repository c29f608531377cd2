"""The checkpoints of one feature set of one server, as a tree with a head (MCPL 8).

A checkpoint has data, or is opaque if the server keeps the state itself. It shares with its parent
all that did not change, so that a rollback copies nothing and a checkpoint costs what is new in it.
"""

from __future__ import annotations

__all__ = ("MOST_CHECKPOINTS", "CheckpointTree", "Recorded", "StateError", "must_fit")

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from pydantic import MISSING
from pydantic_core import to_json

from kinwire.mcpl.rules.checkpoints import Checkpoint, InnerNodes
from kinwire.mcpl.rules.json_patch import PatchError, must_be_known, patched
from kinwire.support.arguments import ArgumentCheck, count_from
from kinwire.support.json_values import depth, same, strict_text, text
from kinwire_protocols.mcpl.models import StateUpdate

MOST_CHECKPOINTS = 1000
_MOST_BYTES = 64 * 1024 * 1024  # that all checkpoints of a set bring, as `Checkpoint` counts them
_ID_SIZE = 512  # characters; `_MOST_BYTES` does not count ids
_STATE_SIZE = 4 * 1024 * 1024  # as much as a message may have
_STATE_DEPTH = 60  # a message has 64 levels at most, and some stand around the state


class StateError(ValueError):
    """An update that is invalid and was not recorded. The text begins with a JSON pointer."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """The result of recording an update."""

    checkpoint: Checkpoint
    is_new: bool
    warning: str | None = None
    pruned: Sequence[Checkpoint] = ()
    rebased: Sequence[Checkpoint] = ()
    """The checkpoints whose parent was pruned: from now on they hold their whole state."""


class _State(NamedTuple):
    """The state after an update."""

    data: Any = MISSING
    brought: int = 0
    size: int = 0
    warning: str | None = None


_OPAQUE = _State()


_CHECKPOINT_TREE = ArgumentCheck(
    "CheckpointTree", "CheckpointTree()", {}, checkpoints=count_from(1), size=count_from(1)
)


class CheckpointTree:
    """The checkpoints that are kept; `head` is the one that the next call builds on."""

    def __init__(self, *, checkpoints: int = MOST_CHECKPOINTS, size: int = _MOST_BYTES) -> None:
        _CHECKPOINT_TREE.check(checkpoints=checkpoints, size=size)
        self.head: str | None = None
        self._kept: dict[str, Checkpoint] = {}  # the oldest first
        self._inner_nodes = InnerNodes(self._kept)
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
        """All checkpoints, the oldest first."""
        return list(self._kept.values())

    @property
    def data(self) -> Any:
        """Return the state at the head; MISSING without a head, or if the server keeps it."""
        return MISSING if self.head is None else self._kept[self.head].data

    def record(self, update: StateUpdate, *, base: str | None, advance: bool = True) -> Recorded:
        """Record the checkpoint of a call, and move the head to it if `advance`.

        `base` is the head that the call was sent with: the parent if the update names none.

        Raises:
            StateError: the patch cannot be applied, the state is too large or too deep, or there
                is another checkpoint with that id. Nothing has changed.
        """
        parent = base if update.parent is MISSING else update.parent
        _must_be_short("/checkpoint", update.checkpoint)
        _must_be_short("/parent", parent or "")
        if parent == update.checkpoint and update.checkpoint not in self._kept:
            raise StateError("/parent: expected another checkpoint, got this one. Name its parent.")
        state = self._state_of(update, parent)
        known = self._kept.get(update.checkpoint)
        if known is not None:
            self._must_be_the_same(known, update, known.data if state.warning else state.data)
        checkpoint = known or self._added(update.checkpoint, parent, state)
        if advance:
            self.head = checkpoint.id
        pruned, rebased = self._prune(checkpoint)
        return Recorded(checkpoint, known is None, state.warning, pruned, rebased)

    def restore(self, update: StateUpdate, order: int) -> None:
        """Add a checkpoint that was recorded before; parents come before their children.

        Raises:
            StateError: it could not have been recorded like this.
        """
        parent = None if update.parent is MISSING else update.parent
        state = self._state_of(update, parent)
        self._order = order - 1
        self._added(update.checkpoint, parent, state)

    def render(self, form: Literal["text", "svg"] = "text") -> str:
        """Return the tree as lines of text, or as an SVG document."""
        from kinwire.mcpl.rules.tree_drawing import as_svg, as_text

        draw = as_svg if form == "svg" else as_text
        return draw(self._kept, self.head)

    def roll_back(self, checkpoint: str) -> None:
        """Move the head to a checkpoint that the server has returned to, even an unknown one."""
        if checkpoint not in self._kept:
            self._added(checkpoint, None, _OPAQUE)
        self.head = checkpoint

    def _state_of(self, update: StateUpdate, parent: str | None) -> _State:
        if update.data is not MISSING:
            size = _checked(update.data, "/data")
            return _State(update.data, brought=size, size=size)
        if update.patch is None:
            return _OPAQUE
        try:
            must_be_known(update.patch)
        except PatchError as error:
            raise StateError(str(error)) from None
        before = None if parent is None else self._kept.get(parent)
        if before is None or before.data is MISSING:
            why = "is not known" if before is None else "has no data here"
            return _State(warning=f"its parent {parent!r:.60} {why}: the patch was not applied")
        try:
            room = _STATE_SIZE - before.size
            data, copied = patched(before.data, update.patch, room=room)
        except PatchError as error:
            raise StateError(str(error)) from None
        size = _checked(data, "/patch")
        own = sum(len(text(one.model_dump(by_alias=True))) for one in update.patch)
        return _State(data, brought=own + copied, size=size)

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

    def _added(self, id: str, parent: str | None, state: _State) -> Checkpoint:
        self._order += 1
        checkpoint = Checkpoint(id, parent, self._order, state.data, state.brought, state.size)
        self._kept[id] = checkpoint
        self._brought += state.brought
        if parent in self._kept:
            self._kept[parent].children.append(id)
            self._inner_nodes.add(self._kept[parent])
        return checkpoint

    def _prune(self, newest: Checkpoint) -> tuple[list[Checkpoint], list[Checkpoint]]:
        pruned: list[Checkpoint] = []
        rebased: dict[str, Checkpoint] = {}
        while len(self._kept) > self._most or (self._brought > self._size and len(self._kept) > 1):
            gone = self._oldest(newest)
            if gone is None:
                break
            pruned.append(gone)
            rebased.pop(gone.id, None)
            rebased |= {child.id: child for child in self._cut(gone)}
        return pruned, list(rebased.values())

    def _oldest(self, newest: Checkpoint) -> Checkpoint | None:
        """Return what is removed next: the oldest with children, else the oldest."""
        spared = {newest.id, self.head}
        free = (one for one in self._kept.values() if one.id not in spared)
        return self._inner_nodes.oldest(spared) or next(free, None)

    def _cut(self, gone: Checkpoint) -> list[Checkpoint]:
        del self._kept[gone.id]
        self._brought -= gone.brought
        parent = None if gone.parent is None else self._kept.get(gone.parent)
        if parent is not None and gone.id in parent.children:  # else recorded before its parent
            parent.children.remove(gone.id)
        children = [self._kept[id] for id in gone.children]
        for child in children:
            if child.data is not MISSING:
                whole = max(child.size, child.brought)
                self._brought += whole - child.brought
                child.brought = whole
        return children


def _must_be_short(pointer: str, id: str) -> None:
    if len(id) > _ID_SIZE:
        raise StateError(
            f"{pointer}: expected an id of at most {_ID_SIZE} characters, got {len(id)}. "
            "Make ids of random digits."
        )


def must_fit(pointer: str, data: Any, size: int) -> None:
    """Raise if a state, which has `size` bytes as JSON, has too many of them or too many levels.

    Raises:
        StateError: it has.
    """
    if depth(data) > _STATE_DEPTH:
        raise StateError(f"{pointer}: expected a state of at most {_STATE_DEPTH} levels, got more.")
    if size > _STATE_SIZE:
        raise StateError(
            f"{pointer}: expected a state of at most {_STATE_SIZE} bytes of JSON, got {size}. "
            "Keep it on the server, and send checkpoints without data."
        )


def _checked(data: Any, pointer: str) -> int:
    """Return the size of a state in bytes of JSON."""
    must_fit(pointer, data, 0)  # what is too deep cannot be written
    try:
        written = to_json(data, inf_nan_mode="constants")
        if b"NaN" in written or b"Infinity" in written:  # or these are words of a text
            strict_text(data)
    except ValueError as error:
        raise StateError(f"{pointer}: {error}") from None
    must_fit(pointer, None, len(written))
    return len(written)


def _equal(one: Any, other: Any) -> bool:
    if one is MISSING or other is MISSING:
        return one is other
    return same(one, other)
