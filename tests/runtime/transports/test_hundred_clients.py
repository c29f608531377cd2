"""A hundred concurrent clients that use the same ids: no answer reaches another client.

Each session counts from 1, so all ids are used by all. Over stdio every client has a process of its
own, where nothing can cross.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager

import anyio
import pytest

from kinwire import Host
from kinwire.mcp.connection import Connection
from kinwire.support.background import background
from kinwire.transports.memory import memory_pair
from kinwire_protocols import mcp
from tests.runtime.programs import everywhere
from tests.runtime.transports.fixtures_serving import NETWORK, Served, served

pytestmark = [pytest.mark.anyio, pytest.mark.faults]

CLIENTS, CALLS = 100, 3
PATIENCE = 60  # seconds; on a busy machine many clients take their time


@pytest.fixture(scope="module")
def listening() -> Iterator[Served]:
    with served(everywhere.server) as one:
        yield one


@asynccontextmanager
async def connected(transport: str, url: str) -> AsyncGenerator[list[Connection]]:
    """Yield a hundred connections."""
    connections: list[Connection] = []
    async with background() as tasks, Host("hundred", "0") as host:

        async def connect_one() -> None:
            target: object = url
            if transport == "memory":
                target, far = memory_pair()
                tasks.start_soon(everywhere.server.serve, far)
            connections.append(await host.connect(target))  # type: ignore[arg-type]

        async with anyio.create_task_group() as connecting:
            for _ in range(CLIENTS):
                connecting.start_soon(connect_one)
        yield connections


@pytest.mark.parametrize("transport", ["memory", *NETWORK])
async def test_a_hundred_clients_with_the_same_ids_get_their_own_answers(
    transport: str, listening: Served
) -> None:
    answered: list[str] = []

    async def ask(connection: Connection, text: str) -> None:
        result = await connection.mcp.tools_call(name="echo", arguments={"value": text})
        assert result.content == [mcp.TextContent(text=text)]
        answered.append(text)

    url = "" if transport == "memory" else listening.url(transport)
    with anyio.fail_after(PATIENCE):
        async with connected(transport, url) as connections, anyio.create_task_group() as tasks:
            for number, connection in enumerate(connections):
                for call in range(CALLS):
                    tasks.start_soon(ask, connection, f"client {number}, call {call}")
    assert len(set(answered)) == CLIENTS * CALLS
