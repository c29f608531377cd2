"""The file: made whole or not at all, opened only if it is a store, never made again."""

from __future__ import annotations

__all__ = ("SqliteFile",)

import os
import sqlite3
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path
from secrets import token_hex
from typing import Any
from urllib.parse import quote

from kinwire.storage.errors import StorageAddressError, StorageDamagedError, StorageVersionError
from kinwire.storage.inputs import decoded
from kinwire.storage.sqlite.failures import FAILURES, damaged, refused, typed
from kinwire.storage.sqlite.migrations import APPLICATION, MIGRATIONS, migrate

_LOOKED_THROUGH = 64 * 1024 * 1024  # bytes: a larger file is looked through by `check` only
_DAMAGES = 100  # reported at most
_WAL_KEPT = 64 * 1024 * 1024  # bytes that the log of writes may keep after a burst


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


class SqliteFile:
    """A store's file. Everything here blocks, so it runs in a thread."""

    def __init__(self, path: str) -> None:
        self.path = os.path.abspath(path)
        self._identity = (0, 0)

    def prepare(self, timeout: float) -> None:
        """Make the file if it does not exist, check that it can be used, and migrate it.

        Raises:
            StorageError: it cannot be used, and why.
        """
        try:
            if not os.path.lexists(self.path):
                self._make()
            self._identity = self._identity_now()
            connection = self.connect(timeout)
            try:
                self._examine(connection)
            finally:
                connection.close()
        except FAILURES as error:
            raise typed(error, self.path) from None
        except OSError as error:
            raise refused(self.path, str(error.strerror)) from None

    def connect(self, timeout: float = 0.0) -> sqlite3.Connection:
        """Return a connection to the file, which has to be there. Locks are waited for so long."""
        connection = sqlite3.connect(
            f"file:{quote(self.path)}?mode=rw",
            uri=True,
            timeout=timeout,
            isolation_level=None,  # transactions begin and end where we say so
            check_same_thread=False,  # one thread at a time all the same
        )
        connection.execute("PRAGMA trusted_schema = OFF")
        connection.execute("PRAGMA cell_size_check = ON")
        connection.execute("PRAGMA fullfsync = ON")  # macOS: fsync alone stops at the drive
        connection.execute(f"PRAGMA journal_size_limit = {_WAL_KEPT}")
        return connection

    def see_same(self) -> None:
        """Refuse to write into a file that was removed or replaced since it was opened.

        Raises:
            StorageDamagedError: it was: what is written there, nobody would ever find.
        """
        if self._identity_now() != self._identity:
            raise damaged(self.path, "a replaced or missing file")

    def damage(self) -> list[str]:
        """Return what is damaged, after reading all of it."""
        try:
            connection = self.connect()
            try:
                return [f"{self.path}: {text}" for text in islice(damage_in(connection), _DAMAGES)]
            finally:
                connection.close()
        except FAILURES as error:
            return [str(typed(error, self.path))]

    def _identity_now(self) -> tuple[int, int]:
        try:
            status = os.stat(self.path)
        except OSError:
            return 0, 0
        return status.st_dev, status.st_ino

    def _make(self) -> None:
        """Make the file under another name first, so that it is complete when it appears."""
        folder = os.path.dirname(self.path)
        if not os.path.isdir(folder):
            hint = "Create it first. In the URL, four slashes begin an absolute path."
            raise StorageAddressError(
                self.path, expected="an existing folder", got=f"no {folder}", hint=hint
            )
        if os.path.isfile(f"{self.path}-wal"):
            raise damaged(self.path, "only its -wal file, so the file itself was lost")
        new = f"{self.path}.{token_hex(4)}.new"  # others may be making one at the same time
        try:
            connection = sqlite3.connect(new, isolation_level=None)
            try:
                connection.execute("PRAGMA journal_mode = WAL")
                migrate(connection)
            finally:
                connection.close()
            with suppress(FileExistsError):
                os.link(new, self.path)  # and not rename: another process may have been faster
        finally:
            Path(new).unlink(missing_ok=True)

    def _examine(self, connection: sqlite3.Connection) -> None:
        if os.path.getsize(self.path) == 0:
            raise damaged(self.path, "an empty file")  # SQLite would take it for a new one
        (application,) = connection.execute("PRAGMA application_id").fetchone()
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if application != APPLICATION:
            raise damaged(self.path, "a database of another program")
        if version > len(MIGRATIONS):
            raise StorageVersionError(
                self.path,
                expected=f"version {len(MIGRATIONS)} or older",
                got=f"version {version}",
                hint="Use the kinwire that wrote it, or a newer one.",
            )
        if os.path.getsize(self.path) <= _LOOKED_THROUGH:
            (verdict,) = connection.execute("PRAGMA quick_check(1)").fetchone()
            if verdict != "ok":
                raise damaged(self.path, str(verdict))
        connection.execute("BEGIN IMMEDIATE")  # a file that cannot be written shows now
        connection.execute("ROLLBACK")
        migrate(connection)


def damage_in(connection: sqlite3.Connection) -> Iterator[str]:
    """Read all of the file and yield what is damaged."""
    for (text,) in connection.execute("PRAGMA integrity_check"):
        if text != "ok":
            yield str(text)
    for (name,) in connection.execute(_BEYOND):
        yield f"{name}: a number above the last one"
    connection.text_factory = bytes  # so that text that is not UTF-8 can be reported
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
