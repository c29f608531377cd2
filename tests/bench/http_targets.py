"""Servers over HTTP and WebSocket under test, driven with bytes: as cheaply as `target.py` does it.

Each program says on its first line on which port it listens.
"""

from __future__ import annotations

__all__ = (
    "HttpServed",
    "LiteHttpServed",
    "ModernHttpServed",
    "ShopServed",
    "ShortSessionsServed",
    "WebSocketServed",
)

import re
import select
import socket
from collections.abc import Generator, Iterable, Mapping

from tests.bench.target import INITIALIZE, Load, Target, TargetFailedError

_PATIENCE = 60.0  # seconds without a sign of life
_HEAD = (
    b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nContent-Type: application/json\r\n"
    b"Accept: application/json, text/event-stream\r\n%b"
)
_SESSION = re.compile(rb"(?i)\r\nmcp-session-id: *([^\r]+)")
_READY = b'{"jsonrpc":"2.0","method":"notifications/initialized"}'
_CALL = (
    b'{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":'
    b'{"name":"echo","arguments":{"text":"%b"}%b}}'
)
_MODERN = (
    b"MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: echo\r\n",
    b',"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",'
    b'"io.modelcontextprotocol/clientInfo":{"name":"bench","version":"0"},'
    b'"io.modelcontextprotocol/clientCapabilities":{}}',
)


class HttpServed(Target):
    """A server over Streamable HTTP with a session, on connections that stay open."""

    def __init__(self, command: tuple[str, ...], env: Mapping[str, str]) -> None:
        super().__init__(command, env)
        self._port = int(self._line())
        self._next = 1
        self._fields, self._meta = self._greet()

    def _greet(self) -> tuple[bytes, bytes]:
        """Return what begins each request, and what goes into the `_meta` of each."""
        head = _HEAD % (self._port, b"")
        with _Connection(self._port) as connection:
            greeting = connection.exchange(_request(head, INITIALIZE.strip()))
            found = _SESSION.search(greeting)
            fields = b"MCP-Protocol-Version: 2024-11-05\r\n"
            if found is not None:
                fields += b"Mcp-Session-Id: %b\r\n" % found[1]
            head = _HEAD % (self._port, fields)
            connection.exchange(_request(head, _READY))
        return head, b""

    def close(self) -> None:
        """End the program, which no end of its input ends."""
        self._process.terminate()
        super().close()

    def exchange(self, load: Load) -> None:
        """See `Target.exchange`."""
        text = b"x" * load.size
        connections = [_Connection(self._port) for _ in range(load.at_once)]
        try:
            answer = connections[0].exchange(self._call(text))
            if b'"result"' not in answer or text not in answer:
                raise TargetFailedError(f"{self._name}: {answer[:300]!r} is not an answer")
            self._drive(connections, text, load.calls)
        finally:
            for connection in connections:
                connection.close()

    def _call(self, text: bytes) -> bytes:
        self._next += 1
        return _request(self._fields, _CALL % (self._next, text, self._meta))

    def _drive(self, connections: Iterable[_Connection], text: bytes, calls: int) -> None:
        poll = select.epoll()
        by_descriptor = {one.socket.fileno(): one for one in connections}
        left = calls
        for descriptor, connection in by_descriptor.items():
            poll.register(descriptor, select.EPOLLIN)
            connection.send(self._call(text))
            left -= 1
        answered = 0
        while answered < calls:
            events = poll.poll(_PATIENCE)
            if not events:
                raise TargetFailedError(f"{self._name}: nothing came for {_PATIENCE:.0f} s")
            for descriptor, _ in events:
                connection = by_descriptor[descriptor]
                if not connection.receive():
                    continue
                answered += 1
                if left > 0:
                    left -= 1
                    connection.send(self._call(text))
        poll.close()


class ModernHttpServed(HttpServed):
    """A server over HTTP as 2026-07-28 has it: without a handshake and a session."""

    def _greet(self) -> tuple[bytes, bytes]:
        return _HEAD % (self._port, _MODERN[0]), _MODERN[1]


_LITE_HEAD = (
    b"POST /mcp-lite/v1/calltools HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n"
    b"Content-Type: application/json\r\nAccept: %b\r\n"
)
_PARTS = (
    b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":'
    b'{"name":"parts","arguments":{"count":%d,"text":"twelve bytes"}}}'
)


