"""Events of fifty servers over WebSocket in one process, each server's in order.

The limit is a bare WebSocket loop in the same rounds: as many connections, frames of the same size,
and an answer to each before the next one is sent.
"""

from __future__ import annotations

__all__ = ("ordered_events",)

import asyncio
import json
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from statistics import median

from websockets.asyncio.client import ClientConnection, connect
from websockets.asyncio.server import ServerConnection, serve

from kinwire import Host, Server, serve_websocket
from kinwire.mcpl import McplHost, McplServer, PushedEvent
from kinwire.support.background import background
from kinwire_protocols import mcpl
from tests.bench.measure import Row, spread

ROUNDS = 3
SERVERS, EVENTS = 50, 1000
TEXT = "Somebody is at the door"

Round = Callable[[int], Awaitable[float]]
"""Sends a number of events of each server, and returns how many there were a second."""


async def ordered_events() -> Row:
    """Measure it."""
    async with _ours() as ours, _bare() as bare:
        for once in (ours, bare):
            await once(20)
        pairs = [(await ours(EVENTS), await bare(EVENTS)) for _ in range(ROUNDS)]
    mine, others = [one for one, _ in pairs], [other for _, other in pairs]
    return Row(
        f"events in order, {SERVERS} servers x {EVENTS:,} over WebSocket",
        f"{median(mine):,.0f} a second",
        f"a bare WebSocket loop {median(others):,.0f}: {spread(others, mine)}",
    )


@asynccontextmanager
async def _ours() -> AsyncIterator[Round]:
    received: dict[str, list[str]] = defaultdict(list)

    async def take(event: PushedEvent) -> mcpl.PushEventResult:
        received[event.server.id].append(event.params.event_id)
        return mcpl.PushEventResult(accepted=True)

    sets = {"bell": mcpl.FeatureSet(description="Ring", uses=["pushEvents"])}
    live = McplServer(feature_sets=sets)
    server = Server("bell", "1", extensions=[live])
    listening = McplHost(enabled=["*"], on_push=take, push_rate=1e9)
    async with background() as tasks:
        port = await tasks.start(serve_websocket, server.serve)
        async with Host("h", "1", extensions=[listening]) as host:
            for number in range(SERVERS):
                url = f"ws://127.0.0.1:{port}/mcp"
                connection = await host.connect(url, server_id=f"s{number}")
                await connection.mcp.ping()
            yield partial(_pushed, live, received)
        tasks.cancel_scope.cancel()


async def _pushed(live: McplServer, received: dict[str, list[str]], events: int) -> float:
    received.clear()
    ids = [f"e{time.monotonic_ns()}-{number}" for number in range(events)]

    async def push(place: int) -> None:
        for id in ids:
            assert (await live.hosts[place].push("bell", TEXT, event_id=id)).accepted

    rate = await _rate(push, events)
    assert list(received.values()) == [ids] * SERVERS
    return rate


@asynccontextmanager
async def _bare() -> AsyncIterator[Round]:
    content = [{"type": "text", "text": TEXT}]
    event = {
        "featureSet": "bell",
        "eventId": "e1000-1000",
        "timestamp": "2026-01-23T10:30:00.000000Z",
        "payload": {"content": content},
    }
    request = json.dumps({"jsonrpc": "2.0", "id": 1000, "method": "push/event", "params": event})
    reply = json.dumps({"jsonrpc": "2.0", "id": 1000, "result": {"accepted": True}})

    async def answer(socket: ServerConnection) -> None:
        async for _ in socket:
            await socket.send(reply)

    async with serve(answer, "127.0.0.1", 0, compression=None) as server:
        port = next(iter(server.sockets)).getsockname()[1]
        sockets: list[ClientConnection] = [
            await connect(f"ws://127.0.0.1:{port}", compression=None) for _ in range(SERVERS)
        ]

        async def once(events: int) -> float:
            async def push(place: int) -> None:
                for _ in range(events):
                    await sockets[place].send(request)
                    await sockets[place].recv()

            return await _rate(push, events)

        yield once
        for socket in sockets:
            await socket.close()


async def _rate(push: Callable[[int], Awaitable[None]], events: int) -> float:
    """Return the events a second of CPU time: the machine may be busy with other work."""
    begun = time.process_time()
    await asyncio.gather(*(push(place) for place in range(SERVERS)))
    return SERVERS * events / (time.process_time() - begun)
