"""A limit means the same on every transport: an answer beyond it fails its call and nothing else.

The servers write bytes by hand, with the id before or behind the result: both orders are used.
"""

from __future__ import annotations

import sys
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any, cast

import anyio
import pytest
from anyio.abc import SocketAttribute, SocketStream
from websockets.server import ServerProtocol

from kinwire import Host, Limits, stdio
from kinwire.rpc.errors import InvalidResponseError
from kinwire.rpc.transport import Transport
from kinwire.support.background import background
from kinwire.transports.memory import memory_pair
from tests.each import each

pytestmark = pytest.mark.anyio

SIZE = 6 * 1024 * 1024
GREETING = (
    '{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2024-11-05",'
    '"capabilities":{"tools":{}},"serverInfo":{"name":"raw","version":"1"}}}'
)
ORDERS = {
    "id first": '{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"%s"}]}}',
    "id last": '{"result":{"content":[{"type":"text","text":"%s"}]},"jsonrpc":"2.0","id":%s}',
    "version first": '{"jsonrpc":"2.0","result":{"content":[{"type":"text","text":"%s"}]},"id":%s}',
}
SCRIPT = """
import re, sys

GREETING, ORDER, SIZE = {greeting!r}, {order!r}, {size}


def answer(line):
    found = re.search(r'"id":(\\d+)', line)
    if found is None:
        return None
    if '"initialize"' in line:
        return GREETING % found[1]
    text = "x" * (SIZE if '"large"' in line else 1)
    id_first = ORDER.find('"id"') < ORDER.find("result")
    return ORDER % ((found[1], text) if id_first else (text, found[1]))


if __name__ == "__main__":
    for line in sys.stdin:
        reply = answer(line)
        if reply is not None:
            print(reply, flush=True)
"""

Answer = Callable[[str], str | None]
Target = Transport | str
Serving = Callable[[Answer, str], Any]


def program(order: str) -> str:
    """Return the source of a server that answers with `order`, and has nothing of ours."""
    return SCRIPT.format(greeting=GREETING, order=ORDERS[order], size=SIZE)


@asynccontextmanager
async def over_stdio(answer: Answer, source: str) -> AsyncGenerator[Target]:
    yield stdio(sys.executable, "-c", source)


@asynccontextmanager
async def over_memory(answer: Answer, source: str) -> AsyncGenerator[Target]:
    near, far = memory_pair()

    class Peer:
        """Answers what it is handed, as far as a session of ours is concerned."""

        def __init__(self) -> None:
            self.waiting: list[bytes] = []

        def feed(self, frame: bytes) -> None:
            reply = answer(frame.decode())
            if reply is not None:
                self.waiting.append(reply.encode())
                far.wake()

        def take(self) -> list[bytes]:
            taken = self.waiting[:]
            self.waiting.clear()
            return taken

    peer: Any = Peer()
    peer.loop, peer.frame_size, peer.paused = None, SIZE, False
    peer.end = peer.overlong = lambda _: None
    async with background() as tasks:
        tasks.start_soon(far.run, peer)
        yield near
        tasks.cancel_scope.cancel()


@asynccontextmanager
async def over_sockets(
    url: str, serve: Callable[[SocketStream], Awaitable[None]]
) -> AsyncGenerator[Target]:
    """Yield the URL of a port on which each connection is served by `serve`."""

    async def one(stream: SocketStream) -> None:
        with suppress(anyio.EndOfStream, anyio.BrokenResourceError):
            async with stream:
                await serve(stream)

    listener = await anyio.create_tcp_listener(local_host="127.0.0.1")
    async with listener, background() as tasks:
        tasks.start_soon(listener.serve, one)
        yield url.format(listener.extra(SocketAttribute.local_port))
        tasks.cancel_scope.cancel()


