"""High load: cancelled calls and sessions, by the thousand."""

from __future__ import annotations

from random import Random

import anyio
import pytest
from anyio.lowlevel import checkpoint

from kinwire.mcp.profile import PROFILE
from kinwire.rpc.request import Request
from kinwire.rpc.session import Session
from kinwire.transports.memory import memory_pair
from kinwire_protocols import mcp
from kinwire_protocols.mcp import methods
from tests.runtime.rpc.fixtures_sessions import connected, routes_of, tool, tool_text
from tests.sample import rounds

pytestmark = [pytest.mark.anyio, pytest.mark.faults]

_CALLS = rounds(10_000)
_AT_ONCE = 100
_SESSIONS = rounds(1_000)
_PATIENCE = 120  # seconds; on a busy machine many sessions take their time


async def work(params: mcp.CallToolRequestParams, request: Request) -> mcp.CallToolResult:
    number = int((params.arguments or {})["number"])
    for _ in range(number % 5):
        await checkpoint()
    return tool_text(str(number))


async def call_until(session: Session, number: int, turns: int, answered: list[int]) -> None:
    """Call for that many turns of the loop."""
    params = mcp.CallToolRequestParams(name="x", arguments={"number": number})
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(cancel_after, turns, tasks.cancel_scope)
        assert await session.call(methods.TOOLS_CALL, params) == tool_text(str(number))
        answered.append(number)
        tasks.cancel_scope.cancel()


async def cancel_after(turns: int, scope: anyio.CancelScope) -> None:
    for _ in range(turns):
        await checkpoint()
    scope.cancel()


async def test_of_thousands_of_calls_taken_back_none_is_answered_twice() -> None:
    random = Random(1)
    answered: list[int] = []
    before = {task.id for task in anyio.get_running_tasks()}
    async with connected(tool(work), patience=_PATIENCE) as peers:
        for first in range(0, _CALLS, _AT_ONCE):
            async with anyio.create_task_group() as tasks:
                for number in range(first, first + _AT_ONCE):
                    turns = random.randrange(25)
                    tasks.start_soon(call_until, peers.client, number, turns, answered)
        assert await peers.client.raw("ping") == {}
    replied = [frame["id"] for end, frame in peers.frames if end == 1 and "id" in frame]
    assert len(replied) == len(set(replied))
    assert 0 < len(answered) < _CALLS, "all or none were taken back"
    assert {task.id for task in anyio.get_running_tasks()} == before


async def test_many_sessions_in_one_process_leave_nothing() -> None:
    async def hold(opened: list[Session], all_open: anyio.Event) -> None:
        first, second = memory_pair()
        async with (
            Session(first, profile=PROFILE, routes=routes_of()) as one,
            Session(second, profile=PROFILE, routes=routes_of()) as other,
        ):
            opened.append(one)
            if len(opened) == _SESSIONS:
                all_open.set()
            await all_open.wait()
            assert await one.raw("ping") == await other.raw("ping") == {}

    before = {task.id for task in anyio.get_running_tasks()}
    opened: list[Session] = []
    with anyio.fail_after(_PATIENCE):
        async with anyio.create_task_group() as tasks:
            all_open = anyio.Event()
            for _ in range(_SESSIONS):
                tasks.start_soon(hold, opened, all_open)
    assert all(session.closed for session in opened)
    assert {task.id for task in anyio.get_running_tasks()} == before
