"""Append and put forever, several at a time; print each that is acknowledged, until killed.

usage: append.py URL FIRST
"""

from __future__ import annotations

import asyncio
import os
import sys
from itertools import count

from kinwire.storage import Log, Records, open_store

_AT_ONCE = 8


async def work(log: Log, records: Records, numbers: count[int]) -> None:
    for number in numbers:
        await log.append("a", number, id=f"id{number}")
        await records.put(f"key{number}", number)
        os.write(1, f"{number}\n".encode())  # in one piece, and not kept in a buffer


async def main(url: str, first: str) -> None:
    async with open_store(url) as store, asyncio.TaskGroup() as tasks:
        log, records = await store.log("events"), await store.records("things")
        numbers = count(int(first))
        for _ in range(_AT_ONCE):
            tasks.create_task(work(log, records, numbers))


asyncio.run(main(*sys.argv[1:]))
