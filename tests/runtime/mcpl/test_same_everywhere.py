"""All of MCPL over every transport: what goes over the wire is the same.

The servers run in processes of their own but for the one in memory: over a network on asyncio under
uvicorn, over Streamable HTTP also on trio under hypercorn.
"""

from __future__ import annotations

import sys
from collections.abc import AsyncGenerator, Iterator
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path

import anyio
import pytest

from kinwire import stdio
from kinwire.mcp.urls import transport_to
from kinwire.rpc.transport import Transport
from kinwire.support.background import background
from kinwire.transports.memory import memory_pair
from kinwire_protocols.mcpl.methods import PROTOCOL
from tests.runtime.mcpl.fixtures_walk import Transcript, Walk
from tests.runtime.programs import hypercorn_on_trio, live
from tests.runtime.transports.fixtures_processes import Program, listening, serving
from tests.specified import specified

LIVE = Path(live.__file__)
TRANSPORTS = [
    *("memory", "stdio"),
    *(pytest.param(one, marks=pytest.mark.slow) for one in ("http", "http on trio", "sse", "ws")),
]


class Programs:
    """The servers that listen, each started when it is first needed."""

    def __init__(self, stack: ExitStack) -> None:
        self._stack = stack
        self._started: dict[str, Program] = {}

    def url(self, transport: str) -> str:
        kind, _, loop = transport.partition(" on ")
        if transport not in self._started:
            program = listening(hypercorn_on_trio.COMMAND) if loop else serving(LIVE, kind)
            self._started[transport] = self._stack.enter_context(program)
        return self._started[transport].url(kind)


@pytest.fixture(scope="module")
def programs() -> Iterator[Programs]:
    with ExitStack() as stack:
        yield Programs(stack)


@asynccontextmanager
async def transport_of(name: str, programs: Programs) -> AsyncGenerator[Transport]:
    """Yield a client's end of a transport to the server."""
    if name == "memory":
        async with in_memory() as end:
            yield end
    elif name == "stdio":
        yield stdio(sys.executable, str(LIVE))
    else:
        yield transport_to(programs.url(name), {})


@asynccontextmanager
async def in_memory() -> AsyncGenerator[Transport]:
    live.heard.clear()
    near, far = memory_pair()
    async with background() as tasks:
        tasks.start_soon(live.server.serve, far)
        yield near


@pytest.fixture(scope="module")
def expected() -> Transcript:
    """What a walk leaves in memory, on asyncio."""

    async def walk() -> Transcript:
        async with in_memory() as end:
            return await Walk(end).run()

    return anyio.run(walk)


@pytest.mark.anyio
@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_all_of_mcpl_leaves_the_same_transcript_on_every_transport(
    transport: str, programs: Programs, expected: Transcript
) -> None:
    async with transport_of(transport, programs) as end:
        transcript = await Walk(end).run()
    for part in Transcript.__slots__:
        assert getattr(transcript, part) == getattr(expected, part)


def test_the_walk_covers_every_method(expected: Transcript) -> None:
    walked = {message["method"] for message in (*expected.asked, *expected.said)}
    assert walked >= specified(PROTOCOL).keys()
