"""The tables, as the numbered steps that lead to them. A step that was released never changes."""

from __future__ import annotations

__all__ = ("APPLICATION", "MIGRATIONS", "migrate")

import sqlite3
from collections.abc import Sequence

APPLICATION = 0x6B696E77  # "kinw", where the file format has a place for it

MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        # Numbers are counted for each space; `forgotten` is the newest removal that was cleared.
        "CREATE TABLE spaces (id INTEGER PRIMARY KEY, kind TEXT NOT NULL, name TEXT NOT NULL,"
        " options TEXT NOT NULL, last INTEGER NOT NULL DEFAULT 0,"
        " forgotten INTEGER NOT NULL DEFAULT 0, UNIQUE (kind, name))",
        # A value of NULL: the record was removed, and watches have a day to learn of it.
        "CREATE TABLE records (space INTEGER NOT NULL, key TEXT NOT NULL, value TEXT,"
        " revision INTEGER NOT NULL, expires_at REAL, changed_at REAL NOT NULL,"
        " PRIMARY KEY (space, key)) WITHOUT ROWID",
        "CREATE UNIQUE INDEX records_by_revision ON records (space, revision)",
        "CREATE INDEX records_by_expiry ON records (expires_at) WHERE expires_at IS NOT NULL",
        "CREATE INDEX records_removed ON records (changed_at) WHERE value IS NULL",
        "CREATE TABLE entries (space INTEGER NOT NULL, sequence INTEGER NOT NULL,"
        " subject TEXT NOT NULL, value TEXT NOT NULL, at REAL NOT NULL, id TEXT,"
        " PRIMARY KEY (space, sequence)) WITHOUT ROWID",
        # Apart from the entries: retention must not make an id new again.
        "CREATE TABLE seen (space INTEGER NOT NULL, id TEXT NOT NULL, sequence INTEGER NOT NULL,"
        " until REAL NOT NULL, PRIMARY KEY (space, id)) WITHOUT ROWID",
        "CREATE INDEX seen_until ON seen (until)",
    ),
)


def migrate(
    connection: sqlite3.Connection, migrations: Sequence[Sequence[str]] = MIGRATIONS
) -> None:
    """Bring the file to the newest version, in one transaction; do nothing if it is there.

    Wait if another process is doing the same.
    """
    if _version(connection) == len(migrations):
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        for step in migrations[_version(connection) :]:
            for statement in step:
                connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {APPLICATION}")
        connection.execute(f"PRAGMA user_version = {len(migrations)}")
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def _version(connection: sqlite3.Connection) -> int:
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    return int(version)
