"""A server of bytes, for a client under test: it says what no server of ours would."""

from __future__ import annotations

__all__ = ("GREETING", "RawServer", "break_off")

import json
import socket
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from contextlib import suppress
from queue import Queue
from typing import Any

from anyio.from_thread import BlockingPortal

from kinwire.rpc.transport import Transport

GREETING = {
    "protocolVersion": "2024-11-05",
    "capabilities": {"tools": {}},
    "serverInfo": {"name": "raw", "version": "0"},
}


class RawServer(ABC):
    """The server's end of one session."""

    target: Transport | str
    """What a host connects to."""

    def __init__(self, portal: BlockingPortal) -> None:
        self._portal = portal
        self._came: Queue[Any] = Queue()
        self.deaf = False
        """Whether nothing is read any more."""

    def greet(self, greeting: Mapping[str, Any] = GREETING) -> None:
        """Answer the handshake."""
        self.answer(self.next(), greeting)
        assert self.next()["method"] == "notifications/initialized"

    def next(self) -> Any:
        """Return the next message of the client."""
        message = self._came.get(timeout=20)
        assert message is not None, "the client has left"
        return message

    def asked(self, method: str) -> Any:
        """Return the next request for a method, past what else comes."""
        while (message := self.next()).get("method") != method:
            pass
        return message

    def answer(self, request: Any, result: Any) -> None:
        """Answer a request with a result."""
        body = {"jsonrpc": "2.0", "id": request["id"], "result": result}
        self.reply(json.dumps(body).encode())

    @abstractmethod
    def send(self, frame: bytes) -> None:
        """Send a frame that answers nothing, or so it seems."""

    def reply(self, frame: bytes) -> None:
        """Send a frame in the reply to the request that came last."""
        self.send(frame)

    @abstractmethod
    def begin(self, size: int) -> Callable[[bytes], object]:
        """Begin a reply of `size` bytes; return the function that writes them."""

    def finish(self) -> None:  # noqa: B027 - as a rule nobody waits for it
        """Say that a reply that was begun is over."""

    @abstractmethod
    def leave(self) -> None:
        """Break off without a word."""

    def close(self) -> None:
        """Release everything."""
        self.leave()


def break_off(connection: socket.socket) -> None:
    with suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)
