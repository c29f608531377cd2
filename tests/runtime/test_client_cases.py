"""Cases from public reports about clients: answers of servers that are not what was hoped for.

The server's end is spoken in bytes. `test_cases.py` has the servers.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest

from kinwire.mcp.host import Host
from kinwire.mcp.profile import PROFILE
from kinwire.rpc.errors import InvalidResponseError, ShapeError
from kinwire.rpc.limits import Limits
from kinwire.rpc.session import Session
from kinwire.rpc.transport import SessionCallbacks
from kinwire.support.background import background
from kinwire.transports.memory import MemoryTransport, memory_pair
from kinwire_protocols import mcp
from tests.runtime.rpc.fixtures_sessions import routes_of

pytestmark = pytest.mark.anyio

RESULT: dict[str, Any] = {"content": []}
USES = {"uses": ["tools", "telemetry.v2"]}


class RawServer:
    """An end that sends exactly what a test passes, and records requests."""

    def __init__(self, transport: MemoryTransport) -> None:
        self._transport = transport
        self._waiting: deque[bytes] = deque()
        self._heard, self.heard = anyio.create_memory_object_stream[dict[str, Any]](100)

    async def run(self) -> None:
        with self._heard, self.heard:
            await self._transport.run(
                SessionCallbacks(
                    feed=lambda frame: self._heard.send_nowait(json.loads(frame)),
                    waiting=self._waiting,
                    take=lambda: [self._waiting.popleft()],
                    take_frames=list,
                    write_with=lambda _, __: None,
                    hold_back=lambda _: None,
                    overlong=lambda head: None,
                    answer=lambda frame, _: None,
                    waits=lambda _: False,
                    fail=lambda _, error: None,
                    end=lambda why: None,
                    ask_to_end=lambda why: None,
                    frame_size=Limits().frame_size,
                    loop=None,
                )
            )

    async def next_id(self) -> Any:
        return (await self.heard.receive())["id"]

    def say(self, message: Any) -> None:
        self._waiting.append(json.dumps(message).encode())
        self._transport.wake()

    def answer(self, id: Any, **members: Any) -> None:
        self.say({"jsonrpc": "2.0", "id": id, **members})


@asynccontextmanager
async def raw_server() -> AsyncGenerator[tuple[MemoryTransport, RawServer]]:
    client_end, server_end = memory_pair()
    server = RawServer(server_end)
    with anyio.fail_after(20):
        async with background() as tasks:
            tasks.start_soon(server.run)
            yield client_end, server
            tasks.cancel_scope.cancel()


@asynccontextmanager
async def called(times: int, ask: Callable[[Session], Awaitable[Any]]) -> AsyncGenerator[Any]:
    """Yield server and ids of calls that wait, and the list of their outcomes in order."""
    outcomes: list[Any] = [None] * times

    async def call(session: Session, number: int) -> None:
        try:
            outcomes[number] = await ask(session)
        except Exception as error:
            outcomes[number] = error

    async with (
        raw_server() as (transport, server),
        Session(transport, profile=PROFILE, routes=routes_of()) as session,
        anyio.create_task_group() as tasks,
    ):
        ids = []
        for number in range(times):
            tasks.start_soon(call, session, number)
            ids.append(await server.next_id())
        yield server, ids, outcomes


async def call_tool(session: Session) -> Any:
    return await mcp.ServerStub(session).tools_call(name="x")


@pytest.mark.parametrize("result", [{"answer": 42}, {}, {"tools": []}, {"content": 5}])
async def test_b013_the_method_decides_what_a_result_is(result: dict[str, Any]) -> None:
    async def lookup(session: Session) -> Any:
        return await session.raw("x/lookup")

    async with called(1, lookup) as (server, ids, outcomes):
        server.answer(ids[0], result=result)
    assert outcomes == [result]


async def test_b014_an_answer_with_both_fields_or_neither_fails() -> None:
    async with called(3, call_tool) as (server, ids, outcomes):
        server.answer(ids[0], result=RESULT, error={"code": -32603, "message": "x"})
        server.answer(ids[1])
        server.answer(ids[2], result=RESULT)
    assert [type(one) for one in outcomes] == [
        InvalidResponseError,
        InvalidResponseError,
        mcp.CallToolResult,
    ]


async def test_b015_a_bad_member_of_one_item_is_named_with_its_place() -> None:
    """The case has annotations of a tool, which this version leaves open; so a schema is bad."""
    tools: list[Any] = [{"name": name, "inputSchema": {"type": "object"}} for name in "abc"]
    tools[1]["inputSchema"] = "high"

    async def list_tools(session: Session) -> Any:
        return await mcp.ServerStub(session).tools_list()

    async with called(1, list_tools) as (server, ids, outcomes):
        server.answer(ids[0], result={"tools": tools})
    assert isinstance(outcomes[0], ShapeError)
    assert "/tools/1/inputSchema" in str(outcomes[0])


async def test_b040_an_error_without_an_id_touches_no_call() -> None:
    async with called(2, call_tool) as (server, ids, outcomes):
        server.say({"jsonrpc": "2.0", "id": None, "error": {"code": -32600, "message": "batch"}})
        for id in reversed(ids):
            server.answer(id, result=RESULT)
    assert [type(one) for one in outcomes] == [mcp.CallToolResult] * 2


async def test_b040_an_array_of_answers_touches_no_call() -> None:
    """The case leaves arrays open; ours are refused as a whole, whatever they hold (B039)."""
    async with called(2, call_tool) as (server, ids, outcomes):
        server.say([{"jsonrpc": "2.0", "id": id, "result": {}} for id in ids])
        assert (await server.heard.receive())["error"]["code"] == -32600
        for id in ids:
            server.answer(id, result=RESULT)
    assert [type(one) for one in outcomes] == [mcp.CallToolResult] * 2


async def test_b012_unknown_values_that_a_server_sends_are_kept() -> None:
    logs: list[str] = []
    async with raw_server() as (transport, server), Host("h", "1") as host:

        async def serve() -> None:
            greeting = {
                "protocolVersion": "2024-11-05",
                "capabilities": {"experimental": {"x": USES}},
                "serverInfo": {"name": "s", "version": "1"},
            }
            server.answer(await server.next_id(), result=greeting)
            await server.heard.receive()
            log = {"level": "trace", "data": "deep"}
            server.say({"jsonrpc": "2.0", "method": "notifications/message", "params": log})
            server.answer(await server.next_id(), result={})

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(serve)
            connection = await host.connect(transport, on_log=lambda log: logs.append(log.level))
            await connection.mcp.ping()
        assert connection.capabilities.experimental == {"x": USES}
    assert logs == ["trace"]
