"""Mixed load on one server for a long time: memory, descriptors and sessions stay what they were.

usage: python -m tests.runtime.transports.soak [MINUTES], 30 by default, on asyncio and then on trio

Each cycle some clients come over every transport, make calls of all kinds, take some back, and
leave, half of them without a word. The server runs in a process of its own.
"""

from __future__ import annotations

__all__ = ("LIMITS", "Growth", "soaked")

import os
import sys
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import NamedTuple

import anyio

from kinwire import Host, RpcError
from kinwire.connection import Connection
from tests.runtime.programs import everywhere
from tests.runtime.transports.program import Program, serving
from tests.runtime.transports.serving import NETWORK

FILE = Path(everywhere.__file__)
CLIENTS, CALLS = 4, 12  # of each transport in a cycle, and of each client
WARM_UP = 0.3  # of the whole time, until everything has been loaded and has its size
MEGABYTE = 1 << 20


class Size(NamedTuple):
    """What two processes hold."""

    memory: int
    """Bytes resident in the server."""
    own_memory: int
    """Bytes resident in the process of the clients."""
    descriptors: int
    """Open files of the server."""
    own_descriptors: int


class Growth(NamedTuple):
    """How much of each was added after the warm-up, and how many cycles there were."""

    memory: int
    own_memory: int
    descriptors: int
    own_descriptors: int
    cycles: int


LIMITS = Growth(8 * MEGABYTE, 8 * MEGABYTE, 8, 8, 0)
"""What may be added in a short time. In half an hour it is 3 MiB: see `main`."""


def size_of(program: Program) -> Size:
    server, own = program.process.pid, os.getpid()
    return Size(_memory(server), _memory(own), _descriptors(server), _descriptors(own))


def _memory(pid: int) -> int:
    pages = Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1]
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


def _descriptors(pid: int) -> int:
    return len(os.listdir(f"/proc/{pid}/fd"))


def soaked(seconds: float, backend: str) -> Growth:
    """Return what has grown; the clients run on that backend."""
    with serving(FILE) as program:
        return anyio.run(_soak, program, seconds, backend=backend)


async def _soak(program: Program, seconds: float) -> Growth:
    random = Random(1)
    began = anyio.current_time()
    warm: Size | None = None
    cycles = 0
    while (elapsed := anyio.current_time() - began) < seconds:
        if warm is None and elapsed > seconds * WARM_UP:
            warm = size_of(program)
        await _cycle(program, random)
        cycles += 1
    now = size_of(program)
    warm = warm or now
    added = Size(*(after - before for before, after in zip(warm, now, strict=True)))
    return Growth(*added, cycles=cycles)


async def _cycle(program: Program, random: Random) -> None:
    with anyio.fail_after(60):
        async with anyio.create_task_group() as tasks:
            for transport in NETWORK:
                for _ in range(CLIENTS):
                    tasks.start_soon(_visit, program.url(transport), random)


async def _visit(url: str, random: Random) -> None:
    with anyio.CancelScope() as leaving:
        async with Host("soak", "0") as host:
            server = await host.connect(url)
            for _ in range(CALLS):
                await _call(server, random)
            if random.random() < 0.5:
                leaving.cancel()  # in the middle of a call
                await server.mcp.tools_call(name="count", arguments={"to": 50})


async def _call(server: Connection, random: Random) -> None:
    match random.randrange(5):
        case 0:
            text = "x" * random.randrange(20_000)
            await server.mcp.tools_call(name="echo", arguments={"value": text})
        case 1:
            asking = server.with_options(on_progress=lambda report: None)
            await asking.mcp.tools_call(name="count", arguments={"to": 5})
        case 2:
            with suppress(RpcError):
                await server.mcp.resources_read(uri="memo://day/never")
        case 3:
            await server.mcp.resources_subscribe(uri="memo://today")
            await server.mcp.tools_call(name="change")
        case _:
            with anyio.CancelScope() as scope:
                asking = server.with_options(on_progress=lambda report: scope.cancel())
                await asking.mcp.tools_call(name="wait")


def main(words: list[str]) -> int:
    """Print what has grown on each backend; return 1 if it is more than a megabyte in ten minutes.

    Descriptors may differ by what is open at the moment.
    """
    minutes = float(words[0]) if words else 30.0
    most = max(LIMITS.memory if minutes < 10 else 0, int(minutes / 10 * MEGABYTE))
    bad = False
    for backend in ("asyncio", "trio"):
        grown = soaked(minutes * 30, backend)  # half of the time each
        print(f"{backend}: {grown}", flush=True)
        over = max(grown.memory, grown.own_memory) > most
        bad = bad or over or max(grown.descriptors, grown.own_descriptors) > LIMITS.descriptors
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
