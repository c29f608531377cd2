"""The transport between two ends in one process."""

from __future__ import annotations

from typing import Any

import anyio
import pytest
from anyio.lowlevel import checkpoint

from kinwire.mcp.profile import PROFILE
from kinwire.rpc.errors import ConnectionClosedError, InvalidResponseError
from kinwire.rpc.limits import Limits
from kinwire.rpc.request import Request
from kinwire.rpc.session import Session
from kinwire.transports.memory import memory_pair
from kinwire_protocols import mcp
from kinwire_protocols.jsonrpc.errors import InvalidRequestError
from kinwire_protocols.mcp import methods
from tests.runtime.rpc.fixtures_sessions import connected, routes_of, tool, tool_text

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.parametrize(
        "anyio_backend", ["asyncio", "uvloop", "trio", "anyio on asyncio"], indirect=True
    ),
]


async def test_either_end_may_open_first_and_call_before_the_other_is_there() -> None:
    first, second = memory_pair()
    with anyio.fail_after(20):
        async with (
            anyio.create_task_group() as tasks,
            Session(first, profile=PROFILE, routes=routes_of()) as calling,
        ):
            tasks.start_soon(calling.raw, "ping")
            await checkpoint()
            async with Session(second, profile=PROFILE, routes=routes_of()) as serving:
                assert await serving.raw("ping") == {}
                assert await calling.raw("ping") == {}


async def test_a_record_sees_each_frame_in_order_with_its_sender() -> None:
    seen: list[tuple[int, bytes]] = []
    first, second = memory_pair(lambda end, frame: seen.append((end, frame)))
    async with (
        Session(first, profile=PROFILE, routes={}) as calling,
        Session(second, profile=PROFILE, routes=routes_of()),
    ):
        await calling.raw("ping")
    assert seen == [
        (0, b'{"jsonrpc":"2.0","id":1,"method":"ping"}'),
        (1, b'{"jsonrpc":"2.0","id":1,"result":{}}'),
    ]


async def test_an_end_without_a_peer_is_closed_immediately() -> None:
    first, second = memory_pair()
    async with Session(first, profile=PROFILE, routes={}):
        pass
    with anyio.fail_after(20):
        async with Session(second, profile=PROFILE, routes={}) as calling:
            await calling.wait_closed()
            with pytest.raises(ConnectionClosedError, match="peer has closed"):
                await calling.raw("ping")


async def test_a_frame_beyond_the_limit_is_refused() -> None:
    async def long(params: Any, request: Request) -> mcp.CallToolResult:
        return tool_text("x" * 2000)

    async with connected(tool(long), limits=Limits(frame_size=1000)) as peers:
        with pytest.raises(InvalidResponseError, match="longer than 1000 bytes"):
            await peers.client.raw("tools/call", {"name": "x"})
        with pytest.raises(InvalidRequestError, match="longer than 1000 bytes"):
            await peers.client.raw("tools/call", {"name": "x" * 2000})
        assert await peers.client.raw("ping") == {}


async def test_order_survives_pauses_of_both_ends() -> None:
    heard: list[int] = []
    count = 300

    async def hear(params: mcp.LoggingMessageNotificationParams, request: Request) -> None:
        heard.append(int(params.data["n"]))

    routes = routes_of((methods.NOTIFICATIONS_MESSAGE, hear))
    limits = Limits(unsent=2_000, frame_size=1_000)
    async with connected(routes, limits=limits) as peers:
        serving = peers.server._opened()
        for number in range(count):
            if number % 50 == 20:
                serving.pause_reading()
            if number % 50 == 45:
                serving.resume_reading()
            with anyio.move_on_after(0.001 if number % 50 in range(20, 45) else 60) as scope:
                await peers.client.notify(
                    methods.NOTIFICATIONS_MESSAGE,
                    mcp.LoggingMessageNotificationParams(level="info", data={"n": number}),
                )
            if scope.cancelled_caught:
                count -= 1
        while len(heard) < count:
            await checkpoint()
    assert heard == sorted(heard)
