"""A server that keeps no sessions: each request stands for itself."""

from __future__ import annotations

import json

import anyio
import pytest
from anyio.lowlevel import checkpoint

from kinwire.transports.http.limits import HttpLimits
from tests.runtime.mcp.http.conftest import Tools
from tests.runtime.mcp.http.fake_asgi_client import Client, initialize, message

pytestmark = pytest.mark.anyio


async def test_a_request_needs_nothing_before_it(tools: Tools) -> None:
    app = tools.server.asgi(stateless=True)
    client = Client(app)
    answer = await client.post(message("tools/call", name="echo", arguments={"text": "hi"}))
    assert answer.json["result"]["content"][0]["text"] == "hi"
    more = await client.post(message("tools/call", name="steps", arguments={"count": 2}))
    assert [json.loads(event.data).get("id") for event in more.events] == [None, None, 1]
    assert "mcp-session-id" not in more.headers
    await app.aclose()
    assert len(app.sessions._open) == 0


async def test_a_handshake_is_answered_and_forgotten(tools: Tools) -> None:
    client = Client(tools.server.asgi(stateless=True))
    answer = await client.post(initialize())
    assert answer.json["result"]["serverInfo"]["name"] == "tools"
    assert "mcp-session-id" not in answer.headers
    done = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    assert (await client.post(done)).status == 202


async def test_there_is_nobody_to_ask(tools: Tools) -> None:
    client = Client(tools.server.asgi(stateless=True))
    answer = await client.post(message("tools/call", name="roots", arguments={}))
    assert answer.json["error"]["code"] == -32603


@pytest.mark.parametrize("method", ["GET", "DELETE"])
async def test_there_is_nothing_to_listen_to_or_to_end(tools: Tools, method: str) -> None:
    answer = await Client(tools.server.asgi(stateless=True)).request(method)
    assert (answer.status, answer.headers["allow"]) == (405, "POST")


async def test_a_client_that_leaves_ends_its_request(tools: Tools) -> None:
    app = tools.server.asgi(stateless=True, limits=HttpLimits(patience=0.01))
    request = message("tools/call", name="wait", arguments={})
    async with Client(app).open("POST", request):
        while not tools.running:
            await checkpoint()
    with anyio.fail_after(5):
        await tools.cancelled.wait()


async def test_equal_ids_of_different_requests_never_cross(tools: Tools) -> None:
    client = Client(tools.server.asgi(stateless=True))
    answers: list[str] = []

    async def one(text: str) -> None:
        request = message("tools/call", name="wait", arguments={"text": text})
        answer = await client.post(request)
        answers.append(f"{text}={answer.answer['result']['content'][0]['text']}")

    async with anyio.create_task_group() as tasks:
        for number in range(10):
            tasks.start_soon(one, str(number))
        while tools.running < 10:
            await checkpoint()
        tools.go_on.set()
    assert sorted(answers) == [f"{number}={number}" for number in range(10)]
