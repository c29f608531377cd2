"""Peers of the tests' own, written from the specification alone: messages are plain dictionaries.

Nothing of ours speaks here. `RawHost` plays the host of MCPL 0.4.1, `RawServer` the server; both
say exactly what a test has them say, and keep everything that our side sends.
"""

from __future__ import annotations

__all__ = ("Error", "Message", "RawHost", "RawPeer", "RawServer", "Wire")

from collections.abc import Callable
from itertools import count
from typing import Any, NamedTuple, Protocol

import anyio

Message = dict[str, Any]

PATIENCE = 10.0  # seconds until a test that waits for a message of our side fails
VERSION = "2024-11-05"


class Error(NamedTuple):
    """An answer that is an error: `peer.answers["scope/elevate"] = Error(-32001, "No")`."""

    code: int
    message: str
    data: Any = None


class Wire(Protocol):
    """What carries the messages of a raw peer."""

    async def send(self, message: Message, /) -> None: ...

    async def close(self) -> None: ...


class RawPeer:
    """One side of a connection; the other one is ours.

    - `await peer.request(method, params)` returns the whole reply: it has `result` or `error`.
      `await peer.result(...)` and `await peer.error(...)` return that part, and fail without it.
      `id = await peer.begin(...)` does not wait; `await peer.reply(id)` does.
    - `await peer.notify(method, params)` sends a notification, `await peer.send(message)` anything.
    - `await peer.expect(method)` returns the next message of our side with this method, each once.
      `await peer.answer(message, result)` answers it; `result` may be an `Error`.
    - `peer.answers[method] = result` answers requests of our side by themselves; the value may be a
      plain function of the params. Other requests wait for the test; `ping` is answered.
    - `peer.received` lists everything that our side has sent, oldest first, and `peer.sent` what
      this peer has sent. `peer.params_of(method)` are the params of the received ones.
    - `await peer.settle()` returns when our side has handled what this peer has sent before, so a
      test can assert that something was not sent.
    - `await peer.hang_up()` ends the connection; over HTTP our side sees that at its next request.
      `await peer.gone()` waits for our side to end it.
    """

    def __init__(self) -> None:
        self.received: list[Message] = []
        self.sent: list[Message] = []
        self.answers: dict[str, Any] = {"ping": {}}
        self._unread: list[Message] = []
        self._ids = count(1)
        self._wire: Wire | None = None
        self._news = anyio.Event()
        self._gone = False

    async def send(self, message: Message) -> None:
        """Send a message as it is, without even adding `jsonrpc`."""
        assert self._wire is not None, "the peer is not connected"
        self.sent.append(message)
        await self._wire.send(message)

    async def notify(self, method: str, params: Any = None) -> None:
        """Send a notification; without `params` it has none."""
        await self.send(message_of(method=method, params=params))

    async def begin(self, method: str, params: Any = None, *, id: Any = None) -> Any:
        """Send a request, and return its id."""
        id = next(self._ids) if id is None else id
        await self.send(message_of(id=id, method=method, params=params))
        return id

    async def reply(self, id: Any) -> Message:
        """Return the reply to the request of this id."""
        return await self._first(
            lambda one: "method" not in one and one.get("id") == id, f"the reply to {id!r}"
        )

    async def request(self, method: str, params: Any = None) -> Message:
        """Send a request, and return the whole reply."""
        return await self.reply(await self.begin(method, params))

    async def result(self, method: str, params: Any = None) -> Any:
        """Send a request, and return the result of its reply."""
        reply = await self.request(method, params)
        assert "result" in reply, reply
        return reply["result"]

    async def error(self, method: str, params: Any = None) -> Message:
        """Send a request, and return the error of its reply."""
        reply = await self.request(method, params)
        assert "error" in reply, reply
        error: Message = reply["error"]
        return error

    async def expect(self, method: str) -> Message:
        """Return the next message of our side with this method."""
        return await self._first(lambda one: one.get("method") == method, method)

    async def answer(self, message: Message, result: Any) -> None:
        """Answer a request of our side, with an error if `result` is an `Error`."""
        if isinstance(result, Error):
            error = {"code": result.code, "message": result.message, "data": result.data}
            body = {"error": {key: one for key, one in error.items() if one is not None}}
        else:
            body = {"result": result}
        await self.send({"jsonrpc": "2.0", "id": message["id"], **body})

    def params_of(self, method: str) -> list[Any]:
        """Return the params of the messages of this method that our side has sent."""
        return [one.get("params") for one in self.received if one.get("method") == method]

    async def settle(self) -> None:
        """Return when our side has handled what was sent before."""
        for _ in range(2):  # over HTTP the reply has a stream of its own, and may be first
            await self.result("ping")

    async def hang_up(self) -> None:
        """End the connection."""
        if self._wire is not None:
            await self._wire.close()

    async def gone(self) -> None:
        """Return when the connection has ended."""
        with anyio.fail_after(PATIENCE):
            while not self._gone:
                await self._news.wait()

    def connect_to(self, wire: Wire) -> None:
        """Speak over this wire from now on. Only wires call this."""
        self._wire, self._gone = wire, False

    async def take(self, message: Message) -> None:
        """Take a message of our side. Only wires call this."""
        self.received.append(message)
        self._unread.append(message)
        method = message.get("method")
        if "id" in message and method in self.answers:
            self._unread.remove(message)
            result = self.answers[method]
            params = message.get("params")
            await self.answer(message, result(params) if callable(result) else result)
        self._wake()

    def end(self) -> None:
        """Take the end of the connection. Only wires call this."""
        self._gone = True
        self._wake()

    def _wake(self) -> None:
        self._news.set()
        self._news = anyio.Event()

    async def _first(self, chosen: Callable[[Message], bool], what: str) -> Message:
        with anyio.move_on_after(PATIENCE):
            while True:
                for message in self._unread:
                    if chosen(message):
                        self._unread.remove(message)
                        return message
                if self._gone:
                    raise AssertionError(f"ended before {what}; received: {self.received}")
                await self._news.wait()
        raise AssertionError(f"expected {what}; received: {self.received}")


