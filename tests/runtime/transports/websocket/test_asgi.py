"""A server's WebSocket below an ASGI server, which has the framing."""

from __future__ import annotations

import json
from logging import INFO
from typing import Any

import anyio
import pytest
from anyio.lowlevel import checkpoint

from kinwire import ConnectionClosedError, Context, Limits, Server, connect
from kinwire.transports.http.limits import HttpLimits
from tests.runtime.mcp.http.fake_asgi_client import Client
from tests.runtime.transports.fixtures_serving import served
from tests.runtime.transports.websocket.fake_asgi_server import HELLO, below

pytestmark = pytest.mark.anyio


@pytest.fixture
def server() -> Server:
    return Server("s", "1", limits=Limits(frame_size=1000))


async def test_a_session_is_served_until_the_client_leaves(server: Server) -> None:
    async with below(server) as asgi:
        assert await asgi.event() == {"type": "websocket.accept", "subprotocol": "mcp"}
        hello = await asgi.ask(1, "initialize", **HELLO)
        assert hello["result"]["serverInfo"]["name"] == "s"
        assert await asgi.ask(2) == {"jsonrpc": "2.0", "id": 2, "result": {}}
        await asgi.arrive("disconnect", code=1006)
        await anyio.wait_all_tasks_blocked()
        assert asgi.sent() == 0  # nothing to somebody who is gone


async def test_a_message_that_is_too_long_is_answered(server: Server) -> None:
    async with below(server) as asgi:
        await asgi.event()
        await asgi.ask(1, "initialize", **HELLO)
        answer = await asgi.ask(2, "x" * 1000)
        assert "longer than 1000 bytes" in answer["error"]["message"]


async def test_a_binary_message_ends_it(server: Server) -> None:
    async with below(server) as asgi:
        await asgi.event()
        await asgi.arrive("receive", bytes=b"x")
        assert await asgi.event() == {"type": "websocket.close", "code": 1003}


REFUSED: list[tuple[dict[str, Any], int]] = [
    ({"headers": {"host": "evil.example"}}, 421),
    ({"headers": {"origin": "http://evil.example"}}, 403),
    ({"server": ("10.0.0.1", 8000)}, 403),
]


@pytest.mark.parametrize(("scope", "status"), REFUSED)
async def test_a_refused_client_gets_the_reason_if_the_server_supports_it(
    server: Server, scope: dict[str, Any], status: int
) -> None:
    able: dict[str, Any] = {"extensions": {"websocket.http.response": {}}}
    async with below(server, **scope, **able) as asgi:
        start = await asgi.event()
        assert (start["type"], start["status"]) == ("websocket.http.response.start", status)
        assert (await asgi.event())["type"] == "websocket.http.response.body"
    async with below(server, **scope) as asgi:
        assert (await asgi.event())["type"] == "websocket.close"


async def test_a_refusal_is_not_an_error_in_the_log_of_uvicorn(
    server: Server, caplog: pytest.LogCaptureFixture
) -> None:
    async def nobody(token: str) -> None: ...

    with served(server, authenticate=nobody) as one:
        for _ in range(3):
            with pytest.raises(ConnectionClosedError, match="HTTP 401"):
                async with connect(one.url("ws")):
                    pass
    assert [record.getMessage() for record in caplog.records if record.levelno > INFO] == []


async def test_another_subprotocol_is_refused_and_none_is_welcome(server: Server) -> None:
    async with below(server, subprotocols=["graphql-ws"]) as asgi:
        assert (await asgi.event())["type"] == "websocket.close"
    async with below(server, subprotocols=[]) as asgi:
        assert await asgi.event() == {"type": "websocket.accept", "subprotocol": None}


async def test_it_counts_among_the_sessions_of_its_application(server: Server) -> None:
    app = server.asgi(limits=HttpLimits(sessions=2))
    able: dict[str, Any] = {"extensions": {"websocket.http.response": {}}}
    client = await Client(app).begin()
    await client.post({"jsonrpc": "2.0", "id": 1, "method": "ping"})  # it is in use
    async with below(app) as first:
        assert (await first.event())["type"] == "websocket.accept"
        async with below(app, **able) as second:
            assert (await second.event())["status"] == 503
        with pytest.raises(AssertionError, match="No more sessions"):
            await Client(app).begin()
        await client.request("DELETE")
        async with below(app) as third:
            assert (await third.event())["type"] == "websocket.accept"
    assert not app.sessions.sockets


async def test_one_client_has_no_more_sessions_than_it_may(server: Server) -> None:
    app = server.asgi(limits=HttpLimits(sessions_per_client=1))
    able: dict[str, Any] = {"extensions": {"websocket.http.response": {}}}
    async with below(app, client=("1.1.1.1", 1)) as first:
        assert (await first.event())["type"] == "websocket.accept"
        async with below(app, client=("1.1.1.1", 2), **able) as second:
            assert (await second.event())["status"] == 503
        async with below(app, client=("2.2.2.2", 1)) as other:
            assert (await other.event())["type"] == "websocket.accept"


@pytest.mark.parametrize(("ends", "code"), [("the server", 1001), ("a binary message", 1003)])
async def test_what_was_said_before_the_end_arrives_before_goodbye(
    server: Server, ends: str, code: int
) -> None:
    @server.tool
    async def say(context: Context) -> None:
        for number in range(20):
            await context.log("error", number)

    app = server.asgi()
    async with below(app, slow=True) as asgi:
        await asgi.event()
        await asgi.ask(1, "initialize", **HELLO)
        call = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "say"}}
        await asgi.arrive("receive", text=json.dumps(call))
        await anyio.wait_all_tasks_blocked()  # in the midst of what it says
        if ends == "the server":
            app.stop()
        else:
            await asgi.arrive("receive", bytes=b"x")
        await anyio.wait_all_tasks_blocked()
        events = [await asgi.event() for _ in range(22)]
        said = [json.loads(event["text"]) for event in events[:-1]]
        assert [one["params"]["data"] for one in said[:-1]] == list(range(20))
        assert said[-1]["id"] == 2
        assert events[-1] == {"type": "websocket.close", "code": code}
        await app.aclose()
        assert asgi.sent() == 0


@pytest.mark.parametrize("error", [OSError, RuntimeError])
async def test_a_client_that_is_gone_when_something_is_said_ends_its_session(
    server: Server, error: type[Exception]
) -> None:
    app = server.asgi()
    async with below(app, fails=error) as asgi:
        await asgi.event()
        request = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": HELLO}
        await asgi.arrive("receive", text=json.dumps(request))
        await asgi.event()
        while app.sessions.sockets:
            await checkpoint()
        assert not server._sessions
