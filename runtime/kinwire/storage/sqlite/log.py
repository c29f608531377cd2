"""A log in a file."""

from __future__ import annotations

__all__ = ("SqliteLog",)

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from kinwire.storage.inputs import encoded
from kinwire.storage.local_log import LocalLog, Row
from kinwire.storage.log import Appended, checked_id, checked_page, encoded_entries
from kinwire.storage.sqlite.reader import SqliteReader
from kinwire.storage.sqlite.transaction import Transaction
from kinwire.storage.sqlite.writer import SqliteWriter
from kinwire.storage.subjects import checked_subject

_INSERT = "INSERT INTO entries (space, sequence, subject, value, at, id) VALUES (?, ?, ?, ?, ?, ?)"
_ROWS = (
    "SELECT sequence, subject, value, at, id FROM entries WHERE space = ? AND sequence > ?"
    " ORDER BY sequence LIMIT ?"
)
_BOUNDS = (
    "SELECT IFNULL((SELECT MIN(sequence) FROM entries WHERE space = spaces.id), last + 1), last"
    " FROM spaces WHERE id = ?"
)


class SqliteLog(LocalLog):
    """A named log of a file."""

    def __init__(
        self,
        name: str,
        space: int,
        durable: bool,
        writer: SqliteWriter,
        reader: SqliteReader,
    ) -> None:
        super().__init__(name, writer.signal)
        self._space, self._durable = space, durable
        self._writer, self._reader = writer, reader

    async def append(self, subject: str, value: Any, *, id: str | None = None) -> Appended:
        checked_subject(subject)
        checked_id(id)
        text = encoded(value, subject)
        append = _Append(self._space, subject, text, id)
        return await self._writer.write(append, durable=self._durable)

    async def append_after(self, sequence: int, entries: Sequence[tuple[str, Any]]) -> int:
        checked_page(sequence)
        append = _AppendAfter(self._space, sequence, encoded_entries(entries))
        return await self._writer.write(append, durable=self._durable)

    async def bounds(self) -> tuple[int, int]:
        [(first, last)] = await self._reader.query(_BOUNDS, self._space)
        return first, last

    async def _rows(self, after: int, count: int) -> list[Row]:
        return await self._reader.query(_ROWS, self._space, after, count)


@dataclass(slots=True)
class _Append:
    space: int
    subject: str
    text: str
    id: str | None

    def __call__(self, transaction: Transaction) -> Appended:
        execute, now = transaction.execute, transaction.now
        if self.id is not None:
            known = execute(
                "SELECT sequence FROM seen WHERE space = ? AND id = ? AND until > ?",
                (self.space, self.id, now),
            ).fetchone()
            if known is not None:
                return Appended(known[0], duplicate=True)
        sequence = transaction.next(self.space)
        execute(_INSERT, (self.space, sequence, self.subject, self.text, now, self.id))
        if self.id is not None:
            execute(
                "INSERT OR REPLACE INTO seen (space, id, sequence, until) VALUES (?, ?, ?, ?)",
                (
                    self.space,
                    self.id,
                    sequence,
                    now + transaction.retention(self.space).dedup_window,
                ),
            )
        return Appended(sequence)


@dataclass(slots=True)
class _AppendAfter:
    space: int
    sequence: int
    rows: list[tuple[str, str]]

    def __call__(self, transaction: Transaction) -> int:
        if transaction.last(self.space) != self.sequence:
            return 0
        rows = [
            (self.space, transaction.next(self.space), subject, text, transaction.now, None)
            for subject, text in self.rows
        ]
        transaction.execute_each(_INSERT, rows)
        return len(rows)
