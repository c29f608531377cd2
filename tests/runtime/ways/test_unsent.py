"""Answers that nobody reads: once more waits than may, and a frame, no further handler begins."""

from __future__ import annotations

from functools import partial

import anyio
import pytest

from kinwire import Limits, Server
from tests.runtime.raw_end import Json, RawEnd

pytestmark = pytest.mark.anyio

CALLS = 100
SIZE = 300_000
LIMITS = Limits(unsent=100_000, frame_size=100_000)
HELLO = {
    "protocolVersion": "2024-11-05",
    "capabilities": {},
    "clientInfo": {"name": "raw", "version": "1"},
}


class Reader(RawEnd):
    """Asks a lot, and reads when the test says so."""

    def reply_to(self, message: Json) -> Json | None:
        return None


class Counting:
    """A server that counts the handlers that begin."""

    def __init__(self) -> None:
        self.server = server = Server("big", "1", limits=LIMITS)
        self.begun = 0

        @server.tool
        async def big() -> str:
            self.begun += 1
            return "x" * SIZE

        @server.resource("memo://one", description="x" * SIZE)
        async def one() -> str:
            return ""


async def serving(reader: Reader, server: Server) -> None:
    """Ask for the handshake, and then read nothing."""
    await reader.ask("hello", "initialize", HELLO)
    reader.say(method="notifications/initialized")
    await reader.settle()
    reader.reads = False


async def test_handlers_wait_until_answers_are_read() -> None:
    counting, reader = Counting(), Reader()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(counting.server.serve, reader)
        await serving(reader, counting.server)
        for id in range(CALLS):
            reader.say(id=id, method="tools/call", params={"name": "big"})
        await reader.settle()
        assert counting.begun == 1
        # One that waits can be taken back.
        reader.say(method="notifications/cancelled", params={"requestId": 5})
        await reader.settle()
        reader.reads = True
        reader.wake()
        with anyio.fail_after(10):
            while len(reader.heard) < CALLS:
                await reader.tells("nothing", 0)
                await reader.settle()
        assert {one["id"] for one in reader.heard[1:]} == {*range(CALLS)} - {5}
        assert counting.begun == CALLS - 1
        tasks.cancel_scope.cancel()


async def test_what_is_answered_without_a_task_waits_as_well() -> None:
    counting, reader = Counting(), Reader()
    held: list[int] = []
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(counting.server.serve, reader)
        await serving(reader, counting.server)
        (session,) = counting.server._sessions
        for id in range(CALLS):
            reader.say(id=id, method="resources/list")
        await reader.settle()
        driver = session._driver
        assert driver is not None
        held.append(driver.engine.outbox._size)
        tasks.cancel_scope.cancel()
    assert held[0] < 3 * SIZE


async def test_the_end_does_not_wait_for_those_that_wait() -> None:
    counting, reader = Counting(), Reader()
    limits = Limits(unsent=100_000, frame_size=100_000, drain=0.01, stop=0.01)
    counting.server.limits = limits
    with anyio.fail_after(10):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(partial(counting.server.serve, reader))
            await serving(reader, counting.server)
            for id in range(CALLS):
                reader.say(id=id, method="tools/call", params={"name": "big"})
            await reader.settle()
            reader.hang_up()
    assert counting.begun < 3
