"""A server of MGP whose calls and streams wait until the kernel sends an audit event.

Calls of `finish` wait until the server is asked to end.
"""

from __future__ import annotations

from collections.abc import AsyncIterator

import anyio

from kinwire import Context, Server
from kinwire.mgp import Lifecycle, MgpServer, Shutdown
from kinwire_protocols import mgp

go_on, ending = anyio.Event(), anyio.Event()


def end(shutdown: Shutdown) -> None:
    """Let calls of `finish` go on."""
    ending.set()


guarded = MgpServer(server_id="patient", lifecycle=Lifecycle(on_shutdown=end))
server = Server("patient", "1", extensions=[guarded])


@server.tool
async def wait(context: Context) -> str:
    """Wait."""
    await context.progress(1)
    await go_on.wait()
    return "done"


@server.tool
async def finish(context: Context) -> str:
    """Wait for the end."""
    await context.progress(1)
    await ending.wait()
    await anyio.sleep(0.1)  # what is refused at the end would be so now
    return "done"


@server.tool
async def think() -> AsyncIterator[str]:
    """Wait between two pieces."""
    yield "done"
    await go_on.wait()
    yield " too"


@guarded.on.notifications_mgp_audit
async def release(params: mgp.AuditNotificationParams) -> None:
    """Let all go on."""
    go_on.set()


if __name__ == "__main__":
    server.run()
