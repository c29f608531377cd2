"""A kernel that shares its registry with others, and says what it runs.

usage: shared_kernel.py URL FOLDER LEASE

Each line on stdin is done: `register` registers `tool.py` in the folder as the server `one`, and
`deregister` takes it out. Each line on stdout is a state of that server here, with its process id
while it is connected; `ready` at the beginning, and `gone` when there is no such server any more.
"""

from __future__ import annotations

import asyncio
import sys

import anyio

from kinwire import Host
from kinwire.mgp import MgpKernel, Registrations, Supervisor
from kinwire.storage import open_store

MOST = 120  # seconds until it ends in any case


async def follow(supervisor: Supervisor) -> None:
    """Print each state once, in order."""
    last = "gone"
    with supervisor.changes() as changes:
        print("ready", flush=True)
        async for _ in changes:
            found = [one for one in supervisor.statuses if one.id == "one"]
            said = "gone"
            if found:
                pid = found[0].pid if found[0].state == "connected" else None
                said = f"{found[0].state} {pid or ''}".strip()
            if said != last:
                print(last := said, flush=True)


async def obey(kernel: MgpKernel) -> None:
    """Do what stdin says."""
    while line := await anyio.to_thread.run_sync(sys.stdin.readline, abandon_on_cancel=True):
        if line == "register\n":
            await kernel.registry.register("one", command="python", args=["tool.py"])
        else:
            await kernel.registry.deregister("one")


async def main(url: str, folder: str, lease: str) -> None:
    options = Registrations(folder=folder, lease=float(lease))
    async with open_store(url) as store:
        kernel = MgpKernel(records=await store.records("mgp"), registrations=options)
        async with (
            Host("h", "1", extensions=[kernel]) as host,
            kernel.supervise(host) as running,
            anyio.create_task_group() as tasks,
        ):
            tasks.start_soon(follow, running)
            with anyio.move_on_after(MOST):
                await obey(kernel)
            tasks.cancel_scope.cancel()


asyncio.run(main(*sys.argv[1:]))
