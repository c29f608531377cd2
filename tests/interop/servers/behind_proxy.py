"""A server of which several processes stand behind one proxy."""

from __future__ import annotations

import os

import anyio

from kinwire import Context, Server

server = Server("behind a proxy", "1.0")
waiting: list[anyio.Event] = []


@server.tool
async def process() -> str:
    """Return which process this is."""
    return str(os.getpid())


@server.tool
async def wait(context: Context) -> str:
    """Report progress, then wait for a call of `go_on`."""
    event = anyio.Event()
    waiting.append(event)
    await context.progress(1)
    await event.wait()
    return "went on"


@server.tool
async def go_on() -> None:
    """Let what waits go on."""
    while waiting:
        waiting.pop().set()


@server.resource("memo://today")
async def today() -> str:
    """Return a text that changes."""
    return "x"


@server.tool
async def change() -> None:
    """Notify subscribers."""
    server.resource_updated("memo://today")
