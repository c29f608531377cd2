"""A connection that is opened again each time it ends."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest
from anyio.abc import TaskGroup

from kinwire import Connection, ConnectionClosedError, Host, Server, stdio
from kinwire.mcp.kept_connection import KeptConnection
from kinwire.rpc.transport import Transport
from kinwire.support.background import background
from kinwire.support.backoff import Backoff
from kinwire.transports.memory import memory_pair

pytestmark = pytest.mark.anyio

SOON: dict[str, Any] = {"first_delay": 0.001, "longest_delay": 0.001}


class Restarted:
    """A server that can be ended and comes back, after a number of attempts that fail."""

    def __init__(self, tasks: TaskGroup) -> None:
        self.tasks = tasks
        self.attempts = 0
        self.fails = 0
        self.serving = anyio.CancelScope()

    def target(self) -> Transport:
        self.attempts += 1
        if self.fails:
            self.fails -= 1
            raise OSError("it does not start")
        near, end = memory_pair()
        self.serving = anyio.CancelScope()
        self.tasks.start_soon(self._serve, end, self.serving)
        return near

    async def _serve(self, end: Transport, serving: anyio.CancelScope) -> None:
        with serving:
            await Server("s", "1").serve(end)

    async def die(self, kept: KeptConnection) -> Connection:
        """End the connection from the server's side; return the connection that has ended."""
        connection = kept.connection
        self.serving.cancel()
        await connection.session.wait_closed()
        return connection


@asynccontextmanager
async def restarted() -> AsyncGenerator[tuple[Host, Restarted]]:
    with anyio.fail_after(10):
        async with background() as tasks, Host("h", "1") as host:
            yield host, Restarted(tasks)


async def test_a_connection_that_has_ended_is_opened_again() -> None:
    prepared: list[Connection] = []

    async def prepare(connection: Connection) -> None:
        await connection.mcp.ping()
        prepared.append(connection)

    async with restarted() as (host, server):
        async with host.keep_connected(server.target, on_connect=prepare, **SOON) as kept:
            assert await kept.wait_connected() is kept.connection is prepared[0]
            ended = await server.die(kept)
            with pytest.raises(ConnectionClosedError, match="wait_connected"):
                _ = kept.connection
            again = await kept.wait_connected()
            await again.mcp.ping()
            assert (again is ended, prepared) == (False, [ended, again])
        assert again.session.closed
        assert server.attempts == 2


async def test_attempts_are_repeated_with_growing_delays(caplog: pytest.LogCaptureFixture) -> None:
    waited: list[float] = []

    async def sleep(seconds: float) -> None:
        waited.append(seconds)
        await anyio.lowlevel.checkpoint()

    async with restarted() as (host, server), background() as tasks:
        backoff = Backoff(first=1.0, longest=5.0, spread=0.0)
        connect = lambda: host.connect(server.target(), server_id="notes")  # noqa: E731
        kept = KeptConnection(connect, None, backoff, sleep)
        await kept.open()
        tasks.start_soon(kept.run)
        server.fails = 4
        await server.die(kept)
        await (await kept.wait_connected()).mcp.ping()
        assert waited == [1.0, 2.0, 4.0, 5.0, 5.0]
        await server.die(kept)  # soon after: it counts on
        await kept.wait_connected()
        assert waited[5:] == [5.0]
        tasks.cancel_scope.cancel()
    logged = [one.getMessage() for one in caplog.records if one.name == "kinwire.host"]
    assert logged[1].startswith("notes: the connection has ended, and is opened again in 2.0 sec")
    assert "it does not start" in logged[1]


async def test_the_first_attempt_raises() -> None:
    async with restarted() as (host, server):
        server.fails = 1
        with pytest.raises(OSError, match="it does not start"):
            async with host.keep_connected(server.target):
                raise AssertionError
        assert server.attempts == 1


async def test_a_connection_that_cannot_be_prepared_is_closed() -> None:
    seen: list[Connection] = []

    async def prepare(connection: Connection) -> None:
        seen.append(connection)
        if len(seen) == 2:
            raise ValueError("not yet")

    async with restarted() as (host, server):
        async with host.keep_connected(server.target, on_connect=prepare, **SOON) as kept:
            await server.die(kept)
            assert await kept.wait_connected() is seen[2]
        assert [one.session.closed for one in seen] == [True] * 3
        with pytest.raises(ValueError, match="not yet"):
            async with host.keep_connected(
                server.target, on_connect=lambda connection: prepare_badly()
            ):
                raise AssertionError


async def prepare_badly() -> None:
    raise ValueError("not yet")


async def test_nobody_waits_for_a_host_that_has_ended() -> None:
    async with restarted() as (host, server), background() as tasks:
        closed = Host("h", "1")
        hosts = [host, closed]
        backoff = Backoff(first=0.001)
        kept = KeptConnection(lambda: hosts.pop(0).connect(server.target()), None, backoff)
        await kept.open()
        tasks.start_soon(kept.run)
        await server.die(kept)
        with pytest.raises(ConnectionClosedError, match="has ended"):
            await kept.wait_connected()
        server.serving.cancel()


PROGRAM = """
from kinwire import Server
Server("s", "1").run()
"""


@pytest.mark.slow
async def test_a_process_that_is_killed_is_started_again() -> None:
    started: list[Any] = []

    def target() -> Transport:
        started.append(stdio(sys.executable, "-c", PROGRAM))
        return started[-1]  # type: ignore[no-any-return]

    with anyio.fail_after(30):
        async with Host("h", "1") as host, host.keep_connected(target, **SOON) as kept:
            ended = kept.connection
            os.kill(started[0].pid, signal.SIGKILL)
            await ended.session.wait_closed()
            await (await kept.wait_connected()).mcp.ping()
    assert len({one.pid for one in started}) == 2
    assert all(one.exit_code is not None for one in started)
