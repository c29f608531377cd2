"""A third-party peer: it answers from a table and sends what a test passes, byte for byte.

No session of ours is behind it, so ids, shapes and silence are its own.
"""

from __future__ import annotations

__all__ = ("INFO", "NOTHING", "Fake", "outcome", "refused")

import json
from collections import deque
from collections.abc import Awaitable
from typing import Any

import anyio

from kinwire.rpc.errors import ConnectionClosedError, RequestTimeoutError, RpcError
from kinwire.rpc.transport import SessionCallbacks
from kinwire_protocols.base import JsonObject

INFO = {"name": "elsewhere", "version": "0"}
NOTHING: Any = object()
"""The answer of a peer that leaves a request unanswered."""


def refused(code: int, message: str) -> JsonObject:
    """Return the answer that is an error."""
    return {"error": {"code": code, "message": message}}


async def outcome(doing: Awaitable[Any]) -> Any:
    """Return what comes of it; of an error its code."""
    try:
        return await doing
    except RpcError as error:
        return error.code
    except RequestTimeoutError:
        return "no answer"


class Fake:
    """One end of a transport. What the table lacks is answered as an unknown method."""

    peer_may_emit_noise = False
    address: str | None = None

    def __init__(self, answers: dict[str, Any]) -> None:
        self.answers = answers
        self.heard: list[JsonObject] = []
        """What the other side has sent, replies too."""
        self._say: deque[JsonObject] = deque()
        self._news = anyio.Event()
        self._callbacks: SessionCallbacks | None = None

    def say(self, **message: Any) -> None:
        """Send a message."""
        self._say.append({"jsonrpc": "2.0", **message})
        self.wake()

    def hang_up(self) -> None:
        """End the connection."""
        if self._callbacks is not None:
            self._callbacks.end(ConnectionClosedError("The peer has hung up."))

    async def ask(self, id: object, method: str, params: Any = None) -> JsonObject:
        """Send a request, and return its reply."""
        self.say(id=id, method=method, **({} if params is None else {"params": params}))
        while True:
            news = self._news
            for message in self.heard:
                if "method" not in message and message["id"] == id:
                    self.heard.remove(message)
                    return message
            await news.wait()

    async def tells(self, method: str, times: int = 1) -> list[JsonObject]:
        """Return the messages of a method, once `times` of them have come."""
        while True:
            news = self._news
            received = [one for one in self.heard if one.get("method") == method]
            if len(received) >= times:
                return received
            await news.wait()

    async def run(self, callbacks: SessionCallbacks, /) -> None:
        """See `Transport.run`."""
        self._callbacks = callbacks
        while True:
            news = self._news
            for frame in callbacks.take() if callbacks.waiting else ():
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

    def _take(self, message: JsonObject) -> None:
        self.heard.append(message)
        if "method" in message and "id" in message:
            answer = self.answers.get(message["method"], refused(-32601, "Method not found"))
            if answer is not NOTHING:
                body = answer if list(answer) == ["error"] else {"result": answer}
                self._say.append({"jsonrpc": "2.0", "id": message["id"], **body})
        self.wake()
