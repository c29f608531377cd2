"""What is damaged in a file: its pages, its numbers, and each text and value in it."""

from __future__ import annotations

__all__ = ("faults",)

import sqlite3
from collections.abc import Iterator
from typing import Any

from kinwire.storage.errors import StorageDamagedError
from kinwire.storage.values import decoded

_BEYOND = (
    "SELECT name FROM spaces AS one"
    " WHERE last < (SELECT MAX(revision) FROM records WHERE space = one.id)"
    " OR last < (SELECT MAX(sequence) FROM entries WHERE space = one.id)"
)
# Each row: where it is, a value in JSON, and texts.
_CONTENTS = (
    "SELECT kind || ' ' || name, options FROM spaces",
    "SELECT 'records ' || name || ', key ' || key, value, key FROM records"
    " JOIN spaces ON spaces.id = space WHERE value IS NOT NULL",
    "SELECT 'log ' || name || ', entry ' || sequence, value, subject, IFNULL(entries.id, '')"
    " FROM entries JOIN spaces ON spaces.id = space",
)


def faults(connection: sqlite3.Connection) -> Iterator[str]:
    """Read all of the file and yield what is damaged."""
    for (text,) in connection.execute("PRAGMA integrity_check"):
        if text != "ok":
            yield str(text)
    for (name,) in connection.execute(_BEYOND):
        yield f"{name}: a number above the last one"
    connection.text_factory = bytes  # so that what is no UTF-8 can be told
    for statement in _CONTENTS:
        for row in connection.execute(statement):
            yield from _unreadable(*row)


def _unreadable(where: bytes, value: Any, *texts: Any) -> Iterator[str]:
    place = str(where, "utf-8", "replace")
    try:
        for text in texts:
            str(text, "utf-8")
        decoded(str(value, "utf-8"), place)
    except StorageDamagedError as error:
        yield f"{place}: {error.got}"
    except (ValueError, TypeError) as error:
        yield f"{place}: {error}"
