"""A call of a tool whose result comes in pieces, as the program that made it sees it (MGP 12)."""

from __future__ import annotations

__all__ = ("CallStream", "StreamChunk", "StreamUnreadError", "may_repeat", "was_cancelled")

import logging
from collections import deque
from contextvars import ContextVar
from dataclasses import dataclass
from sys import getsizeof
from typing import Any, Final, Self

import anyio
from pydantic_core import from_json

from kinwire.mgp.rules.chunks import ChunkOrder
from kinwire.rpc.codec import is_object
from kinwire.rpc.engine.streamed import Backlog
from kinwire.rpc.errors import KinwireError, RequestTimeoutError
from kinwire.rpc.session import Session
from kinwire_protocols import mcp
from kinwire_protocols.base import RpcError, to_wire
from kinwire_protocols.mgp.methods import MGP_STREAM_CANCEL
from kinwire_protocols.mgp.models import StreamCancelParams, StreamCancelResult

logger = logging.getLogger("kinwire.mgp")

MOST_UNREAD: Final = 1_000
"""Chunks that nobody has read; then the producer waits."""
MOST_UNREAD_BYTES: Final = 4 * 1024 * 1024
"""Their size; then the producer waits, too."""
_FAR = 4  # times as much, after which ordinary calls wait as well
_CANCELLING = 5.0  # seconds for the answer to a cancellation, and then for the final result

_now: ContextVar[CallStream | None] = ContextVar("kinwire.mgp.call_stream", default=None)


class StreamUnreadError(KinwireError):
    """Nobody read a stream while other calls on its connection waited, so it was ended.

    A connection carries all calls. Read streams at the same time, or on connections of their own.
    """

    def __init__(self) -> None:
        super().__init__(
            "Nobody read the stream while other calls on its connection waited. Read streams at "
            "the same time, or on connections of their own."
        )


@dataclass(frozen=True, slots=True)
class StreamChunk:
    """A piece of a result."""

    index: int
    """Its number, from 0; where chunks are missing, numbers are."""
    content: mcp.ContentBlock

    @property
    def text(self) -> str:
        """The text of the piece; empty if it is another block."""
        return self.content.text if isinstance(self.content, mcp.TextContent) else ""


