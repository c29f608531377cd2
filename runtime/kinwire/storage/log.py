"""The port for history: entries under dotted subjects, read from a cursor."""

from __future__ import annotations

__all__ = (
    "ID_SIZE",
    "Appended",
    "Entry",
    "Log",
    "Retention",
    "checked_id",
    "checked_page",
    "checked_retention",
    "encoded_entries",
)

from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from kinwire.storage.inputs import checked_count, checked_seconds, checked_text, encoded
from kinwire.storage.subjects import checked_subject

ID_SIZE = 512
"""The longest id, in bytes of UTF-8."""
_SHORTEST = 0.1  # seconds: NATS takes no shorter ones


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of a log."""

    sequence: int
    """Counts from 1, without gaps, for all subjects of the log together."""
    subject: str
    value: Any
    """Decoded JSON, a copy of the reader's own."""
    at: float
    """When it was appended, in seconds since 1970, by the engine's clock."""
    id: str | None = None


class Appended(NamedTuple):
    """Where an entry is."""

    sequence: int
    duplicate: bool = False
    """Its id was known: nothing was appended, and `sequence` is that of the first entry."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Retention:
    """How much of a log is kept. Entries beyond it are removed, the oldest first."""

    max_age: float | None = None
    """Seconds; older entries go with the next append, or a second later."""
    max_entries: int | None = None
    dedup_window: float = 120.0
    """Seconds in which an id is known again."""


class Log(Protocol):
    """A named log of a store. Get one from `Store.log()`.

    An append that returns is as durable as the log was opened, and keeps its sequence for ever.
    Appends of one task are in its order. A call that is cancelled may have taken effect or not.
    """

    async def append(self, subject: str, value: Any, *, id: str | None = None) -> Appended:
        """Append an entry and return where it is.

        `subject` is words with dots between. An `id` that came already within the log's
        `dedup_window` makes it a repeat, which appends nothing. Appends that wait at the same
        time are made durable together: many tasks cost little more than one.

        Raises:
            StorageInputError: the subject or the value is invalid.
            StorageUnavailableError: the engine did not do it within the store's timeout;
                `outcome_unknown` says whether that is certain. With an `id` it is safe to repeat.
        """
        ...

    async def append_after(self, sequence: int, entries: Sequence[tuple[str, Any]]) -> int:
        """Append entries, each a subject and a value, if `sequence` is that of the newest entry.

        Return how many were appended: all, or fewer if others appended to the log first. So
        several writers can each build on the entries before. 0 as `sequence` is for a log that
        never had an entry. In memory and in a file, all entries are appended or none of them.

        Raises:
            StorageInputError: a subject or a value is invalid; nothing was appended.
            StorageUnavailableError: as in `append`; some of the entries may have been appended.
        """
        ...

    async def read(self, subjects: str = ">", *, after: int = 0, limit: int = 1000) -> list[Entry]:
        """Return the entries with a sequence above `after`, oldest first, at most `limit`.

        In `subjects`, `*` stands for one word and a last `>` for one or more. Fewer than `limit`
        entries mean that there are no more yet. 0 begins with the oldest that is kept.

        Raises:
            CursorLostError: entries after a cursor above 0 were removed by retention.
            StorageUnavailableError: the engine did not answer within the store's timeout.
        """
        ...

    def follow(
        self, subjects: str = ">", *, after: int = 0
    ) -> AbstractAsyncContextManager[AsyncIterator[Entry]]:
        """Yield the entries with a sequence above `after`, then new ones as they come.

        Nothing is skipped and nothing comes twice, also while the engine is away.

        Raises:
            CursorLostError: in the loop, when retention was faster than the reader.
        """
        ...

    async def bounds(self) -> tuple[int, int]:
        """Return the sequences of the oldest and of the newest entry.

        An empty log has the oldest one above the newest: the next append gets the former.
        """
        ...


def checked_id(id: str | None) -> None:
    """Raise if `id` is not a valid id of an entry.

    Raises:
        StorageInputError: it is empty, too long, or not text.
    """
    if id is not None:
        checked_text(id, "id", ID_SIZE)


def encoded_entries(entries: Sequence[tuple[str, Any]]) -> list[tuple[str, str]]:
    """Return subject and value, as JSON, of each entry.

    Raises:
        StorageInputError: a subject or a value is invalid.
    """
    for subject, _ in entries:
        checked_subject(subject)
    return [(subject, encoded(value, subject)) for subject, value in entries]


def checked_page(after: int, limit: int = 0) -> None:
    """Raise if a cursor or a limit is invalid.

    Raises:
        StorageInputError: one of them is not a whole number from 0.
    """
    checked_count(after, "after", "Pass the sequence of an entry, or 0.")
    checked_count(limit, "limit", "Leave it out for 1000.")


def checked_retention(retention: Retention) -> Retention:
    """Return `retention`.

    Raises:
        StorageInputError: a bound is invalid, or not supported by all engines.
    """
    hint = "Leave it out for the default."
    for name in ("max_age", "dedup_window"):
        seconds: float | None = getattr(retention, name)
        if seconds is not None or name == "dedup_window":
            checked_seconds(seconds, f"Retention.{name}", hint, least=_SHORTEST)
    if retention.max_entries is not None:
        checked_count(retention.max_entries, "Retention.max_entries", hint, least=1)
    return retention
