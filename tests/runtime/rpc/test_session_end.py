"""How a session ends, and how it waits for a peer that does not read."""

from __future__ import annotations

import gc
from typing import Any
from weakref import ref

import anyio
import pytest
from anyio.lowlevel import checkpoint

from kinwire.mcp.profile import PROFILE
from kinwire.rpc.errors import (
    ConnectionClosedError,
    SessionStateError,
)
from kinwire.rpc.limits import Limits
from kinwire.rpc.request import Request
from kinwire.rpc.session import Session
from kinwire.transports.memory import memory_pair
from kinwire_protocols import mcp
from kinwire_protocols.mcp import methods
from tests.runtime.rpc.fixtures_sessions import (
    EVERY_DRIVER,
    TOOL,
    Gate,
    connected,
    echo,
    for_ever,
    routes_of,
    tool,
    tool_text,
)

pytestmark = EVERY_DRIVER


async def test_a_session_is_used_inside_its_block_only() -> None:
    session = Session(memory_pair()[0], profile=PROFILE, routes={})
    with pytest.raises(SessionStateError, match="async with"):
        await session.raw("ping")
    async with connected(tool(echo)) as peers:
        with pytest.raises(SessionStateError, match="opened before"):
            await peers.client.__aenter__()
    with pytest.raises(ConnectionClosedError):
        await peers.client.raw("ping")


@pytest.mark.fault(38, "server", "memory")
@pytest.mark.parametrize("closing", ["client", "server"])
async def test_calls_fail_immediately_when_either_side_closes(closing: str) -> None:
    gate = Gate()
    failed: list[ConnectionClosedError] = []

    async def call(session: Session) -> None:
        try:
            await session.call(methods.TOOLS_CALL, TOOL)
        except ConnectionClosedError as error:
            failed.append(error)

    async with connected(tool(gate), limits=Limits(drain=0)) as peers:
        async with anyio.create_task_group() as tasks:
            for _ in range(3):
                tasks.start_soon(call, peers.client)
            await gate.begun.wait()
            await getattr(peers, closing).aclose()
        assert len({id(error) for error in failed}) == 3
        assert peers.client.closed
        assert peers.client.closed_why is not None
        with pytest.raises(ConnectionClosedError):
            await peers.client.notify(methods.NOTIFICATIONS_INITIALIZED, mcp.NotificationParams())
        await peers.client.wait_closed()
        await peers.server.wait_closed()
    assert gate.outcome not in ("", "finished")


async def test_closing_again_does_nothing() -> None:
    async with connected(tool(echo)) as peers:
        await peers.client.aclose()
        await peers.client.aclose()


async def test_a_session_is_quiet_when_no_handler_runs_and_no_call_waits_at_both_ends() -> None:
    gate = Gate()
    quiet: list[str] = []

    async def wait(name: str, session: Session) -> None:
        await session.wait_quiet()
        quiet.append(name)

    async with connected(tool(gate)) as peers, anyio.create_task_group() as tasks:
        await peers.client.wait_quiet()
        assert peers.server.requests == []
        tasks.start_soon(peers.client.call, methods.TOOLS_CALL, TOOL)
        await gate.begun.wait()
        assert [one.method.name for one in peers.server.requests] == ["tools/call"]
        for name in ("client", "server", "client", "server"):
            tasks.start_soon(wait, name, getattr(peers, name))
        await anyio.wait_all_tasks_blocked()
        assert quiet == []
        gate.let_go.set()
    assert sorted(quiet) == ["client", "client", "server", "server"]


async def test_a_call_that_its_caller_gives_up_leaves_a_session_quiet() -> None:
    gate = Gate()
    async with connected(tool(gate)) as peers, anyio.create_task_group() as tasks:
        with anyio.CancelScope() as scope:
            tasks.start_soon(peers.client.wait_quiet)
            tasks.start_soon(_cancel_when, gate.begun, scope)
            await peers.client.call(methods.TOOLS_CALL, TOOL)
        await gate.ended.wait()
        await peers.server.wait_quiet()
    assert gate.outcome not in ("", "finished")


async def _cancel_when(begun: anyio.Event, scope: anyio.CancelScope) -> None:
    await begun.wait()
    scope.cancel()


async def test_running_handlers_may_finish_when_the_peer_ends_its_side() -> None:
    gate = Gate()

    async with connected(tool(gate)) as peers:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(peers.client.raw_notify, "tools/call", {})
            tasks.start_soon(expect_closed, peers.client)
            await gate.begun.wait()
            async with anyio.create_task_group() as closing:
                closing.start_soon(peers.client.aclose)
            gate.let_go.set()
        await peers.server.wait_closed()
    assert gate.outcome == "finished"


async def expect_closed(session: Session) -> None:
    with pytest.raises(ConnectionClosedError):
        await session.call(methods.TOOLS_CALL, TOOL)


async def test_handlers_that_do_not_finish_are_cancelled_after_the_drain() -> None:
    gate = Gate()
    async with connected(tool(gate), limits=Limits(drain=0.01)) as peers:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(expect_closed, peers.client)
            await gate.begun.wait()
            await peers.client.aclose()
        await peers.server.wait_closed()
        assert gate.outcome not in ("", "finished")


async def test_what_was_said_just_before_closing_arrives() -> None:
    heard = anyio.Event()

    async def hear(params: Any, request: Request) -> None:
        heard.set()

    routes = routes_of((methods.NOTIFICATIONS_INITIALIZED, hear))
    async with connected(routes) as peers:
        await peers.client.notify(methods.NOTIFICATIONS_INITIALIZED, mcp.NotificationParams())
        await peers.client.aclose()
        await heard.wait()


