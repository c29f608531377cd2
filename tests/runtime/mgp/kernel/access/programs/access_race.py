"""Grant, revoke and query at random while other processes do, and print what was seen.

usage: access_race.py URL NAME TIMES

Each line is a JSON array: when the call began and ended (monotonic nanoseconds, one clock for all
processes), what was done with which agent and tool, the answer, and the revision of the record
that the answer was read from or that was written.
"""

from __future__ import annotations

import asyncio
import json
import random
import sys
import time
from typing import Any

from kinwire.mgp.kernel.access import AccessManager
from kinwire.mgp.rules.audit_events import SecurityEvent
from kinwire.storage import Record, open_store


class Noting:
    """Records that remember the last revision that was read or written."""

    def __init__(self, records: Any) -> None:
        self.records = records
        self.revision = 0

    async def get(self, key: str) -> Record | None:
        found: Record | None = await self.records.get(key)
        self.revision = 0 if found is None else found.revision
        return found

    async def put(self, key: str, value: Any, *, revision: int) -> int:
        self.revision = await self.records.put(key, value, revision=revision)
        return self.revision

    async def delete(self, key: str, *, revision: int) -> bool:
        done: bool = await self.records.delete(key, revision=revision)
        self.revision = 0
        return done


async def record(event: SecurityEvent) -> None:
    pass


async def main(url: str, name: str, times: str) -> None:
    chance, lines = random.Random(name), list[str]()
    async with open_store(url) as store:
        noting = Noting(await store.records("mgp", durable=False))
        access = AccessManager(noting, time.time, lambda server: "opt-in", record)  # type: ignore[arg-type]
        # The record never disappears, so that each state of it has a revision of its own.
        for agent in ("a", "b"):
            await access.grant(agent, "s", "deny", tool="always")
        print("ready", flush=True)
        sys.stdin.readline()
        for number in range(int(times)):
            agent, tool = chance.choice("ab"), chance.choice([None, "t"])
            action = chance.choice(["grant", "revoke", "query", "query"])
            began, said = time.monotonic_ns(), ""
            if action == "grant":
                said = chance.choice(["allow", "deny"])
                await access.grant(agent, "s", said, tool=tool, justification=f"{name}{number}")  # type: ignore[arg-type]
            elif action == "revoke":
                said = str((await access.revoke(agent, "s", tool=tool)).revoked)
            else:
                tool = tool or "u"
                found = await access.query(agent, "s", tool)
                said = f"{found.permission} {found.source}"
            row = [began, time.monotonic_ns(), action, agent, tool, said, noting.revision]
            lines.append(json.dumps(row))
    print("\n".join(lines))


asyncio.run(main(*sys.argv[1:]))
