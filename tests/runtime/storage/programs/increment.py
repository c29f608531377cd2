"""Add 1 to a record N times by compare-and-set, while other processes do the same.

usage: increment.py URL TIMES
"""

from __future__ import annotations

import asyncio
import sys

from kinwire.storage import ConflictError, Records, open_store


async def increment(records: Records) -> None:
    while True:
        found = await records.get("n")
        value, revision = (found.value, found.revision) if found else (0, 0)
        try:
            await records.put("n", value + 1, revision=revision)
        except ConflictError:
            continue
        return


async def main(url: str, times: str) -> None:
    async with open_store(url) as store:
        records = await store.records("things", durable=False)
        for _ in range(int(times)):
            await increment(records)


asyncio.run(main(*sys.argv[1:]))
