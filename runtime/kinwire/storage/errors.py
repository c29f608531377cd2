"""What can go wrong in a store, as a tree.

Each error says where, what was expected, what came, and how to fix it.

KinwireError
+-- StorageError                    base; also errors that have no type of their own
    +-- StorageAddressError         the URL is not a valid store URL
    +-- StorageInputError           invalid key, subject, value or option
    +-- ConflictError               the record is not at the expected revision; nothing was written
    +-- StorageUnavailableError     the engine cannot do it now; a retry may succeed
    |   +-- StorageLockedError      another process holds the file for too long
    |   +-- StorageFullError        the disk or the server is full
    |   +-- StorageReadOnlyError    this process has no write permission
    +-- StorageDamagedError         the file is damaged, replaced or not a store; it is left alone
    +-- StorageVersionError         made by a newer kinwire, or the engine is too old
    +-- CursorLostError             entries that a reader has not seen were removed
    +-- StorageClosedError          the store was closed
"""

from __future__ import annotations

__all__ = (
    "ConflictError",
    "CursorLostError",
    "StorageAddressError",
    "StorageClosedError",
    "StorageDamagedError",
    "StorageError",
    "StorageFullError",
    "StorageInputError",
    "StorageLockedError",
    "StorageReadOnlyError",
    "StorageUnavailableError",
    "StorageVersionError",
)

from typing import Self

from kinwire.support.errors import KinwireError
from kinwire.support.sanitize import sanitize_for_log


class StorageError(KinwireError):
    """Base class of the errors of a store.

    `place` is the file, server, key or subject, `hint` says what to do. With `outcome_unknown` the
    write may or may not have taken place: read before trying it again. Otherwise it did not.
    """

    def __init__(
        self, place: str, *, expected: str, got: str, hint: str, outcome_unknown: bool = False
    ) -> None:
        super().__init__(place, expected, got, hint)
        self.place = place
        self.expected = expected
        self.got = got
        self.hint = hint
        self.outcome_unknown = outcome_unknown

    def __str__(self) -> str:
        unknown = " The write may or may not have taken place." if self.outcome_unknown else ""
        return f"{self.place}: expected {self.expected}, got {self.got}.{unknown} {self.hint}"


class StorageAddressError(StorageError, ValueError):
    """The URL is not a valid store URL."""


class StorageInputError(StorageError, ValueError):
    """A key, subject, value or option is invalid; nothing was written."""


class ConflictError(StorageError):
    """The record is not at the revision that was expected; nothing was written.

    `found` is the revision that it is at, 0 if it is not there.
    """

    def __init__(self, key: str, revision: int, found: int) -> None:
        super().__init__(
            repr(key),
            expected=f"revision {revision}" if revision else "no record",
            got=f"revision {found}" if found else "no record",
            hint="Read the record again, then retry.",
        )
        self.key = key
        self.revision = revision
        self.found = found


class StorageUnavailableError(StorageError):
    """The engine cannot do it now. A retry may succeed; no restart is needed."""


class StorageLockedError(StorageUnavailableError):
    """Another process held the file locked for longer than the store's timeout."""


class StorageFullError(StorageUnavailableError):
    """The disk or the server is full."""


class StorageReadOnlyError(StorageUnavailableError):
    """This process has no write permission."""


class StorageDamagedError(StorageError):
    """The file is damaged, was replaced, or is not a store of kinwire's; it is left as it is."""

    @classmethod
    def of_record(cls, key: str, error: Exception, *, expected: str, hint: str) -> Self:
        """Return the error for the record of `key`, which `error` says cannot be read."""
        got = sanitize_for_log(f"{type(error).__name__}: {error}")
        return cls(key, expected=expected, got=got, hint=hint)


class StorageVersionError(StorageError):
    """The store was made by a newer kinwire, or its engine is too old."""


class CursorLostError(StorageError):
    """Entries that a reader has not seen were removed. `first` is where it can go on."""

    def __init__(self, place: str, *, after: int, first: int) -> None:
        super().__init__(
            place,
            expected=f"all entries after {after}",
            got=f"entries from {first} on",
            hint=f"Continue after {first - 1}; the entries in between are lost.",
        )
        self.after = after
        self.first = first


class StorageClosedError(StorageError):
    """The store was closed; it cannot be read or written."""

    def __init__(self, place: str) -> None:
        super().__init__(
            place, expected="an open store", got="a closed one", hint="Use it inside `async with`."
        )
