"""Calls whose results come as events: what comes, in which order, and how a stream ends."""

from __future__ import annotations

import json
from contextvars import ContextVar
from typing import Any
from unittest.mock import patch

import anyio
import pytest

from kinwire.mcplite.rules.calls import ToolCall
from kinwire.mcplite.server.http import calls
from kinwire.mcplite.server.source import ANYONE
from kinwire.transports.http.limits import HttpLimits
from tests.runtime.mcp.http.fake_asgi_client import Client, Open
from tests.runtime.mcplite.server.http.fixtures_lite import (
    DONE,
    Service,
    app_of,
    call_of,
    caller_at,
)

pytestmark = pytest.mark.anyio


def streaming(service: Service, **options: Any) -> Client:
    return caller_at(app_of(service, **options), accept="text/event-stream")


async def events(response: Open) -> list[tuple[str, Any]]:
    await response.until("ended")
    return [(event.name, json.loads(event.data)) for event in response.events]


@pytest.mark.spec("mcp-lite-4.3-1", "mcp-lite-4.3-3", "mcp-lite-4.3-4")
async def test_parts_come_as_messages_and_the_whole_result_last() -> None:
    answer = await streaming(Service()).post(call_of("echo", "s-1", parts=2))
    assert answer.headers["content-type"] == "text/event-stream"
    assert (answer.headers["cache-control"], answer.headers["x-accel-buffering"]) == (
        "no-store",
        "no",
    )
    assert answer.body == (
        b'event: message\ndata: {"partial":"0\\n"}\n\n'
        b'event: message\ndata: {"partial":"1\\n"}\n\n'
        b'event: done\ndata: {"id":"s-1","content":[{"n":1}],'
        b'"_meta":{"response_type":"answer"}}\n\n'
    )


@pytest.mark.spec("mcp-lite-A.4-1", "mcp-lite-A.4-2", "mcp-lite-A.4-3")
async def test_a_stream_is_what_appendix_a_shows() -> None:
    client = streaming(Service())
    client.path = "/rpc"
    got = await events(await client.post(call_of("echo", parts=1)))  # type: ignore[arg-type]
    assert got == [("message", {"partial": "0\n"}), ("done", {"id": 1, **DONE})]


@pytest.mark.spec("mcp-lite-4.3-5")
@pytest.mark.parametrize(("name", "code"), [("nothing", -32601), ("bug", -32603), ("nan", -32603)])
async def test_what_goes_wrong_is_the_last_event(name: str, code: int) -> None:
    answer = await streaming(Service()).post(call_of(name, parts=1))
    part, (event, error) = await events(answer)  # type: ignore[arg-type]
    assert part[0] == "message"
    assert (answer.status, event, error["code"]) == (200, "error", code)
    assert b"hunter2" not in answer.body


