"""A host that does one thing to a server in its own process, and is killed when that has returned.

`remember.py URL` adds a note, approves a scope, takes an event, and dies without any farewell.
"""

from __future__ import annotations

import os
import signal
import sys

import anyio

from kinwire import Host, pair
from kinwire.mcpl import McplHost, PushedEvent, ScopeRequest, Scopes
from kinwire.storage import open_store
from kinwire_protocols import mcpl
from tests.runtime.mcpl.remembered import ONE, notes


async def yes(request: ScopeRequest) -> bool:
    return True


async def take(event: PushedEvent) -> mcpl.PushEventResult:
    return mcpl.PushEventResult(accepted=True, inference_id="inf_before")


async def main() -> None:
    async with open_store(sys.argv[1]) as store:
        records = await store.records("mcpl")
        live = McplHost(enabled=["*"], scopes=Scopes(ask=yes), on_push=take, records=records)
        served, server = notes()
        async with pair(server, Host("h", "1", extensions=[live])) as connection:
            for text in ("one", "two"):
                await connection.mcp.tools_call(name="add_note", arguments={"text": text})
            host = served.hosts[0]
            scope = mcpl.Scope(label="/etc/hosts")
            await mcpl.Client(host.session).scope_elevate(feature_set="notes.edit", scope=scope)
            await host.push("notes.remind", "Now", **ONE)
            os.kill(os.getpid(), signal.SIGKILL)


anyio.run(main)
