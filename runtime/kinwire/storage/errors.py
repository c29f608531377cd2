"""What can go wrong in a store, as a tree.

Each error says where, what was expected, what came, and how to fix it.

KinwireError
+-- StorageError                    base; also what no other name fits
    +-- StorageAddressError         the URL names no store that there could be
    +-- StorageInputError           a key, subject, value or option that no store takes
    +-- ConflictError               the record is not at the expected revision; nothing was written
    +-- StorageUnavailableError     the engine does not do it now; later it may
    |   +-- StorageLockedError      another process holds the file for too long
    |   +-- StorageFullError        there is no space left for what is to be written
    |   +-- StorageReadOnlyError    this process may not write there
    +-- StorageDamagedError         the file is damaged, replaced or no store; it is left as it is
    +-- StorageVersionError         made by a newer kinwire, or an engine that is too old
    +-- CursorLostError             what a reader has not seen yet is gone
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

from kinwire.support.errors import KinwireError


class StorageError(KinwireError):
    """A store did not do what it was asked for.

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
        unknown = " Whether it was written is not known." if self.outcome_unknown else ""
        return f"{self.place}: expected {self.expected}, got {self.got}.{unknown} {self.hint}"


class StorageAddressError(StorageError, ValueError):
    """The URL names no store that there could be."""


class StorageInputError(StorageError, ValueError):
    """A key, subject, value or option that no store takes; nothing was written."""


class ConflictError(StorageError):
    """The record is not at the revision that was expected; nothing was written.

    `found` is the revision that it is at, 0 if it is not there.
    """

    def __init__(self, key: str, revision: int, found: int) -> None:
        super().__init__(
            repr(key),
            expected=f"revision {revision}" if revision else "no record",
            got=f"revision {found}" if found else "no record",
            hint="Read it again and decide anew.",
        )
        self.key = key
        self.revision = revision
        self.found = found


class StorageUnavailableError(StorageError):
    """The engine does not do it now; later it may. Nothing has to be restarted for that."""


class StorageLockedError(StorageUnavailableError):
    """Another process held the file locked for longer than the store's timeout."""


class StorageFullError(StorageUnavailableError):
    """There is no space left for what is to be written."""


class StorageReadOnlyError(StorageUnavailableError):
    """This process may not write there."""


class StorageDamagedError(StorageError):
    """The file is damaged, was replaced, or is not a store of kinwire's; it is left as it is."""


class StorageVersionError(StorageError):
    """The store was made by a newer kinwire, or its engine is too old."""


class CursorLostError(StorageError):
    """Something was removed that a reader has not seen. `first` is what it can go on from."""

    def __init__(self, place: str, *, after: int, first: int) -> None:
        super().__init__(
            place,
            expected=f"everything after {after}",
            got=f"only what comes from {first} on",
            hint=f"Go on after {first - 1}, and count what lies between as lost.",
        )
        self.after = after
        self.first = first


class StorageClosedError(StorageError):
    """The store was closed, so nothing is read or written any more."""

    def __init__(self, place: str) -> None:
        super().__init__(
            place, expected="an open store", got="a closed one", hint="Use it inside `async with`."
        )
