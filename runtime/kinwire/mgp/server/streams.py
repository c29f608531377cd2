"""Streams of a server: pieces of results to kernels that want them, progress, cancel (MGP 12)."""

from __future__ import annotations

__all__ = ("ServedStreams",)

import time
from functools import partial
from typing import Any, cast

import anyio
from anyio.lowlevel import checkpoint

from kinwire.mcp.context import Context
from kinwire.mcp.functions.pieces import JoinedPieces
from kinwire.mcp.handlers import ExtensionHandlers
from kinwire.mcp.server_session import ServerSession
from kinwire.mgp.rules.chunks import MOST_BYTES, parts_of
from kinwire.mgp.server.kernel_peer import KernelPeer
from kinwire.rpc.codec import Id, OutgoingFrame, encode, encoded_notification, is_object
from kinwire.rpc.request import Request
from kinwire.rpc.session import Session
from kinwire_protocols.base import JsonObject
from kinwire_protocols.mcp.methods import TOOLS_CALL
from kinwire_protocols.mgp.methods import (
    MGP_STREAM_CANCEL,
    NOTIFICATIONS_MGP_STREAM_CHUNK,
    NOTIFICATIONS_MGP_STREAM_PROGRESS,
)
from kinwire_protocols.mgp.models import StreamCancelParams

_OTHERS_TURN = 32  # chunks, after which what else is to be done gets a turn
_NOT_ACTIVE: JsonObject = {"cancelled": False, "reason": "not_active"}


class ServedStreams:
    """The streams of a server to its kernels."""

    def __init__(self, handlers: ExtensionHandlers) -> None:
        self._streams: dict[Session, dict[Id, _Stream]] = {}
        handlers.add_default(MGP_STREAM_CANCEL, self._cancel)

    def join(self, peer: KernelPeer) -> None:
        """See `KernelManager.join`."""
        if "streaming" in peer.extensions:
            session = cast("ServerSession", peer.session)
            self._streams[session] = {}
            session.open_sink = self._open
            session.also_progress(_report)

    def left(self, peer: KernelPeer) -> None:
        """See `KernelManager.left`."""
        self._streams.pop(peer.session, None)

    def _open(self, context: Context) -> _Stream | None:
        """Return the stream of a call, if the kernel asked for one."""
        identifier, params = context.request_id, context.message.get("params")
        extras = params.get("_mgp") if is_object(params) else None
        if identifier is None or not is_object(extras) or extras.get("stream") is not True:
            return None
        session, streams = context.session, self._streams[context.session]
        stream = _Stream(session, identifier, partial(streams.pop, identifier, None))
        streams[identifier] = stream
        return stream

    async def _cancel(self, params: StreamCancelParams, context: Context) -> JsonObject:
        """Stop a call of a tool, and return what there is of its result (MGP 0.2.0, 12.7)."""
        identifier, session = params.request_id, context.session
        request = session.under_way(identifier)
        if request is None or not _can_be_stopped(request):
            return _NOT_ACTIVE
        stream = self._streams.get(session, {}).get(identifier)
        if stream is None:
            request.interrupt(lambda: {"content": [], "_mgp": {"cancelled": True}})
            return {"cancelled": True}
        stream.close()
        request.interrupt(stream.result)
        return {"cancelled": True, "partial_result": {"content": stream.content}}


class _Stream:
    """A `PieceSink`: one call whose pieces are sent."""

    def __init__(self, session: Session, identifier: Id, over: Any) -> None:
        self._session = session
        self._id = identifier
        self._over = over
        self._began = time.monotonic()
        self._pieces = JoinedPieces(session.limits.frame_size // 2)
        self._sent = 0
        self._closed = False

    @property
    def content(self) -> list[JsonObject]:
        """The pieces that were sent, joined."""
        return self._pieces.content

    def close(self) -> None:
        """Mark the result: the kernel has cancelled the stream."""
        self._closed = True

    async def put(self, block: JsonObject) -> None:
        """See `PieceSink.put`."""
        if block.get("type") == "text":
            text = block["text"]
            for part in parts_of(text):
                await self._send(block if part is text else {**block, "text": part})
        elif len(encode(block)) <= MOST_BYTES:
            await self._send(block)
        else:
            self._pieces.add(block)  # only the final result has room for it

    def result(self) -> JsonObject:
        """See `PieceSink.result`."""
        result = _result(self._pieces.content, self._sent, self._began, cancelled=self._closed)
        if self._pieces.cut:
            result["_mgp"]["truncated"] = True
        return result

    def end(self) -> None:
        """See `PieceSink.end`."""
        self._over()

    def _give_up(self) -> None:
        """Stop the handler: the kernel has left the response, and cannot come back to it."""
        self._closed = True
        request = self._session.under_way(self._id)
        if request is not None:
            request.interrupt(self.result)

    async def _send(self, block: JsonObject) -> None:
        if self._sent % _OTHERS_TURN == _OTHERS_TURN - 1:
            await checkpoint()
        if not await self._session.wait_for_taker():
            self._give_up()
            await anyio.sleep_forever()
        chunk = {"request_id": self._id, "index": self._sent, "content": block, "done": False}
        await self._session.raw_notify(NOTIFICATIONS_MGP_STREAM_CHUNK.name, chunk)
        self._sent += 1
        self._pieces.add(block)


def _can_be_stopped(request: Request) -> bool:
    stopped = request.cancelled or request.interruption is not None
    return request.method.name == TOOLS_CALL.name and not stopped


def _result(content: list[JsonObject], sent: int, began: float, *, cancelled: bool) -> JsonObject:
    took = round((time.monotonic() - began) * 1000)
    extras: JsonObject = {"streamed": sent > 0, "chunks_sent": sent, "duration_ms": took}
    if cancelled:
        extras["cancelled"] = True
    return {"content": content, "_mgp": extras}


def _report(
    request: Request,
    progress: float,
    total: float | None,
    message: str | None,
    remaining_ms: float | None,
) -> OutgoingFrame | None:
    """Return the notification of MGP about the progress of a request: a share, by its id."""
    if total is None or total <= 0 or request.id is None:
        return None
    params: JsonObject = {"request_id": request.id, "progress": min(max(progress / total, 0), 1)}
    if message is not None:
        params["message"] = message
    if remaining_ms is not None:
        params["estimated_remaining_ms"] = remaining_ms
    return encoded_notification(NOTIFICATIONS_MGP_STREAM_PROGRESS.name, params)
