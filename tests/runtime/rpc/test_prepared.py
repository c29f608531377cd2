"""Notifications that are written in the turn in which they are sent, where the transport can.

The transport is the writer of stdio at one end of a socket pair; a bare reader is at the other.
"""

from __future__ import annotations

import json
import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from typing import Any, NamedTuple

import anyio
import pytest

from kinwire.mcp.profile import PROFILE
from kinwire.rpc.codec import EncodedObject
from kinwire.rpc.limits import Limits
from kinwire.rpc.prepared import PreparedNotification
from kinwire.rpc.session import Session
from kinwire.rpc.transport import SessionCallbacks
from kinwire.transports.writing import FrameWriter
from kinwire_protocols import mcp
from kinwire_protocols.mcp import methods
from tests.runtime.rpc.fixtures_sessions import EVERY_DRIVER

pytestmark = EVERY_DRIVER

ROW = methods.NOTIFICATIONS_MESSAGE
SHARED = EncodedObject({"level": "info", "data": "é"})


class SocketEnd:
    """A transport that only writes."""

    peer_may_emit_noise = False
    address: str | None = None

    def __init__(self, own: socket.socket) -> None:
        self._own = own
        self._writer: FrameWriter | None = None

    async def run(self, callbacks: SessionCallbacks, /) -> None:
        self._writer = writer = FrameWriter(
            self._own.fileno(), callbacks, watchable=True, broken=lambda _: None, patience=0.01
        )
        writer.wake()
        if callbacks.loop is None:
            await writer.run()
        await anyio.sleep_forever()

    def wake(self) -> None:
        if self._writer is not None:
            self._writer.wake()

    def resume(self) -> None: ...

    async def aclose(self) -> None:
        if self._writer is not None:
            await self._writer.flush()


class Ends(NamedTuple):
    session: Session
    sent: PreparedNotification
    other: socket.socket

    def read(self) -> list[dict[str, Any]]:
        """Return the params of what has arrived by now."""
        arrived = bytearray()
        with suppress(BlockingIOError):
            while chunk := self.other.recv(1 << 16):
                arrived += chunk
        return [json.loads(line)["params"] for line in arrived.splitlines()]


@asynccontextmanager
async def connected(limits: Limits = Limits()) -> AsyncGenerator[Ends]:
    own, other = socket.socketpair()
    own.setblocking(False)
    other.setblocking(False)
    with own, other:
        async with Session(SocketEnd(own), routes={}, profile=PROFILE, limits=limits) as session:
            sent = PreparedNotification(session, ROW, EncodedObject({"logger": "a"}))
            await anyio.wait_all_tasks_blocked()
            assert sent.send(SHARED)  # by which it learns that nothing hinders it
            await anyio.wait_all_tasks_blocked()
            ends = Ends(session, sent, other)
            assert len(ends.read()) == 1
            yield ends


async def test_it_is_written_in_the_turn_in_which_it_is_sent() -> None:
    async with connected() as ends:
        assert ends.sent.send(SHARED)
        assert ends.read() == [{"logger": "a", "level": "info", "data": "é"}]


async def test_it_never_overtakes_what_waits() -> None:
    async with connected() as ends:
        for number in range(3):
            await ends.session.notify(
                ROW, mcp.LoggingMessageNotificationParams(level="info", data=number)
            )
            assert ends.sent.send(EncodedObject({"level": "info", "data": f"{number}"}))
        await anyio.wait_all_tasks_blocked()
        assert [one["data"] for one in ends.read()] == [0, "0", 1, "1", 2, "2"]


@pytest.mark.parametrize("size", [10_000, 400_000])
async def test_what_the_peer_is_slow_to_read_arrives_whole_and_in_order(size: int) -> None:
    texts = [f"{at}" + "x" * size for at in range(40 if size < 100_000 else 8)]
    events = [EncodedObject({"level": "info", "data": text}) for text in texts]
    arrived, held_back = bytearray(), 0
    async with connected(Limits(unsent=2 * size)) as ends:

        async def read() -> None:
            left = len(events)
            while left:
                await anyio.wait_readable(ends.other)
                chunk = ends.other.recv(1 << 20)
                arrived.extend(chunk)
                left -= chunk.count(b"\n")

        with anyio.fail_after(20):
            async with anyio.create_task_group() as tasks:
                for event in events:
                    while not ends.sent.send(event):
                        if not held_back:
                            tasks.start_soon(read)
                        held_back += 1
                        await ends.session.wait_for_room()
    lines = [json.loads(line)["params"]["data"] for line in arrived.splitlines()]
    assert lines == texts
    assert held_back > 0


async def test_what_hinders_or_changes_it_is_heeded_from_then_on() -> None:
    seen = list[Any]()

    async def around(params: Any, method: Any, go_on: Any) -> Any:
        seen.append(params)
        return await go_on(params)

    async with connected() as ends:
        assert ends.sent.send(SHARED)
        ends.session.intercept_outbound(around, ROW)
        assert not ends.sent.send(SHARED)
        assert len(ends.read()) == 1
    async with connected() as ends:
        await ends.session.aclose()
        assert not ends.sent.send(SHARED)
        assert ends.read() == []


async def test_a_peer_that_is_gone_raises_nothing_where_it_is_sent() -> None:
    async with connected() as ends:
        ends.other.close()
        for _ in range(3):
            assert ends.sent.send(SHARED)
        await anyio.wait_all_tasks_blocked()
        assert ends.sent.send(SHARED)
