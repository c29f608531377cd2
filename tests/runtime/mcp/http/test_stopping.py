"""An application that stops: every session ends, whenever the stop comes."""

from __future__ import annotations

import json
from typing import Any

import anyio
import pytest
from anyio.lowlevel import checkpoint

from kinwire.rpc.limits import Limits
from tests.runtime.mcp.http.conftest import Tools
from tests.runtime.mcp.http.fake_asgi_client import Client, initialize, message
from tests.runtime.transports.websocket.fake_asgi_server import HELLO, below

pytestmark = pytest.mark.anyio

MOMENTS = range(12)  # turns of the loop behind the request
SOON = 5.0  # seconds: a session that is left lives for half an hour

BEGINS: list[tuple[str, Any, bool]] = [
    ("POST", initialize(), False),
    ("POST", message("tools/call", name="echo", arguments={"text": "hi"}), True),
    ("GET", None, False),
]


@pytest.mark.parametrize("turns", MOMENTS)
@pytest.mark.parametrize(("method", "body", "stateless"), BEGINS)
async def test_a_session_that_is_about_to_begin_ends_too(
    tools: Tools, method: str, body: Any, stateless: bool, turns: int
) -> None:
    app = tools.server.asgi(stateless=stateless)
    client = Client(app)
    async with client.sent(method, body) as response:
        for _ in range(turns):
            await checkpoint()
        with anyio.fail_after(SOON):
            await app.aclose()
        await response.until("ended")
    assert not app.sessions._open
    assert not tools.server._sessions
    assert (await client.post(initialize())).status == 503


@pytest.mark.parametrize("turns", MOMENTS)
async def test_a_websocket_that_is_about_to_begin_ends_too(tools: Tools, turns: int) -> None:
    app = tools.server.asgi()
    async with below(app) as asgi:
        for _ in range(turns):
            await checkpoint()
        with anyio.fail_after(SOON):
            await app.aclose()
        event = await asgi.event()
        if event["type"] == "websocket.accept":
            event = await asgi.event()
        assert event["type"] == "websocket.close"
        assert not app.sessions.sockets
        assert not tools.server._sessions


async def test_a_websocket_is_closed_with_going_away(tools: Tools) -> None:
    app = tools.server.asgi()
    async with below(app) as asgi:
        await asgi.event()
        await asgi.ask(1, "initialize", **HELLO)
        await app.aclose()
        assert await asgi.event() == {"type": "websocket.close", "code": 1001}
    able: dict[str, Any] = {"extensions": {"websocket.http.response": {}}}
    async with below(app, **able) as late:
        assert (await late.event())["status"] == 503


@pytest.mark.parametrize("websocket", [False, True])
async def test_a_session_that_does_not_end_when_it_is_asked_to_is_ended(
    tools: Tools, websocket: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kinwire.mcp.http.sessions._LAST_ANSWERS", 60.0)
    app, asked = tools.server.asgi(), list[str]()
    async with below(app) as asgi:
        if websocket:
            await asgi.event()
            await asgi.ask(1, "initialize", **HELLO)
        else:
            await Client(app).post(initialize())
        for session in list(tools.server._sessions):
            session.when_asked_to_end(lambda why: asked.append(str(why)))
        app.stop()
        assert tools.server._sessions
        assert app.sessions._asked_at is not None
        app.sessions._asked_at -= 59.99  # the time counts from then on
        with anyio.fail_after(SOON):
            await app.aclose()
    assert set(asked) == {"The server is stopping."}
    assert not tools.server._sessions


async def test_what_runs_over_a_websocket_gets_a_moment_to_finish(tools: Tools) -> None:
    tools.server.limits = Limits(drain=SOON)
    app = tools.server.asgi()
    async with below(app) as asgi:
        await asgi.event()
        await asgi.ask(1, "initialize", **HELLO)
        await asgi.arrive("receive", text=json.dumps(message("tools/call", 2, name="wait")))
        while not tools.running:
            await checkpoint()
        app.stop()
        await anyio.wait_all_tasks_blocked()
        assert tools.running
        tools.go_on.set()
        assert json.loads((await asgi.event())["text"])["result"]["content"][0]["text"] == "done"
        assert await asgi.event() == {"type": "websocket.close", "code": 1001}
