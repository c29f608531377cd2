"""A connection that breaks at the n-th frame, for every n there is: no hang, no mixed-up answer."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import anyio
import pytest

from kinwire.mcp.profile import PROFILE
from kinwire.rpc.errors import ConnectionClosedError
from kinwire.rpc.request import Request
from kinwire.rpc.session import Session
from kinwire.rpc.transport import SessionCallbacks
from kinwire.transports.memory import MemoryTransport, memory_pair
from kinwire_protocols import mcp
from kinwire_protocols.mcp import methods
from tests.runtime.rpc.fixtures_sessions import routes_of, tool_text

pytestmark = [
    pytest.mark.faults,
    pytest.mark.anyio,
    pytest.mark.parametrize(
        "anyio_backend", ["asyncio", "uvloop", "trio", "anyio on asyncio"], indirect=True
    ),
]


_CALLS = 10


class Breaking:
    """A transport that breaks when its n-th frame comes in or goes out; that frame is lost."""

    peer_may_emit_noise = False
    address: str | None = None

    def __init__(self, inner: MemoryTransport, at: int, *, incoming: bool) -> None:
        self._inner = inner
        self._left = at
        self._incoming = incoming
        self._broken = anyio.Event()
        self.wake, self.resume, self.aclose = inner.wake, inner.resume, inner.aclose

    @property
    def broke(self) -> bool:
        return self._broken.is_set()

    async def run(self, callbacks: SessionCallbacks, /) -> None:
        def feed(frame: bytes) -> None:
            if self._passes(self._incoming):
                callbacks.feed(frame)

        def take() -> list[bytes]:
            return [frame for frame in callbacks.take() if self._passes(not self._incoming)]

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._inner.run, replace(callbacks, feed=feed, take=take))
            await self._broken.wait()
            raise OSError("the wire was cut")

    def _passes(self, counted: bool) -> bool:
        if counted and not self.broke:
            self._left -= 1
            if self._left == 0:
                self._broken.set()
        return not self.broke


async def copy(params: mcp.CallToolRequestParams, request: Request) -> mcp.CallToolResult:
    await request.progress(1)
    await request.session.raw("ping")
    await request.progress(2)
    await request.session.notify(methods.NOTIFICATIONS_TOOLS_LIST_CHANGED, mcp.NotificationParams())
    return tool_text(str((params.arguments or {})["n"]))


async def changed(params: Any, request: Request) -> None:
    await request.session.raw("ping")


async def walk(session: Session, number: int, outcomes: list[str]) -> None:
    peer = mcp.ServerStub(session.with_options(on_progress=lambda _: None))
    try:
        with anyio.move_on_after(0 if number == 3 else 60):
            result = await peer.tools_call(name="copy", arguments={"n": number})
            assert result == tool_text(str(number)), "another call's answer"
    except ConnectionClosedError:
        outcomes.append("closed")
    else:
        outcomes.append("done")


async def walk_until(at: int, *, end: int, incoming: bool) -> bool:
    """Walk with a break at one frame; return whether there were that many frames."""
    first, second = memory_pair()
    breaking = Breaking(second if end else first, at, incoming=incoming)
    transports = (first, breaking) if end else (breaking, second)
    outcomes: list[str] = []
    with anyio.fail_after(20):
        async with (
            Session(transports[1], profile=PROFILE, routes=routes_of((methods.TOOLS_CALL, copy))),
            Session(
                transports[0],
                profile=PROFILE,
                routes=routes_of((methods.NOTIFICATIONS_TOOLS_LIST_CHANGED, changed)),
            ) as calling,
        ):
            async with anyio.create_task_group() as tasks:
                for number in range(_CALLS):
                    tasks.start_soon(walk, calling, number, outcomes)
            if breaking.broke:
                await calling.wait_closed()
    assert len(outcomes) == _CALLS
    return breaking.broke


@pytest.mark.parametrize("end", [0, 1], ids=["client", "server"])
@pytest.mark.parametrize("incoming", [True, False], ids=["reading", "writing"])
async def test_a_break_at_any_frame_ends_every_call_and_leaves_no_task(
    end: int, incoming: bool
) -> None:
    before = {task.id for task in anyio.get_running_tasks()}
    at = 1
    while await walk_until(at, end=end, incoming=incoming):
        assert {task.id for task in anyio.get_running_tasks()} == before
        at += 1
    assert at > _CALLS, "the walk is too short to mean anything"
