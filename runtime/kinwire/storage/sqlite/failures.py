"""What SQLite's errors mean to a caller."""

from __future__ import annotations

__all__ = ("damaged", "is_busy", "typed")

import sqlite3

from kinwire.storage.errors import (
    StorageDamagedError,
    StorageError,
    StorageFullError,
    StorageLockedError,
    StorageReadOnlyError,
    StorageUnavailableError,
)

_UNAVAILABLE: dict[int, tuple[type[StorageUnavailableError], str, str]] = {
    sqlite3.SQLITE_BUSY: (
        StorageLockedError,
        "the lock on the file within the timeout",
        "Look for another process that holds the file open in a long transaction.",
    ),
    sqlite3.SQLITE_FULL: (
        StorageFullError,
        "space for what is to be written",
        "Free some space; nothing has to be restarted.",
    ),
    sqlite3.SQLITE_READONLY: (
        StorageReadOnlyError,
        "a file and a folder that this process may write",
        "Give it the right, or move the file.",
    ),
}
_UNAVAILABLE[sqlite3.SQLITE_LOCKED] = _UNAVAILABLE[sqlite3.SQLITE_BUSY]
_UNAVAILABLE[sqlite3.SQLITE_PERM] = _UNAVAILABLE[sqlite3.SQLITE_READONLY]
_DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_SCHEMA)


def is_busy(error: sqlite3.Error) -> bool:
    """Whether somebody else holds a lock that goes by itself."""
    return _code(error) in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def typed(error: sqlite3.Error, path: str, *, committing: bool = False) -> StorageError:
    """Return what `error` is for a caller.

    `committing` is whether the transaction was being ended: a disk that fails then may have it.
    """
    code = _code(error)
    if code in _DAMAGED:
        return damaged(path, str(error))
    kind, expected, mend = _UNAVAILABLE.get(
        code,
        (StorageUnavailableError, "an answer of the disk", "Look at the disk and its rights."),
    )
    unknown = committing and code not in _UNAVAILABLE
    return kind(path, expected=expected, got=_words(error), mend=mend, outcome_unknown=unknown)


def damaged(path: str, got: str) -> StorageDamagedError:
    """Return the error for a file that is no store, or not any more."""
    return StorageDamagedError(
        path,
        expected="an undamaged store",
        got=got,
        mend="Put a backup in its place, or move it away to begin anew: it is never overwritten.",
    )


def _words(error: sqlite3.Error) -> str:
    return f"{error} ({getattr(error, 'sqlite_errorname', type(error).__name__)})"


def _code(error: sqlite3.Error) -> int:
    """Return the primary code: the extended ones tell more about it in the bits above."""
    return int(getattr(error, "sqlite_errorcode", 0)) & 0xFF
