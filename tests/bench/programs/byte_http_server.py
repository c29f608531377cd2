"""`byte_server.py` over HTTP: so cheap that HTTP clients can be compared.

usage: byte_http_server.py, with any Python; the port is the first line on stdout
"""

from __future__ import annotations

import asyncio

from tests.bench.programs.byte_server import answer

_HEAD = (
    b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nMcp-Session-Id: bytes\r\n"
    b"Content-Length: %d\r\n\r\n"
)
_ACCEPTED = b"HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n"
_REFUSED = b"HTTP/1.1 405 Method Not Allowed\r\nContent-Length: 0\r\n\r\n"


class Connection(asyncio.Protocol):
    """One connection, which stays open."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._read = bytearray()

    def data_received(self, data: bytes) -> None:
        self._read += data
        while (end := self._read.find(b"\r\n\r\n")) >= 0:
            head = bytes(self._read[:end])
            size = _length_of(head)
            if len(self._read) < end + 4 + size:
                return
            body = bytes(self._read[end + 4 : end + 4 + size])
            del self._read[: end + 4 + size]
            self._transport.write(_response(head, body))


def _length_of(head: bytes) -> int:
    begin = head.lower().find(b"content-length:")
    return int(head[begin + 15 :].split(b"\r", 1)[0]) if begin >= 0 else 0


def _response(head: bytes, body: bytes) -> bytes:
    if not head.startswith(b"POST"):
        return _REFUSED
    found = answer(body)
    return _ACCEPTED if found is None else _HEAD % len(found) + found


async def main() -> None:
    server = await asyncio.get_running_loop().create_server(Connection, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
