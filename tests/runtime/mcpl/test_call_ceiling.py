"""How many functions of ours one message of MCPL calls, on both sides together.

Counted are calls of Python functions of kinwire and of the bindings; each resumption of a
coroutine is one. The frames are real: JSON bytes in both directions.
"""

from __future__ import annotations

import asyncio
import gc
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from types import FrameType

import pytest

import kinwire
import kinwire_protocols
from kinwire import Host, Server, pair
from kinwire.mcpl import Channels, McplHost, McplServer, PushedEvent
from kinwire_protocols import mcpl

pytestmark = pytest.mark.skipif(
    sys.implementation.name != "cpython" or sys.version_info[:2] != (3, 11),
    reason="the ceilings are those of CPython 3.11: other versions inline other calls",
)

RoundTrip = Callable[[], Awaitable[object]]

TRIPS = 20
WARM_UP = 5  # models are built on first use
OURS = (*kinwire.__path__, *kinwire_protocols.__path__)

SETS = {"notes.new": mcpl.FeatureSet(description="n", uses=["pushEvents", "channels.publish"])}
CHANNEL = mcpl.ChannelDescriptor(
    id="chat:1", type="chat", label="Chat", direction="bidirectional", address={"room": 1}
)


@asynccontextmanager
async def push() -> AsyncIterator[RoundTrip]:
    """A server pushes an event, and the host's function accepts it."""

    async def accept(event: PushedEvent) -> mcpl.PushEventResult:
        return mcpl.PushEventResult(accepted=True)

    server = McplServer(feature_sets=SETS)
    host = McplHost(enabled=["*"], on_push=accept, push_rate=1e9)
    async with pair(
        Server("notes", "1", extensions=[server]), Host("h", "1", extensions=[host])
    ) as connection:
        await connection.mcp.ping()
        (peer,) = server.hosts
        yield lambda: peer.push("notes.new", "Call Alice")


@asynccontextmanager
async def publish() -> AsyncIterator[RoundTrip]:
    """A host publishes to a channel of a server."""
    server = McplServer(feature_sets=SETS, channels=[CHANNEL])

    @server.on.channels_publish
    async def deliver(params: mcpl.ChannelsPublishParams) -> mcpl.ChannelsPublishResult:
        return mcpl.ChannelsPublishResult(delivered=True)

    host = McplHost(enabled=["*"], channels=Channels())
    async with pair(
        Server("notes", "1", extensions=[server]), Host("h", "1", extensions=[host])
    ) as connection:
        await connection.mcp.ping()
        peer = host.of(connection)
        assert peer is not None
        await connection.mcp.ping()  # the channels are registered behind the first answer
        assert peer.channels.known
        yield lambda: peer.channels.publish("chat:1", "Call Alice")


async def calls_of(connected: Callable[[], AbstractAsyncContextManager[RoundTrip]]) -> int:
    counted = 0

    def count(frame: FrameType, event: str, argument: object) -> None:
        nonlocal counted
        if event == "call" and frame.f_code.co_filename.startswith(OURS):
            counted += 1

    async with connected() as round_trip:
        for _ in range(WARM_UP):
            await round_trip()
        gc.collect()
        gc.disable()  # it would call finalizers of whatever was left before
        sys.setprofile(count)
        try:
            for _ in range(TRIPS):
                await round_trip()
        finally:
            sys.setprofile(None)
            gc.enable()
    return counted // TRIPS


@pytest.mark.parametrize(("connected", "ceiling"), [(push, 110), (publish, 75)])
def test_a_message_takes_no_more_calls(
    connected: Callable[[], AbstractAsyncContextManager[RoundTrip]], ceiling: int
) -> None:
    """Lower a ceiling when a change allows it."""
    assert asyncio.run(calls_of(connected)) <= ceiling
