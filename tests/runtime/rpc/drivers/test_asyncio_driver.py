"""What only asyncio has: its own timeouts, its one-shot cancellation, and tasks that outlive."""

from __future__ import annotations

import asyncio
from typing import Any

import anyio
import pytest
from anyio.lowlevel import checkpoint

from kinwire.rpc.drivers.shield import shielded
from kinwire.rpc.errors import ConnectionClosedError
from kinwire.rpc.limits import Limits
from kinwire.rpc.request import Request
from kinwire_protocols import mcp
from kinwire_protocols.mcp import methods
from tests.runtime.rpc.fixtures_sessions import TOOL, connected, tool, tool_text

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.parametrize("anyio_backend", ["asyncio", "uvloop"], indirect=True),
]


async def for_ever(params: Any, request: Request) -> Any:
    await asyncio.Event().wait()


async def test_a_timeout_of_nothing_puts_nothing_on_the_wire() -> None:
    async with connected(tool(for_ever)) as peers:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0):
                await peers.client.call(methods.TOOLS_CALL, TOOL)
        assert await peers.client.raw("ping") == {}
        assert peers.sent_by(0) == ["ping"]


async def test_a_timeout_around_a_call_cancels_the_request() -> None:
    async with connected(tool(for_ever)) as peers:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(peers.client.call(methods.TOOLS_CALL, TOOL), 0.01)
        assert await peers.client.raw("ping") == {}
        assert peers.sent_by(0) == ["tools/call", "notifications/cancelled", "ping"]


async def test_a_task_cancelled_in_the_turn_of_its_call_sends_nothing() -> None:
    async with connected(tool(for_ever)) as peers:
        task = asyncio.create_task(peers.client.call(methods.TOOLS_CALL, TOOL))
        task.cancel()
        await asyncio.wait([task])
        assert await peers.client.raw("ping") == {}
        assert (task.cancelled(), peers.sent_by(0)) == (True, ["ping"])


async def test_timeouts_and_task_groups_of_asyncio_work_in_handlers() -> None:
    async def busy(params: Any, request: Request) -> mcp.CallToolResult:
        async with asyncio.TaskGroup() as tasks:
            one = tasks.create_task(asyncio.sleep(0, "one"))
        try:
            async with asyncio.timeout(0.001):
                await asyncio.Event().wait()
        except TimeoutError:
            return tool_text(f"{one.result()} timeout")
        return tool_text("no timeout")

    async with connected(tool(busy)) as peers:
        assert await peers.client.call(methods.TOOLS_CALL, TOOL) == tool_text("one timeout")


async def test_a_request_cancelled_before_its_first_step_frees_its_id() -> None:
    async with connected(tool(for_ever)) as peers:
        callbacks = peers.server._opened()._callbacks
        call = b'{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{"name":"t"}}'
        callbacks.feed(call)
        callbacks.feed(
            b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"x"}}'
        )
        while peers.server._opened().engine.inbound.under_way:
            await checkpoint()


async def test_a_handler_that_never_ends_is_left_after_the_grace(
    caplog: pytest.LogCaptureFixture,
) -> None:
    begun, let_go = asyncio.Event(), asyncio.Event()
    left: list[asyncio.Task[Any]] = []

    async def never(params: Any, request: Request) -> Any:
        left.append(request.task)
        begun.set()
        while not let_go.is_set():
            try:
                await let_go.wait()
            except asyncio.CancelledError:
                continue

    async with connected(tool(never), limits=Limits(stop=0.05)) as peers:
        call = asyncio.create_task(peers.client.raw("tools/call", {"name": "x"}))
        await begun.wait()
        await peers.server.aclose()
        with pytest.raises(ConnectionClosedError):
            await call
    assert "do not end on cancellation: tools/call" in caplog.text
    let_go.set()
    await asyncio.wait(left)


async def test_a_second_cancellation_does_not_leave_the_end_half_done() -> None:
    inside = asyncio.Event()

    async def use() -> None:
        async with connected(tool(for_ever)) as peers:
            opened.append(peers)
            inside.set()
            await asyncio.Event().wait()

    opened: list[Any] = []
    task = asyncio.create_task(use())
    await inside.wait()
    task.cancel()
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.wait([task])
    assert task.cancelled()
    (peers,) = opened
    assert peers.client._opened()._ended.is_set()
    assert peers.server._opened()._ended.is_set()


async def test_a_cancelled_opening_leaves_no_task() -> None:
    async def use() -> None:
        async with connected(tool(for_ever)):
            raise AssertionError("cancelled before")

    before = asyncio.all_tasks()
    task = asyncio.create_task(use())
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.wait([task])
    assert asyncio.all_tasks() == before


class TestShielded:
    """The look into anyio's task states."""

    async def state(self, enter: Any) -> bool:
        entered = asyncio.Event()

        async def stand() -> None:
            with enter():
                entered.set()
                await asyncio.Event().wait()

        task = asyncio.create_task(stand())
        await entered.wait()
        try:
            return shielded(task)
        finally:
            with anyio.CancelScope(shield=True):
                task.cancel()
                await asyncio.wait([task])

    async def test_a_shield_is_seen(self) -> None:
        assert await self.state(lambda: anyio.CancelScope(shield=True))

    async def test_a_shield_around_a_plain_scope_is_seen(self) -> None:
        from contextlib import contextmanager

        @contextmanager
        def both() -> Any:
            with anyio.CancelScope(shield=True), anyio.CancelScope():
                yield

        assert await self.state(both)

    async def test_a_plain_scope_is_not_shielded(self) -> None:
        assert not await self.state(anyio.CancelScope)

    async def test_without_a_scope_nothing_is_shielded(self) -> None:
        from contextlib import nullcontext

        assert not await self.state(nullcontext)