def over_http(answer: Answer, *, events: bool) -> Any:
    kind = "text/event-stream" if events else "application/json"

    async def serve(stream: SocketStream) -> None:
        read = b""
        while True:
            while b"\r\n\r\n" not in read:
                read += await stream.receive()
            asked, _, read = read.partition(b"\r\n\r\n")
            length = asked.lower().partition(b"content-length: ")[2].split(b"\r\n")[0]
            while len(read) < int(length or 0):
                read += await stream.receive()
            body, read = read[: int(length or 0)], read[int(length or 0) :]
            reply = answer(body.decode()) if asked.startswith(b"POST") else None
            text = "" if reply is None else f"data: {reply}\n\n" if events else reply
            status = "202 x" if reply is None else f"200 x\r\nContent-Type: {kind}"
            if asked.startswith(b"GET"):
                status = "405 x"
            await stream.send(
                f"HTTP/1.1 {status}\r\nContent-Length: {len(text)}\r\n\r\n{text}".encode()
            )

    return over_sockets("http://127.0.0.1:{}/mcp", serve)


def over_websocket(answer: Answer) -> Any:
    async def serve(stream: SocketStream) -> None:
        protocol = ServerProtocol(max_size=None, select_subprotocol=lambda *_: "mcp")  # type: ignore[arg-type]
        while True:
            protocol.receive_data(await stream.receive())
            for event in cast("list[Any]", protocol.events_received()):
                if hasattr(event, "path"):
                    protocol.send_response(protocol.accept(event))
                elif getattr(event, "opcode", 0) == 1:
                    reply = answer(bytes(event.data).decode())
                    if reply is not None:
                        protocol.send_text(reply.encode())
            await stream.send(b"".join(protocol.data_to_send()))
            if protocol.close_expected():
                return

    return over_sockets("ws://127.0.0.1:{}/mcp", serve)


WAYS: dict[str, Serving] = {
    "memory": over_memory,
    "stdio": over_stdio,
    "HTTP, JSON": lambda answer, _: over_http(answer, events=False),
    "HTTP, events": lambda answer, _: over_http(answer, events=True),
    "WebSocket": lambda answer, _: over_websocket(answer),
}


@each("order", ORDERS)
@each("way", WAYS)
async def test_an_answer_beyond_the_limit_fails_alone(way: str, order: str) -> None:
    source = program(order)
    names: dict[str, Any] = {}
    exec(source, names)
    with anyio.fail_after(20):
        async with WAYS[way](names["answer"], source) as target, Host("h", "1") as host:
            client = await host.connect(target)
            expected = r"^tools/call: the answer .*Limits\(frame_size=\.\.\.\)"
            for _ in range(2):
                with pytest.raises(InvalidResponseError, match=expected):
                    await client.mcp.tools_call(name="large")
                assert (await client.mcp.tools_call(name="small")).content
            assert not client.session.closed


@pytest.mark.parametrize("way", WAYS)
async def test_an_answer_of_a_hundred_times_the_limit_fails_alone(way: str) -> None:
    source = program("id last")
    names: dict[str, Any] = {}
    exec(source, names)
    limits = Limits(frame_size=SIZE // 100)
    with anyio.fail_after(20):
        async with (
            WAYS[way](names["answer"], source) as target,
            Host("h", "1", limits=limits) as host,
        ):
            client = await host.connect(target)
            with pytest.raises(InvalidResponseError, match=r"^tools/call: the answer .*frame_size"):
                await client.mcp.tools_call(name="large")
            assert (await client.mcp.tools_call(name="small")).content


@pytest.mark.parametrize("way", ["stdio", "HTTP, JSON", "HTTP, events", "WebSocket"])
async def test_a_higher_limit_reads_the_same_answer(way: str) -> None:
    source = program("id first")
    names: dict[str, Any] = {}
    exec(source, names)
    limits = Limits(frame_size=2 * SIZE)
    with anyio.fail_after(20):
        async with (
            WAYS[way](names["answer"], source) as target,
            Host("h", "1", limits=limits) as host,
        ):
            client = await host.connect(target)
            result = await client.mcp.tools_call(name="large")
            assert len(getattr(result.content[0], "text", "")) == SIZE
