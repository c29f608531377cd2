"""Write the file of this version, by which later ones are tested.

usage: python -m tests.runtime.storage.make_files

Run it once before a version of the tables is released, under a new name; never again after.
"""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from kinwire.storage import open_store
from kinwire.storage.sqlite.migrations import MIGRATIONS

FIRST_RECORDS: dict[str, Any] = {"a": 1, "a/ä": {"n": [1, None]}, "lease": "kept"}
FIRST_ENTRIES: list[tuple[str, Any, str | None]] = [
    ("a", 1, None),
    ("a.b", {"text": "é\n"}, "id-1"),
    ("b", [], None),
]


async def make(path: Path) -> None:
    async with open_store(f"sqlite:///{path}", clock=lambda: 1_800_000_000.0) as store:
        log, records = await store.log("events"), await store.records("things")
        for key, value in FIRST_RECORDS.items():
            await records.put(key, value)
        await records.put("gone", 0)
        await records.delete("gone")
        for subject, value, id in FIRST_ENTRIES:
            await log.append(subject, value, id=id)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("VACUUM")


if __name__ == "__main__":
    asyncio.run(make(Path(__file__).parent / "files" / f"version-{len(MIGRATIONS)}.db"))
