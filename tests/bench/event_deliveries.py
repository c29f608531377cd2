"""Events of an MCPE server: to 100 connected clients, and to those that wait for a schedule."""

from __future__ import annotations

__all__ = ("rows",)

import asyncio
import json
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from statistics import median
from typing import Any

from kinwire import Server
from kinwire.mcpe import EventRates, McpeServer, new_event
from kinwire.rpc.codec import encode
from kinwire.rpc.transport import SessionCallbacks
from kinwire.storage import open_store
from kinwire.support.background import background
from kinwire_protocols.base import to_wire
from tests.bench.measure import Row, at_most, spread

ROUNDS = 9
CLIENTS, EVENTS = 100, 200
WAITING, TASKS = 2_000, 200
_REPLIES = 2  # to the greeting
EVENT = new_event("github.push", {"repository": "owner/repo", "branch": "main", "commits": 3})


def _greeting(delivery: dict[str, Any]) -> tuple[dict[str, Any], ...]:
    arguments = {"filter": {"eventTypes": ["github.*"]}, "delivery": delivery}
    return (
        {
            "id": 1,
            "method": "initialize",
            "params": {
                "protocolVersion": "2024-11-05",
                "capabilities": {},
                "clientInfo": {"name": "bare", "version": "1"},
            },
        },
        {"method": "notifications/initialized"},
        {
            "id": 2,
            "method": "tools/call",
            "params": {"name": "events_subscribe", "arguments": arguments},
        },
    )


def rows() -> Iterator[Row]:
    """Measure both."""
    yield asyncio.run(_deliveries())
    yield asyncio.run(_appends())


async def _deliveries() -> Row:
    async with _connected() as mine, _connected() as others, _serving(mine) as ours:
        pairs = [(await ours(), await _written(others)) for _ in range(ROUNDS)][1:]  # one warms up
    rates, limit = [one for one, _ in pairs], [other for _, other in pairs]
    factor = median(other / one for one, other in pairs)
    return Row(
        f"events of an MCPE server to {CLIENTS} clients over sockets",
        f"{median(rates):,.0f} a second",
        f"`transport.write` of the same frames {median(limit):,.0f}: {spread(limit, rates)}",
        "at most 1.3x",
        verdict=at_most(factor, 1.3),
    )


@asynccontextmanager
async def _connected() -> AsyncGenerator[list[asyncio.Transport]]:
    """Yield the ends of connections whose other ends a process reads and drops."""
    pairs = [socket.socketpair() for _ in range(CLIENTS)]
    with _drained([other.fileno() for _, other in pairs]):
        loop = asyncio.get_running_loop()
        made = [await loop.create_connection(asyncio.Protocol, sock=own) for own, _ in pairs]
        yield [transport for transport, _ in made]
        for transport, _ in made:
            transport.close()
    for _, other in pairs:
        other.close()


@contextmanager
def _drained(descriptors: list[int]) -> Generator[None]:
    command = (sys.executable, "-c", _DRAIN, *map(str, descriptors))
    with subprocess.Popen(command, pass_fds=descriptors, stdout=subprocess.PIPE) as drain:
        assert drain.stdout is not None
        drain.stdout.readline()
        try:
            yield
        finally:
            drain.kill()


_DRAIN = """
import selectors, socket, sys
watched = selectors.DefaultSelector()
for name in sys.argv[1:]:
    watched.register(socket.socket(fileno=int(name)), selectors.EVENT_READ)
print(flush=True)
while True:
    for key, _ in watched.select():
        key.fileobj.recv(1 << 20)
"""


class _SocketEnd:
    """A transport that writes what it takes, and reads nothing but its greeting."""

    peer_may_emit_noise = False
    address: str | None = None

    def __init__(self, out: asyncio.Transport, greeting: Sequence[dict[str, Any]]) -> None:
        self._out = out
        self._greeting = greeting
        self._callbacks: SessionCallbacks | None = None
        self._taken = 0
        self.subscribed = asyncio.Event()

    async def run(self, callbacks: SessionCallbacks, /) -> None:
        self._callbacks = callbacks
        for message in self._greeting:
            callbacks.feed(json.dumps({"jsonrpc": "2.0", **message}).encode())
        await asyncio.Event().wait()

    def wake(self) -> None:
        callbacks = self._callbacks
        while callbacks is not None and callbacks.waiting:
            for frame in callbacks.take():
                self._out.write(frame + b"\n")
                self._taken += 1
        if self._taken == _REPLIES:
            self.subscribed.set()

    def resume(self) -> None:
        pass

    async def aclose(self) -> None:
        pass


@asynccontextmanager
async def _serving(ends: list[asyncio.Transport]) -> AsyncGenerator[Callable[[], Awaitable[float]]]:
    events = McpeServer(rates=EventRates(deliveries=None))
    server = Server("s", "1", extensions=[events])
    async with background() as tasks:
        for out in ends:
            end = _SocketEnd(out, _greeting({"channels": ["realtime"]}))
            tasks.start_soon(server.serve, end)
            await end.subscribed.wait()

        async def once() -> float:
            begun = time.process_time()
            for _ in range(EVENTS):
                await events.publish(EVENT)
                await asyncio.sleep(0)
            return CLIENTS * EVENTS / (time.process_time() - begun)

        yield once
        tasks.cancel_scope.cancel()


async def _written(ends: list[asyncio.Transport]) -> float:
    begun = time.process_time()
    own = b'{"jsonrpc":"2.0","method":"events/event","params":{"subscriptionId":'
    id = b'"550e8400-e29b-41d4-a716-446655440000",'
    for _ in range(EVENTS):
        event = encode({"event": to_wire(EVENT)})[1:]
        for out in ends:
            out.write(own + id + event + b"}\n")
        await asyncio.sleep(0)
    return CLIENTS * EVENTS / (time.process_time() - begun)


async def _appends() -> Row:
    """Publish from many tasks to a subscription that waits, with a log that outlives a crash."""
    with tempfile.TemporaryDirectory() as folder:
        async with open_store(f"sqlite:///{folder}/events.db") as store, background() as tasks:
            events = McpeServer(log=await store.log("mcpe"))
            server = Server("s", "1", extensions=[events])
            schedule = {"expression": "0 0 1 1 *", "timezone": "UTC"}
            delivery = {"channels": ["cron"], "cronSchedule": schedule}
            async with _connected() as ends:
                end = _SocketEnd(ends[0], _greeting(delivery))
                tasks.start_soon(server.serve, end)
                await end.subscribed.wait()
                found = [await _published(events) for _ in range(3)]
                tasks.cancel_scope.cancel()
    rate = median(found)
    return Row(
        f"events that wait for a schedule, of {TASKS} tasks, durable in SQLite",
        f"{rate:,.0f} a second",
        "wall time",
    )


async def _published(events: McpeServer) -> float:
    async def publish() -> None:
        for _ in range(WAITING // TASKS):
            assert (await events.publish(EVENT)).subscriptions == 1

    begun = time.perf_counter()
    async with asyncio.TaskGroup() as group:
        for _ in range(TASKS):
            group.create_task(publish())
    return WAITING / (time.perf_counter() - begun)
