"""One transaction of several jobs, and what it clears away on its way."""

from __future__ import annotations

__all__ = ("Transaction", "sweep")

import sqlite3
from functools import lru_cache

from kinwire.storage.errors import StorageDamagedError
from kinwire.storage.log import Retention
from kinwire.storage.records import REMOVALS_KEPT
from kinwire.storage.store import entry_from

_SWEPT = 1000  # rows of a kind in one go: nobody should wait long for a sweep


class Transaction:
    """What a job may do. Numbers are taken from the file once for each space, and put back once."""

    def __init__(self, connection: sqlite3.Connection, now: float) -> None:
        self.execute = connection.execute
        self.execute_each = connection.executemany
        self.now = now
        self._last: dict[int, int] = {}
        self._options: dict[int, str] = {}  # of the spaces above, which another process may change

    def next(self, space: int) -> int:
        """Return the next revision or sequence of a space, and count it as used."""
        number = self._last[space] = self.last(space) + 1
        return number

    def last(self, space: int) -> int:
        """Return the last revision or sequence of a space."""
        last = self._last.get(space)
        if last is None:
            statement = "SELECT last, options FROM spaces WHERE id = ?"
            last, self._options[space] = self.execute(statement, (space,)).fetchone()
            self._last[space] = last
        return last

    def retention(self, space: int) -> Retention:
        """Return how much is kept of a log that something was appended to."""
        return _retention(self._options[space])

    def remove(self, space: int, key: str) -> None:
        """Write down that a record is gone."""
        self.execute(
            "UPDATE records SET value = NULL, expires_at = NULL, revision = ?, changed_at = ?"
            " WHERE space = ? AND key = ?",
            (self.next(space), self.now, space, key),
        )

    def finish(self) -> None:
        """Put the numbers back, and cut the logs that have grown too long."""
        for space, last in self._last.items():
            self.execute("UPDATE spaces SET last = ? WHERE id = ?", (last, space))
            if (most := self.retention(space).max_entries) is not None:
                self.execute(
                    "DELETE FROM entries WHERE space = ? AND sequence <= ?", (space, last - most)
                )


def sweep(transaction: Transaction) -> None:
    """Remove what has expired, and forget what nobody needs any more."""
    execute, now = transaction.execute, transaction.now
    expired = execute(
        "SELECT space, key FROM records WHERE expires_at <= ? LIMIT ?", (now, _SWEPT)
    ).fetchall()
    for space, key in expired:
        transaction.remove(space, key)
    _forget_removals(transaction)
    execute("DELETE FROM seen WHERE until <= ?", (now,))
    for space, options in execute("SELECT id, options FROM spaces WHERE kind = 'log'").fetchall():
        if (age := _retention(options).max_age) is not None:
            _age(transaction, space, now - age)


@lru_cache
def _retention(options: str) -> Retention:
    """Return the retention in the options of a space: all is kept where they cannot be read."""
    try:
        return entry_from("log", "", options).retention or Retention()
    except StorageDamagedError:
        return Retention()


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