async def test_the_users_own_exception_comes_out_bare() -> None:
    gate = Gate()

    async def use() -> None:
        async with connected(tool(gate)) as peers:
            tasks.start_soon(expect_closed, peers.client)
            await gate.begun.wait()
            raise KeyError("own")

    async with anyio.create_task_group() as tasks:
        with pytest.raises(KeyError, match="own"):
            await use()


async def test_the_block_ends_inside_a_cancelled_scope() -> None:
    gate = Gate()
    with anyio.CancelScope() as scope:
        async with connected(tool(gate)) as peers, anyio.create_task_group() as tasks:
            tasks.start_soon(peers.client.call, methods.TOOLS_CALL, TOOL)
            await gate.begun.wait()
            scope.cancel()
    assert scope.cancelled_caught
    assert gate.outcome not in ("", "finished")


async def test_who_cancels_all_around_a_session_answers_nothing_with_a_fault(
    caplog: pytest.LogCaptureFixture,
) -> None:
    gate = Gate()
    near, far = memory_pair()
    around = anyio.CancelScope()

    async def serve() -> None:
        with around:
            async with Session(far, profile=PROFILE, routes=tool(gate)) as session:
                await session.wait_closed()

    async with (
        anyio.create_task_group() as tasks,
        Session(near, profile=PROFILE, routes={}) as calling,
    ):
        tasks.start_soon(serve)
        tasks.start_soon(expect_closed, calling)
        await gate.begun.wait()
        around.cancel()
        await gate.ended.wait()
    assert gate.outcome not in ("", "finished")
    assert [record for record in caplog.records if record.levelname == "ERROR"] == []


async def test_a_handler_may_close_its_own_session() -> None:
    seen: list[str] = []

    async def hang_up(params: Any, request: Request) -> mcp.CallToolResult:
        await request.session.aclose()
        await checkpoint()
        seen.append("went on")
        return tool_text("unheard")

    async with connected(tool(hang_up)) as peers:
        await expect_closed(peers.client)
        await peers.server.wait_closed()
    assert seen == ["went on"]
    assert peers.sent_by(1) == []


async def test_a_handler_that_swallows_its_cancellation_once_is_cancelled_again() -> None:
    begun = anyio.Event()
    swallowed = 0

    async def stubborn(params: Any, request: Request) -> Any:
        nonlocal swallowed
        begun.set()
        try:
            await anyio.sleep_forever()
        except anyio.get_cancelled_exc_class():
            swallowed += 1
        await anyio.sleep_forever()

    async with connected(tool(stubborn)) as peers, anyio.create_task_group() as tasks:
        tasks.start_soon(expect_closed, peers.client)
        await begun.wait()
        await peers.server.aclose()
    assert swallowed == 1


async def test_no_task_outlives_the_block() -> None:
    def tasks() -> set[int]:
        return {task.id for task in anyio.get_running_tasks()}

    before = tasks()
    async with connected(tool(for_ever)) as peers:
        for _ in range(5):
            with anyio.move_on_after(0.001):
                await peers.client.call(methods.TOOLS_CALL, TOOL)
    assert tasks() == before


async def test_callers_wait_while_too_much_is_unsent() -> None:
    """The peer stops reading: what this side queues stays bounded, and all of it arrives."""
    count, received = 200, 0

    async def receive(params: Any, request: Request) -> None:
        nonlocal received
        received += 1

    limits = Limits(unsent=100_000)
    routes = routes_of((methods.NOTIFICATIONS_MESSAGE, receive))
    async with connected(routes, limits=limits) as peers:
        queued = 0

        async def send() -> None:
            nonlocal queued
            message = mcp.LoggingMessageNotificationParams(level="info", data="x" * 5000)
            for _ in range(count):
                await peers.client.notify(methods.NOTIFICATIONS_MESSAGE, message)
                queued += 1

        callbacks = peers.server._opened()._callbacks
        callbacks.paused = True
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(send)
            await anyio.wait_all_tasks_blocked()
            assert 20 <= queued <= 22
            callbacks.paused = False
            peers.server._transport.resume()
        while received < count:
            await checkpoint()


@pytest.mark.parametrize("size", [20_000, 1_500_000])
async def test_two_sides_that_flood_each_other_both_get_through(size: int) -> None:
    async def copy(params: mcp.CallToolRequestParams, request: Request) -> mcp.CallToolResult:
        return tool_text(str((params.arguments or {})["text"]))

    async def call(session: Session) -> None:
        arguments = {"text": "x" * size}
        result = await mcp.ServerStub(session).tools_call(name="copy", arguments=arguments)
        assert result == tool_text("x" * size)

    async with connected(tool(copy), tool(copy)) as peers, anyio.create_task_group() as tasks:
        for _ in range(3_000_000 // size):
            tasks.start_soon(call, peers.client)
            tasks.start_soon(call, peers.server)


async def test_a_session_that_is_over_is_not_kept() -> None:
    async def use() -> list[ref[Session]]:
        async with connected(tool(echo)) as peers:
            await peers.client.raw("ping")
        return [ref(peers.client), ref(peers.server)]

    gc.freeze()  # what was there before need not be looked through
    kept = await use()
    await checkpoint()
    gc.collect()
    assert [one() for one in kept] == [None, None]
