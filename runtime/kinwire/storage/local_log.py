"""Reading a log that lies here, row by row: pages by subject, and cursors that were overtaken."""

from __future__ import annotations

__all__ = ("LocalLog", "Row")

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from functools import partial

from kinwire.storage.errors import CursorLostError
from kinwire.storage.inputs import decoded
from kinwire.storage.log import Entry, checked_page
from kinwire.storage.subjects import checked_pattern
from kinwire.storage.subscription import PollingSource, StoreSubscription, WriteSignal
from kinwire.support.patterns.subjects import subject_matcher

Row = tuple[int, str, str, float, str | None]
"""Sequence, subject, value as JSON, time, id."""

_ROWS = 500  # looked at in one go: other tasks have their turn in between
_FOLLOWED = 100  # entries that a follower takes in one go


class LocalLog(ABC):
    """What the logs of memory and SQLite share: how they are read."""

    def __init__(self, name: str, signal: WriteSignal) -> None:
        self._name = name
        self._signal = signal

    @abstractmethod
    async def _rows(self, after: int, count: int) -> list[Row]:
        """Return the next rows. Other tasks have had their turn when it returns."""

    @abstractmethod
    async def bounds(self) -> tuple[int, int]:
        """Return the first and the last sequence."""

    async def read(self, subjects: str = ">", *, after: int = 0, limit: int = 1000) -> list[Entry]:
        checked_page(after, limit)
        return (await self._page(checked_pattern(subjects), limit, after))[0]

    def follow(
        self, subjects: str = ">", *, after: int = 0
    ) -> AbstractAsyncContextManager[AsyncIterator[Entry]]:
        checked_page(after)
        page = partial(self._page, checked_pattern(subjects), _FOLLOWED)

        async def opened() -> PollingSource[Entry]:
            return PollingSource(page, self._signal, after)

        return StoreSubscription(opened)

    async def _page(self, subjects: str, limit: int, after: int) -> tuple[list[Entry], int]:
        matches = subject_matcher(subjects)
        found: list[Entry] = []
        while len(found) < limit:
            count = min(_ROWS, limit) if subjects == ">" else _ROWS
            rows = await self._rows(after, count)
            await self._refuse_gap(after, rows)
            for row in rows:
                if len(found) == limit:
                    break
                after = row[0]
                if matches(row[1]):
                    found.append(self._entry(row))
            if len(rows) < count:
                break
        return found, after

    async def _refuse_gap(self, after: int, rows: list[Row]) -> None:
        """Refuse to go on where retention was faster than the reader."""
        if after == 0 or (rows and rows[0][0] == after + 1):
            return
        first, _ = await self.bounds()
        if first > after + 1:
            raise CursorLostError(f"log {self._name!r}", after=after, first=first)

    def _entry(self, row: Row) -> Entry:
        sequence, subject, text, at, id = row
        value = decoded(text, f"log {self._name!r}, entry {sequence}")
        return Entry(sequence, subject, value, at, id)
