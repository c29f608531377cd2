"""A server that is killed and comes back, and a network that carries nothing for a while."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest

from kinwire import ConnectionClosedError, Host, RequestTimeoutError, connect, stdio
from kinwire.mcp.connection import Connection
from kinwire_protocols import mcp
from tests.runtime.programs import everywhere
from tests.runtime.transports.faults.fake_network import Relay, relayed
from tests.runtime.transports.faults.table import CLIENT
from tests.runtime.transports.fixtures_processes import Program, serving
from tests.runtime.transports.fixtures_serving import NETWORK, URLS, Served, served

pytestmark = pytest.mark.faults

FILE = Path(everywhere.__file__)
CALLS = 20
SOON = 5.0  # seconds


@pytest.fixture(scope="module")
def server() -> Iterator[Served]:
    with served(everywhere.server) as one:
        yield one


async def calls_fail(connection: Connection, kill: Any) -> None:
    """Have the server killed with calls under way: each fails, once."""
    failed = 0

    async def call() -> None:
        nonlocal failed
        with pytest.raises(ConnectionClosedError):
            await connection.mcp.tools_call(name="wait")
        failed += 1

    with anyio.fail_after(SOON):
        async with anyio.create_task_group() as tasks:
            for _ in range(CALLS):
                tasks.start_soon(call)
            await connection.mcp.ping()
            kill()
    assert failed == CALLS


async def echoes(connection: Connection, text: str) -> bool:
    result = await connection.mcp.tools_call(name="echo", arguments={"value": text})
    return result.content == [mcp.TextContent(text=text)]


@pytest.mark.fault(21, CLIENT)
@pytest.mark.parametrize("backend", ["asyncio", "trio"])
@pytest.mark.parametrize("transport", NETWORK)
def test_a_server_that_was_killed_is_there_again(transport: str, backend: str) -> None:
    async def use(first: Program) -> None:
        async with Host("h", "1") as host:
            connection = await host.connect(first.url(transport))
            await calls_fail(connection, first.process.kill)
            first.process.wait()
            with serving(FILE, transport, first.port) as second, anyio.fail_after(3 * SOON):
                if transport == "http":  # no connection is the session
                    assert await echoes(connection, "again")
                else:
                    await connection.session.wait_closed()
                another = await host.connect(second.url(transport))
                assert await echoes(another, "another")

    with serving(FILE, transport) as first:
        anyio.run(use, first, backend=backend)


@pytest.mark.fault(21, CLIENT, "stdio")
@pytest.mark.anyio
async def test_a_child_that_was_killed_can_be_started_again() -> None:
    async with Host("h", "1") as host:
        child = stdio(sys.executable, str(FILE))
        connection = await host.connect(child)
        await calls_fail(connection, lambda: os.kill(child.pid or 0, signal.SIGKILL))
        assert await echoes(await host.connect(stdio(sys.executable, str(FILE))), "another")


async def calls_time_out(connection: Connection) -> None:
    """See that calls that get no answer end."""

    peer = mcp.ServerStub(connection.session.with_options(timeout=0.3))

    async def call(number: int) -> None:
        with pytest.raises(RequestTimeoutError):
            await peer.tools_call(name="echo", arguments={"value": f"late {number}"})

    async with anyio.create_task_group() as tasks:
        for number in range(CALLS):
            tasks.start_soon(call, number)


class Watching:
    """A host that gets notifications of changes, and connects over a relay."""

    def __init__(self, relay: Relay, transport: str) -> None:
        self._url = URLS[transport].format(relay.port)
        self.host = Host("h", "1")
        self.heard = anyio.Event()
        self.host.on.notifications_resources_updated(self._hear)

    async def _hear(self, params: mcp.ResourceUpdatedNotificationParams) -> None:
        self.heard.set()

    async def connect(self) -> Connection:
        """Return a connection that got a first change, so that later ones can be distinguished."""
        connection = await self.host.connect(self._url)
        await connection.mcp.resources_subscribe(uri="memo://today")
        await connection.mcp.tools_call(name="change")
        await self.heard.wait()
        self.heard = anyio.Event()
        return connection


async def change(url: str) -> None:
    """Have the server say something to all who listen, as another client."""
    async with connect(url) as other:
        await other.mcp.tools_call(name="change")


@pytest.mark.fault(21, CLIENT)
@pytest.mark.anyio
@pytest.mark.parametrize("transport", NETWORK)
async def test_what_a_network_holds_arrives_later_and_mixes_nothing_up(
    transport: str, server: Served
) -> None:
    with anyio.fail_after(4 * SOON):
        async with relayed(server.port) as relay:
            watching = Watching(relay, transport)
            async with watching.host:
                connection = await watching.connect()
                relay.hold()
                await calls_time_out(connection)
                await change(server.url(transport))
                assert not watching.heard.is_set()
                relay.resume()
                assert await echoes(connection, "on time")
                await watching.heard.wait()


@pytest.mark.fault(21, CLIENT)
@pytest.mark.anyio
@pytest.mark.parametrize("transport", NETWORK)
async def test_lost_notifications_are_reported(transport: str, server: Served) -> None:
    with anyio.fail_after(4 * SOON):
        async with relayed(server.port) as relay:
            watching = Watching(relay, transport)
            async with watching.host:
                connection = await watching.connect()
                relay.hold()
                await change(server.url(transport))
                relay.break_off()
                if transport == "http":  # what was not heard is asked for
                    await watching.heard.wait()
                    assert await echoes(connection, "again")
                else:
                    await connection.session.wait_closed()
                    assert await echoes(await watching.connect(), "another")


@pytest.mark.fault(21, CLIENT, "stdio")
@pytest.mark.anyio
async def test_a_child_that_stood_still_goes_on() -> None:
    child = stdio(sys.executable, str(FILE))
    async with connect(child) as connection:
        os.kill(child.pid or 0, signal.SIGSTOP)
        await calls_time_out(connection)
        os.kill(child.pid or 0, signal.SIGCONT)
        assert await echoes(connection, "on time")
