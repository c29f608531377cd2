"""A server whose handlers do not end by themselves.

`python stuck.py asyncio`, or trio, embedded, asgi, sse, lite, grpc, serves it in that way.
"""

from __future__ import annotations

import re
import sys
import time
from contextlib import suppress

import anyio

import kinwire
from kinwire import Server
from kinwire.rpc.limits import Limits

server = Server("stuck", "1", limits=Limits(drain=0.2, stop=0.1))


def begun() -> None:
    print("begun", file=sys.stderr, flush=True)


@server.tool
def sleeps() -> None:
    """Stand still in a thread."""
    begun()
    time.sleep(60)


@server.tool
async def blocks() -> None:
    """Stand still in the event loop."""
    begun()
    time.sleep(60)  # noqa: ASYNC251


@server.tool
async def computes() -> None:
    """Let no thread of Python run, not even one that does not need the event loop."""
    begun()
    re.match(r"(x+x+)+y", "x" * 60)


@server.tool
async def swallows() -> None:
    """Go on whatever comes."""
    begun()
    while True:
        with suppress(BaseException):
            await anyio.sleep(1)


if __name__ == "__main__":
    how = sys.argv[1]
    if how == "asyncio":
        server.run()
    elif how == "trio":
        anyio.run(server.serve_stdio, backend="trio")
    elif how == "embedded":  # a program that opens things around it
        anyio.run(server.serve_stdio)
    elif how == "lite":
        kinwire.LiteServer(server).asgi().run(port=0)
    elif how == "grpc":
        kinwire.LiteServer(server).run_grpc(port=0, limits=kinwire.GrpcLimits(drain=0.2))
    else:
        server.asgi(path="/sse" if how == "sse" else None).run(port=0)