class LiteHttpServed(HttpServed):
    """A server of MCP-lite: no handshake and no session."""

    def _greet(self) -> tuple[bytes, bytes]:
        return _LITE_HEAD % (self._port, b"application/json"), b""

    def stream(self, parts: int) -> None:
        """Have one call answered in parts."""
        with _Connection(self._port) as connection:
            head = _LITE_HEAD % (self._port, b"text/event-stream")
            found = connection.exchange(_request(head, _PARTS % parts))
        if found.count(b"event: message\n") != parts or b"event: done\n" not in found:
            raise TargetFailedError(f"{self._name}: {found[-300:]!r} is not the end of a stream")


class ShortSessionsServed(HttpServed):
    """The same server, each call in a session of its own: handshake, call, DELETE."""

    def exchange(self, load: Load) -> None:
        """See `Target.exchange`: the calls of a load are sessions, each on an open connection."""
        text = b"x" * load.size
        connections = [_Connection(self._port) for _ in range(load.at_once)]
        try:
            self._run_sessions(connections, text, load.calls)
        finally:
            for connection in connections:
                connection.close()

    def _run_sessions(self, connections: list[_Connection], text: bytes, count: int) -> None:
        poll = select.epoll()
        running = {one.socket.fileno(): (one, self._session(text)) for one in connections}
        for descriptor, (connection, session) in running.items():
            poll.register(descriptor, select.EPOLLIN)
            connection.send(next(session))
        left = count - len(running)
        while running:
            events = poll.poll(_PATIENCE)
            if not events:
                raise TargetFailedError(f"{self._name}: nothing came for {_PATIENCE:.0f} s")
            for descriptor, _ in events:
                connection, session = running[descriptor]
                if not connection.receive():
                    continue
                try:
                    connection.send(session.send(connection.response))
                except StopIteration:
                    del running[descriptor]
                    if left > 0:
                        left -= 1
                        running[descriptor] = connection, self._session(text)
                        connection.send(next(running[descriptor][1]))
                    else:
                        poll.unregister(descriptor)
        poll.close()

    def _session(self, text: bytes) -> Generator[bytes, bytes, None]:
        """Yield the requests of one session, and take the response to each."""
        head = _HEAD % (self._port, b"")
        greeting = yield _request(head, INITIALIZE.strip())
        fields = b"MCP-Protocol-Version: 2024-11-05\r\n"
        found = _SESSION.search(greeting)
        if found is not None:
            fields += b"Mcp-Session-Id: %b\r\n" % found[1]
        head = _HEAD % (self._port, fields)
        yield _request(head, _READY)
        call, expected = self._call_of_session(text)
        answer = yield _request(head, call)
        if b'"result"' not in answer or expected not in answer:
            raise TargetFailedError(f"{self._name}: {answer[:300]!r} is not an answer")
        yield _request(head.replace(b"POST", b"DELETE", 1), b"")

    def _call_of_session(self, text: bytes) -> tuple[bytes, bytes]:
        """Return the one call of a session, and what its answer has."""
        return _CALL % (1, text, b""), text


_SHOP = (
    (
        b'"search_products","arguments":{"category":"Electronics","min_price":50,"max_price":500,'
        b'"limit":10}',
        b"total_found",
    ),
    (b'"get_user_cart","arguments":{"user_id":"user-00001"}', b"order_id"),
    (
        b'"checkout","arguments":{"user_id":"user-00001","items":['
        b'{"product_id":42,"quantity":2},{"product_id":1337,"quantity":1}]}',
        b"confirmed",
    ),
)


class ShopServed(ShortSessionsServed):
    """Sessions whose call is in turn one of the three tools of `programs/shop.py`."""

    def _call_of_session(self, text: bytes) -> tuple[bytes, bytes]:
        self._next += 1
        call, expected = _SHOP[self._next % len(_SHOP)]
        head = b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":'
        return head + call + b"}}", expected


class _Connection:
    """One connection, which stays open; one request at a time."""

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), _PATIENCE)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._read = bytearray()
        self.close = self.socket.close

    def __enter__(self) -> _Connection:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def send(self, request: bytes) -> None:
        self._read.clear()
        self.socket.sendall(request)

    def receive(self) -> bool:
        """Read what came; return whether the response is whole."""
        chunk = self.socket.recv(1 << 20)
        if not chunk:
            raise TargetFailedError("the server has closed a connection")
        self._read += chunk
        return _is_whole(self._read)

    @property
    def response(self) -> bytes:
        """Return the response, head and body."""
        return bytes(self._read)

    def exchange(self, request: bytes) -> bytes:
        """Return the response to a request."""
        self.send(request)
        while not self.receive():
            pass
        return self.response


