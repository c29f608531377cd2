"""One transaction of several jobs, and what it clears away on its way."""

from __future__ import annotations

__all__ = ("Transaction", "sweep")

import sqlite3
from collections.abc import Mapping

from kinwire.storage.log import Retention
from kinwire.storage.records import REMOVALS_KEPT

_SWEPT = 1000  # rows of a kind at once: nobody should wait long for a sweep


class Transaction:
    """What a job may do. Numbers are taken from the file once for each space, and put back once."""

    def __init__(self, connection: sqlite3.Connection, now: float) -> None:
        self.execute = connection.execute
        self.now = now
        self._last: dict[int, int] = {}

    def next(self, space: int) -> int:
        """Return the next revision or sequence of a space."""
        last = self._last.get(space)
        if last is None:
            (last,) = self.execute("SELECT last FROM spaces WHERE id = ?", (space,)).fetchone()
        self._last[space] = last + 1
        return last + 1

    def remove(self, space: int, key: str) -> None:
        """Write down that a record is gone."""
        self.execute(
            "UPDATE records SET value = NULL, expires_at = NULL, revision = ?, changed_at = ?"
            " WHERE space = ? AND key = ?",
            (self.next(space), self.now, space, key),
        )

    def finish(self, kept: Mapping[int, Retention]) -> None:
        """Put the numbers back, and cut the logs that have grown too long."""
        for space, last in self._last.items():
            self.execute("UPDATE spaces SET last = ? WHERE id = ?", (last, space))
            if space in kept and (most := kept[space].max_entries) is not None:
                self.execute(
                    "DELETE FROM entries WHERE space = ? AND sequence <= ?", (space, last - most)
                )


def sweep(transaction: Transaction, kept: Mapping[int, Retention]) -> None:
    """Remove what has expired, and forget what nobody needs any more."""
    execute, now = transaction.execute, transaction.now
    expired = execute(
        "SELECT space, key FROM records WHERE expires_at <= ? LIMIT ?", (now, _SWEPT)
    ).fetchall()
    for space, key in expired:
        transaction.remove(space, key)
    _forget_removals(transaction)
    execute("DELETE FROM seen WHERE until <= ?", (now,))
    for space, retention in kept.items():
        if retention.max_age is not None:
            _age(transaction, space, now - retention.max_age)


def _forget_removals(transaction: Transaction) -> None:
    execute, before = transaction.execute, transaction.now - REMOVALS_KEPT
    old = execute(
        "SELECT space, key, revision FROM records WHERE value IS NULL AND changed_at <= ? LIMIT ?",
        (before, _SWEPT),
    ).fetchall()
    for space, key, revision in old:
        execute("DELETE FROM records WHERE space = ? AND key = ?", (space, key))
        execute("UPDATE spaces SET forgotten = MAX(forgotten, ?) WHERE id = ?", (revision, space))


def _age(transaction: Transaction, space: int, before: float) -> None:
    """Remove the oldest entries of a log up to the first one that is young enough."""
    rows = transaction.execute(
        "SELECT sequence, at FROM entries WHERE space = ? ORDER BY sequence LIMIT ?",
        (space, _SWEPT),
    )
    old = 0
    for sequence, at in rows.fetchall():
        if at > before:
            break
        old = sequence
    if old:
        transaction.execute("DELETE FROM entries WHERE space = ? AND sequence <= ?", (space, old))
