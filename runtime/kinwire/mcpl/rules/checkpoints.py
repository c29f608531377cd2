"""One checkpoint of a tree, and an index of those that have children, by age (MCPL 8.2)."""

from __future__ import annotations

__all__ = ("Checkpoint", "InnerNodes")

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import Any

from pydantic import MISSING


@dataclass(slots=True)
class Checkpoint:
    """A checkpoint, with its place in the tree."""

    id: str
    parent: str | None
    """The checkpoint that it follows, even if that one was removed; None for a root."""
    order: int
    """Larger for each later checkpoint."""
    data: Any = MISSING
    """The state; MISSING where the server keeps it itself."""
    brought: int = 0
    """Its own share of the size: bytes of JSON, and those that a patch had to copy."""
    size: int = 0
    """Bytes of JSON of the whole state."""
    children: list[str] = field(default_factory=list[str])


class InnerNodes:
    """The checkpoints that have children, by age.

    If one checkpoint has very many children, almost all of the others have none: a search through
    all checkpoints would be slow.
    """

    def __init__(self, kept: Mapping[str, Checkpoint]) -> None:
        self._kept = kept
        self._heap: list[tuple[int, str]] = []  # also those that have no children any more
        self._listed: set[tuple[int, str]] = set()

    def add(self, checkpoint: Checkpoint) -> None:
        """Add a checkpoint that has a child now."""
        entry = (checkpoint.order, checkpoint.id)
        if entry not in self._listed:
            self._listed.add(entry)
            heappush(self._heap, entry)

    def oldest(self, spared: Collection[str | None]) -> Checkpoint | None:
        """Return the oldest one that is not in `spared`, or None."""
        aside: list[Checkpoint] = []
        found = None
        while found is None and self._heap:
            order, id = entry = heappop(self._heap)
            self._listed.remove(entry)
            one = self._kept.get(id)
            if one is None or one.order != order or not one.children:
                continue
            if id in spared:
                aside.append(one)
            else:
                found = one
        for one in aside:
            self.add(one)
        return found
