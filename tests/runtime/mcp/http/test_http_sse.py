"""HTTP+SSE on the server's side: one stream for everything, and the address that it names."""

from __future__ import annotations

import json

import anyio
import pytest
from anyio.lowlevel import checkpoint

from tests.runtime.mcp.http.conftest import Tools
from tests.runtime.mcp.http.fake_asgi_client import Client, Open, initialize, message
from tests.runtime.mcp.http.test_refusals import token_owner

pytestmark = pytest.mark.anyio


async def begun(client: Client, stream: Open) -> None:
    """Read where messages go, and do the handshake."""
    event = await stream.event()
    assert event.name == "endpoint"
    client.query = event.data.removeprefix(b"?")
    assert (await client.post(initialize())).status == 202
    assert (await stream.frame())["id"] == 0
    await client.post({"jsonrpc": "2.0", "method": "notifications/initialized"})


async def test_everything_comes_on_the_one_stream(tools: Tools) -> None:
    client = Client(tools.server.asgi())
    async with client.open("GET") as stream:
        await begun(client, stream)
        accepted = await client.post(message("tools/call", 5, name="steps", arguments={"count": 1}))
        assert (accepted.status, accepted.body) == (202, b"")
        assert (await stream.frame())["method"] == "notifications/message"
        assert (await stream.frame())["id"] == 5
        assert b"\nid:" not in stream.body


async def test_what_cannot_be_read_is_answered_on_the_stream(tools: Tools) -> None:
    client = Client(tools.server.asgi())
    async with client.open("GET") as stream:
        await begun(client, stream)
        for body, code in [(b"{", -32700), (b"[]", -32600), (b'{"id":1}', -32600)]:
            assert (await client.post(body)).status == 202
            assert (await stream.frame())["error"]["code"] == code
        await client.post(message("ping"))
        assert (await stream.frame())["result"] == {}


async def test_line_ends_in_a_text_make_no_event(tools: Tools) -> None:
    text = 'x\revent: done\r\n\r\ndata: {"evil":1}\u2028\u0085'
    client = Client(tools.server.asgi())
    async with client.open("GET") as stream:
        await begun(client, stream)
        await client.post(message("tools/call", name="echo", arguments={"text": text}))
        event = await stream.event()
        assert json.loads(event.data)["result"]["content"][0]["text"] == text
        assert stream.events == []


async def test_the_session_ends_with_the_stream(tools: Tools) -> None:
    app = tools.server.asgi()
    client = Client(app)
    async with client.open("GET") as stream:
        await begun(client, stream)
        await client.post(message("tools/call", name="wait", arguments={}))
        while not tools.running:
            await checkpoint()
    assert len(app.sessions._open) == 0
    assert (await client.post(message("ping"))).status == 404
    with anyio.fail_after(5):
        await tools.cancelled.wait()


async def test_the_two_kinds_of_session_are_not_mixed_up(tools: Tools) -> None:
    app = tools.server.asgi()
    streamable = await Client(app).begin()
    client = Client(app)
    async with client.open("GET") as stream:
        await begun(client, stream)
        (id,) = [id for id in app.sessions._open if id != streamable.session]
        taken = await Client(app).post(message("ping"), mcp_session_id=id)
        assert taken.status == 404
        client.query = f"session_id={streamable.session}".encode()
        assert (await client.post(message("ping"))).status == 404


@pytest.mark.parametrize("query", [b"session_id=", b"session_id=x", b"session_id=" + b"x" * 500])
async def test_an_address_that_was_not_given_is_nobody_s(tools: Tools, query: bytes) -> None:
    client = Client(tools.server.asgi())
    client.query = query
    assert (await client.post(message("ping"))).status in (400, 404)


async def test_the_stream_belongs_to_who_asked_for_it(tools: Tools) -> None:
    client = Client(
        tools.server.asgi(authenticate=token_owner), authorization="Bearer token-of-alice"
    )
    async with client.open("GET") as stream:
        await begun(client, stream)
        stolen = await client.post(message("ping"), authorization="Bearer token-of-mallory")
        assert stolen.status == 403
