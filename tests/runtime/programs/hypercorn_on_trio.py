"""The server of `live.py` under hypercorn on trio; it says on stderr where."""

from __future__ import annotations

__all__ = ("COMMAND",)

import sys
from functools import partial
from typing import Any

import trio
from hypercorn.config import Config
from hypercorn.trio import serve

from tests.runtime.programs.live import server

COMMAND = (sys.executable, "-m", "tests.runtime.programs.hypercorn_on_trio")
"""Starts it, in the folder that has the tests."""


async def main() -> None:
    config = Config()
    config.bind = ["127.0.0.1:0"]
    config.errorlog = None
    app: Any = server.asgi()
    async with trio.open_nursery() as nursery:
        (url,) = await nursery.start(partial(serve, app, config))
        print(f"live at {url}/", file=sys.stderr, flush=True)


if __name__ == "__main__":
    trio.run(main)
