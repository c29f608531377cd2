"""A server that is reached by WebSocket: the handshake, messages, and how connections end."""

from __future__ import annotations

import asyncio
import tracemalloc
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from typing import Any

import anyio
import pytest

from kinwire import Context, InsecureAddressError, Limits, Server, connect, serve_websocket
from kinwire.rpc.identity import PeerIdentity
from kinwire.support.background import background
from kinwire.transports.http.guard import current_principal, principal_address
from kinwire.transports.http.limits import HttpLimits
from tests.runtime.transports.websocket.fake_peers import asking, raw_client

pytestmark = pytest.mark.anyio

HELLO = {
    "protocolVersion": "2024-11-05",
    "capabilities": {},
    "clientInfo": {"name": "raw", "version": "1"},
}
FLOOD = {"name": "flood", "arguments": {}}


@pytest.fixture
def server() -> Server:
    server = Server("s", "1", limits=Limits(frame_size=10_000))

    @server.tool
    async def echo(text: str) -> str:
        return text

    @server.tool
    async def caller() -> str:
        return str(current_principal())

    @server.tool
    async def key(context: Context) -> str:
        return context.session.identity.key

    @server.tool
    async def wait(context: Context) -> None:
        await context.progress(1)
        await anyio.sleep_forever()

    return server


@asynccontextmanager
async def served(server: Server, **options: Any) -> AsyncGenerator[int]:
    with anyio.fail_after(20):
        async with background() as tasks:

            async def serve(*, task_status: Any) -> None:
                await serve_websocket(server.serve, task_status=task_status, **options)

            yield await tasks.start(serve)
            tasks.cancel_scope.cancel()


async def test_host_and_server_speak(server: Server) -> None:
    async with served(server) as port, connect(f"ws://127.0.0.1:{port}/mcp") as peer:
        for text in ("plain", "Grüße \u2028", "x" * 9_000):
            result = await peer.mcp.tools_call(name="echo", arguments={"text": text})
            assert result.content[0].text == text  # type: ignore[union-attr]


def test_they_speak_where_anyio_did_not_start_the_loop(server: Server) -> None:
    async def speak() -> None:
        async with served(server) as port, connect(f"ws://127.0.0.1:{port}/mcp") as peer:
            await peer.mcp.ping()

    asyncio.run(speak())


REFUSED = [
    pytest.param({"Host": "evil.example"}, 421, id="host of others"),
    pytest.param({"Host": None}, 400, id="no host"),
    pytest.param({"Origin": "http://evil.example"}, 403, id="page of others"),
    pytest.param({"Origin": "null"}, 403, id="page without origin"),
    pytest.param({"Sec-WebSocket-Protocol": "graphql-ws"}, 400, id="another subprotocol"),
    pytest.param({"Upgrade": None}, 426, id="plain HTTP"),
    pytest.param({"Sec-WebSocket-Version": "8"}, 400, id="old version"),
    pytest.param({"X": "x" * 20_000}, 431, id="endless header"),
]


@pytest.mark.parametrize(("headers", "status"), REFUSED)
async def test_a_handshake_is_refused(
    server: Server, headers: dict[str, str | None], status: int
) -> None:
    async with served(server) as port, raw_client(port, **headers) as (client, answer):
        assert answer.startswith(f"HTTP/1.1 {status} ")
        assert "evil" not in answer + (await client.rest()).decode()


PATHS = [
    (None, "/mcp", 101),
    (None, "/mcp/?a=b", 101),
    (None, "/%6dcp", 101),
    (None, "/", 101),
    (None, "/healthz", 404),
    (None, "/mcp/x", 404),
    ("/tools", "/tools", 101),
    ("/tools", "/mcp", 404),
    ("/tools", "/", 404),
]


@pytest.mark.parametrize(("path", "asked", "status"), PATHS)
async def test_a_path_is_served_and_no_other(
    server: Server, path: str | None, asked: str, status: int
) -> None:
    async with served(server, path=path) as port, raw_client(port, path=asked) as (_, answer):
        assert answer.startswith(f"HTTP/1.1 {status} ")