async def test_a_client_that_takes_json_too_gets_json() -> None:
    client = caller_at(app_of(Service()), accept="application/json, text/event-stream")
    assert (await client.post(call_of("echo"))).json["result"] == DONE
    listed = await streaming(Service()).post({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
    assert listed.headers["content-type"] == "application/json"


@pytest.mark.spec("mcp-lite-4.3-6")
async def test_a_stream_without_news_has_a_heartbeat() -> None:
    service = Service()
    client = streaming(service, limits=HttpLimits(keep_alive=0.01))
    async with client.open("POST", call_of("wait", parts=1)) as response:
        first = await response.event()
        beats = [await response.event() for _ in range(3)]
        service.go_on.set()
        await response.until("ended")
        assert first.name == "message"
        assert {(beat.name, beat.data) for beat in beats} == {("heartbeat", b"{}")}
        assert response.events[-1].name == "done"


@pytest.mark.spec("mcp-lite-3.7-4")
@pytest.mark.parametrize("accept", ["application/json", "text/event-stream"])
async def test_a_client_that_leaves_cancels_its_call(accept: str) -> None:
    service = Service()
    client = caller_at(app_of(service), accept=accept)
    async with client.sent("POST", call_of("wait")) as response:
        await service.waits.wait()
        response.disconnect()
        with anyio.fail_after(5):
            await service.cancelled.wait()
    assert client.app.calls.count() == 0  # type: ignore[attr-defined]
    assert not response.ended


async def test_an_application_around_it_may_hand_the_body_out_again() -> None:
    service = Service()

    async def around(scope: Any, receive: Any, send: Any) -> None:
        body = await receive()

        async def again() -> Any:
            return body

        await app_of(service)(scope, again, send)

    with anyio.fail_after(5):
        async with caller_at(around).sent("POST", call_of("wait")) as answer:
            await service.waits.wait()
            await anyio.sleep(0.01)  # time for what watches the connection
            service.go_on.set()
            await answer.until("ended")
    assert answer.json["result"] == DONE


@pytest.mark.parametrize("accept", ["application/json", "text/event-stream"])
async def test_an_application_around_it_has_its_context_in_receive(accept: str) -> None:
    service, request = Service(), ContextVar[str]("request")
    app, seen = app_of(service), list[str]()

    async def around(scope: Any, receive: Any, send: Any) -> None:
        async def traced() -> Any:
            seen.append(request.get())
            return await receive()

        request.set("r-1")
        await app(scope, traced, send)

    async with caller_at(around, accept=accept).sent("POST", call_of("wait")) as response:
        await service.waits.wait()
        for _ in range(5):
            await anyio.lowlevel.checkpoint()
        service.go_on.set()
        await response.until("ended")
    assert (response.status, service.cancelled.is_set()) == (200, False)
    assert seen == ["r-1", "r-1"]  # the body, and whether the client is still there


async def test_a_client_that_does_not_read_holds_the_tool_up() -> None:
    service = Service()
    client = streaming(service, limits=HttpLimits(keep_alive=0.01))
    async with client.open("POST", call_of("echo", parts=1000)) as response:
        await response.event()
        response.hold()
        for _ in range(20):
            await anyio.lowlevel.checkpoint()
        held = service.made
        await anyio.sleep(0.03)
        assert service.made == held < 1000
        response.disconnect()


async def test_a_client_whose_connection_breaks_ends_the_call() -> None:
    service = Service()
    client = streaming(service)

    class Broken(Open):
        async def take(self, part: Any) -> None:
            if part["type"] == "http.response.body":
                raise OSError("gone")
            await super().take(part)

    response = Broken()
    with anyio.fail_after(5):
        await client._call("POST", call_of("echo", parts=3), {}, response)
    assert (response.status, service.made) == (200, 1)


@pytest.mark.parametrize("accept", ["application/json", "text/event-stream"])
async def test_a_server_that_stops_lets_calls_finish_and_then_ends_them(accept: str) -> None:
    service = Service()
    client = caller_at(app_of(service, limits=HttpLimits(patience=0.02)), accept=accept)
    app: Any = client.app
    async with client.sent("POST", call_of("wait")) as response:
        await service.waits.wait()
        app.stop()
        assert (await client.post(call_of("echo"))).status == 503
        service.go_on.set()
        await response.until("ended")
        assert response.status == 200
    service = Service()
    with patch.object(calls, "_LAST_ANSWERS", 0.01):
        client = caller_at(app_of(service, limits=HttpLimits(patience=0.02)), accept=accept)
        app = client.app
        async with client.sent("POST", call_of("wait")) as response:
            await service.waits.wait()
            await app.aclose()
            await response.until("ended")
    assert service.closed
    error = response.answer if response.is_stream else response.json["error"]
    assert (error["code"], error["message"]) == (-32603, "The server is stopping.")
    assert response.status == (200 if response.is_stream else 503)


async def test_a_list_that_takes_long_ends_with_its_client() -> None:
    service = Service()

    async def list_tools(caller: object) -> None:
        await service.call(ToolCall("wait"), ANYONE)

    service.list_tools = list_tools  # type: ignore[assignment, method-assign]
    async with caller_at(app_of(service), "/listtools").sent("POST", {}) as response:
        await service.waits.wait()
        response.disconnect()
        with anyio.fail_after(5):
            await service.cancelled.wait()
    assert not response.ended


async def test_a_tool_that_does_not_heed_its_end_does_not_hold_the_server() -> None:
    service, deaf = Service(), anyio.Event()

    async def call(call: object, caller: object) -> Any:
        with anyio.CancelScope(shield=True):
            while not deaf.is_set():
                try:
                    service.waits.set()
                    await deaf.wait()
                except BaseException:
                    continue
        return DONE

    service.call = call  # type: ignore[method-assign]
    app = app_of(service, limits=HttpLimits(patience=0.01))
    with patch.object(calls, "_LAST_ANSWERS", 0.01), patch.object(calls, "_UNWILLING", 0.01):
        async with caller_at(app).sent("POST", call_of("echo")) as response:
            await service.waits.wait()
            with anyio.fail_after(5):
                await app.aclose()
            assert not response.ended
            deaf.set()
            await response.until("ended")
    assert service.closed


@pytest.mark.parametrize("anyio_backend", ["asyncio"], indirect=True)
async def test_a_server_that_is_cancelled_while_a_client_leaves_is_cancelled() -> None:
    service = Service()
    client = caller_at(app_of(service))
    async with client.sent("POST", call_of("wait")) as response:
        await service.waits.wait()
        (running,) = client.app.calls.running  # type: ignore[attr-defined]
        task = running._task
        response.disconnect()
        task.cancel()
        running.end()
        with anyio.fail_after(5):
            await service.cancelled.wait()
        await anyio.wait_all_tasks_blocked()
    assert task.cancelled()
