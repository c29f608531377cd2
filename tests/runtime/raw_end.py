"""One end of a transport in raw JSON, for peers that are written from a specification alone.

No session of ours is behind it, so ids, shapes and silence are its own.
"""

from __future__ import annotations

__all__ = ("Json", "RawEnd")

import json
from collections import deque
from typing import Any

import anyio

from kinwire.rpc.errors import ConnectionClosedError
from kinwire.rpc.transport import SessionCallbacks

Json = dict[str, Any]


class RawEnd:
    """Says what it is made to say, and hears everything. A subclass decides about requests."""

    peer_may_emit_noise = False
    address: str | None = None

    def __init__(self) -> None:
        self.heard: list[Json] = []
        """Everything that came, replies too."""
        self.reads = True
        """Whether it takes what comes; after a change, call `wake`."""
        self.closed = False
        """Whether our side has closed the connection."""
        self._say: deque[Json] = deque()
        self._news = anyio.Event()
        self._callbacks: SessionCallbacks | None = None

    def reply_to(self, message: Json) -> Json | None:
        """Return the result or the error for a request, as a member; None for no reply."""
        raise NotImplementedError

    def of(self, method: str) -> list[Json]:
        """Return the params of the messages of a method."""
        return [one.get("params", {}) for one in self.heard if one.get("method") == method]

    def say(self, **message: Any) -> None:
        """Send a message."""
        self._say.append({"jsonrpc": "2.0", **message})
        self.wake()

    async def ask(self, id: object, method: str, params: Any = None) -> Json:
        """Send a request, and return its reply."""
        before = len(self.heard)
        self.say(id=id, method=method, **({} if params is None else {"params": params}))
        while True:
            news = self._news
            for message in self.heard[before:]:
                if "method" not in message and message["id"] == id:
                    return message
            await news.wait()

    async def tells(self, method: str, times: int = 1) -> list[Json]:
        """Return the messages of a method, once `times` of them have come."""
        while True:
            news = self._news
            received = [one for one in self.heard if one.get("method") == method]
            if len(received) >= times:
                return received
            await news.wait()

    async def wait_for(self, method: str, most: int) -> list[Json]:
        """Return the params of the messages of a method, as soon as that many have come."""
        await self.tells(method, most)
        return self.of(method)

    async def settle(self) -> None:
        """Wait until nothing is under way."""
        await anyio.wait_all_tasks_blocked()

    def ask_to_end(self) -> None:
        """Have the program of the other side be asked to end, as by a signal."""
        if self._callbacks is not None:
            self._callbacks.ask_to_end(ConnectionClosedError("The program was asked to end."))

    def hang_up(self, code: int | None = None) -> None:
        """End the connection, with a `code` as a child process that exits with it."""
        if self._callbacks is not None:
            self._callbacks.end(ConnectionClosedError("The peer has hung up.", code))

    async def run(self, callbacks: SessionCallbacks, /) -> None:
        """See `Transport.run`."""
        self._callbacks = callbacks
        while True:
            news = self._news
            self._take_all(callbacks)
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
        self.closed = True
        if self._callbacks is not None:
            self._take_all(self._callbacks)

    def _take_all(self, callbacks: SessionCallbacks) -> None:
        for frame in callbacks.take() if callbacks.waiting and self.reads else ():
            self._take(json.loads(frame))

    def _take(self, message: Json) -> None:
        self.heard.append(message)
        if "method" in message and "id" in message:
            reply = self.reply_to(message)
            if reply is not None:
                self._say.append({"jsonrpc": "2.0", "id": message["id"], **reply})
        self.wake()