@pytest.mark.parametrize("asked", ["/favicon.ico", "/.well-known/oauth-protected-resource"])
async def test_a_browser_gets_404_for_another_path(server: Server, asked: str) -> None:
    async with (
        served(server, authenticate=lambda token: None) as port,
        raw_client(port, path=asked, Upgrade=None) as (client, answer),
    ):
        assert answer.startswith("HTTP/1.1 404 ")
        assert "Nothing is served at this path." in answer + (await client.rest()).decode()


async def test_own_pages_and_clients_without_subprotocol_are_welcome(server: Server) -> None:
    async with served(server) as port:
        own = f"http://127.0.0.1:{port}"
        async with raw_client(port, Origin=own, Sec_WebSocket_Protocol=None) as (client, answer):
            assert answer.startswith("HTTP/1.1 101 ")
            assert "result" in await client.ask(1, "initialize", **HELLO)


async def test_the_subprotocol_is_mcp(server: Server) -> None:
    async with served(server) as port, raw_client(port) as (_, answer):
        assert "Sec-WebSocket-Protocol: mcp" in answer.split("\r\n")


async def test_the_token_says_who_calls(server: Server) -> None:
    async def authenticate(token: str) -> str | None:
        return "ann" if token == "good" else None

    async with served(server, authenticate=authenticate) as port:
        async with raw_client(port) as (_, answer):
            assert answer.startswith("HTTP/1.1 401 ")
            assert "www-authenticate: Bearer" in answer.split("\r\n")
        url = f"ws://127.0.0.1:{port}/mcp"
        async with connect(url, headers={"Authorization": "Bearer good"}) as peer:
            result = await peer.mcp.tools_call(name="caller")
            assert result.content[0].text == "ann"  # type: ignore[union-attr]
            result = await peer.mcp.tools_call(name="key")
            key = PeerIdentity.of(principal_address("ann")).key
            assert result.content[0].text == key  # type: ignore[union-attr]


async def test_a_client_without_a_token_learns_where_to_get_one(server: Server) -> None:
    async def authenticate(token: str) -> None:
        return None

    options = {"authenticate": authenticate, "resource_metadata": "https://a.example/meta"}
    async with served(server, **options) as port:
        for field in (None, "Bearer bad"):
            async with raw_client(port, Authorization=field) as (_, answer):
                assert 'resource_metadata="https://a.example/meta"' in answer