def _request(head: bytes, body: bytes) -> bytes:
    return b"%bContent-Length: %d\r\n\r\n%b" % (head, len(body), body)


def _is_whole(response: bytearray) -> bool:
    end = response.find(b"\r\n\r\n")
    if end < 0:
        return False
    head = bytes(response[:end]).lower()
    begin = head.find(b"\r\ncontent-length:")
    if begin < 0:
        return response.endswith(b"\r\n0\r\n\r\n") or head.startswith(b"http/1.1 204")
    return len(response) >= end + 4 + int(head[begin + 17 :].split(b"\r", 1)[0])


_UPGRADE = (
    b"GET /mcp HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
    b"Sec-WebSocket-Protocol: mcp\r\n\r\n"
)


class WebSocketServed(Target):
    """A server over one WebSocket."""

    def __init__(self, command: tuple[str, ...], env: Mapping[str, str]) -> None:
        super().__init__(command, env)
        port = int(self._line())
        self._socket = socket.create_connection(("127.0.0.1", port), _PATIENCE)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._next = 1
        self._socket.sendall(_UPGRADE % port)
        response = b""
        while b"\r\n\r\n" not in response:
            response += self._receive()
        if not response.startswith(b"HTTP/1.1 101"):
            raise TargetFailedError(f"{self._name}: {response[:60]!r} is not a WebSocket")
        self._socket.sendall(_text_frame(INITIALIZE.strip()))
        self._answers(1, response.partition(b"\r\n\r\n")[2])
        self._socket.sendall(_text_frame(_READY))

    def close(self) -> None:
        """End the program, which no end of its input ends."""
        self._socket.close()
        self._process.terminate()
        super().close()

    def exchange(self, load: Load) -> None:
        """See `Target.exchange`."""
        text = b"x" * load.size
        self._send(text, 1)
        answer = self._answers(1)
        if b'"result"' not in answer or text not in answer:
            raise TargetFailedError(f"{self._name}: {answer[:300]!r} is not an answer")
        answered, rest = 0, b""
        self._send(text, load.at_once)
        sent = load.at_once
        while answered < load.calls:
            chunk = rest + self._receive()
            count, rest = _frames_in(chunk)
            answered += count
            more = min(count, load.calls - sent)
            self._send(text, more)
            sent += more

    def _send(self, text: bytes, count: int) -> None:
        first, self._next = self._next, self._next + count
        calls = (_CALL % (number, text, b"") for number in range(first, self._next))
        self._socket.sendall(b"".join(map(_text_frame, calls)))

    def _receive(self) -> bytes:
        chunk = self._socket.recv(1 << 20)
        if not chunk:
            raise TargetFailedError(f"{self._name}: it has closed the WebSocket")
        return chunk

    def _answers(self, count: int, read: bytes = b"") -> bytes:
        while _frames_in(read)[0] < count:
            read += self._receive()
        return read


def _text_frame(payload: bytes) -> bytes:
    """Return a masked frame, as clients send them; the mask is zeros."""
    size = len(payload)
    if size < 126:
        return b"\x81%c\0\0\0\0%b" % (0x80 | size, payload)
    if size < 1 << 16:
        return b"\x81\xfe%b\0\0\0\0%b" % (size.to_bytes(2, "big"), payload)
    return b"\x81\xff%b\0\0\0\0%b" % (size.to_bytes(8, "big"), payload)


def _frames_in(data: bytes) -> tuple[int, bytes]:
    """Return how many whole frames of a server there are, and what is behind them."""
    count = begin = 0
    while len(data) - begin >= 2:
        size, head = data[begin + 1] & 127, 2
        if size == 126:
            size, head = int.from_bytes(data[begin + 2 : begin + 4], "big"), 4
        elif size == 127:
            size, head = int.from_bytes(data[begin + 2 : begin + 10], "big"), 10
        end = begin + head + size
        if (head == 4 and len(data) - begin < 4) or end > len(data):
            break
        count, begin = count + 1, end
    return count, data[begin:]
