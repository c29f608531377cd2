"""A client of an ASGI application in the same process: no socket, each request a call of it."""

from __future__ import annotations

__all__ = ("BOTH", "Client", "Open", "Response", "initialize", "message")

import json
from collections import deque
from collections.abc import AsyncIterator, Mapping, MutableMapping
from contextlib import asynccontextmanager
from typing import Any

import anyio
from anyio.lowlevel import checkpoint

from kinwire.mcp.http.app import HttpApp
from kinwire.transports.http.sse import Event, SseDecoder

BOTH = "application/json, text/event-stream"

Headers = Mapping[str, str | None]


def message(method: str, id: object = 1, **params: Any) -> dict[str, Any]:
    """Return a request."""
    return {"jsonrpc": "2.0", "id": id, "method": method, "params": params}


def initialize(version: str = "2024-11-05", id: object = 0, **capabilities: Any) -> dict[str, Any]:
    """Return the first request of a session."""
    info = {"name": "test", "version": "1"}
    return message(
        "initialize", id, protocolVersion=version, capabilities=capabilities, clientInfo=info
    )


class Response:
    """What has come of a response so far."""

    def __init__(self) -> None:
        self.status = 0
        self.headers: dict[str, str] = {}
        self.body = b""
        self.ended = False
        self._decoder = SseDecoder(2**24)
        self._events: deque[Event] = deque()
        self._news = anyio.Event()

    @property
    def json(self) -> Any:
        """The body, decoded."""
        return json.loads(self.body)

    @property
    def answer(self) -> Any:
        """The last message, whichever way it came: on a slow machine an answer is a stream."""
        return json.loads(self._events[-1].data) if self.is_stream else self.json

    @property
    def is_stream(self) -> bool:
        """Whether events come."""
        return self.headers.get("content-type") == "text/event-stream"

    @property
    def events(self) -> list[Event]:
        """The events that have come and were not taken by `event`."""
        return list(self._events)

    async def event(self) -> Event:
        """Return the next event."""
        with anyio.fail_after(5):
            while not self._events:
                assert not self.ended, "the stream has ended"
                await self._news.wait()
        return self._events.popleft()

    async def frame(self) -> Any:
        """Return the message in the next event."""
        return json.loads((await self.event()).data)

    async def until(self, what: str) -> None:
        """Return when the response has `begun` or `ended`."""
        with anyio.fail_after(5):
            while not (self.status if what == "begun" else self.ended):
                await self._news.wait()

    async def until_body(self, part: bytes) -> None:
        """Return when the body has `part`."""
        with anyio.fail_after(5):
            while part not in self.body:
                await self._news.wait()

    async def take(self, part: MutableMapping[str, Any]) -> None:
        """Be the `send` of an application."""
        if part["type"] == "http.response.start":
            self.status = part["status"]
            self.headers = {name.decode(): value.decode() for name, value in part["headers"]}
        else:
            self.body += part.get("body", b"")
            if self.is_stream:
                self._events.extend(self._decoder.feed(part.get("body", b"")))
            self.ended = not part.get("more_body", False)
        self._news.set()
        self._news = anyio.Event()


class Open(Response):
    """A response that goes on while the test does other things."""

    def __init__(self) -> None:
        super().__init__()
        self.gone = anyio.Event()
        self._read = anyio.Event()
        self._read.set()

    def hold(self) -> None:
        """Read no more."""
        self._read = anyio.Event()

    async def take(self, part: MutableMapping[str, Any]) -> None:
        """Be the `send` of an application, as slow as the test wants."""
        await self._read.wait()
        await super().take(part)

    def disconnect(self) -> None:
        """Drop the connection."""
        self.gone.set()
        self._read.set()


class Client:
    """Sends requests to an application; remembers the session that it was given."""

    def __init__(self, app: HttpApp, **headers: str | None) -> None:
        self.app = app
        self.session: str | None = None
        self.query = b""
        self.path, self.root_path = "/mcp", ""
        self.headers: dict[str, str | None] = {
            "host": "localhost:8000",
            "accept": BOTH,
            "content-type": "application/json",
            **{name.replace("_", "-"): value for name, value in headers.items()},
        }

    async def begin(self, version: str = "2024-11-05", **capabilities: Any) -> Client:
        """Do the handshake."""
        answer = await self.post(initialize(version, **capabilities))
        assert answer.status == 200, answer.body
        self.session = answer.headers["mcp-session-id"]
        done = {"jsonrpc": "2.0", "method": "notifications/initialized"}
        assert (await self.post(done)).status == 202
        for _ in range(5):
            await checkpoint()  # until the server has taken note
        return self

    async def post(self, body: object, **headers: str | None) -> Response:
        """Send a message and return the whole response."""
        return await self.request("POST", body, **headers)

    async def request(self, method: str, body: object = None, **headers: str | None) -> Response:
        """Send a request and return the whole response."""
        response = Open()
        with anyio.fail_after(10):
            await self._call(method, body, headers, response)
        return response

    @asynccontextmanager
    async def open(
        self, method: str, body: object = None, **headers: str | None
    ) -> AsyncIterator[Open]:
        """Send a request and yield the response as soon as it has begun."""
        response = Open()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._call, method, body, headers, response)
            await response.until("begun")
            yield response
            response.disconnect()

    @asynccontextmanager
    async def sent(
        self, method: str, body: object = None, **headers: str | None
    ) -> AsyncIterator[Open]:
        """Send a request and yield the response, which may not have begun."""
        response = Open()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._call, method, body, headers, response)
            yield response
            response.disconnect()

    async def _call(self, method: str, body: object, more: Headers, response: Open) -> None:
        data = body if isinstance(body, bytes) else b"" if body is None else _encoded(body)
        parts = deque([{"type": "http.request", "body": data}])

        async def receive() -> MutableMapping[str, Any]:
            if parts:
                return dict(parts.popleft())
            await response.gone.wait()
            return {"type": "http.disconnect"}

        await self.app(self.scope(method, more), receive, response.take)

    def scope(self, method: str, more: Headers) -> dict[str, Any]:
        headers = {**self.headers, "mcp-session-id": self.session}
        headers |= {name.replace("_", "-"): value for name, value in more.items()}
        return {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.4"},
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": self.path,
            "raw_path": self.path.encode(),
            "root_path": self.root_path,
            "query_string": self.query,
            "headers": [
                (name.encode(), value.encode("latin-1"))
                for name, value in headers.items()
                if value is not None
            ],
            "server": ("127.0.0.1", 8000),
            "client": ("127.0.0.1", 50000),
        }


def _encoded(body: object) -> bytes:
    return json.dumps(body, ensure_ascii=False).encode()
