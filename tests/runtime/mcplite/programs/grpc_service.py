"""A service over gRPC whose tools say when they begin: one takes a moment, two do not end."""

from __future__ import annotations

import time
from contextlib import suppress

import anyio

from kinwire import GrpcLimits, Server
from kinwire.mcplite.server.service import LiteServer

server = Server("program", "1")


@server.tool
async def slow() -> str:
    """Take a moment."""
    print("begun", flush=True)
    await anyio.sleep(0.2)
    return "done"


@server.tool
async def stubborn() -> None:
    """Ignore that it is cancelled."""
    print("begun", flush=True)
    while True:
        with suppress(BaseException):
            await anyio.sleep(60)


@server.tool
def blocked() -> None:
    """Hold a thread."""
    print("begun", flush=True)
    time.sleep(60)


LiteServer(server).run_grpc(port=0, limits=GrpcLimits(drain=0.5))
