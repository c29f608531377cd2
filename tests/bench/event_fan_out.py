"""Events of one MGP server to a thousand kernels that have subscribed, in one process.

The kernels are bare ends of transports, which take what is sent to them and count it, so the figure
is what the server costs. The limit is a loop in the same rounds that encodes each event once,
writes a frame for each subscriber, and wakes a task for it.
"""

from __future__ import annotations

__all__ = ("events_to_many",)

import asyncio
import json
import time
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from statistics import median
from typing import Any

from kinwire import Server
from kinwire.mgp import MgpServer
from kinwire.rpc.codec import encode
from kinwire.rpc.transport import SessionCallbacks
from kinwire.support.background import background
from tests.bench.measure import Row, at_least, spread

ROUNDS = 9
KERNELS, EVENTS = 1000, 50
CHANNEL = "model.token_usage"
DATA = {"tokens_used": 1500, "tokens_remaining": 8500, "model": "llama3.1-70b"}
GREETING: tuple[dict[str, Any], ...] = (
    {
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2024-11-05",
            "capabilities": {"mgp": {"version": "0.2.0", "extensions": ["bidirectional"]}},
            "clientInfo": {"name": "bare", "version": "1"},
        },
    },
    {"method": "notifications/initialized"},
    {"id": 2, "method": "mgp/events/subscribe", "params": {"channels": ["model.*"]}},
)

Round = Callable[[], Awaitable[float]]
"""Sends the events of a round, and returns how many arrived a second of CPU time."""


class _Arrived:
    """How many frames have arrived, at all ends together."""

    def __init__(self) -> None:
        self.count = 0
        self._wanted = 0
        self._enough = asyncio.Event()

    def add(self, count: int) -> None:
        """Count frames."""
        self.count += count
        if self.count >= self._wanted:
            self._enough.set()

    async def wait_for(self, wanted: int) -> None:
        """Return when there are that many."""
        self._wanted = wanted
        self._enough.clear()
        if self.count < wanted:
            await self._enough.wait()


class _Kernel:
    """An end that takes what is sent to it."""

    peer_may_emit_noise = False
    address: str | None = None

    def __init__(self, arrived: _Arrived) -> None:
        self._arrived = arrived
        self._news = asyncio.Event()

    async def run(self, callbacks: SessionCallbacks, /) -> None:
        for message in GREETING:
            callbacks.feed(json.dumps({"jsonrpc": "2.0", **message}).encode())
        while True:
            await self._news.wait()
            self._news.clear()
            while callbacks.waiting:
                self._arrived.add(len(callbacks.take()))

    def wake(self) -> None:
        self._news.set()

    def resume(self) -> None:
        pass

    async def aclose(self) -> None:
        pass


async def events_to_many() -> Row:
    """Measure it."""
    async with _ours() as ours, _bare() as bare:
        pairs = [(await ours(), await bare()) for _ in range(ROUNDS)][1:]  # the first warms up
    mine, limit = [one for one, _ in pairs], [other for _, other in pairs]
    rate = median(mine)
    return Row(
        f"events of a server to {KERNELS:,} subscribers",
        f"{rate:,.0f} a second",
        f"a loop that writes the same frames {median(limit):,.0f}: {spread(limit, mine)}",
        "50,000 a second",
        "100,000 a second",
        at_least(rate, 50_000, 100_000),
    )


@asynccontextmanager
async def _ours() -> AsyncGenerator[Round]:
    published, arrived = MgpServer(channels=[CHANNEL]), _Arrived()
    server = Server("s", "1", extensions=[published])
    async with background() as tasks:
        for _ in range(KERNELS):
            tasks.start_soon(server.serve, _Kernel(arrived))
        await arrived.wait_for(2 * KERNELS)

        async def once() -> float:
            before, begun = arrived.count, time.process_time()
            for _ in range(EVENTS):
                assert await published.emit(CHANNEL, DATA) == KERNELS
                await asyncio.sleep(0)
            await arrived.wait_for(before + KERNELS * EVENTS)
            return KERNELS * EVENTS / (time.process_time() - begun)

        yield once
        tasks.cancel_scope.cancel()


@asynccontextmanager
async def _bare() -> AsyncGenerator[Round]:
    queues = [deque[bytes]() for _ in range(KERNELS)]
    news = [asyncio.Event() for _ in range(KERNELS)]
    arrived = _Arrived()

    async def take(place: int) -> None:
        while True:
            await news[place].wait()
            news[place].clear()
            while queues[place]:
                queues[place].popleft()
                arrived.add(1)

    readers = [asyncio.create_task(take(place)) for place in range(KERNELS)]

    async def once() -> float:
        before, begun = arrived.count, time.process_time()
        for _ in range(EVENTS):
            stamped = {"channel": CHANNEL, "timestamp": "2026-02-27T12:05:00.000Z", "data": DATA}
            event = encode(stamped)[1:]
            for place in range(KERNELS):
                own = b'{"jsonrpc":"2.0","method":"notifications/mgp.event","params":'
                queues[place].append(own + b'{"subscription_id":"sub-001",' + event + b"}")
                news[place].set()
            await asyncio.sleep(0)
        await arrived.wait_for(before + KERNELS * EVENTS)
        return KERNELS * EVENTS / (time.process_time() - begun)

    yield once
    for reader in readers:
        reader.cancel()