class CallStream:
    """A stream: `async for chunk in stream`, then `stream.result`. Get it from `MgpKernel.stream`.

    A server that sends no chunks gives the blocks of its result as chunks at the end.
    """

    def __init__(self, session: Session, timeout: float | None, *, is_negotiated: bool) -> None:
        self.cancelled = False
        """Whether the stream was cancelled by this side."""
        self.id: int | None = None
        """The id of the call; None until it has been judged and sent."""
        self.reading = False
        """Whether somebody waits for a chunk."""
        self.taken = 0
        """How many chunks were read."""
        self.scope = anyio.CancelScope()
        """What the call runs in."""
        self.over = anyio.Event()
        """Set when the call has ended."""
        self._session = session
        self._timeout = timeout
        self._is_negotiated = is_negotiated
        self._order = ChunkOrder()
        self._unread: deque[StreamChunk] = deque()
        self._size = 0
        self._backlog = Backlog.NONE
        self._changed = anyio.Event()
        self.behind = anyio.Event()
        """Set while the reader is behind; replaced when it is not."""
        self._result: mcp.CallToolResult | None = None
        self._partial: list[mcp.ContentBlock] = []
        self._error: Exception | None = None

    @property
    def result(self) -> mcp.CallToolResult:
        """The final result, once the stream has been read to its end.

        Raises:
            RuntimeError: the call is still under way, or was cancelled and not answered.
            RpcError, KinwireError: the call has failed.
        """
        if self._error is not None:
            raise self._error
        if self._result is None:
            over = "The call was cancelled, and has no result."
            under_way = "The call is still under way. Read the stream to its end first."
            raise RuntimeError(over if self.over.is_set() else under_way)
        return self._result

    @property
    def missed(self) -> int:
        """How many chunks did not come; the final result has what was in them."""
        return self._order.missed

    @property
    def backlog(self) -> Backlog:
        """How far the reader is behind."""
        return self._backlog

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> StreamChunk:
        """Return the next chunk.

        Raises:
            RpcError: the call was refused, or the server answered with an error.
            RequestTimeoutError: nothing came in time while this waited.
            StreamUnreadError: others waited for too long.
            ConnectionClosedError, InvalidResponseError: as for `Session.call`.
        """
        while not self._unread:
            if self._error is not None:
                raise self._error
            if self.over.is_set() or self.cancelled:
                raise StopAsyncIteration
            await self._wait()
        chunk = self._unread.popleft()
        self._size -= _size_of(chunk)
        self.taken += 1
        if self._backlog:
            self._measure()
        return chunk

    async def read(self) -> mcp.CallToolResult:
        """Read what is left of the chunks, and return the final result.

        Raises:
            RpcError, KinwireError: as for the next chunk.
        """
        async for _ in self:
            pass
        await self.over.wait()
        return self.result

    async def cancel(self, reason: str | None = None) -> list[mcp.ContentBlock]:
        """Give the call up, and return what there is of its result; nothing more is read.

        `stream.result` is what the server answered to the call, if it did. A server without streams
        is asked to stop in MCP's way, and there is no partial result.

        Source: MGP 0.2.0 section 12.7.
        """
        if self.cancelled or self.over.is_set():
            return self._partial
        self.cancelled = True
        self._forget_unread()
        try:
            if self.id is not None and self._is_negotiated:
                await self._cancel_at_server(self.id, reason)
        finally:
            self.scope.cancel()
        with anyio.CancelScope(shield=True):  # the call takes a moment to end
            await self.over.wait()
        return self._partial

    # What the manager of streams does.

    def begun(self, identifier: int) -> None:
        """The call leaves under this id; it may be repeated under another one."""
        if self.id is not None:
            self._session.streamed.end(self.id)
        self.id = identifier
        self._session.streamed.set(identifier, Backlog.NONE)
        self._changed.set()

    def take(self, chunk: StreamChunk, *, done: bool) -> None:
        """Add a chunk that came, if it is part of the stream."""
        if self.over.is_set() or not self._order.admit(chunk.index, done=done):
            logger.info("dropped a chunk of a stream: it came again, late, or after the end")
        elif not self.cancelled:
            self._add(chunk)

    def finish(self, result: mcp.CallToolResult) -> None:
        """Set the final result."""
        self._result = result
        self._order.end(_sent(result))
        if self._order.missed:
            logger.warning("%d chunks of a stream are missing", self._order.missed)
        if not self._order.next and not result.is_error and not self.cancelled:
            for index, block in enumerate(result.content):
                self._add(StreamChunk(index, block))

    def fail(self, error: Exception) -> None:
        """Set why there is no result."""
        if self._error is None:
            self._error = error
        self._changed.set()

    def end(self) -> None:
        """The call has ended, in whatever way."""
        if self.id is not None:
            self._session.streamed.end(self.id)
        self.over.set()
        self.behind.set()
        self._changed.set()

    def may_repeat(self) -> bool:
        """Return whether no piece has come, so that the call may be made again."""
        return self._order.next == 0 and not self.cancelled

    def runs(self) -> None:
        """The calling task makes the call."""
        _now.set(self)

    async def _wait(self) -> None:
        self._changed = anyio.Event()
        limit = None if self.id is None else self._timeout  # a person may have to confirm first
        self.reading = True
        try:
            with anyio.move_on_after(limit) as waiting:
                await self._changed.wait()
        finally:
            self.reading = False
        if waiting.cancelled_caught:
            self.fail(RequestTimeoutError("tools/call", self._timeout or 0.0))
            self.scope.cancel()

    def _add(self, chunk: StreamChunk) -> None:
        self._unread.append(chunk)
        self._size += _size_of(chunk)
        if len(self._unread) >= MOST_UNREAD or self._size >= MOST_UNREAD_BYTES:
            self._measure()
        self._changed.set()

    def _forget_unread(self) -> None:
        self._unread.clear()
        self._size = 0
        self._measure()
        self._changed.set()

    def _measure(self) -> None:
        """Have reading pause or resume by what is unread."""
        full = max(len(self._unread) / MOST_UNREAD, self._size / MOST_UNREAD_BYTES)
        if full >= _FAR:
            found = Backlog.FAR_BEHIND
        elif full >= 1 or (self._backlog and full > 0.5):  # so that it does not change every time
            found = Backlog.BEHIND
        else:
            found = Backlog.NONE
        if found is not self._backlog and self.id is not None and not self.over.is_set():
            self._backlog = found
            self._session.streamed.set(self.id, found)
            if found:
                self.behind.set()
            else:
                self.behind = anyio.Event()

    async def _cancel_at_server(self, identifier: int, reason: str | None) -> None:
        params = StreamCancelParams(request_id=identifier, reason=reason)
        try:
            answer = await self._session.call(MGP_STREAM_CANCEL, params, timeout=_CANCELLING)
        except (RpcError, KinwireError) as error:
            logger.info("a stream could not be cancelled: %s", error)
            return
        self._partial = _partial(answer)
        with anyio.move_on_after(_CANCELLING):
            await self.over.wait()


def may_repeat() -> bool:
    """Return whether the call that this task makes may be repeated: no piece of it is out."""
    stream = _now.get()
    return stream is None or stream.may_repeat()


def was_cancelled(result: Any) -> bool:
    """Return whether a result of the call that this task makes is that of a cancelled one."""
    stream, extras = _now.get(), result.get("_mgp") if is_object(result) else None
    cancelled = is_object(extras) and extras.get("cancelled") is True
    return cancelled or (stream is not None and stream.cancelled)


def _size_of(chunk: StreamChunk) -> int:
    content = chunk.content
    if isinstance(content, mcp.TextContent):
        return getsizeof(content.text)
    data: Any = getattr(content, "data", None)
    return getsizeof(data) if isinstance(data, str) else len(repr(content))


def _partial(answer: StreamCancelResult) -> list[mcp.ContentBlock]:
    """Return the blocks of a partial result; servers are known to send bare text."""
    if answer.partial_result is None:
        return []
    content = answer.partial_result.content
    return [mcp.TextContent(text=content)] if isinstance(content, str) else list(content)


def _extras_in(block: mcp.ContentBlock) -> object:
    if not isinstance(block, mcp.TextContent) or '"_mgp"' not in block.text:
        return None
    try:
        found: object = from_json(block.text)
    except ValueError:
        return None
    return found.get("_mgp") if is_object(found) else None


def _sent(result: mcp.CallToolResult) -> int | None:
    """Return how many chunks the server says that it sent; None if it does not say it.

    Servers are known to write `_mgp` into the text of the result, which is an object then.
    """
    extras = to_wire(result).get("_mgp")
    if extras is None and len(result.content) == 1:
        extras = _extras_in(result.content[0])
    sent = extras.get("chunks_sent") if is_object(extras) else None
    return sent if type(sent) is int else None
