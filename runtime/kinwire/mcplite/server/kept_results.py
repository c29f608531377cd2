"""The results that a process without a store keeps in memory: the oldest go if there are too many.

Pure: it says which are to be removed.
"""

from __future__ import annotations

__all__ = ("KeptResult", "KeptResults")

from collections import OrderedDict, defaultdict
from typing import NamedTuple

from kinwire.mcplite.rules.limits import LiteLimits

_SIZES = 64  # results of the largest size that fit in memory together


class KeptResult(NamedTuple):
    """The result of one promise, or of one call with an idempotency key."""

    owner: str
    key: str | None
    """That of the idempotency key, in the records."""
    size: int
    """In bytes."""


class KeptResults:
    """What is over, by the names of its promises.

    Those that were fetched go first. Then a caller that has more than its share loses its own, so
    that nobody can push out what belongs to others.
    """

    def __init__(self, limits: LiteLimits) -> None:
        self._limits = limits
        self._room = _SIZES * limits.result_size
        self._fetched = OrderedDict[str, KeptResult]()
        self._waiting = OrderedDict[str, KeptResult]()
        self._of_owner = defaultdict[str, OrderedDict[str, None]](OrderedDict[str, None])

    def add(self, name: str, kept: KeptResult) -> None:
        """Keep a result that nobody has fetched."""
        self._waiting[name] = kept
        self._of_owner[kept.owner][name] = None
        self._room -= kept.size

    def fetched(self, name: str) -> None:
        """Note that a result was fetched, or that nobody wants it; it may be one that is gone."""
        if name in self._waiting:
            self._fetched[name] = self._taken(name)

    def excess(self) -> list[tuple[str, KeptResult]]:
        """Forget what is too much, and return it."""
        gone: list[tuple[str, KeptResult]] = []
        while len(self) > self._limits.open_promises or self._room < 0:
            name = next(iter(self._fetched), None)
            if name is not None:
                kept = self._fetched.pop(name)
            else:
                name = self._oldest()
                kept = self._taken(name)
            self._room += kept.size
            gone.append((name, kept))
        return gone

    def __len__(self) -> int:
        """Return how many are kept."""
        return len(self._fetched) + len(self._waiting)

    def _oldest(self) -> str:
        """Return the oldest that nobody has fetched: of the newest's caller if it has many."""
        newest = next(reversed(self._waiting))
        its = self._of_owner[self._waiting[newest].owner]
        return next(
            iter(its if len(its) > self._limits.open_promises_per_caller else self._waiting)
        )

    def _taken(self, name: str) -> KeptResult:
        kept = self._waiting.pop(name)
        its = self._of_owner[kept.owner]
        del its[name]
        if not its:
            del self._of_owner[kept.owner]
        return kept
