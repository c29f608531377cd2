"""A peer that does not read: senders wait, and take little memory."""

from __future__ import annotations

import sys
import time
import tracemalloc
from contextlib import ExitStack
from pathlib import Path

import anyio
import pytest
from anyio.from_thread import start_blocking_portal

from kinwire import Limits
from kinwire.mcp.connection import Connection
from tests.runtime.programs import held
from tests.runtime.transports.fake_clients import RAW, RawClient, RawHttp, message
from tests.runtime.transports.faults.fake_clients import RawMemory, begun
from tests.runtime.transports.faults.fixtures_ends import client_under_test
from tests.runtime.transports.faults.table import CLIENT, SERVER, TRANSPORTS
from tests.runtime.transports.fixtures_processes import serving

pytestmark = pytest.mark.faults

MEGABYTE = 1 << 20
SOON = 5.0  # seconds
POUR = message("tools/call", 7, name="pour", arguments={"kilobytes": 64 * 1024})


def lives(client: RawClient) -> bool:
    return client.ask(message("ping", 1)) == [{"jsonrpc": "2.0", "id": 1, "result": {}}]


def worst_of(client: RawClient) -> float:
    """Return the longest that a ping among many takes, in seconds."""
    worst = 0.0
    for _ in range(200):
        began = time.monotonic()
        assert lives(client)
        worst = max(worst, time.monotonic() - began)
    return worst


@pytest.mark.fault(18, SERVER)
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("transport", RAW)
def test_who_does_not_read_costs_no_memory_and_slows_nobody(transport: str) -> None:
    with ExitStack() as ends:
        program = ends.enter_context(serving(Path(held.__file__), "sse"))
        slow = ends.enter_context(RAW[transport](program.port))
        other = ends.enter_context(RawHttp(program.port))
        before = program.peak()
        if isinstance(slow, RawHttp):
            ends.enter_context(begun(slow, len(POUR))).write(POUR)
        else:
            slow.send(POUR)
        assert worst_of(other) < SOON
        assert program.peak() - before < 32 * MEGABYTE


@pytest.mark.fault(18, SERVER, "memory")
@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_the_same_in_memory(backend: str) -> None:
    with start_blocking_portal(backend) as portal:
        with RawMemory(portal, held.server) as slow, RawMemory(portal, held.server) as other:
            slow.end.pause()
            tracemalloc.start()
            try:
                slow.send(POUR)
                assert worst_of(other) < SOON
                _, peak = tracemalloc.get_traced_memory()
            finally:
                tracemalloc.stop()
            assert peak < 32 * MEGABYTE
        portal.call(portal.stop, True)


async def flood(connection: Connection, seconds: float) -> int:
    """Say as much as may be said in that time; return how many bytes."""
    said = 0
    with anyio.move_on_after(seconds):
        while True:
            await connection.session.raw_notify("x/y", {"text": "x" * 10_000})
            said += 10_000
    return said


@pytest.mark.fault(18, CLIENT)
@pytest.mark.parametrize("backend", ["asyncio", "trio"])
@pytest.mark.parametrize("transport", TRANSPORTS)
def test_a_client_waits_for_a_server_that_does_not_read(transport: str, backend: str) -> None:
    with client_under_test(transport, backend, limits=Limits(unsent=256 * 1024)) as client:
        client.server.deaf = True
        said = client.portal.call(flood, client.connection, 0.5)
        assert said < 16 * MEGABYTE  # the system's own buffers among it
