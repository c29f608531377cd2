"""Chunks of streams of MGP from a tool that yields to the loop that reads them, in one process.

The limit is the least that both sides can do: a task encodes a notification for each chunk, and
another one decodes it, with as many chunks at a time.
"""

from __future__ import annotations

__all__ = ("chunks_of_streams",)

import asyncio
import time
from collections.abc import AsyncIterator
from statistics import median

from kinwire import Connection, Host, Server
from kinwire.mgp import MgpKernel, MgpServer
from kinwire.rpc.codec import decode, encode
from kinwire.support.background import background
from kinwire.transports.memory import memory_pair
from kinwire_protocols.mgp import ToolSecurity
from tests.bench.measure import Row, at_least, spread

ROUNDS = 9
CHUNKS, BATCH = 10_000, 32
TEXT = "Quantum computing is a paradigm that uses qubits. "


async def chunks_of_streams() -> Row:
    """Measure how many chunks a second pass, both sides."""
    guarded = MgpServer()
    server = Server("thinker", "1", extensions=[guarded])

    @guarded.tool(security=ToolSecurity(risk_level="safe"))
    @server.tool
    async def think(chunks: int) -> AsyncIterator[str]:
        for _ in range(chunks):
            yield TEXT

    kernel = MgpKernel()
    async with background() as tasks:
        async with Host("h", "1", extensions=[kernel]) as host:
            near, far = memory_pair()
            tasks.start_soon(server.serve, far)
            connection = await host.connect(near, server_id="thinker")
            pairs = [(await _streamed(kernel, connection), await _bare()) for _ in range(ROUNDS)]
        tasks.cancel_scope.cancel()
    mine, bare = [one for one, _ in pairs[1:]], [other for _, other in pairs[1:]]
    rate = median(mine)
    return Row(
        "chunks of a stream of MGP, from the tool to the loop that reads it, both sides",
        f"{rate:,.0f} a second",
        f"encoded and decoded only {median(bare):,.0f}: {spread(bare, mine)}",
        "20,000 a second",
        "",
        at_least(rate, 20_000),
    )


async def _streamed(kernel: MgpKernel, connection: Connection) -> float:
    begun = time.process_time()
    async with kernel.stream(connection, "think", {"chunks": CHUNKS}) as stream:
        async for _ in stream:
            pass
    assert stream._inbox.taken == CHUNKS
    return CHUNKS / (time.process_time() - begun)


async def _bare() -> float:
    begun, arrived = time.process_time(), 0
    for first in range(0, CHUNKS, BATCH):
        frames = [encode(_chunk(index)) for index in range(first, first + BATCH)]
        await asyncio.sleep(0)
        arrived += sum("params" in decode(frame) for frame in frames)
    assert arrived >= CHUNKS
    return arrived / (time.process_time() - begun)


def _chunk(index: int) -> dict[str, object]:
    params = {
        "request_id": 20,
        "index": index,
        "content": {"type": "text", "text": TEXT},
        "done": False,
    }
    return {"jsonrpc": "2.0", "method": "notifications/mgp.stream.chunk", "params": params}
