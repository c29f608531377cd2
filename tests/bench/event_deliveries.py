"""Events of an MCPE server: to 100 connected clients, and to those that wait for a schedule."""

from __future__ import annotations

__all__ = ("rows",)

import asyncio
import json
import socket
import tempfile
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, suppress
from statistics import median
from typing import Any, NamedTuple

from kinwire import Server
from kinwire.mcpe import EventRates, McpeServer, new_event
from kinwire.rpc.codec import encode
from kinwire.rpc.transport import SessionCallbacks
from kinwire.storage import open_store
from kinwire.support.background import background
from kinwire.transports.writing import FrameWriter
from kinwire_protocols.base import to_wire
from tests.bench.measure import Row, at_most, spread

ROUNDS = 25
CLIENTS, EVENTS = 100, 100
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
    """Measure both in turns. All is read between rounds: a round wakes no reader."""
    async with _connected() as mine, _connected() as others, _serving(mine) as ours:
        pairs = []
        for _ in range(ROUNDS):
            one = await ours()
            _read_all(mine)
            pairs.append((one, await _written(others)))
            _read_all(others)
    rates, limit = [one for one, _ in pairs[1:]], [other for _, other in pairs[1:]]  # one warms up
    times = spread(limit, rates)
    return Row(
        f"events of an MCPE server to {CLIENTS} clients over sockets, written as stdio writes",
        f"{median(rates):,.0f} a second",
        f"`transport.write` of the same frames {median(limit):,.0f}: {times}",
        "at most 1.3x",
        verdict=at_most(times.median, 1.3),
    )


class _Connection(NamedTuple):
    """A transport, and what is at the other end of its connection."""

    out: asyncio.Transport
    other: socket.socket


@asynccontextmanager
async def _connected() -> AsyncGenerator[list[_Connection]]:
    pairs = [socket.socketpair() for _ in range(CLIENTS)]
    loop = asyncio.get_running_loop()
    made = list[_Connection]()
    for own, other in pairs:
        other.setblocking(False)
        transport, _ = await loop.create_connection(asyncio.Protocol, sock=own)
        made.append(_Connection(transport, other))
    yield made
    for transport, other in made:
        transport.close()
        other.close()


def _read_all(ends: list[_Connection]) -> None:
    """Read a whole round, which every socket has room for."""
    for out, other in ends:
        lines = 0
        with suppress(BlockingIOError):
            while True:
                lines += other.recv(1 << 20).count(b"\n")
        assert lines >= EVENTS
        assert out.get_write_buffer_size() == 0


class _SocketEnd:
    """A transport that writes as stdio does, and reads nothing but its greeting."""

    peer_may_emit_noise = False
    address: str | None = None

    def __init__(self, out: asyncio.Transport, greeting: Sequence[dict[str, Any]]) -> None:
        self._fd = out.get_extra_info("socket").fileno()
        self._greeting = greeting
        self._writer: FrameWriter | None = None
        self._woken = 0
        self.subscribed = asyncio.Event()

    async def run(self, callbacks: SessionCallbacks, /) -> None:
        self._writer = FrameWriter(
            self._fd, callbacks, watchable=True, broken=lambda _: None, patience=1
        )
        for message in self._greeting:
            callbacks.feed(json.dumps({"jsonrpc": "2.0", **message}).encode())
        await asyncio.Event().wait()

    def wake(self) -> None:
        if self._writer is not None:
            self._writer.wake()
            self._woken += 1
        if self._woken == _REPLIES:
            self.subscribed.set()

    def resume(self) -> None:
        pass

    async def aclose(self) -> None:
        pass


@asynccontextmanager
async def _serving(ends: list[_Connection]) -> AsyncGenerator[Callable[[], Awaitable[float]]]:
    events = McpeServer(rates=EventRates(deliveries=None))
    server = Server("s", "1", extensions=[events])
    async with background() as tasks:
        for out, _ in ends:
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


async def _written(ends: list[_Connection]) -> float:
    begun = time.process_time()
    own = b'{"jsonrpc":"2.0","method":"events/event","params":{"subscriptionId":'
    id = b'"550e8400-e29b-41d4-a716-446655440000",'
    for _ in range(EVENTS):
        event = encode({"event": to_wire(EVENT)})[1:]
        for out, _ in ends:
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
                end = _SocketEnd(ends[0].out, _greeting(delivery))
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
