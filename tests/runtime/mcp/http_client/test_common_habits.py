"""Habits of servers, balancers and proxies that every HTTP client knows. Their end is in bytes."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Callable
from typing import Any

import anyio
import pytest

from kinwire import ConnectionClosedError, Host, InvalidResponseError, Limits, connect
from kinwire.support.version import __version__
from tests.runtime.mcp.http_client.fake_server import (
    GREETING,
    SESSION,
    Asked,
    Handler,
    Line,
    RawServer,
    polite,
    reply_to,
)

pytestmark = pytest.mark.anyio

RESULT: dict[str, Any] = {"content": [{"type": "text", "text": "yes " * 100}]}


# A balancer finds the process of a session by a cookie.


async def answer_nothing(asked: Asked, line: Line) -> None:
    await line.json(reply_to(asked, {"content": []}))


def balanced(cookie: str) -> Handler:
    """Return a server whose balancer sets `cookie` first, and knows no request without it."""
    server = polite(tools_call=answer_nothing)

    async def handle(asked: Asked, line: Line) -> None:
        if asked.body and asked.about == "initialize":
            greeting = reply_to(asked, GREETING)
            await line.json(greeting, mcp_session_id=SESSION, set_cookie=cookie)
        elif "node=a" in asked.headers.get("cookie", "").split("; "):
            await server(asked, line)
        else:
            await line.status(404)

    return handle


@pytest.mark.parametrize("cookie", ["node=a; Path=/", "node=a", "node=a; Path=/mcp; HttpOnly"])
async def test_a_sticky_session_is_kept_by_its_cookie(cookie: str) -> None:
    async with RawServer.serving(balanced(cookie)) as server:
        async with connect(server.url, headers={"Cookie": "own=1"}) as peer:
            await peer.mcp.ping()
            assert (await peer.mcp.tools_call(name="x")).content == []
        assert [one.about for one in server.asked].count("initialize") == 1
    assert server.asked[0].headers["cookie"] == "own=1"
    assert {one.headers["cookie"] for one in server.asked[1:]} == {"own=1; node=a"}


async def test_a_cookie_that_was_deleted_is_not_sent_any_more() -> None:
    async def forget(asked: Asked, line: Line) -> None:
        await line.json(reply_to(asked), set_cookie="node=; Path=/; Max-Age=0")

    async def greet(asked: Asked, line: Line) -> None:
        await line.json(reply_to(asked, GREETING), set_cookie="node=a; Path=/")

    async with (
        RawServer.serving(
            polite(initialize=greet, ping=forget, tools_call=answer_nothing)
        ) as server,
        connect(server.url) as peer,
    ):
        await peer.mcp.ping()
        await peer.mcp.tools_call(name="x")
    cookies = {one.about: one.headers.get("cookie") for one in server.asked if one.body}
    assert (cookies["ping"], cookies["tools/call"]) == ("node=a", None)


# A firewall refuses requests that do not say which program they are from.


async def no_strangers(asked: Asked, line: Line) -> None:
    if "user-agent" in asked.headers:
        await polite()(asked, line)
    else:
        await line.status(403)


@pytest.mark.parametrize("options", [{}, {"headers": {"user-agent": "mine/2"}}])
async def test_every_request_has_a_user_agent(options: dict[str, Any]) -> None:
    async with (
        RawServer.serving(no_strangers) as server,
        connect(server.url, **options) as peer,
    ):
        await peer.mcp.ping()
        await server_was_asked(server, "GET")
    assert {one.method for one in server.asked} == {"POST", "GET", "DELETE"}
    agents = {one.headers["user-agent"] for one in server.asked}
    assert len(agents) == 1
    assert agents.pop().startswith("mine/2" if options else f"kinwire/{__version__} python/3.")


async def server_was_asked(server: RawServer, method: str) -> None:
    with anyio.fail_after(5):
        while all(one.method != method for one in server.asked):
            await anyio.lowlevel.checkpoint()


# A server says that it keeps connections, and closes each some time after its answer.

CLOSING = [
    *((seconds, method) for seconds in (0, 0.001, 0.02) for method in ("tools/call", "ping")),
    pytest.param(1.0, "tools/call", marks=pytest.mark.slow),
]
TIMES = 5


@pytest.mark.parametrize(("seconds", "method"), CLOSING)
async def test_the_next_call_succeeds_after_the_server_has_closed(
    seconds: float, method: str
) -> None:
    home = polite(tools_call=answer_nothing)

    async def handle(asked: Asked, line: Line) -> None:
        await home(asked, line)
        if asked.about == method:
            await anyio.sleep(seconds)
            await line.close()

    async def call_twice(server: RawServer) -> None:
        async with connect(server.url) as peer:
            for pause in (seconds + 0.005, 0):
                await peer.session.raw(method, {"name": "x"})
                await anyio.sleep(pause)

    async with RawServer.serving(handle) as server, anyio.create_task_group() as tasks:
        for _ in range(TIMES):
            tasks.start_soon(call_twice, server)
    assert server.about().count(method) == 2 * TIMES


# An answer is coded, although `Accept-Encoding` asks for none.

CODINGS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "deflate": zlib.compress,
    "x-gzip": gzip.compress,
}


@pytest.mark.parametrize("coding", CODINGS)
async def test_a_coded_answer_is_read(coding: str) -> None:
    async def call(asked: Asked, line: Line) -> None:
        body = CODINGS[coding](json.dumps(reply_to(asked, RESULT)).encode())
        await line.status(200, body, content_type="application/json", content_encoding=coding)

    async with (
        RawServer.serving(polite(tools_call=call)) as server,
        connect(server.url) as peer,
    ):
        found = await peer.mcp.tools_call(name="x")
    assert found.content[0].model_dump()["text"] == "yes " * 100
    assert server.asked[0].headers["accept-encoding"] == "identity"


async def test_a_coded_stream_of_events_is_read_as_it_comes() -> None:
    read = anyio.Event()

    async def call(asked: Asked, line: Line) -> None:
        compressor = zlib.compressobj(wbits=31)

        async def say(message: Any) -> None:
            event = f"data: {json.dumps(message)}\n\n".encode()
            await line.raw(compressor.compress(event) + compressor.flush(zlib.Z_SYNC_FLUSH))

        await line.stream(content_encoding="gzip")
        token = asked.message["params"]["_meta"]["progressToken"]
        progress = {"progressToken": token, "progress": 1}
        await say({"jsonrpc": "2.0", "method": "notifications/progress", "params": progress})
        await read.wait()
        await say(reply_to(asked, RESULT))
        await line.raw(compressor.flush())
        await line.close()

    async with (
        RawServer.serving(polite(tools_call=call)) as server,
        connect(server.url) as peer,
    ):
        asking = peer.with_options(on_progress=lambda _: read.set())
        found = await asking.mcp.tools_call(name="x")
    assert found.content[0].model_dump()["text"] == "yes " * 100


UNREADABLE = [
    pytest.param("br", b"x", "'br'.*gzip and deflate", id="unknown"),
    pytest.param("gzip", b'{"a": 1}', "damaged", id="not coded"),
    pytest.param("gzip", gzip.compress(b'{"a": 1}')[:-1], "ends in the middle", id="cut off"),
    pytest.param("gzip", gzip.compress(bytes(5_000_000)), "1000000 bytes", id="a bomb"),
]


@pytest.mark.parametrize(("coding", "body", "why"), UNREADABLE)
async def test_a_coded_answer_that_cannot_be_read_fails_its_call_only(
    coding: str, body: bytes, why: str
) -> None:
    async def call(asked: Asked, line: Line) -> None:
        await line.status(200, body, content_type="application/json", content_encoding=coding)

    limits = Limits(frame_size=1_000_000)
    async with (
        RawServer.serving(polite(tools_call=call)) as server,
        Host("h", "1", limits=limits) as host,
    ):
        peer = await host.connect(server.url)
        with pytest.raises(InvalidResponseError, match=why):
            await peer.mcp.tools_call(name="x")
        await peer.mcp.ping()


# Proxies stand in the environment.

FAR = "http://127.0.0.1:1/mcp?key=t0ken"  # nobody is there: only the proxy answers


@pytest.mark.parametrize("variable", ["HTTP_PROXY", "http_proxy", "ALL_PROXY"])
async def test_the_proxy_of_the_environment_is_used(
    variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with RawServer.serving(polite()) as proxy:
        monkeypatch.setenv(variable, proxy.url.replace("//", "//ann:s3cret@"))
        async with connect(FAR) as peer:
            await peer.mcp.ping()
    assert {one.target for one in proxy.asked} == {FAR}
    assert {one.headers["proxy-authorization"] for one in proxy.asked} == {"Basic YW5uOnMzY3JldA=="}


@pytest.mark.parametrize("options", [{"trust_env": False}, {"no_proxy": "127.0.0.0/8"}, {}])
async def test_a_direct_connection_is_made_where_the_user_says_so(
    options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    monkeypatch.setenv("NO_PROXY", options.pop("no_proxy", "" if options else "*"))
    async with RawServer.serving(polite()) as server, connect(server.url, **options) as peer:
        await peer.mcp.ping()
    assert server.asked[0].target == "/mcp"


async def test_a_variable_that_holds_no_proxy_is_named_without_its_value(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "ftp://ann:s3cret@proxy.example")
    with pytest.raises(ValueError, match=r"^HTTP_PROXY: expected a URL") as caught:
        async with connect("http://127.0.0.1:1/mcp"):
            pass
    assert "s3cret" not in str(caught.value)


@pytest.mark.parametrize("scheme", ["http", "https", "ws"])
async def test_a_proxy_that_cannot_be_reached_is_named_without_its_password(scheme: str) -> None:
    async with Host("h", "1") as host:
        with pytest.raises(ConnectionClosedError) as caught:
            await host.connect(
                f"{scheme}://far.example/mcp", proxy="http://ann:s3cret@127.0.0.1:1", insecure=True
            )
    assert f"No answer from {scheme}://far.example" in caught.value.reason
    assert "the proxy http://127.0.0.1:1 cannot be used: " in caught.value.reason
    assert "s3cret" not in str(caught.value)


@pytest.mark.parametrize("scheme", ["http", "https", "ws"])
async def test_a_proxy_that_wants_a_password_is_reported(scheme: str) -> None:
    async def refuse(asked: Asked, line: Line) -> None:
        await line.status(407, proxy_authenticate="Basic")

    async with RawServer.serving(refuse) as proxy, Host("h", "1") as host:
        with pytest.raises(
            (ConnectionClosedError, InvalidResponseError),
            match=r"HTTP 407\. A proxy wants a name and a password",
        ):
            await host.connect(f"{scheme}://far.example/mcp", proxy=proxy.url, insecure=True)
