"""Take a lease and give it back, again and again, and print when this process had it.

usage: hold_lease.py URL LASTS

Each line has a fence and a time of the one clock that all processes have: first when the lease was
taken, then again and again while it is held.
"""

from __future__ import annotations

import asyncio
import os
import sys

import anyio

from kinwire.managers.leases import LeaseLostError, Leases, elapsed
from kinwire.storage import open_store


async def main(url: str, lasts: str) -> None:
    async with open_store(url) as store:
        records = await store.records("tests", durable=False)
        leases = Leases(records, holder=str(os.getpid()), lasts=float(lasts))
        print("ready", flush=True)
        while True:
            try:
                async with leases.hold("files") as lease:
                    for _ in range(20):
                        now = elapsed()
                        if lease.is_held:
                            print(lease.fence, now, flush=True)
                        await anyio.sleep(0.002)
            except LeaseLostError:
                continue


asyncio.run(main(*sys.argv[1:]))