async def test_what_comes_with_the_handshake_is_all_handled(server: Server) -> None:
    decided = anyio.Event()

    async def authenticate(token: str) -> str:
        await decided.wait()
        return token

    async with (
        served(server, authenticate=authenticate) as port,
        asking(port, Authorization="Bearer t") as client,
    ):
        await client.say({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": HELLO})
        for id in range(2, 50):
            await client.say({"jsonrpc": "2.0", "id": id, "method": "ping", "params": {}})
        await anyio.wait_all_tasks_blocked()
        decided.set()
        assert (await client.head()).startswith("HTTP/1.1 101 ")
        ids = [(await client.message())["id"] for _ in range(1, 50)]
        assert ids[0] == 1
        assert set(ids) == set(range(1, 50))


async def test_one_client_has_no_more_sessions_than_it_may(server: Server) -> None:
    limits = HttpLimits(sessions_per_client=1)
    async with served(server, limits=limits) as port:
        async with raw_client(port) as first, raw_client(port) as second:
            assert first[1].startswith("HTTP/1.1 101 ")
            assert second[1].startswith("HTTP/1.1 503 ")
        status = ""
        with anyio.fail_after(10):
            while status != "101":  # the first one counts until it has ended
                async with raw_client(port) as later:
                    status = later[1].split()[1]


async def test_a_client_too_many_is_refused_with_the_reason(server: Server) -> None:
    limits = HttpLimits(sessions=1)
    async with served(server, limits=limits) as port, raw_client(port), raw_client(port) as found:
        assert found[1].startswith("HTTP/1.1 503 ")
        assert "retry-after: 10" in found[1].split("\r\n")


CODES = [
    pytest.param({"data": b"x", "opcode": 2}, 1003, id="binary"),
    pytest.param({"data": b"\xff\xfe"}, 1007, id="no UTF-8"),
    pytest.param({"data": b"x" * 126, "opcode": 9}, 1002, id="a long ping"),
    pytest.param({"data": b"x", "opcode": 0}, 1002, id="a continuation of nothing"),
    pytest.param({"data": b"x", "opcode": 3}, 1002, id="unknown opcode"),
]


@pytest.mark.fault(13, "server", "ws")
@pytest.mark.parametrize(("frame", "code"), CODES)
async def test_a_broken_rule_ends_the_connection_with_its_code(
    server: Server, frame: dict[str, Any], code: int
) -> None:
    async with served(server) as port, raw_client(port) as (client, _):
        await client.ask(1, "initialize", **HELLO)
        await client.send(**frame)
        assert await client.close_code() == code
        assert await client.rest() == b""


async def test_an_endless_ping_ends_the_connection_before_it_has_come(server: Server) -> None:
    async with served(server) as port, raw_client(port) as (client, _):
        await client.ask(1, "initialize", **HELLO)
        await client.stream.send(b"\x89\xff" + (2 << 20).to_bytes(8) + bytes(4))
        assert await client.close_code() == 1009


@pytest.mark.parametrize(
    ("size", "pieces"), [(10_001, 1), (40_000, 4), (40_001, 1), (45_000, 9), (3_000_000, 1)]
)
async def test_a_message_that_is_too_long_is_answered_and_skipped(
    server: Server, size: int, pieces: int
) -> None:
    async with served(server) as port, raw_client(port) as (client, _):
        await client.ask(1, "initialize", **HELLO)
        head = b'{"jsonrpc":"2.0","id":2,"method":"ping","params":{"x":"'
        whole = head + b"x" * (size - len(head))
        step = len(whole) // pieces
        for number in range(pieces):
            part = whole[number * step :][:step]
            last = number == pieces - 1
            await client.send(part, opcode=0 if number else 1, final=last)
        answer = await client.message()
        assert (answer["id"], answer["error"]["code"]) == (2, -32600)
        assert "longer than 10000 bytes" in answer["error"]["message"]
        assert (await client.ask(3, "ping"))["result"] == {}


async def test_pieces_make_a_message_and_pings_go_between_them(server: Server) -> None:
    async with served(server) as port, raw_client(port) as (client, _):
        await client.ask(1, "initialize", **HELLO)
        await client.send(b'{"jsonrpc":"2.0",', final=False)
        await client.send(b"there?", opcode=9)
        assert (await client.frame()) == (10, b"there?")
        await client.send(b'"id":2,"method":"ping"}', opcode=0)
        assert await client.message() == {"jsonrpc": "2.0", "id": 2, "result": {}}


@pytest.mark.parametrize("code", [b"", (1000).to_bytes(2), (1001).to_bytes(2)])
async def test_a_close_is_answered_with_its_own_code(server: Server, code: bytes) -> None:
    async with served(server) as port, raw_client(port) as (client, _):
        await client.ask(1, "initialize", **HELLO)
        await client.send(code, opcode=8)
        assert await client.frame() == (8, code)  # never 1005, which stands for none


async def test_a_server_that_stops_goes_away(server: Server) -> None:
    async with anyio.create_task_group() as tasks:
        port: int = await tasks.start(serve_websocket, server.serve)
        with anyio.fail_after(10):
            async with raw_client(port) as (client, _):
                await client.ask(1, "initialize", **HELLO)
                tasks.cancel_scope.cancel()
                with anyio.CancelScope(shield=True):
                    assert await client.close_code() == 1001


@pytest.mark.parametrize("clients", [10, pytest.param(100, marks=pytest.mark.slow)])
async def test_clients_with_the_same_ids_get_their_own_answers(
    server: Server, clients: int
) -> None:
    async def call(port: int, name: str) -> None:
        async with raw_client(port) as (client, _):
            await client.ask(1, "initialize", **HELLO)
            for id in range(2, 5):
                answer = await client.ask(id, "tools/call", name="echo", arguments={"text": name})
                assert answer["result"]["content"][0]["text"] == name

    async with served(server) as port, anyio.create_task_group() as tasks:
        for number in range(clients):
            tasks.start_soon(call, port, f"client {number}")


async def test_a_client_that_does_not_read_holds_up_nobody_else_and_no_memory(
    server: Server,
) -> None:
    sent = 0

    @server.tool
    async def flood(context: Context) -> None:
        nonlocal sent
        for _ in range(10_000):
            await context.log("error", "x" * 8_000)
            sent += 1

    async with (
        served(server) as port,
        raw_client(port) as (mute, _),
        raw_client(port) as (other, _),
    ):
        await mute.ask(1, "initialize", **HELLO)
        await mute.say({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": FLOOD})
        await other.ask(1, "initialize", **HELLO)
        before = -1
        while sent != before or not sent:  # until it waits
            before = sent
            for id in range(2, 6):
                assert "result" in await other.ask(id)
        assert sent * 8_000 < 16 * 1024 * 1024  # the system's own buffers among it


async def test_another_machine_may_not_listen_in(server: Server) -> None:
    with pytest.raises(InsecureAddressError, match=r"listen on '0\.0\.0\.0' without TLS"):
        await serve_websocket(server.serve, "0.0.0.0")


UNREAD = 0.5  # seconds without reading after which the server does not read any more


@pytest.mark.faults
async def test_what_is_not_read_or_never_complete_costs_no_memory(server: Server) -> None:
    """Pings whose answers nobody reads, and a message of empty parts."""
    ping, part = bytes([0x89, 0xFD]) + bytes(129), bytes([0x00, 0x80]) + bytes(4)
    async with served(server) as port, raw_client(port) as (flooding, _):
        await flooding.send(b"", final=False)
        tracemalloc.start()
        try:
            with anyio.move_on_after(UNREAD) as reads:  # it reads on, or not: both will do
                for _ in range(60):  # 4 MB
                    await flooding.stream.send(ping * 500 + part * 500)
                    reads.deadline = anyio.current_time() + UNREAD
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert peak < 3 << 20
        async with connect(f"ws://127.0.0.1:{port}/mcp") as peer:
            await peer.mcp.ping()


FRAMES = [
    pytest.param(bytes([0x81, 0xFE, 0x20, 0x00]) + bytes(4 + 0x2000), id="messages"),
    pytest.param((bytes([0x81, 0x82]) + bytes(4) + b"{}") * 1000, id="tiny messages"),
    pytest.param((bytes([0x89, 0xFD]) + bytes(129)) * 100, id="pings"),
    pytest.param(bytes([0x00, 0x80, 0, 0, 0, 0]) * 1000, id="parts"),
    pytest.param(b"\xff" * 10_000, id="noise"),
]


@pytest.mark.faults
@pytest.mark.parametrize("frames", FRAMES)
async def test_what_is_sent_before_it_is_known_who_calls_costs_no_memory(
    server: Server, frames: bytes
) -> None:
    async def authenticate(token: str) -> None:
        await anyio.sleep_forever()

    async with (
        served(server, authenticate=authenticate) as port,
        asking(port, Authorization="Bearer t") as client,
    ):
        await client.send(b"", final=False)
        tracemalloc.start()
        try:
            with suppress(anyio.BrokenResourceError), anyio.move_on_after(UNREAD) as reads:
                for _ in range((16 << 20) // len(frames)):
                    await client.stream.send(frames)
                    reads.deadline = anyio.current_time() + UNREAD
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert peak < 3 << 20
