"""A `Server` as the target of `connect`: both ends in one process, in memory."""

from __future__ import annotations

import anyio
import pytest

from kinwire import Context, Host, Server, connect, result_text
from kinwire.rpc.errors import ConnectionClosedError
from kinwire.rpc.identity import PeerIdentity
from kinwire.rpc.limits import Limits

pytestmark = pytest.mark.anyio


def adder() -> Server:
    server = Server("adder", "1.0", limits=Limits(drain=0.05, stop=0.2))

    @server.tool
    async def add(a: int, b: int, context: Context) -> int:
        await context.progress(1)
        return a + b

    return server


async def test_connect_takes_a_server_and_calls_it_in_memory() -> None:
    server = adder()
    reports: list[float] = []
    async with connect(server) as client:
        asking = client.with_options(on_progress=lambda report: reports.append(report.progress))
        result = await asking.mcp.tools_call(name="add", arguments={"a": 1, "b": 2})
        assert (result_text(result), reports) == ("3", [1])
        assert client.server_info.name == "adder"
        assert client.session.identity == PeerIdentity.of("server:adder")
        assert len(server._sessions) == 1
    assert not server._sessions


async def test_options_of_a_url_are_refused_for_a_server() -> None:
    async with Host("desk", "1.0") as host:
        with pytest.raises(TypeError, match="insecure: this option is for a URL"):
            await host.connect(adder(), insecure=True)


async def test_a_host_connects_to_servers_of_its_own_process() -> None:
    first, second = adder(), adder()
    async with Host("desk", "1.0") as host:
        clients = [await host.connect(server) for server in (first, second, first)]
        await clients[0].aclose()
        with pytest.raises(ConnectionClosedError):
            await clients[0].mcp.ping()
        for client in clients[1:]:
            await client.mcp.ping()
        async with host.keep_connected(lambda: second) as kept:
            await kept.connection.mcp.ping()
            assert (len(first._sessions), len(second._sessions)) == (1, 2)
    assert not first._sessions
    assert not second._sessions


async def test_handlers_of_the_server_are_stopped_at_the_end() -> None:
    server = adder()
    begun, stopped = anyio.Event(), anyio.Event()

    @server.tool
    async def hang() -> str:
        begun.set()
        try:
            await anyio.sleep_forever()
        finally:
            stopped.set()
        return ""

    async with connect(server) as client, anyio.create_task_group() as tasks:

        async def call() -> None:
            with pytest.raises(ConnectionClosedError):
                await client.mcp.tools_call(name="hang")

        tasks.start_soon(call)
        await begun.wait()
        with anyio.fail_after(5):
            await client.aclose()
    assert stopped.is_set()
