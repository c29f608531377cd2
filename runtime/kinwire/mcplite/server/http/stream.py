"""One call whose result goes out in parts, as server-sent events (MCP-lite, 4.3 and A.4)."""

from __future__ import annotations

__all__ = ("LiteStream",)

import time
from collections.abc import Awaitable, Callable

import anyio
from anyio.lowlevel import checkpoint

from kinwire.mcplite.server.http.calls import STOPPING, RunningCall
from kinwire.mcplite.server.source import Put
from kinwire.rpc.codec import Id, encode
from kinwire.rpc.error_table import internal_error
from kinwire.transports.http.replies import Send
from kinwire.transports.http.sse import MEDIA_TYPE, encoded_event
from kinwire_protocols.base import JsonObject, RpcError, error_to_wire

_HEADERS = (
    (b"content-type", MEDIA_TYPE.encode()),
    (b"cache-control", b"no-store"),
    (b"x-accel-buffering", b"no"),  # a proxy that collects events makes them late
)

_TURN = 0.01  # seconds of parts without a turn of the loop for anybody else


class LiteStream:
    """The response to one request, of events: parts, then the result or an error."""

    def __init__(self, call: RunningCall, send: Send, id: Id | None, keep_alive: float) -> None:
        self._call = call
        self._send = send
        self._id = id
        self._keep_alive = keep_alive
        self._lock = anyio.Lock(fast_acquire=True)  # a heartbeat comes between two events
        self._since = time.monotonic()  # of the last event
        self._paused_at = self._since
        self._ended = False

    async def send_all(self, work: Callable[[Put], Awaitable[JsonObject]]) -> None:
        """Do the work, send its parts as they come, and at last its result or an error."""
        await self._send({"type": "http.response.start", "status": 200, "headers": [*_HEADERS]})
        beats = anyio.CancelScope()
        self._call.beside(beats, self._beat)
        try:
            await self._end_with(await self._call.run(work(self._part)))
        except RpcError as error:
            await self._fail(error)
        except Exception as fault:
            await self._fail(internal_error("MCP-lite", fault))
        finally:
            beats.cancel()

    async def _part(self, part: JsonObject) -> None:
        await self._event("message", part)
        # A tool may never wait, nor does a connection that takes all: others want to go on, too.
        if self._ended:
            self._call.end()
            await checkpoint()
        elif self._since - self._paused_at > _TURN:
            self._paused_at = self._since
            await checkpoint()

    async def _end_with(self, result: JsonObject | None) -> None:
        if result is not None:
            await self._event("done", {"id": self._id, **result}, last=True)
        elif self._call.is_stopped:
            await self._fail(STOPPING)

    async def _fail(self, error: RpcError) -> None:
        await self._event("error", error_to_wire(error), last=True)

    async def _event(self, name: str, data: JsonObject, *, last: bool = False) -> None:
        event = encoded_event(encode(data), name=name)
        async with self._lock:
            if self._ended:
                return
            self._ended = last
            part = {"type": "http.response.body", "body": event, "more_body": not last}
            try:
                await self._send(part)
            except OSError:  # so say servers that the client has gone
                self._ended = True
            self._since = time.monotonic()

    async def _beat(self) -> None:
        """Send an event now and then while there is no other."""
        pause = self._keep_alive
        while not self._ended:
            await anyio.sleep(max(0.0, self._since + pause - time.monotonic()))
            if time.monotonic() - self._since >= pause:
                await self._event("heartbeat", {})
