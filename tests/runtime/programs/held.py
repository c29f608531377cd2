"""A server whose calls can be held, and one that says more than anybody reads."""

from __future__ import annotations

import sys
from math import inf, nan
from typing import Any

import anyio

from kinwire import Context, Server
from kinwire.transports.stdio import OwnStdio

server = Server("held", "1.0")


@server.tool
async def hold() -> None:
    """Wait until the call is taken back, or the server ends."""
    await anyio.sleep_forever()


@server.tool
async def pour(kilobytes: int, context: Context) -> str:
    """Log that many kilobytes."""
    for _ in range(kilobytes):
        await context.log("error", "x" * 1024)
    return "poured"


@server.tool
def echo(text: str) -> str:
    """Return the text."""
    return text


MARRED: dict[str, Any] = {"nan": nan, "infinity": [-inf], "surrogate": {"a": "x\ud800y"}}
"""What JSON cannot hold."""


@server.tool
def mar(how: str) -> Any:
    """Return what JSON cannot hold."""
    return MARRED[how]


if __name__ == "__main__":
    if sys.argv[1:] == ["trio"]:
        anyio.run(server.serve, OwnStdio(), backend="trio")
    else:
        server.run()
