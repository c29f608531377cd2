"""Processes that are killed at random moments: writers of a store, and servers with calls."""

from __future__ import annotations

__all__ = ("killed_servers", "killed_writers")

import asyncio
import os
import random
import signal
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import anyio

from kinwire import ConnectionClosedError, connect, result_text, stdio
from kinwire.mcp.connection import Connection
from kinwire.storage import open_store
from tests.runtime.storage.test_processes import kill_after, look, start

_ROUNDS = 20  # kills of writers of one store, until another is begun
_SOON = 20.0  # seconds
_SERVER = """
import os
from kinwire import Server

server = Server("victim", "1")


@server.tool
def number() -> int:
    return os.getpid()


@server.tool
def echo(text: str) -> str:
    return text


server.run()
"""


def killed_writers(
    chance: random.Random, goes_on: Callable[[], bool], counted: Counter[str]
) -> None:
    """Kill writers of SQLite, and look for every write that was acknowledged."""
    while goes_on():
        with TemporaryDirectory() as folder:
            url = f"sqlite:///{folder}/store.db"
            asyncio.run(_writers_of(url, chance, goes_on, counted))


async def _writers_of(
    url: str, chance: random.Random, goes_on: Callable[[], bool], counted: Counter[str]
) -> None:
    said: set[int] = set()
    for round in range(_ROUNDS):
        if not goes_on():
            return
        writers = [
            start("append.py", url, str((2 * round + one) * 1_000_000))
            for one in range(chance.choice((1, 2)))
        ]
        for writer in writers:
            fresh = await asyncio.to_thread(kill_after, chance.uniform(0, 0.3), writer)
            counted["writes"] += len(fresh)
            counted["kills"] += 1
            said |= fresh
        async with open_store(url) as store:
            await look(store, said)


def killed_servers(
    chance: random.Random, goes_on: Callable[[], bool], counted: Counter[str]
) -> None:
    """Kill servers over stdio while calls run: each call is answered, or fails within 20 s."""
    with TemporaryDirectory() as folder:
        file = Path(folder, "victim.py")
        file.write_text(_SERVER)
        while goes_on():
            anyio.run(
                _one_server, file, chance, counted, backend=chance.choice(("asyncio", "trio"))
            )


async def _one_server(file: Path, chance: random.Random, counted: Counter[str]) -> None:
    with anyio.fail_after(_SOON):
        async with connect(stdio("python", str(file))) as connection:
            process = int(result_text(await connection.mcp.tools_call(name="number")))
            async with anyio.create_task_group() as tasks:
                for _ in range(chance.randrange(1, 30)):
                    size = chance.choice((1, 1000, 300_000))
                    tasks.start_soon(_call, connection, "x" * size, counted)
                await anyio.sleep(chance.uniform(0, 0.02))
                os.kill(process, signal.SIGKILL)
                counted["kills"] += 1


async def _call(connection: Connection, text: str, counted: Counter[str]) -> None:
    try:
        result = await connection.mcp.tools_call(name="echo", arguments={"text": text})
    except ConnectionClosedError:
        counted["failed"] += 1
    else:
        assert result_text(result) == text
        counted["answered"] += 1
