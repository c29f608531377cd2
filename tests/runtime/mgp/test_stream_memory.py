"""A stream may be larger than memory: the producer waits for the reader (fault 18)."""

from __future__ import annotations

import os
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import anyio
import pytest

from kinwire import Connection, Host, result_text, stdio
from kinwire.mcp.urls import transport_to
from kinwire.mgp import MgpKernel
from kinwire.rpc.transport import Transport
from tests.runtime.transports.fixtures_processes import serving
from tests.runtime.transports.fixtures_resources import let_go, memory_of

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="reads /proc"),
]

FILE = Path(__file__).parent / "programs" / "flood.py"
MIB = 1024 * 1024
MIB_OF_STREAM = int(os.environ.get("KINWIRE_STREAM_MIB", "64"))  # 1,024 for `nox -s streams`
PIECES = 16  # of 64 KiB in a MiB


@contextmanager
def reached(transport: str) -> Generator[Transport]:
    if transport == "stdio":
        yield stdio(sys.executable, "-m", "kinwire", "serve", str(FILE), cwd=Path.cwd())
        return
    with serving(FILE, transport) as program:
        yield transport_to(program.url(transport), {})


async def peak_of_server(connection: Connection) -> int:
    return int(result_text(await connection.mcp.tools_call(name="peak", arguments={})))


@pytest.mark.faults
@pytest.mark.parametrize("transport", ["stdio", "http", "ws"])
async def test_a_slow_reader_holds_a_stream_back_and_memory_stays(transport: str) -> None:
    size = MIB_OF_STREAM
    kernel = MgpKernel()
    with reached(transport) as end, anyio.fail_after(300):
        async with Host("h", "1", extensions=[kernel]) as host:
            connection = await host.connect(end, server_id="flood")
            async with kernel.stream(connection, "flood", {"pieces": 10}) as warming_up:
                assert len([chunk async for chunk in warming_up]) == 10
            theirs = await peak_of_server(connection)
            let_go()
            ours = most = memory_of(os.getpid())
            async with kernel.stream(connection, "flood", {"pieces": size * PIECES}) as stream:
                await anyio.sleep(0.2)  # nobody reads: all that fits somewhere is filled
                async for chunk in stream:
                    assert chunk.text.startswith(f"{chunk.index:016}")
                    if chunk.index % 64 == 0:
                        await anyio.sleep(0.002)
                        most = max(most, memory_of(os.getpid()))
                assert (stream._inbox.taken, stream.missed) == (size * PIECES, 0)
            theirs = await peak_of_server(connection) - theirs
    print(f"{transport}, {size} MiB: kernel +{(most - ours) / MIB:.1f}, server +{theirs / MIB:.1f}")
    assert most - ours < 20 * MIB
    assert theirs < 20 * MIB
