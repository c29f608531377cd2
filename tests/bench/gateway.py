"""A gateway in one process: calls among many tools, and its list of them."""

from __future__ import annotations

__all__ = ("rows",)

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from statistics import median

from kinwire import Connection, Host, Server
from kinwire.managers import listing
from kinwire.mgp import Gateway, MgpKernel, ServerPolicy, ToolPolicy
from kinwire.mgp.rules.tool_context import ContextLevelName
from kinwire.rpc.codec import EncodedObject
from kinwire.support.background import background
from kinwire.transports.memory import memory_pair
from kinwire_protocols import mcp
from kinwire_protocols.base import JsonObject
from kinwire_protocols.mcp.methods import TOOLS_CALL
from tests.bench.measure import Row, at_most, spread

SERVERS, TOOLS = 100, 100
ROUNDS, CALLS, WALKS = 15, 500, 5
CALL = mcp.CallToolRequestParams(name="server-0__tool_0", arguments={"path": "a"})


def rows() -> Iterator[Row]:
    """Yield the measurements."""
    yield asyncio.run(_calls("L0"))
    yield asyncio.run(_calls("L3"))
    yield asyncio.run(_lists())


def _server(number: int, tools: int) -> Server:
    server = Server(f"server-{number}", "1")
    schema = {"type": "object", "properties": {"path": {"type": "string"}}}

    async def call(params: mcp.CallToolRequestParams) -> str:
        return "done"

    for each in range(tools):
        text = f"Tool {each} of server {number}: it reads a file at a path and returns its lines."
        tool = mcp.Tool(
            name=f"tool_{each}",
            description=text,
            input_schema=mcp.ToolInputSchema.model_validate(schema),
        )
        server.add_tool(tool, call)
    return server


@asynccontextmanager
async def _client(servers: int, tools: int, level: ContextLevelName) -> AsyncGenerator[Connection]:
    """Yield the connection of a client to a gateway in front of servers in this process."""
    plain = ServerPolicy(tools={"tool_0": ToolPolicy(validator="none")})
    kernel = MgpKernel(unknown=plain)
    async with background() as tasks:
        async with Host("h", "1", extensions=[kernel]) as host, Host("c", "1") as client:
            gateway = Gateway(kernel, host, level=level)
            for number in range(servers):
                near, far = memory_pair()
                tasks.start_soon(_server(number, tools).serve, far)
                await host.connect(near, server_id=f"server-{number}")
            near, far = memory_pair()
            tasks.start_soon(gateway.server.serve, far)
            connection = await client.connect(near)
            await connection.mcp.tools_list()
            yield connection
        tasks.cancel_scope.cancel()


async def _cpu(work: Callable[[], Awaitable[object]], times: int) -> float:
    begun = time.process_time()
    for _ in range(times):
        await work()
    return (time.process_time() - begun) / times


async def _calls(level: ContextLevelName) -> Row:
    async with _client(1, 1, level) as one, _client(SERVERS, TOOLS, level) as many:

        def calls(connection: Connection) -> Callable[[], Awaitable[object]]:
            return lambda: connection.session.call(TOOLS_CALL, CALL)

        pairs = [
            (await _cpu(calls(many), CALLS), await _cpu(calls(one), CALLS)) for _ in range(ROUNDS)
        ][1:]  # the first one warms up
    mine, single = [many for many, _ in pairs], [one for _, one in pairs]
    times = spread(mine, single)
    return Row(
        f"a call through a gateway at {level} among {SERVERS * TOOLS:,} tools of {SERVERS} servers",
        f"{median(mine) * 1e6:.0f} us",
        f"with a single tool {median(single) * 1e6:.0f} us: {times}",
        "at most 1.1x",
        "",
        at_most(times.median, 1.1),
    )


async def _lists() -> Row:
    made: list[JsonObject] = []

    def encoded(fields: JsonObject) -> EncodedObject:
        made.append(fields)
        return EncodedObject(fields)

    plain, listing.EncodedObject = listing.EncodedObject, encoded  # type: ignore[assignment, attr-defined]
    try:
        async with _client(SERVERS, TOOLS, "L0") as connection:

            async def walk() -> None:
                params: JsonObject = {}
                while True:
                    page = await connection.session.raw("tools/list", params)
                    if "nextCursor" not in page:
                        return
                    params = {"cursor": page["nextCursor"]}

            first = await _cpu(walk, 1)
            pages = len(made)
            later = await _cpu(walk, WALKS)
    finally:
        listing.EncodedObject = plain  # type: ignore[attr-defined]
    again = len(made) - pages
    return Row(
        f"the whole list of {SERVERS * TOOLS:,} tools at L0, read again, both sides",
        f"{later * 1e3:.0f} ms",
        f"the first time {first * 1e3:.0f} ms; {again} of {pages} pages encoded again",
        "no page encoded again",
        "",
        "bar" if again == 0 else "MISSED",
    )
