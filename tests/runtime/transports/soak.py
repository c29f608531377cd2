"""Mixed load over every transport for a long time: memory, descriptors, tasks and sessions stay.

usage: python -m tests.runtime.transports.soak [MINUTES], 30 by default, on asyncio and then on trio

Each cycle some clients come, make calls of all kinds, take some back, and leave, half of them in
the middle of a call. The server of HTTP, HTTP+SSE and WebSocket is a process of its own, and so is
a child that is spoken to all the time; other children come and go, in memory both ends are here.
Two more HTTP clients stay, one behind a proxy: their server sets cookies and ends connections.
"""

from __future__ import annotations

__all__ = ("LIMITS", "Growth", "Size", "soaked")

import json
import os
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from operator import sub
from pathlib import Path
from random import Random
from typing import NamedTuple

import anyio

from kinwire import ConnectionClosedError, Host, RpcError, stdio
from kinwire.mcp.connection import Connection
from kinwire.rpc.transport import Transport
from kinwire.support.background import background
from kinwire.transports.child import ChildProcess
from kinwire.transports.memory import memory_pair
from tests.runtime.mcp.http_client.fake_server import Asked, Handler, Line, RawServer, polite
from tests.runtime.programs import everywhere
from tests.runtime.transports.fixtures_processes import ROOT, Program, serving
from tests.runtime.transports.fixtures_resources import descriptors_of, let_go, memory_of
from tests.runtime.transports.fixtures_serving import NETWORK

FILE = Path(everywhere.__file__).with_name("counted.py")  # imported, it would change the other
FAR = "http://127.0.0.1:1/mcp"  # nobody listens there: only the proxy answers
CLIENTS, CALLS = 4, 12  # of each transport in a cycle, and of each client
WARM_UP = 0.3  # of the whole time, until everything has been loaded and has its size
MEGABYTE = 1 << 20


class Size(NamedTuple):
    """What is held by the server, by the child, and by the process of the clients."""

    memory: int
    """Bytes resident."""
    child_memory: int
    own_memory: int
    descriptors: int
    """Open files."""
    child_descriptors: int
    own_descriptors: int
    tasks: int
    child_tasks: int
    own_tasks: int
    sessions: int
    """Of the server."""


class Growth(NamedTuple):
    """How much of each was added after the warm-up, and how many cycles there were."""

    added: Size
    cycles: int

    def over(self, limits: Size) -> dict[str, int]:
        """Return what was added beyond the limits."""
        named = self.added._asdict()
        return {name: value for name, value in named.items() if value > getattr(limits, name)}


LIMITS = Size._make([*[8 * MEGABYTE] * 3, *[8] * 6, 0])
"""What may be added in a short time; of what comes and goes, as much as is open at a moment."""


def soaked(seconds: float, backend: str) -> Growth:
    """Return what has grown; the clients run on that backend."""
    with serving(FILE, "sse") as program:  # it has the others as well
        return anyio.run(_soak, program, seconds, backend=backend)


async def _soak(program: Program, seconds: float) -> Growth:
    random = Random(1)
    began = anyio.current_time()
    warm: Size | None = None
    cycles = 0
    child = _child()
    serving_carelessly = RawServer.serving(_careless(random), seconds=2 * seconds + 60)
    async with Host("soak", "0") as host, serving_carelessly as careless:
        steady = await host.connect(child)
        bold = [
            await host.connect(careless.url),
            await host.connect(FAR, proxy=careless.url),
        ]
        while (elapsed := anyio.current_time() - began) < seconds:
            if warm is None and elapsed > seconds * WARM_UP:
                warm = await _size(program, child, steady)
            await _cycle(program, steady, random)
            for connection in bold:
                await _call_carelessly(connection, careless)
            cycles += 1
        now = await _size(program, child, steady)
    warm = warm or now
    return Growth(Size._make(map(sub, now, warm)), cycles)


async def _size(program: Program, child: ChildProcess, steady: Connection) -> Size:
    async with Host("soak", "0") as host:
        server = await host.connect(program.url("ws"))
        tasks, sessions = await _under_way(server)
    child_tasks, _ = await _under_way(steady)
    let_go()
    pids = program.process.pid, child.pid or 0, os.getpid()
    counts = [tasks, child_tasks, len(anyio.get_running_tasks()), sessions]
    return Size._make([*map(memory_of, pids), *map(descriptors_of, pids), *counts])


async def _under_way(server: Connection) -> list[int]:
    result = await server.mcp.tools_call(name="under_way")
    numbers: list[int] = json.loads(getattr(result.content[0], "text", ""))
    return numbers


def _child() -> ChildProcess:
    return stdio(sys.executable, str(FILE), env={"PYTHONPATH": str(ROOT)})


async def _cycle(program: Program, steady: Connection, random: Random) -> None:
    with anyio.fail_after(60):
        async with anyio.create_task_group() as tasks:
            for _ in range(CLIENTS):
                for transport in NETWORK:
                    tasks.start_soon(_visit, program.url(transport), random)
                tasks.start_soon(_visit_in_memory, random)
            tasks.start_soon(_visit, _child(), random)
            for _ in range(CALLS):
                await _call(steady, random)


def _careless(random: Random) -> Handler:
    """Return a server that sets cookies and ends kept connections at any moment."""
    home = polite()

    async def handle(asked: Asked, line: Line) -> None:
        if asked.about not in ("ping", "tools/call"):
            await home(asked, line)
            return
        body = b'{"jsonrpc":"2.0","id":%d,"result":{"content":[]}}' % asked.message["id"]
        cookie = b"n%d=%s; Max-Age=%d" % (random.randrange(500), b"x" * 200, random.randrange(3))
        head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nSet-Cookie: %s\r\n" % cookie
        whole = b"%sContent-Length: %d\r\n\r\n%s" % (head, len(body), body)
        moment = random.randrange(4) * (asked.earlier > 0)
        await line.raw(whole[: (len(whole), len(whole), random.randrange(len(whole)), 0)[moment]])
        if moment:
            await (line.close if random.random() < 0.5 else line.reset)()

    return handle


async def _call_carelessly(connection: Connection, careless: RawServer) -> None:
    with anyio.fail_after(60):
        for number in range(CALLS):
            with suppress(ConnectionClosedError):
                await connection.session.raw("tools/call" if number % 2 else "ping", {"name": "x"})
    careless.asked.clear()


async def _visit_in_memory(random: Random) -> None:
    async with _in_memory() as near:
        await _visit(near, random)


@asynccontextmanager
async def _in_memory() -> AsyncGenerator[Transport]:
    near, far = memory_pair()
    async with background() as tasks:
        tasks.start_soon(everywhere.server.serve, far)
        yield near


async def _visit(target: Transport | str, random: Random) -> None:
    with anyio.CancelScope() as leaving:
        async with Host("soak", "0") as host:
            server = await host.connect(target)
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

    In less than ten it may be as much as in the test.
    """
    minutes = float(words[0]) if words else 30.0
    most = int(minutes / 10 * MEGABYTE)
    limits = LIMITS if minutes < 10 else Size._make([most, most, most, *LIMITS[3:]])
    bad = False
    for backend in ("asyncio", "trio"):
        grown = soaked(minutes * 30, backend)  # half of the time each
        print(f"{backend}: {grown}", flush=True)
        bad = bad or bool(grown.over(limits))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