class RawHost(RawPeer):
    """The host; our side is a `Server`, mostly with an `McplServer`."""

    async def open(
        self,
        mcpl: Any = None,
        *,
        update: Any = None,
        capabilities: Message | None = None,
        name: str = "raw",
    ) -> Message:
        """Do the handshake, and return the result of `initialize`.

        `mcpl` is the host's offer (section 5.2), None for a host that speaks only MCP. `update` are
        the params of a `featureSets/update`, which is sent afterwards (5.3) unless it is None.
        """
        offered = {} if mcpl is None else {"experimental": {"mcpl": mcpl}}
        params = {
            "protocolVersion": VERSION,
            "capabilities": {**(capabilities or {}), **offered},
            "clientInfo": {"name": name, "version": "0"},
        }
        greeting: Message = await self.result("initialize", params)
        await self.notify("notifications/initialized")
        if update is not None:
            await self.notify("featureSets/update", update)
        return greeting

    async def call(self, tool: str, arguments: Message | None = None, **params: Any) -> Message:
        """Call a tool, and return the whole reply; `params` are `state`, `checkpoint`, `scope`."""
        called = {"name": tool, "arguments": arguments or {}, **params}
        return await self.request("tools/call", called)


class RawServer(RawPeer):
    """The server; our side is a `Host`, mostly with an `McplHost`.

    It answers `initialize` with the offer `mcpl` (section 5.1), None for a server that speaks only
    MCP, next to other `capabilities`. `tools` are what it lists; calls of them wait for the test
    (`await server.expect("tools/call")`) unless `answers` has one.
    """

    def __init__(
        self,
        mcpl: Any = None,
        *,
        capabilities: Message | None = None,
        tools: list[Message] | None = None,
        name: str = "raw",
    ) -> None:
        super().__init__()
        offered = {} if mcpl is None else {"experimental": {"mcpl": mcpl}}
        listed: Message = {} if tools is None else {"tools": {}}
        self.answers["initialize"] = {
            "protocolVersion": VERSION,
            "capabilities": {**listed, **(capabilities or {}), **offered},
            "serverInfo": {"name": name, "version": "0"},
        }
        if tools is not None:
            self.answers["tools/list"] = {"tools": tools}


def message_of(**parts: Any) -> Message:
    """Return a message of JSON-RPC, without the parts that are None."""
    return {"jsonrpc": "2.0", **{key: one for key, one in parts.items() if one is not None}}
