"""A service over gRPC whose tool says when it begins, and takes a moment."""

from __future__ import annotations

import anyio

from kinwire import Server
from kinwire.mcplite.server.service import LiteServer

server = Server("program", "1")


@server.tool
async def slow() -> str:
    """Take a moment."""
    print("begun", flush=True)
    await anyio.sleep(0.2)
    return "done"


LiteServer(server).run_grpc(port=0)
