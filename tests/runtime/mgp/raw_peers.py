"""Peers of MGP in raw JSON, written from the specification alone: none of our code is in them."""

from __future__ import annotations

__all__ = ("NOTHING", "RawKernel", "RawServer", "codes", "tool")

import json
from collections import deque
from collections.abc import Callable
from typing import Any

import anyio

from kinwire.rpc.errors import ConnectionClosedError
from kinwire.rpc.transport import SessionCallbacks

Json = dict[str, Any]

NOTHING: Json = {}
"""The answer of a peer that leaves a request unanswered."""


def tool(name: str, *parameters: str, **more: Any) -> Json:
    """Return a tool whose parameters are texts."""
    properties = {one: {"type": "string"} for one in parameters}
    schema = {"type": "object", "properties": properties, "required": list(parameters)}
    return {"name": name, "description": name, "inputSchema": schema, **more}


def codes(reply: Json) -> tuple[int, Json]:
    """Return the code of an error, and what it says about recovery."""
    error = reply["error"]
    return error["code"], (error.get("data") or {}).get("_mgp") or {}


class _RawEnd:
    """One end of a transport, which says what it is made to say and hears everything."""

    peer_may_emit_noise = False
    address: str | None = None

    def __init__(self) -> None:
        self.heard: list[Json] = []
        """Everything that came."""
        self.reads = True
        """Whether it takes what comes; after a change, call `wake`."""
        self._say: deque[Json] = deque()
        self._news = anyio.Event()
        self._callbacks: SessionCallbacks | None = None

    def of(self, method: str) -> list[Json]:
        """Return the params of the messages of a method."""
        return [one.get("params", {}) for one in self.heard if one.get("method") == method]

    def say(self, **message: Any) -> None:
        """Send a message."""
        self._say.append({"jsonrpc": "2.0", **message})
        self.wake()

    async def ask(self, id: object, method: str, params: Json) -> Json:
        """Send a request, and return its reply."""
        self.say(id=id, method=method, params=params)
        while True:
            news = self._news
            for message in self.heard:
                if "method" not in message and message["id"] == id:
                    return message
            await news.wait()

    async def wait_for(self, method: str, most: int) -> list[Json]:
        """Return the params of the messages of a method, as soon as that many have come."""
        while True:
            news, found = self._news, self.of(method)
            if len(found) >= most:
                return found
            await news.wait()

    async def settle(self) -> None:
        """Wait until nothing is under way."""
        await anyio.wait_all_tasks_blocked()

    def hang_up(self) -> None:
        """End the connection."""
        assert self._callbacks is not None
        self._callbacks.end(ConnectionClosedError("The peer has hung up."))

    async def run(self, callbacks: SessionCallbacks, /) -> None:
        """See `Transport.run`."""
        self._callbacks = callbacks
        while True:
            news = self._news
            for frame in callbacks.take() if callbacks.waiting and self.reads else ():
                self._take(json.loads(frame))
            while self._say:
                callbacks.feed(json.dumps(self._say.popleft()).encode())
            await news.wait()

    def wake(self) -> None:
        """See `Transport.wake`."""
        self._news.set()
        self._news = anyio.Event()

    def resume(self) -> None:
        """See `Transport.resume`."""

    async def aclose(self) -> None:
        """See `Transport.aclose`."""

    def _take(self, message: Json) -> None:
        self.heard.append(message)
        if "method" in message and "id" in message:
            answer = self._answer(message["method"], message.get("params", {}))
            part = "error" if "code" in answer else "result"
            if answer is not NOTHING:
                self._say.append({"jsonrpc": "2.0", "id": message["id"], part: answer})
        self.wake()

    def _answer(self, method: str, params: Json) -> Json:
        raise NotImplementedError


class RawServer(_RawEnd):
    """A server, as a transport: `await host.connect(raw)`.

    `mgp` is what it answers with in `capabilities.mgp`, whatever the client has offered; None for a
    plain server. A function in `answers` gets the params; what has a `code` is sent as an error.
    """

    def __init__(
        self,
        *tools: Json,
        mgp: Json | None = None,
        capabilities: Json | None = None,
        **answers: Json | Callable[[Json], Json],
    ) -> None:
        super().__init__()
        self.tools = list(tools)
        self.silent_ping = False
        """Whether it leaves `ping` unanswered."""
        self.capabilities: Json = {"tools": {"listChanged": True}, **(capabilities or {})}
        if mgp is not None:
            self.capabilities["mgp"] = mgp
        self.answers: dict[str, Any] = {
            "tools/call": lambda params: {"content": [{"type": "text", "text": params["name"]}]},
            **{name.replace("_", "/"): answer for name, answer in answers.items()},
        }

    @property
    def calls(self) -> list[Json]:
        """The params of the calls that came."""
        return self.of("tools/call")

    def _answer(self, method: str, params: Json) -> Json:
        if method == "initialize":
            return {
                "protocolVersion": "2024-11-05",
                "capabilities": self.capabilities,
                "serverInfo": {"name": "elsewhere", "version": "0"},
            }
        if method == "tools/list":
            return {"tools": self.tools}
        if method == "ping":
            return NOTHING if self.silent_ping else {}
        answer = self.answers.get(method, {"code": -32601, "message": "Method not found"})
        made: Json = answer(params) if callable(answer) else answer
        return made


class RawKernel(_RawEnd):
    """A kernel, as a transport: `tasks.start_soon(server.serve, raw)`."""

    async def greet(self, mgp: Json | None, **capabilities: Any) -> Json:
        """Shake hands with this offer of MGP, and return what the server can do."""
        offer = {} if mgp is None else {"mgp": mgp}
        reply = await self.ask(
            "hello",
            "initialize",
            {
                "protocolVersion": "2024-11-05",
                "capabilities": {**offer, **capabilities},
                "clientInfo": {"name": "elsewhere", "version": "0"},
            },
        )
        self.say(method="notifications/initialized")
        found: Json = reply["result"]["capabilities"]
        return found

    def _answer(self, method: str, params: Json) -> Json:
        return {"code": -32601, "message": "Method not found"}
