"""A WebSocket of an ASGI server: on one port with HTTP, with that server's own framing."""

from __future__ import annotations

__all__ = ("AsgiWebSocket", "refuse_websocket_scope", "serve_websocket_scope")

import logging
from collections.abc import Awaitable, Callable, MutableMapping
from functools import partial
from typing import Any

import anyio
from anyio.lowlevel import checkpoint

from kinwire.rpc.codec import ends_of
from kinwire.rpc.errors import ConnectionClosedError
from kinwire.rpc.transport import SessionCallbacks
from kinwire.transports.http.guard import PRINCIPAL, Guard, principal_address
from kinwire.transports.http.head import read_head
from kinwire.transports.http.listener import Listener, client_of
from kinwire.transports.http.replies import (
    HttpResponse,
    Receive,
    Scope,
    Send,
    send_response,
    too_many,
)
from kinwire.transports.task_spawner import task_spawner
from kinwire.transports.websocket.protocol import SUBPROTOCOL

logger = logging.getLogger("kinwire.transports")

_GOING_AWAY, _UNSUPPORTED = 1001, 1003
_LAST_FRAMES = 1.0  # seconds for what waits when the connection closes


async def serve_websocket_scope(
    serve: Callable[[Any], Awaitable[None]],
    guard: Guard,
    listener: Listener,
    scope: Scope,
    receive: Receive,
    send: Send,
) -> None:
    """Serve one connection of an ASGI server, if it may be served."""
    await receive()  # "websocket.connect"
    reply = await guard.admit(scope, read_head(scope["headers"]))
    client = client_of(PRINCIPAL.get(), scope)
    if reply is None and listener.refuses(client):
        reply = too_many()
    if reply is not None:
        await _refuse(scope, send, reply)
        return
    offered = scope.get("subprotocols", ())
    if offered and SUBPROTOCOL not in offered:
        await send({"type": "websocket.close", "code": 1000})
        return
    chosen = SUBPROTOCOL if offered else None
    socket = AsgiWebSocket(receive, send, client)
    listener.sockets.add(socket)
    try:
        await send({"type": "websocket.accept", "subprotocol": chosen})
        await serve(socket)
    finally:
        listener.sockets.discard(socket)
        socket.over.set()


async def refuse_websocket_scope(
    reply: HttpResponse, scope: Scope, receive: Receive, send: Send
) -> None:
    """Answer the handshake of one connection with `reply`."""
    await receive()  # "websocket.connect"
    await _refuse(scope, send, reply)


class AsgiWebSocket:
    """A connection that is accepted."""

    peer_may_emit_noise = False
    handshake = True  # a session begins with it, other than a single request

    def __init__(self, receive: Receive, send: Send, client: object) -> None:
        self.client = client
        self._receive = receive
        self._send = send
        self.address = principal_address(PRINCIPAL.get())
        self.over = anyio.Event()
        """Is set when the session has ended and nothing of it is left."""
        self._callbacks: SessionCallbacks | None = None
        self._why: ConnectionClosedError | None = None
        self._woken = anyio.Event()
        self._resumed = anyio.Event()
        self._written = anyio.Event()  # all of it, and goodbye
        self._code: int | None = None  # to say goodbye with, once it is time
        self._gone = False

    async def run(self, callbacks: SessionCallbacks, /) -> None:
        """See `Transport.run`."""
        self._callbacks = callbacks
        if self._why is not None:
            callbacks.end(self._why)
        async with task_spawner() as tasks:
            tasks.spawn(partial(self._write, callbacks))
            try:
                await self._read(callbacks)
                await anyio.sleep_forever()
            finally:
                self._say_goodbye(_GOING_AWAY)
                with anyio.move_on_after(_LAST_FRAMES, shield=True):
                    await self._written.wait()

    def wake(self) -> None:
        """See `Transport.wake`."""
        self._woken.set()

    def resume(self) -> None:
        """See `Transport.resume`."""
        self._resumed.set()

    async def aclose(self) -> None:
        """See `Transport.aclose`: `run` has done it."""

    def ask_to_end(self, why: ConnectionClosedError) -> None:
        """Ask the session to end, also before it has begun."""
        self._why = why
        if self._callbacks is not None:
            self._callbacks.ask_to_end(why)

    def close(self, why: ConnectionClosedError) -> None:
        """End the session, also before it has begun: handlers get a moment to finish."""
        self._why = why
        if self._callbacks is not None:
            self._callbacks.end(why)

    async def _read(self, callbacks: SessionCallbacks) -> None:
        while True:
            while callbacks.paused:
                self._resumed = anyio.Event()
                await self._resumed.wait()
            message = await self._receive()
            if message["type"] == "websocket.disconnect":
                self._gone = True
                callbacks.end(ConnectionClosedError("The peer has closed the connection."))
                return
            text = message.get("text")
            if text is None:
                self._say_goodbye(_UNSUPPORTED)
                callbacks.end(ConnectionClosedError("The peer sent a binary message."))
                return
            frame = text.encode(errors="surrogatepass")
            if len(frame) > callbacks.frame_size:
                callbacks.overlong(ends_of(frame))
            else:
                callbacks.feed(frame)

    def _say_goodbye(self, code: int) -> None:
        """Have the connection closed behind what waits."""
        if self._code is None:
            self._code = code
        self._woken.set()

    async def _write(self, callbacks: SessionCallbacks) -> None:
        """Write what waits until it is time for goodbye. Nobody else does: frames have an order."""
        try:
            while self._code is None or callbacks.waiting:
                self._woken = anyio.Event()
                await self._write_waiting(callbacks)
                if self._code is None:
                    await self._woken.wait()
            if not self._gone:
                await self._send({"type": "websocket.close", "code": self._code})
        except Exception as error:  # servers raise different ones when the client has gone
            logger.debug("a client left before it had everything", exc_info=error)
            self._gone = True
            callbacks.end(ConnectionClosedError("The connection broke off."))
        finally:
            self._written.set()

    async def _write_waiting(self, callbacks: SessionCallbacks) -> None:
        while callbacks.waiting:
            for frame in callbacks.take():
                if not self._gone:
                    await self._send({"type": "websocket.send", "text": frame.decode()})


async def _refuse(scope: Scope, send: Send, reply: HttpResponse) -> None:
    """Refuse the handshake, with the reply where the server can send one."""
    if "websocket.http.response" not in scope.get("extensions", {}):
        await send({"type": "websocket.close", "code": 1000})  # it answers 403
        return

    async def respond(message: MutableMapping[str, Any]) -> None:
        await send({**message, "type": f"websocket.{message['type']}"})

    await send_response(respond, reply)
    # uvicorn logs an error for each application that is over before its connection is.
    await checkpoint()
