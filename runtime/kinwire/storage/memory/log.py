"""A log in memory."""

from __future__ import annotations

__all__ = ("MemoryLog",)

from typing import Any

from anyio.lowlevel import checkpoint

from kinwire.storage.clock import Clock
from kinwire.storage.following import Signal
from kinwire.storage.life import Life
from kinwire.storage.log import Appended, Retention, checked_id
from kinwire.storage.reading import LocalLog, Row
from kinwire.storage.subjects import checked_subject
from kinwire.storage.values import encoded


class MemoryLog(LocalLog):
    """A log of one process."""

    def __init__(self, name: str, life: Life, now: Clock) -> None:
        super().__init__(name, Signal())
        self.retention = Retention()
        self._life, self._clock = life, now
        self._entries: list[Row] = []
        self._gone = 0  # entries at the head of the list that count as removed
        self._ids: dict[str, tuple[int, float]] = {}  # sequence and time, the oldest first

    async def append(self, subject: str, value: Any, *, id: str | None = None) -> Appended:
        checked_subject(subject)
        checked_id(id)
        text = encoded(value, subject)
        self._life.check()
        await checkpoint()
        now = self._clock()
        self._forget_ids(now)
        if id is not None and id in self._ids:
            return Appended(self._ids[id][0], duplicate=True)
        sequence = self._last() + 1
        self._entries.append((sequence, subject, text, now, id))
        if id is not None:
            self._ids[id] = sequence, now
        self._trim(now)
        self._signal.fire()
        return Appended(sequence)

    async def bounds(self) -> tuple[int, int]:
        self._life.check()
        return self._first(), self._last()

    async def _rows(self, after: int, count: int) -> list[Row]:
        self._life.check()
        await checkpoint()
        begin = self._gone + max(0, after + 1 - self._first())
        return self._entries[begin : begin + count]

    def _last(self) -> int:
        return self._entries[-1][0] if self._entries else 0

    def _first(self) -> int:
        if self._gone < len(self._entries):
            return self._entries[self._gone][0]
        return self._last() + 1

    def _forget_ids(self, now: float) -> None:
        while self._ids:
            oldest = next(iter(self._ids))
            if now - self._ids[oldest][1] < self.retention.dedup_window:
                return
            del self._ids[oldest]

    def _trim(self, now: float) -> None:
        entries, kept = self._entries, self.retention
        if kept.max_entries is not None:
            self._gone = max(self._gone, len(entries) - kept.max_entries)
        if kept.max_age is not None:
            while self._gone < len(entries) and now - entries[self._gone][3] > kept.max_age:
                self._gone += 1
        if self._gone > max(1000, len(entries) // 2):  # seldom: it moves all that is kept
            del entries[: self._gone]
            self._gone = 0
