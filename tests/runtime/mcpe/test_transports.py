"""A client and a server of events in two processes, over each transport (MCPE 2.3)."""

from __future__ import annotations

import sys
from collections.abc import Generator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import anyio
import pytest

from kinwire import Connection, Host, result_text, stdio
from kinwire.mcp.urls import transport_to
from kinwire.mcpe import McpeClient
from kinwire.rpc.transport import Transport
from kinwire_protocols import mcpe
from tests.runtime.transports.fixtures_processes import serving

pytestmark = pytest.mark.anyio

FILE = Path(__file__).parent / "programs" / "repository.py"
slow = partial(pytest.param, marks=pytest.mark.slow)


@contextmanager
def reached(transport: str) -> Generator[Transport]:
    if transport == "stdio":
        yield stdio(sys.executable, "-m", "kinwire", "serve", str(FILE))
        return
    with serving(FILE, transport) as program:
        yield transport_to(program.url(transport), {})


async def push(connection: Connection, branch: str) -> str:
    return result_text(await connection.mcp.tools_call(name="push", arguments={"branch": branch}))


@pytest.mark.parametrize("transport", ["stdio", slow("http")])
@pytest.mark.spec("mcpe-2.3-1", "mcpe-2.3-3", "mcpe-2.3-4")
async def test_events_come_over_pipes_and_http(transport: str) -> None:
    await exchange(transport)


@pytest.mark.slow
@pytest.mark.parametrize("transport", ["sse", "ws"])
@pytest.mark.spec("mcpe-2.3-2", "mcpe-1.2-4", "mcpe-1.1-2")
async def test_events_come_over_websockets_and_streams_of_http(transport: str) -> None:
    await exchange(transport)


async def exchange(transport: str) -> None:
    """Subscribe, publish, pause and resume: the same over each transport."""
    events = McpeClient()
    with reached(transport) as end, anyio.fail_after(60):
        async with Host("h", "1", extensions=[events]) as host:
            connection = await host.connect(end)
            soon = (datetime.now(UTC) + timedelta(seconds=0.7)).isoformat()
            once = mcpe.ScheduledDelivery(deliver_at=soon, timezone="UTC")
            delivery = mcpe.DeliveryPreferences(channels=["scheduled"], scheduled_delivery=once)
            async with (
                events.subscribe(connection, ["github.*"]) as now,
                events.subscribe(connection, ["github.*"], delivery=delivery) as later,
                events.subscribe(connection, ["slack.*"]) as none,
            ):
                assert [await push(connection, one) for one in ("a", "b")] == ["2", "2"]
                branches = [(await anext(now)).data["branch"] for _ in range(2)]
                batches = [[one.data["branch"] for one in each] async for each in later.batches()]
                await now.pause()
                assert await push(connection, "c") == "0"
                await now.resume()
                assert await push(connection, "d") == "1"
                assert (await anext(now)).data["branch"] == "d"
                listed = await events.of(connection).list()
            left = await events.of(connection).list("active")
    assert (branches, batches, left) == (["a", "b"], [["a", "b"]], [])
    assert {one.id: one.status for one in listed} == {
        now.id: "active",
        later.id: "expired",
        none.id: "active",
    }
