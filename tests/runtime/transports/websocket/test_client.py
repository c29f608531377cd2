"""A host that connects by WebSocket: the handshake, and how connections end."""

from __future__ import annotations

import logging

import anyio
import pytest

from kinwire import ConnectionClosedError, Host, InsecureAddressError, connect
from kinwire.support.version import __version__
from kinwire.transports.websocket import client
from tests.runtime.mcp.http_client.fake_server import GREETING, Asked, Line, RawServer
from tests.runtime.transports.websocket.fake_peers import RawEnd, raw_server

pytestmark = pytest.mark.anyio


async def greet(end: RawEnd) -> None:
    hello = await end.message()
    await end.say({"jsonrpc": "2.0", "id": hello["id"], "result": GREETING})
    assert (await end.message())["method"] == "notifications/initialized"


async def test_a_host_says_goodbye(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    codes: list[int | None] = []
    requests: list[str] = []

    async def handle(end: RawEnd) -> None:
        await greet(end)
        codes.append(await end.close_code())

    async with raw_server(handle, requests) as url, connect(url.replace("//", "//ann:s3cret@")):
        pass
    assert codes == [1000]
    assert "Authorization: Basic YW5uOnMzY3JldA==" in requests[0].split("\r\n")
    assert "Sec-WebSocket-Protocol: mcp" in requests[0].split("\r\n")
    assert "YW5uOnMzY3JldA" not in caplog.text
    assert "s3cret" not in caplog.text


@pytest.mark.parametrize(
    ("headers", "agent"), [({}, f"kinwire/{__version__} python/3."), ({"user-agent": "m/2"}, "m/2")]
)
async def test_a_handshake_has_a_user_agent(headers: dict[str, str], agent: str) -> None:
    requests: list[str] = []

    async def handle(end: RawEnd) -> None:
        await greet(end)
        await end.close_code()

    async with raw_server(handle, requests) as url, connect(url, headers=headers):
        pass
    lines = [line.partition(": ") for line in requests[0].split("\r\n")]
    (found,) = [value for name, _, value in lines if name.lower() == "user-agent"]
    assert found.startswith(agent)


@pytest.mark.parametrize("variable", [None, "HTTP_PROXY", "ALL_PROXY"])
async def test_a_connection_goes_through_a_tunnel_of_the_proxy(
    variable: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    requests: list[str] = []

    async def handle(end: RawEnd) -> None:
        await greet(end)
        await end.close_code()

    async with raw_server(handle, requests) as url:
        proxy = url.replace("ws://", "http://ann:s3cret@")
        if variable is not None:
            monkeypatch.setenv(variable, proxy)
        async with connect("ws://127.0.0.1:1/mcp", proxy=None if variable else proxy):
            pass
    lines = requests[0].split("\r\n")
    assert lines[:2] == ["CONNECT 127.0.0.1:1 HTTP/1.1", "Host: 127.0.0.1:1"]
    assert "Proxy-Authorization: Basic YW5uOnMzY3JldA==" in lines


async def test_a_proxy_that_refuses_is_reported() -> None:
    async def refuse(asked: Asked, line: Line) -> None:
        await line.status(407)

    async with RawServer.serving(refuse) as proxy, Host("h", "1") as host:
        with pytest.raises(ConnectionClosedError, match="the proxy answered HTTP 407"):
            await host.connect("ws://127.0.0.1:1/mcp", proxy=proxy.url)


ENDS = [
    pytest.param(b"", "The peer has closed the connection.", id="no code"),
    pytest.param((1001).to_bytes(2), "The peer has closed the connection.", id="going away"),
    pytest.param((1011).to_bytes(2), "The peer has closed it with code 1011.", id="a fault"),
    pytest.param(None, "The connection broke off.", id="no close frame"),
]


@pytest.mark.parametrize(("code", "why"), ENDS)
async def test_calls_fail_immediately_when_the_server_ends(code: bytes | None, why: str) -> None:
    async def handle(end: RawEnd) -> None:
        await greet(end)
        await end.message()
        if code is not None:
            await end.send(code, opcode=8)
            assert await end.frame() == (8, code)

    async with raw_server(handle) as url, connect(url) as peer:
        with anyio.fail_after(5), pytest.raises(ConnectionClosedError) as caught:
            await peer.mcp.ping()
    assert caught.value.reason == why


@pytest.mark.fault(13, "client", "ws")
async def test_a_server_that_breaks_the_rules_is_left() -> None:
    codes: list[int | None] = []

    async def handle(end: RawEnd) -> None:
        await greet(end)
        await end.message()
        await end.send(b"\xff")
        codes.append(await end.close_code())

    async with raw_server(handle) as url, connect(url) as peer:
        with pytest.raises(ConnectionClosedError, match="text that is not UTF-8"):
            await peer.mcp.ping()
    assert codes == [1007]


REFUSALS = [
    pytest.param(404, "answered HTTP 404. Nothing is served there.", id="404"),
    pytest.param(401, "answered HTTP 401. It has to know who calls.", id="401"),
    pytest.param(301, "answered HTTP 301. It has moved. Connect to that address.", id="301"),
    pytest.param(405, "answered HTTP 405. Nothing is served there.", id="405"),
    pytest.param(429, "answered HTTP 429. It wants fewer calls.", id="429"),
    pytest.param(200, "answered HTTP 200.", id="plain HTTP"),
]


@pytest.mark.parametrize(("status", "why"), REFUSALS)
async def test_a_refused_handshake_is_reported(status: int, why: str) -> None:
    async def refuse(asked: Asked, line: Line) -> None:
        await line.status(status)

    async with RawServer.serving(refuse) as server, Host("h", "1") as host:
        with pytest.raises(ConnectionClosedError) as caught:
            await host.connect(server.url.replace("http:", "ws:"))
        origin = server.url.replace("http:", "ws:").removesuffix("/mcp")
        assert caught.value.reason.startswith(f"{origin} {why}")
        assert caught.value.status == status


async def test_a_server_of_another_protocol_is_reported() -> None:
    async def chat(asked: Asked, line: Line) -> None:
        await line.raw(b"220 mail.example ESMTP\r\n\r\n")

    async with RawServer.serving(chat) as server, Host("h", "1") as host:
        with pytest.raises(ConnectionClosedError, match="does not speak WebSocket there"):
            await host.connect(server.url.replace("http:", "ws:"))


async def test_a_closed_port_is_reported() -> None:
    async with Host("h", "1") as host:
        with pytest.raises(ConnectionClosedError, match=r"^No answer from ws://127\.0\.0\.1:1: "):
            await host.connect("ws://127.0.0.1:1/mcp")
        with pytest.raises(InsecureAddressError, match=r"connect to 'example\.com' without TLS"):
            await host.connect("ws://example.com/mcp")


async def test_auth_is_asked_again_when_the_server_refuses() -> None:
    asked: list[str | None] = []
    requests: list[str] = []

    async def auth(challenge: str | None) -> str:
        asked.append(challenge)
        return f"Bearer t{len(asked)}"

    async def refuse(one: Asked, line: Line) -> None:
        requests.append(one.headers["authorization"])
        await line.status(401, WWW_Authenticate='Bearer scope="x"')

    async with RawServer.serving(refuse) as server, Host("h", "1") as host:
        with pytest.raises(ConnectionClosedError, match="HTTP 401"):
            await host.connect(server.url.replace("http:", "ws:"), auth=auth)
    assert asked == [None, 'Bearer scope="x"']
    assert requests == ["Bearer t1", "Bearer t2"]


async def test_the_user_may_take_their_time_and_the_server_may_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(client, "_HANDSHAKE", 0.2)
    left: list[float] = []

    async def auth(challenge: str | None) -> str:
        left.append(anyio.current_effective_deadline() - anyio.current_time())
        return "Bearer t"

    async def refuse_then_stall(one: Asked, line: Line) -> None:
        if len(left) == 1:
            await line.status(401, WWW_Authenticate="Bearer")
        else:
            await anyio.sleep_forever()

    async with RawServer.serving(refuse_then_stall) as server, Host("h", "1") as host:
        with pytest.raises(ConnectionClosedError, match="it does not answer"):
            await host.connect(server.url.replace("http:", "ws:"), auth=auth)
    assert len(left) == 2
    assert min(left) > 1


@pytest.mark.parametrize("kind", [PermissionError, TimeoutError])
async def test_an_auth_that_fails_fails_the_calls_with_its_own_error(kind: type[OSError]) -> None:
    async def auth(challenge: str | None) -> str:
        if challenge is None:
            return "Bearer old"
        raise kind("the user pressed Escape")

    async def refuse(one: Asked, line: Line) -> None:
        await line.status(401, WWW_Authenticate="Bearer")

    async with RawServer.serving(refuse) as server, Host("h", "1") as host:
        with pytest.raises(kind, match="pressed Escape"):
            await host.connect(server.url.replace("http:", "ws:"), auth=auth)
        with pytest.raises(ValueError, match="auth: expected the value of a header"):
            await host.connect("ws://127.0.0.1:1", auth=lambda challenge: "two\nlines")
