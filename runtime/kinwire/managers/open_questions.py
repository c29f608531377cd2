"""Which questions to people are under way, so that none of them waits for its own answer.

A function that asks a person is a function of the program. If it does something that needs the
answer which it is to get, both wait until their time is over.
"""

from __future__ import annotations

__all__ = ("OpenQuestions",)

from collections import Counter
from collections.abc import Generator, Hashable
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final, Generic, TypeVar

K = TypeVar("K", bound=Hashable)

_asked_here: Final[ContextVar[tuple[object, Hashable] | None]] = ContextVar(
    "kinwire question", default=None
)


class OpenQuestions(Generic[K]):
    """The questions of one owner that are under way, by key, and which waits for which."""

    def __init__(self) -> None:
        self._open = Counter[K]()
        self._waits = Counter[tuple[K, K]]()

    @contextmanager
    def asked(self, key: K) -> Generator[None]:
        """Ask inside the block; what is called there, in tasks too, belongs to this question."""
        token = _asked_here.set((self, key))
        self._open[key] += 1
        try:
            yield
        finally:
            self._open -= Counter([key])
            _asked_here.reset(token)

    @contextmanager
    def waited_for(self, key: K) -> Generator[bool]:
        """Wait for an answer inside the block; yield False if that would wait for itself."""
        here = self._here()
        if here is None:
            yield True
            return
        if self._leads_to(key, here):
            yield False
            return
        self._waits[here, key] += 1
        try:
            yield True
        finally:
            self._waits -= Counter([(here, key)])

    def _here(self) -> K | None:
        """Return the question to which this task belongs, if it is still under way."""
        found = _asked_here.get()
        if found is None or found[0] is not self:
            return None
        return next((key for key in self._open if key == found[1]), None)

    def _leads_to(self, key: K, other: K) -> bool:
        """Return whether the answer to `key` waits for that to `other`, or is the same."""
        seen, found = {key}, [key]
        while found:
            one = found.pop()
            if one == other:
                return True
            following = {after for before, after in self._waits if before == one} - seen
            seen |= following
            found += following
        return False
