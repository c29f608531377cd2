"""Reads, on the event loop itself: a point read is ten times cheaper than the way to a thread.

Readers of a file in WAL mode wait for no writer, and every query here is bounded in rows. Where
one is refused all the same, as while another process recovers the file, it is tried again.
"""

from __future__ import annotations

__all__ = ("SqliteReader",)

import sqlite3
from time import monotonic
from typing import Any

import anyio
from anyio.lowlevel import checkpoint

from kinwire.storage.sqlite.failures import FAILURES, is_busy, typed
from kinwire.storage.sqlite.files import SqliteFile
from kinwire.storage.store import OpenGuard

_PAUSE = 0.01  # seconds between two tries


class SqliteReader:
    """The connection that only reads."""

    def __init__(self, file: SqliteFile, guard: OpenGuard, timeout: float) -> None:
        self._file, self._guard, self._timeout = file, guard, timeout
        self._connection: sqlite3.Connection | None = None

    async def query(self, statement: str, *parameters: Any) -> list[Any]:
        """Return the rows. Other tasks have had their turn.

        Raises:
            StorageError: they cannot be read, within the store's timeout.
        """
        await checkpoint()
        deadline = monotonic() + self._timeout
        while True:
            self._guard.ensure_open()
            try:
                if self._connection is None:
                    self._connection = self._file.connect()
                return self._connection.execute(statement, parameters).fetchall()
            except FAILURES as error:
                if not is_busy(error):
                    self.close()  # the next query opens another one
                    raise typed(error, self._file.path) from None
                if monotonic() > deadline:
                    raise typed(error, self._file.path) from None
            await anyio.sleep(_PAUSE)

    def close(self) -> None:
        """Close the connection."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()
