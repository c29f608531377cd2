"""A WebSocket that an ASGI server has: beside HTTP on one port, with that server's own framing."""

from __future__ import annotations

__all__ = ("AsgiWebSocket", "serve_websocket_scope")

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

import anyio

from kinwire.errors import ConnectionClosedError
from kinwire.transports import Link
from kinwire.transports.http.guard import Guard
from kinwire.transports.http.head import read_head
from kinwire.transports.http.replies import Receive, Reply, Scope, Send, send_reply, too_many
from kinwire.transports.http.sessions import Sessions
from kinwire.transports.lines import HEAD
from kinwire.transports.starting import starting
from kinwire.transports.websocket.protocol import SUBPROTOCOL

_GOING_AWAY, _UNSUPPORTED = 1001, 1003


async def serve_websocket_scope(
    serve: Callable[[Any], Awaitable[None]],
    guard: Guard,
    sessions: Sessions,
    scope: Scope,
    receive: Receive,
    send: Send,
) -> None:
    """Serve one connection of an ASGI server, if it may be served."""
    await receive()  # "websocket.connect"
    head = read_head(scope["headers"])
    reply = guard.refusal(scope, head)
    if reply is None and sessions.full:
        reply = too_many()
    if reply is None and guard.authenticate is not None:
        reply = await guard.identify(head)
    if reply is not None:
        await _refuse(scope, send, reply)
        return
    offered = scope.get("subprotocols", ())
    if offered and SUBPROTOCOL not in offered:
        await send({"type": "websocket.close", "code": 1000})
        return
    chosen = SUBPROTOCOL if offered else None
    await send({"type": "websocket.accept", "subprotocol": chosen})
    sessions.sockets += 1
    try:
        await serve(AsgiWebSocket(receive, send))
    finally:
        sessions.sockets -= 1


class AsgiWebSocket:
    """A connection that was accepted."""

    quiet = False
    handshake = True  # a session begins with it, other than a single request

    def __init__(self, receive: Receive, send: Send) -> None:
        self._receive = receive
        self._send = send
        self._link: Link | None = None
        self._woken = anyio.Event()
        self._resumed = anyio.Event()
        self._gone = False

    async def run(self, link: Link, /) -> None:
        """See `Transport.run`."""
        self._link = link
        async with starting() as tasks:
            tasks.start(self._write)
            try:
                await self._read(link)
                await anyio.sleep_forever()
            finally:
                with anyio.move_on_after(1, shield=True):
                    await self._write_waiting()
                    if not self._gone:
                        await self._send({"type": "websocket.close", "code": _GOING_AWAY})

    def wake(self) -> None:
        """See `Transport.wake`."""
        self._woken.set()

    def resume(self) -> None:
        """See `Transport.resume`."""
        self._resumed.set()

    async def aclose(self) -> None:
        """See `Transport.aclose`: `run` has done it."""

    async def _read(self, link: Link) -> None:
        while True:
            while link.paused:
                self._resumed = anyio.Event()
                await self._resumed.wait()
            message = await self._receive()
            if message["type"] == "websocket.disconnect":
                self._gone = True
                link.end(ConnectionClosedError("The peer has closed the connection."))
                return
            text = message.get("text")
            if text is None:
                await self._send({"type": "websocket.close", "code": _UNSUPPORTED})
                self._gone = True
                link.end(ConnectionClosedError("The peer sent a binary message."))
                return
            frame = text.encode(errors="surrogatepass")
            if len(frame) > link.frame_size:
                link.overlong(frame[:HEAD])
            else:
                link.feed(frame)

    async def _write(self) -> None:
        while True:
            self._woken = anyio.Event()
            await self._write_waiting()
            await self._woken.wait()

    async def _write_waiting(self) -> None:
        link = self._link
        assert link is not None
        while link.waiting:
            for frame in link.take():
                if not self._gone:
                    await self._send({"type": "websocket.send", "text": frame.decode()})


async def _refuse(scope: Scope, send: Send, reply: Reply) -> None:
    """Refuse the handshake, with the reply where the server can send one."""
    if "websocket.http.response" not in scope.get("extensions", {}):
        await send({"type": "websocket.close", "code": 1000})  # it answers 403
        return

    async def respond(message: MutableMapping[str, Any]) -> None:
        await send({**message, "type": f"websocket.{message['type']}"})

    await send_reply(respond, reply)
