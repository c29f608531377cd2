"""Clients of bytes for servers without a port, and what all of them can leave half done."""

from __future__ import annotations

__all__ = ("RAW_CLIENTS", "Half", "RawMemory", "RawStdio", "begun")

import json
import socket
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from queue import Queue
from typing import Any

from anyio.from_thread import BlockingPortal
from websockets.exceptions import ConnectionClosed

from kinwire import Server
from kinwire.transports.memory import memory_pair
from tests.runtime.fixtures_wire import Wire
from tests.runtime.programs import held
from tests.runtime.transports.fake_clients import (
    RAW,
    RawClient,
    RawHttp,
    RawOneWay,
    RawSse,
    RawWebSocket,
    message,
)
from tests.runtime.transports.faults.fake_memory_end import MemoryEnd

POST = b"POST %b HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
ACCEPT = b"Accept: application/json, text/event-stream\r\nConnection: close\r\n"


class RawMemory(RawOneWay):
    """Frames in memory; the server runs behind a portal."""

    def __init__(self, portal: BlockingPortal, server: Server, *initialize: bytes) -> None:
        self._portal = portal
        self._server = server
        super().__init__(0, *initialize)

    def open(self, initialize: bytes) -> Any:
        self._came: Queue[bytes | None] = Queue()
        near, far = memory_pair()
        self.end = MemoryEnd(self._portal, near, self._came.put)
        self._portal.start_task_soon(self._server.serve, far)
        self.send(initialize)
        return self.next()

    def send(self, frame: bytes) -> list[Any]:
        self.end.send(frame)
        return []

    def next(self) -> Any:
        frame = self._came.get(timeout=self.patience)
        assert frame is not None, "the server has left"
        return json.loads(frame)

    def close(self) -> None:
        self.end.close()


class RawStdio(RawOneWay):
    """Lines to a child process, and from it."""

    def __init__(self, backend: str, *initialize: bytes) -> None:
        self._backend = backend
        super().__init__(0, *initialize)

    def open(self, initialize: bytes) -> Any:
        self.wire = Wire(sys.executable, str(Path(held.__file__)), self._backend)
        self.send(initialize)
        return self.next()

    def send(self, frame: bytes) -> list[Any]:
        self.wire.send(frame)
        return []

    def next(self) -> Any:
        return self.wire.message()

    def close(self) -> None:
        self.wire.__exit__(None, None, None)


class Half:
    """A message on its way to a server: `write` sends bytes of it, `leave` sends no more."""

    def __init__(
        self,
        write: Callable[[bytes], object],
        leave: Callable[[], list[Any]],
        reply: socket.socket | None = None,
    ) -> None:
        self.write = write
        self.leave = leave
        """Close the way in, and return the messages that still come."""
        self.reply = reply
        """Where a refusal would come, if the message has a connection of its own."""


@contextmanager
def begun(client: RawClient, size: int) -> Iterator[Half]:
    """Begin a message of `size` bytes."""
    if isinstance(client, RawStdio):
        yield Half(client.wire.write, lambda: _rest_of_lines(client))
    elif isinstance(client, RawWebSocket):
        raw = client.socket.socket
        raw.sendall(bytes([0x81, 0xFF]) + size.to_bytes(8) + bytes(4))  # a mask of zeros
        yield Half(raw.sendall, lambda: _rest_of_frames(client))
    else:
        assert isinstance(client, RawHttp | RawSse)
        with socket.create_connection(("127.0.0.1", client.port), client.patience) as connection:
            connection.sendall(_post(client) + ACCEPT + b"Content-Length: %d\r\n\r\n" % size)
            yield Half(connection.sendall, lambda: _rest_of_body(client, connection), connection)


def _post(client: RawHttp | RawSse) -> bytes:
    if isinstance(client, RawSse):
        return POST % client.address.encode()
    return POST % b"/mcp" + f"Mcp-Session-Id: {client.session}\r\n".encode()


def _rest_of_lines(client: RawStdio) -> list[Any]:
    client.wire.close_input()
    lines = client.wire.remaining().splitlines()
    assert client.wire.exit_code() == 0
    return [json.loads(line) for line in lines]


def _rest_of_frames(client: RawWebSocket) -> list[Any]:
    client.socket.socket.shutdown(socket.SHUT_WR)
    found: list[Any] = []
    with suppress(ConnectionClosed):
        while True:
            found.append(client.next())
    return found


def _rest_of_body(client: RawHttp | RawSse, connection: socket.socket) -> list[Any]:
    connection.shutdown(socket.SHUT_WR)
    read = b""
    while chunk := connection.recv(65536):
        read += chunk
    _, _, body = read.partition(b"\r\n\r\n")
    own = [json.loads(body)] if body else []
    return [*own, *client.ask(message("ping", "after"))]


RAW_CLIENTS: Mapping[str, Callable[..., RawClient]] = {
    "memory": RawMemory,
    "stdio": RawStdio,
    **RAW,
}
