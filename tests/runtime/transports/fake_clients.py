"""Clients of bytes: they send what no client of ours would, and show everything that comes back."""

from __future__ import annotations

__all__ = ("RAW", "RawClient", "RawHttp", "RawOneWay", "RawSse", "RawWebSocket")

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from http.client import HTTPConnection, HTTPResponse
from types import TracebackType
from typing import Any, Self

from websockets.sync.client import connect
from websockets.typing import Subprotocol

MARK = "mark"
"""The id of a ping behind each frame: what comes before its answer is all that comes."""

_POST = {
    "Content-Type": "application/json",
    "Accept": "application/json, text/event-stream",
    "Connection": "close",  # and so the socket is closed when the response was read
}


def message(method: str, id: Any = None, **params: Any) -> bytes:
    """Return a request, without an id a notification."""
    named = {} if id is None else {"id": id}
    return json.dumps({"jsonrpc": "2.0", **named, "method": method, "params": params}).encode()


INITIALIZE = message(
    "initialize",
    "first",
    protocolVersion="2024-11-05",
    capabilities={},
    clientInfo={"name": "raw", "version": "0"},
)


class RawClient(ABC):
    """One session, after its handshake."""

    patience = 10.0
    """Seconds until something comes."""

    def __init__(self, port: int, initialize: bytes = INITIALIZE) -> None:
        self.port = port
        self.greeting = self.open(initialize)
        self.send(message("notifications/initialized"))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    @abstractmethod
    def open(self, initialize: bytes) -> Any:
        """Connect, and return the answer to `initialize`."""

    @abstractmethod
    def send(self, frame: bytes) -> list[Any]:
        """Send a frame; return what comes in the reply to it, where each has one."""

    @abstractmethod
    def ask(self, frame: bytes) -> list[Any]:
        """Send a frame and return all messages that come of it."""

    @abstractmethod
    def answer(self, frame: bytes) -> Any:
        """Send a request and return its answer, before which nothing may come."""

    @abstractmethod
    def close(self) -> None:
        """Leave without a word."""


class RawHttp(RawClient):
    """Streamable HTTP: each frame in a POST of its own."""

    def open(self, initialize: bytes) -> Any:
        self._fields: dict[str, str] = {}
        self._connections: list[HTTPConnection] = []  # some servers keep them open all the same
        response = self.post(initialize)
        assert response.status == 200, response.read()
        self.session = response.headers["Mcp-Session-Id"]
        self._fields["Mcp-Session-Id"] = self.session
        (greeting,) = messages_in(response)
        return greeting

    def post(self, body: bytes, fields: Mapping[str, str] = {}) -> HTTPResponse:
        """Send a request on a connection of its own; the body of the response is not read yet."""
        connection = HTTPConnection("127.0.0.1", self.port, timeout=self.patience)
        self._connections.append(connection)
        connection.request("POST", "/mcp", body, {**_POST, **self._fields, **fields})
        return connection.getresponse()

    def send(self, frame: bytes) -> list[Any]:
        return messages_in(self.post(frame))

    def ask(self, frame: bytes) -> list[Any]:
        found = self.send(frame)
        assert self.send(message("ping", MARK)) == [{"jsonrpc": "2.0", "id": MARK, "result": {}}]
        return found

    def answer(self, frame: bytes) -> Any:
        (found,) = self.send(frame)
        return found

    def close(self) -> None:
        connection = HTTPConnection("127.0.0.1", self.port, timeout=self.patience)
        connection.request("DELETE", "/mcp", headers={**self._fields, "Connection": "close"})
        connection.getresponse().read()
        for one in (connection, *self._connections):
            one.close()


class RawOneWay(RawClient):
    """All that the server says comes on one way."""

    @abstractmethod
    def next(self) -> Any:
        """Return the next message of the server."""

    def ask(self, frame: bytes) -> list[Any]:
        self.send(frame)
        self.send(message("ping", MARK))
        return list(until_the_mark(self.next))

    def answer(self, frame: bytes) -> Any:
        self.send(frame)
        return self.next()


class RawSse(RawOneWay):
    """HTTP+SSE: POSTs in, one stream out."""

    def open(self, initialize: bytes) -> Any:
        self._connection = HTTPConnection("127.0.0.1", self.port, timeout=self.patience)
        self._connection.request("GET", "/sse", headers={"Accept": "text/event-stream"})
        self._response = self._connection.getresponse()
        self._events = events_in(self._response)
        self.address = next(self._events)
        if self.address.startswith("?"):
            self.address = f"/sse{self.address}"
        self.send(initialize)
        return self.next()

    def send(self, frame: bytes) -> list[Any]:
        connection = HTTPConnection("127.0.0.1", self.port, timeout=self.patience)
        connection.request("POST", self.address, frame, _POST)
        connection.getresponse().read()
        return []

    def next(self) -> Any:
        return json.loads(next(self._events))

    def close(self) -> None:
        self._response.close()
        self._connection.close()


class RawWebSocket(RawOneWay):
    """WebSocket: a frame in a text message."""

    def open(self, initialize: bytes) -> Any:
        url = f"ws://127.0.0.1:{self.port}/mcp"
        opening = connect(
            url,
            subprotocols=[Subprotocol("mcp")],
            max_size=None,
            compression=None,
            close_timeout=1,  # a server may have more to say than anybody reads
        )
        self._ends = ExitStack()
        self.socket = self._ends.enter_context(opening)
        self.send(initialize)
        return self.next()

    def send(self, frame: bytes) -> list[Any]:
        self.socket.send(frame, text=True)
        return []

    def next(self) -> Any:
        return json.loads(self.socket.recv(self.patience))

    def close(self) -> None:
        self._ends.close()


RAW: Mapping[str, Callable[..., RawClient]] = {
    "http": RawHttp,
    "sse": RawSse,
    "ws": RawWebSocket,
}


def until_the_mark(following: Callable[[], Any]) -> Iterator[Any]:
    while (found := following()).get("id") != MARK:
        yield found


def messages_in(response: HTTPResponse) -> list[Any]:
    """Return the messages of a response, whichever of the two kinds it is."""
    with response:
        if response.headers.get("Content-Type", "").startswith("text/event-stream"):
            return [json.loads(data) for data in events_in(response) if data]
        body = response.read()
        return [json.loads(body)] if body else []


def events_in(response: HTTPResponse) -> Iterator[str]:
    """Yield the data of each event."""
    assert response.status == 200, response.read()
    lines: list[str] = []
    while line := response.readline().decode():
        if line in ("\n", "\r\n"):
            if lines:
                yield "\n".join(lines)
            lines = []
        elif line.startswith("data:"):
            lines.append(line[5:].strip(" \r\n"))
