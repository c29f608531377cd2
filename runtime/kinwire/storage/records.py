"""The port for state: keys with JSON values, compare-and-set, expiry, scans and watches.

Every adapter keeps these promises; `docs/storage.md` says how far each one's "durable" reaches.
"""

from __future__ import annotations

__all__ = (
    "KEY_SIZE",
    "REMOVALS_KEPT",
    "Change",
    "Record",
    "Records",
    "checked_expiry",
    "checked_key",
    "checked_prefix",
    "checked_revision",
)

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any, Protocol

from kinwire.storage.inputs import checked_count, checked_seconds, checked_text

KEY_SIZE = 512
"""The longest key, in bytes of UTF-8."""
REMOVALS_KEPT = 86_400.0
"""Seconds for which a watch can still report that a record was removed."""


@dataclass(frozen=True, slots=True)
class Record:
    """What is stored under a key."""

    key: str
    value: Any
    """Decoded JSON, a copy of the reader's own."""
    revision: int
    """Rises with each write to the same records, whatever the key, and is never used twice."""
    expires_at: float | None = None
    """When the record is gone, in seconds since 1970; None for never."""


@dataclass(frozen=True, slots=True)
class Change:
    """A change that a watch reports."""

    key: str
    revision: int
    record: Record | None
    """None: it was deleted, or has expired."""


class Records(Protocol):
    """Named records of a store. Get one from `Store.records()`.

    A call that returns has taken effect: every later call, of whatever process, sees it. It is as
    durable as the records were opened. A call that is cancelled may have taken effect or not. A
    record that has expired is not there, for no call; a clock that is put back does not revive it
    once a call has found it gone.
    """

    async def get(self, key: str) -> Record | None:
        """Return the record, or None if it does not exist.

        Raises:
            StorageInputError: the key is invalid.
            StorageUnavailableError: the engine did not answer within the store's timeout.
        """
        ...

    async def put(
        self,
        key: str,
        value: Any,
        *,
        revision: int | None = None,
        expires_in: float | None = None,
    ) -> int:
        """Write the record and return its new revision.

        `revision` makes it a compare-and-set: the record has to be at that revision; 0 means that
        it must not exist. Of several writers that expect the same, one succeeds. `expires_in` is
        in seconds; without it the record stays, also one that had an expiry before.

        Raises:
            ConflictError: the record is at another revision; nothing was written.
            StorageInputError: the key or the value is invalid.
            StorageUnavailableError: the engine did not do it within the store's timeout;
                `outcome_unknown` says whether that is certain.
        """
        ...

    async def delete(self, key: str, *, revision: int | None = None) -> bool:
        """Remove the record and return whether there was one. `revision` is as in `put`.

        Raises:
            ConflictError: the record is at another revision; nothing was removed.
            StorageUnavailableError: as in `put`.
        """
        ...

    def scan(self, prefix: str = "") -> AsyncIterator[Record]:
        """Yield the records whose key begins with `prefix`, in no promised order.

        A record that exists throughout the scan is not missed. One that changes during it may come
        twice, the newer state last. Only a few records are in memory at a time.
        """
        ...

    def watch(self, prefix: str = "") -> AbstractAsyncContextManager[AsyncIterator[Change]]:
        """Yield the records whose key begins with `prefix`, then each change of one, until closed.

        Changes come by rising revision. The last state of each key always comes; states between
        may be skipped, so a slow reader blocks nothing and fills no memory. An expiry is reported
        within about two seconds. If the engine is away for a while, the watch continues without a
        gap.

        Raises:
            CursorLostError: in the loop, when the reader is a day behind.
        """
        ...


def checked_key(key: str) -> None:
    """Raise if `key` is invalid.

    Raises:
        StorageInputError: it is empty, too long, or not text.
    """
    checked_text(key, "key", KEY_SIZE)


def checked_expiry(seconds: float | None) -> None:
    """Raise if an `expires_in` is invalid.

    Raises:
        StorageInputError: it is not a positive number of seconds, or a hundred years away.
    """
    if seconds is not None:
        hint = "Leave it out to never expire. To remove the record now, delete it."
        checked_seconds(seconds, "expires_in", hint)


def checked_prefix(prefix: str) -> str:
    """Return `prefix`, which may be empty.

    Raises:
        StorageInputError: no valid key can begin with it.
    """
    if prefix != "":
        checked_text(prefix, "prefix", KEY_SIZE)
    return prefix


def checked_revision(revision: int | None) -> None:
    """Raise if a `revision` is invalid.

    Raises:
        StorageInputError: it is not a whole number from 0.
    """
    if revision is not None:
        checked_count(
            revision, "revision", "Pass the revision of a record, or 0 if it must not exist."
        )
