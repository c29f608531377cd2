"""Interceptors on both sides of a session: their order, and what they may change."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest

from kinwire.mcp.context import Context
from kinwire.mcp.extension import Extension
from kinwire.rpc.errors import (
    ConnectionClosedError,
    HandlerDefinitionError,
    RpcError,
)
from kinwire.rpc.request import Request
from kinwire.rpc.session import Session
from kinwire_protocols import mcp
from kinwire_protocols.base import JsonObject
from kinwire_protocols.mcp import methods
from tests.runtime.mcp.fake_protocols import (
    LeaveHost,
    LeaveServer,
    Marks,
    MarksHost,
    MarksServer,
    NotGrantedError,
    added,
)
from tests.runtime.mcp.fixtures_extensions import paired, sent, text_of
from tests.runtime.rpc.fixtures_sessions import connected, tool, tool_text

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("order", [("leave", "marks"), ("marks", "leave")])
async def test_interceptors_are_an_onion_on_both_sides(order: tuple[str, str]) -> None:
    log: list[str] = []
    servers: dict[str, Extension] = {"leave": LeaveServer(log=log), "marks": MarksServer(log=log)}
    hosts: dict[str, Extension] = {"leave": LeaveHost(log=log), "marks": MarksHost(log=log)}
    first, second = order
    async with paired([servers[n] for n in order], [hosts[n] for n in order]) as connection:
        log.clear()
        await text_of(connection, "echo", "x")
    assert log == [
        f"{first} out",
        f"{second} out",
        f"{second} in: {second} of the client",
        f"{first} in: {first} of the client",
        f"{first} answers",
        f"{second} answers",
        f"{second} back: {second} of the server",
        f"{first} back: {first} of the server",
    ]


async def test_fields_of_two_extensions_and_unknown_fields_are_preserved() -> None:
    params = mcp.CallToolRequestParams(name="echo", arguments={"text": "x"})
    unknown = params.model_copy(update={"third": None})
    async with paired([LeaveServer(), MarksServer()], [LeaveHost(), MarksHost()]) as connection:
        result = await connection.call(methods.TOOLS_CALL, unknown)
        (call,) = (
            message["params"]
            for message in sent(connection, "client")
            if message.get("method") == "tools/call"
        )
    assert call == {
        "name": "echo",
        "arguments": {"text": "x"},
        "third": None,
        "leave": "leave of the client",
        "marks": "marks of the client",
    }
    assert added(result, "leave") == "leave of the server"
    assert added(result, "marks") == "marks of the server"
    assert added(unknown, "leave") is None, "the caller's message was changed"


@asynccontextmanager
async def intercepted(inbound: Any = None, outbound: Any = None) -> AsyncGenerator[Session]:
    """A client of a tool that returns its arguments, with interceptors at either end."""

    async def echo(params: mcp.CallToolRequestParams, request: Request) -> JsonObject:
        return {"content": [{"type": "text", "text": json.dumps(params.arguments)}]}

    async with connected(tool(echo)) as peers:
        if inbound is not None:
            peers.server.intercept_inbound(inbound, methods.TOOLS_CALL)
        if outbound is not None:
            peers.client.intercept_outbound(outbound, methods.TOOLS_CALL)
        yield peers.client


async def call(session: Session, **arguments: Any) -> str:
    params = mcp.CallToolRequestParams(name="echo", arguments=arguments)
    (block,) = (await session.call(methods.TOOLS_CALL, params)).content
    assert isinstance(block, mcp.TextContent)
    return block.text


async def test_an_interceptor_may_change_params_and_result() -> None:
    async def change(params: mcp.CallToolRequestParams, about: Any, go_on: Any) -> Any:
        result = await go_on(params.model_copy(update={"arguments": {"more": 1}}))
        return result.model_copy(update={"content": [*result.content, *result.content]})

    for ends in ({"inbound": change}, {"outbound": change}):
        async with intercepted(**ends) as session:
            params = mcp.CallToolRequestParams(name="echo")
            result = await session.call(methods.TOOLS_CALL, params)
            assert [getattr(block, "text", None) for block in result.content] == ['{"more": 1}'] * 2


async def test_what_is_refused_reaches_nobody() -> None:
    async def refuse(params: Any, about: Any, go_on: Any) -> Any:
        raise NotGrantedError("no")

    for ends in ({"inbound": refuse}, {"outbound": refuse}):
        async with intercepted(**ends) as session:
            with pytest.raises(RpcError, match="no") as caught:
                await call(session)
            assert caught.value.code == -32001


async def test_an_interceptor_may_go_on_again() -> None:
    tries = 0

    async def fail_once(params: Any, about: Any, go_on: Any) -> Any:
        nonlocal tries
        tries += 1
        if tries == 1:
            raise RpcError("busy", code=-32000)
        return await go_on(params)

    async def retry(params: Any, about: Any, go_on: Any) -> Any:
        try:
            return await go_on(params)
        except RpcError:
            return await go_on(params)

    async with intercepted(inbound=fail_once, outbound=retry) as session:
        assert await call(session, a=1) == '{"a": 1}'
    assert tries == 2


async def test_options_of_a_call_pass_interceptors() -> None:
    reports: list[float] = []

    async def report(params: Any, request: Request) -> mcp.CallToolResult:
        await request.progress(1)
        return tool_text(str(getattr(params, "meta", None)))

    async def through(params: Any, about: Any, go_on: Any) -> Any:
        return await go_on(params)

    async with connected(tool(report)) as peers:
        peers.client.intercept_outbound(through)
        peers.server.intercept_inbound(through)
        peer = peers.client.with_options(
            on_progress=lambda report: reports.append(report.progress), meta={"a": 1}
        )
        result = await mcp.ServerStub(peer).tools_call(name="tool")
    assert reports == [1]
    assert "a=1" in getattr(result.content[0], "text", "")


async def test_a_handler_sees_what_interceptors_passed_on_in_its_context_as_well() -> None:
    async def redact(params: Any, about: Any, go_on: Any) -> Any:
        return await go_on(params.model_copy(update={"meta": None}))

    async def look(params: Any, request: Request) -> mcp.CallToolResult:
        return tool_text(repr(Context(request).meta))

    async with connected(tool(look)) as peers:
        peers.server.intercept_inbound(redact)
        peer = peers.client.with_options(meta={"secret": 1})
        result = await mcp.ServerStub(peer).tools_call(name="tool")
    assert getattr(result.content[0], "text", "") == "None"


async def test_interceptors_of_all_methods_see_every_protocol_but_nothing_raw() -> None:
    seen: list[str] = []

    async def look(params: Any, about: Any, go_on: Any) -> Any:
        seen.append(about.name)
        return await go_on(params)

    async with paired([MarksServer()], [MarksHost()]) as connection:
        connection.session.intercept_outbound(look)
        await Marks(connection).marks_changed()
        await Marks(connection.with_options(timeout=5)).marks_rename()
        await connection.mcp.ping()
        await connection.session.raw("marks/rename")
    assert seen == ["marks/changed", "marks/rename", "ping"]


async def test_a_request_that_waits_in_a_filter_can_be_cancelled() -> None:
    entered, ended = anyio.Event(), anyio.Event()

    async def hold(params: Any, about: Any, go_on: Any) -> Any:
        entered.set()
        try:
            await anyio.sleep_forever()
        finally:
            ended.set()

    async with intercepted(inbound=hold) as session, anyio.create_task_group() as tasks:
        tasks.start_soon(call, session)
        await entered.wait()
        tasks.cancel_scope.cancel()
    assert ended.is_set()


@pytest.mark.parametrize(
    "wrong",
    [lambda params, about, go_on: None, tool_text, Any],
    ids=["not async", "another function", "no function"],
)
async def test_an_invalid_interceptor_is_refused_when_it_is_added(wrong: Any) -> None:
    async with connected({}) as peers:
        with pytest.raises((HandlerDefinitionError, TypeError)):
            peers.client.intercept_outbound(wrong)


async def test_an_async_function_of_two_parameters_is_not_an_interceptor() -> None:
    async def wrong(params: Any, go_on: Any) -> Any:
        return await go_on(params)

    async with connected({}) as peers:
        with pytest.raises(HandlerDefinitionError, match=r"wrong: expected an async function of"):
            peers.server.intercept_inbound(wrong)  # type: ignore[arg-type]


async def test_a_call_fails_when_the_session_ends_under_an_interceptor() -> None:
    async def hang_up(params: Any, request: Request, go_on: Any) -> Any:
        await request.session.aclose()

    async with intercepted(inbound=hang_up) as session:
        with pytest.raises(ConnectionClosedError):
            await call(session)
