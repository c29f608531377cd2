"""One checkpoint of a tree, and those of them that others follow, by age (MCPL 8.2)."""

from __future__ import annotations

__all__ = ("Checkpoint", "InnerNodes")

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import Any

from pydantic import MISSING


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
    """What is this one's own: characters of JSON, and bytes of what a patch had to copy."""
    size: int = 0
    """Characters of JSON of the whole state."""
    children: list[str] = field(default_factory=list[str])


class InnerNodes:
    """Those of the checkpoints that something follows, by age.

    Where many follow one, nearly all are followed by none: they are not looked through.
    """

    def __init__(self, kept: Mapping[str, Checkpoint]) -> None:
        self._kept = kept
        self._heap: list[tuple[int, str]] = []  # those that are followed no more, too
        self._listed: set[tuple[int, str]] = set()

    def add(self, checkpoint: Checkpoint) -> None:
        """Take in one that has got something after it."""
        entry = (checkpoint.order, checkpoint.id)
        if entry not in self._listed:
            self._listed.add(entry)
            heappush(self._heap, entry)

    def oldest(self, spared: Collection[str | None]) -> Checkpoint | None:
        """Return the oldest but for those that are spared; None if there is none."""
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
