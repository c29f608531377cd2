"""Callers that give up: what the peer hears of it, and what goes on."""

from __future__ import annotations

from typing import Any

import anyio
import pytest
from anyio.lowlevel import checkpoint

from kinwire.rpc.request import Request
from kinwire_protocols import mcp
from kinwire_protocols.mcp import methods
from tests.runtime.rpc.fixtures_sessions import (
    EVERY_DRIVER,
    TOOL,
    Gate,
    connected,
    for_ever,
    tool,
    tool_text,
)

pytestmark = EVERY_DRIVER


@pytest.mark.spec("mcp-cancellation-2")
async def test_a_cancelled_caller_sends_one_cancellation_and_does_not_wait() -> None:
    gate = Gate()
    async with connected(tool(gate)) as peers:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(peers.client.call, methods.TOOLS_CALL, TOOL)
            await gate.begun.wait()
            tasks.cancel_scope.cancel()
        await gate.ended.wait()
        assert gate.outcome != "finished"
        assert await peers.client.raw("ping") == {}
        assert peers.sent_by(0) == ["tools/call", "notifications/cancelled", "ping"]
        assert peers.sent_by(1) == ["reply"]


async def test_a_scope_without_time_puts_nothing_on_the_wire() -> None:
    async with connected(tool(for_ever)) as peers:
        with anyio.move_on_after(0) as scope:
            await peers.client.call(methods.TOOLS_CALL, TOOL)
        assert scope.cancelled_caught
        assert await peers.client.raw("ping") == {}
        assert peers.sent_by(0) == ["ping"]


async def test_a_cancelled_scope_puts_nothing_on_the_wire() -> None:
    async with connected(tool(for_ever)) as peers:
        with anyio.CancelScope() as scope:
            scope.cancel()
            await peers.client.call(methods.TOOLS_CALL, TOOL)
        assert scope.cancelled_caught
        assert await peers.client.raw("ping") == {}
        assert peers.sent_by(0) == ["ping"]


async def test_timeouts_of_the_library_work_around_calls() -> None:
    async with connected(tool(for_ever)) as peers:
        with pytest.raises(TimeoutError):
            with anyio.fail_after(0.01):
                await peers.client.call(methods.TOOLS_CALL, TOOL)
        assert await peers.client.raw("ping") == {}


@pytest.mark.spec("mcp-cancellation-4")
async def test_a_late_answer_is_dropped_and_the_connection_goes_on() -> None:
    async def stubborn(params: Any, request: Request) -> mcp.CallToolResult:
        with anyio.CancelScope(shield=True):
            begun.set()
            await let_go.wait()
        return tool_text("late")

    begun, let_go = anyio.Event(), anyio.Event()
    async with connected(tool(stubborn)) as peers:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(peers.client.call, methods.TOOLS_CALL, TOOL)
            await begun.wait()
            tasks.cancel_scope.cancel()
        assert await peers.client.raw("ping") == {}
        let_go.set()
        assert await peers.client.raw("ping") == {}
        assert peers.sent_by(1) == ["reply", "reply"]


async def test_cancelling_while_the_answer_is_on_its_way_loses_nothing_else() -> None:
    async def after(params: mcp.CallToolRequestParams, request: Request) -> Any:
        for _ in range(int((params.arguments or {})["turns"])):
            await checkpoint()
        return tool_text("x")

    async with connected(tool(after)) as peers:

        async def call(turns: int) -> None:
            params = mcp.CallToolRequestParams(name="x", arguments={"turns": turns % 7})
            await peers.client.call(methods.TOOLS_CALL, params)

        for round_ in range(300):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(call, round_)
                for _ in range(round_ % 11):
                    await checkpoint()
                tasks.cancel_scope.cancel()
            assert await peers.client.raw("ping") == {}
        answered = [message["id"] for end, message in peers.frames if end == 1]
        assert len(answered) == len(set(answered))
    assert peers.server.counts.unreadable == 0
