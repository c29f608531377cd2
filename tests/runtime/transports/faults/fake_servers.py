"""The servers of bytes, one for each transport."""

from __future__ import annotations

__all__ = ("RAW_SERVERS",)

import json
import socket
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from threading import Event, Thread

from anyio.from_thread import BlockingPortal
from websockets.exceptions import ConnectionClosed
from websockets.sync.server import ServerConnection, serve
from websockets.typing import Subprotocol

from kinwire import stdio
from kinwire.transports.memory import memory_pair
from tests.runtime.programs import piped
from tests.runtime.transports.faults.fake_http_servers import HttpServer, SseServer
from tests.runtime.transports.faults.fake_memory_end import MemoryEnd
from tests.runtime.transports.faults.fake_server import RawServer, break_off


class MemoryServer(RawServer):
    """Frames in memory."""

    def __init__(self, portal: BlockingPortal) -> None:
        super().__init__(portal)
        self.target, far = memory_pair()
        self._end = MemoryEnd(portal, far, self._got)

    def _got(self, frame: bytes | None) -> None:
        self._came.put(None if frame is None else json.loads(frame))
        if self.deaf:
            self._end.pause()

    def send(self, frame: bytes) -> None:
        self._end.send(frame)

    def begin(self, size: int) -> Callable[[bytes], object]:
        raise NotImplementedError("a frame is whole or none")

    def leave(self) -> None:
        self._end.close()


class StdioServer(RawServer):
    """A child process whose standard input and output are carried to here."""

    def __init__(self, portal: BlockingPortal) -> None:
        super().__init__(portal)
        self._listener = socket.create_server(("127.0.0.1", 0))
        port = self._listener.getsockname()[1]
        self.target = stdio(sys.executable, str(Path(piped.__file__)), str(port))
        self._accepted = Event()
        Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        self._connection, _ = self._listener.accept()
        self._accepted.set()
        with suppress(OSError), self._connection.makefile("rb") as lines:
            while not self.deaf and (line := lines.readline()):
                self._came.put(json.loads(line))

    def send(self, frame: bytes) -> None:
        self._accepted.wait()
        self._connection.sendall(frame + b"\n")

    def begin(self, size: int) -> Callable[[bytes], object]:
        return self._connection.sendall

    def leave(self) -> None:
        with suppress(OSError):
            self._connection.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        self._accepted.wait()
        self.leave()
        self._connection.close()
        self._listener.close()


class WebSocketServer(RawServer):
    """A frame in a text message."""

    def __init__(self, portal: BlockingPortal) -> None:
        super().__init__(portal)
        self._connection: ServerConnection | None = None
        self._listening = serve(
            self._serve,
            "127.0.0.1",
            0,
            subprotocols=[Subprotocol("mcp")],
            compression=None,
            max_size=None,
            close_timeout=1,
        )
        self.target = f"ws://127.0.0.1:{self._listening.socket.getsockname()[1]}/mcp"
        self._thread = Thread(target=self._listening.serve_forever)
        self._thread.start()
        self._over = Event()

    def _serve(self, connection: ServerConnection) -> None:
        self._connection = connection
        with suppress(ConnectionClosed):
            while not self.deaf:
                self._came.put(json.loads(connection.recv()))
        self._over.wait()

    @property
    def _open(self) -> ServerConnection:
        assert self._connection is not None
        return self._connection

    def send(self, frame: bytes) -> None:
        self._open.send(frame, text=True)

    def begin(self, size: int) -> Callable[[bytes], object]:
        connection: socket.socket = self._open.socket
        connection.sendall(bytes([0x81, 127]) + size.to_bytes(8))
        return connection.sendall

    def leave(self) -> None:
        break_off(self._open.socket)

    def close(self) -> None:
        self._over.set()
        self._listening.shutdown()
        self._thread.join()


RAW_SERVERS: Mapping[str, Callable[[BlockingPortal], RawServer]] = {
    "memory": MemoryServer,
    "stdio": StdioServer,
    "http": HttpServer,
    "sse": SseServer,
    "ws": WebSocketServer,
}
