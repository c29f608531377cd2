"""What SQLite's errors mean to a caller."""

from __future__ import annotations

__all__ = ("FAILURES", "damaged", "is_busy", "refused", "typed")

import sqlite3

from kinwire.storage.errors import (
    StorageDamagedError,
    StorageError,
    StorageFullError,
    StorageLockedError,
    StorageReadOnlyError,
    StorageUnavailableError,
)

FAILURES = (sqlite3.Error, UnicodeDecodeError, TypeError)
"""Errors of a file that cannot be used; sqlite3 itself decodes texts, also those of errors."""

_UNAVAILABLE: dict[int, tuple[type[StorageUnavailableError], str, str]] = {
    sqlite3.SQLITE_BUSY: (
        StorageLockedError,
        "the lock on the file within the timeout",
        "Look for another process that holds the file open in a long transaction.",
    ),
    sqlite3.SQLITE_FULL: (
        StorageFullError,
        "space for the write",
        "Free some space. This program need not be restarted.",
    ),
    sqlite3.SQLITE_READONLY: (
        StorageReadOnlyError,
        "a file and a folder that this process can write to",
        "Give it write permission, or move the file.",
    ),
}
_UNAVAILABLE[sqlite3.SQLITE_LOCKED] = _UNAVAILABLE[sqlite3.SQLITE_BUSY]
_UNAVAILABLE[sqlite3.SQLITE_PERM] = _UNAVAILABLE[sqlite3.SQLITE_READONLY]
_DAMAGED = (
    sqlite3.SQLITE_CORRUPT,
    sqlite3.SQLITE_NOTADB,
    sqlite3.SQLITE_SCHEMA,
    sqlite3.SQLITE_ERROR,  # a table is missing: the statements themselves are always the same
    sqlite3.SQLITE_CONSTRAINT,  # a number was used already
)


def is_busy(error: Exception) -> bool:
    """Return whether the file is locked by another process for the moment."""
    return _code(error) in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def typed(error: Exception, path: str, *, committing: bool = False) -> StorageError:
    """Return what `error` is for a caller.

    `committing` is whether the transaction was being ended: a disk that fails then may have it.
    """
    code = _code(error)
    if code in _DAMAGED or not hasattr(error, "sqlite_errorcode"):
        # An error without a code is from Python: invalid UTF-8, or an invalid number.
        return damaged(path, str(error))
    if code not in _UNAVAILABLE:
        return refused(path, _words(error), outcome_unknown=committing)
    kind, expected, hint = _UNAVAILABLE[code]
    return kind(path, expected=expected, got=_words(error), hint=hint)


def refused(path: str, got: str, *, outcome_unknown: bool = False) -> StorageUnavailableError:
    """Return the error for an operation that the system refuses."""
    return StorageUnavailableError(
        path,
        expected="an answer from the disk",
        got=got,
        hint="Check the disk and its permissions.",
        outcome_unknown=outcome_unknown,
    )


def damaged(path: str, got: str) -> StorageDamagedError:
    """Return the error for a file that is damaged or not a store."""
    return StorageDamagedError(
        path,
        expected="an undamaged store",
        got=got,
        hint="Restore a backup, or move the file away for a new store; it is never overwritten.",
    )


def _words(error: Exception) -> str:
    return f"{error} ({getattr(error, 'sqlite_errorname', type(error).__name__)})"


def _code(error: Exception) -> int:
    """Return the primary code: the extended ones tell more about it in the bits above."""
    return int(getattr(error, "sqlite_errorcode", 0)) & 0xFF
