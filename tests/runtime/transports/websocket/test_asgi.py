"""A server's WebSocket below an ASGI server, which has the framing."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest

from kinwire import Limits, Server
from kinwire._background import background
from kinwire.transports.http.app import HttpApp
from kinwire.transports.http.limits import HttpLimits
from tests.runtime.transports.http.asgi import Client

pytestmark = pytest.mark.anyio

HELLO: dict[str, Any] = {
    "protocolVersion": "2024-11-05",
    "capabilities": {},
    "clientInfo": {"name": "raw", "version": "1"},
}


class AsgiServer:
    """What a client would see of an ASGI server."""

    def __init__(self) -> None:
        self._in, self.receive_in = anyio.create_memory_object_stream[dict[str, Any]](10)
        self.send_out, self._out = anyio.create_memory_object_stream[dict[str, Any]](100)

    async def arrive(self, kind: str, **members: Any) -> None:
        await self._in.send({"type": f"websocket.{kind}", **members})

    async def event(self) -> dict[str, Any]:
        return await self._out.receive()

    async def ask(self, id: int, method: str = "ping", **params: Any) -> Any:
        request = {"jsonrpc": "2.0", "id": id, "method": method, "params": params}
        await self.arrive("receive", text=json.dumps(request))
        return json.loads((await self.event())["text"])

    def sent(self) -> int:
        return self._out.statistics().current_buffer_used

    def close(self) -> None:
        for end in (self._in, self.receive_in, self.send_out, self._out):
            end.close()


@asynccontextmanager
async def below(
    served: Server | HttpApp, *, headers: dict[str, str] | None = None, **scope: Any
) -> AsyncGenerator[AsgiServer]:
    fields = {"host": "127.0.0.1:8000", **(headers or {})}
    whole = {
        "type": "websocket",
        "scheme": "ws",
        "server": ("127.0.0.1", 8000),
        "headers": [(name.encode(), value.encode()) for name, value in fields.items()],
        "subprotocols": ["mcp"],
        **scope,
    }
    asgi = AsgiServer()
    with anyio.fail_after(10):
        async with background() as tasks:
            app: Any = served.asgi() if isinstance(served, Server) else served
            tasks.start_soon(app, whole, asgi.receive_in.receive, asgi.send_out.send)
            await asgi.arrive("connect")
            try:
                yield asgi
            finally:
                tasks.cancel_scope.cancel()
                asgi.close()


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
async def test_who_may_not_connect_is_told_where_the_server_can(
    server: Server, scope: dict[str, Any], status: int
) -> None:
    able: dict[str, Any] = {"extensions": {"websocket.http.response": {}}}
    async with below(server, **scope, **able) as asgi:
        start = await asgi.event()
        assert (start["type"], start["status"]) == ("websocket.http.response.start", status)
        assert (await asgi.event())["type"] == "websocket.http.response.body"
    async with below(server, **scope) as asgi:
        assert (await asgi.event())["type"] == "websocket.close"


async def test_another_subprotocol_is_refused_and_none_is_welcome(server: Server) -> None:
    async with below(server, subprotocols=["graphql-ws"]) as asgi:
        assert (await asgi.event())["type"] == "websocket.close"
    async with below(server, subprotocols=[]) as asgi:
        assert await asgi.event() == {"type": "websocket.accept", "subprotocol": None}


async def test_it_counts_among_the_sessions_of_its_application(server: Server) -> None:
    app = server.asgi(limits=HttpLimits(sessions=2))
    able: dict[str, Any] = {"extensions": {"websocket.http.response": {}}}
    client = await Client(app).begin()
    async with below(app) as first:
        assert (await first.event())["type"] == "websocket.accept"
        async with below(app, **able) as second:
            assert (await second.event())["status"] == 503
        with pytest.raises(AssertionError, match="No more sessions"):
            await Client(app).begin()
        await client.request("DELETE")
        async with below(app) as third:
            assert (await third.event())["type"] == "websocket.accept"
    assert app.sessions.sockets == 0
