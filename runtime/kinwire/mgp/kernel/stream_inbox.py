"""What has come for a call whose result comes in pieces, and has not been read (MGP 12.4)."""

from __future__ import annotations

__all__ = (
    "MOST_UNREAD",
    "MOST_UNREAD_BYTES",
    "StreamChunk",
    "StreamInbox",
    "may_repeat",
    "was_cancelled",
)

import logging
from collections import deque
from contextvars import ContextVar
from dataclasses import dataclass
from math import inf
from sys import getsizeof
from typing import Any, Final

import anyio
from pydantic_core import from_json

from kinwire.mgp.rules.chunks import ChunkOrder
from kinwire.rpc.calls import ProgressCallback
from kinwire.rpc.codec import is_object
from kinwire.rpc.engine.streamed import Backlog
from kinwire.rpc.session import Session
from kinwire_protocols import mcp
from kinwire_protocols.base import to_wire

logger = logging.getLogger("kinwire.mgp")

MOST_UNREAD: Final = 1_000
"""Chunks that nobody has read; then the producer waits."""
MOST_UNREAD_BYTES: Final = 4 * 1024 * 1024
"""Their size; then the producer waits, too."""
_FAR = 4  # times as much, after which ordinary calls wait as well

_PLAIN = frozenset({"type", "text"})

_now: ContextVar[StreamInbox | None] = ContextVar("kinwire.mgp.stream", default=None)


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


class StreamInbox:
    """The chunks of one call, from its beginning to its end, and how far its reader is behind."""

    id: int | None = None
    """The id of the call; None until it has been judged and sent."""
    cancelled = False
    """Whether this side has given the call up."""
    reading = False
    """Whether somebody waits for a chunk."""
    taken = 0
    """How many chunks were read."""
    missed = 0
    """How many did not come."""
    backlog = Backlog.NONE
    """How far the reader is behind."""
    result: mcp.CallToolResult | None = None
    """The final result."""
    error: Exception | None = None
    """Why there is no result."""

    def __init__(self, session: Session) -> None:
        self.scope = anyio.CancelScope()
        """What the call runs in."""
        self.over = anyio.Event()
        """Set when the call has ended."""
        self.behind = anyio.Event()
        """Set while the reader is behind, and at the end; replaced when it is not."""
        self._session = session
        self._order = ChunkOrder()
        self._unread: deque[StreamChunk] = deque()
        self._size = 0
        self._changed = anyio.Event()
        self._seconds: float | None = None  # that the reader waits
        self._waiting = anyio.CancelScope()  # in which it does
        self._counts_from = 0.0  # before that the time of the reader does not run

    # What the call does.

    def runs(self) -> None:
        """The calling task makes the call."""
        _now.set(self)

    def begun(self, identifier: int) -> None:
        """The call leaves under this id; it may be repeated under another one."""
        if self.id is not None:
            self._session.streamed.end(self.id)
        self.id = identifier
        self._session.streamed.set(identifier, Backlog.NONE)
        self._changed.set()

    def hears(self, on_progress: ProgressCallback) -> ProgressCallback:
        """Return what is called with reports of progress, each of which prolongs the call."""

        def reported(report: Any) -> object:
            self.prolong(0.0)
            return on_progress(report)

        return reported

    def prolong(self, seconds: float) -> None:
        """Have the time for the next chunk begin after these seconds."""
        self._counts_from = max(self._counts_from, anyio.current_time() + seconds)
        if self._seconds is not None:
            later = self._counts_from + self._seconds
            self._waiting.deadline = max(self._waiting.deadline, later)

    def put(self, chunk: StreamChunk, *, done: bool) -> None:
        """Add a chunk that came, if it is part of the stream."""
        if self.over.is_set() or not self._order.admit(chunk.index, done=done):
            logger.info("dropped a chunk of a stream: it came again, late, or after the end")
            return
        self.missed = self._order.missed
        if not self.cancelled:
            self._add(chunk)

    def finish(self, result: mcp.CallToolResult) -> None:
        """Set the final result; without any chunk its blocks are chunks."""
        self.result = result
        self._order.end(_sent(result))
        self.missed = self._order.missed
        if self.missed:
            logger.warning("%d chunks of a stream are missing", self.missed)
        if not self._order.next and not result.is_error and not self.cancelled:
            for index, block in enumerate(result.content):
                self._add(StreamChunk(index, block))

    def fail(self, error: Exception) -> None:
        """Set why there is no result; what was set before stays."""
        if self.error is None:
            self.error = error
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

    # What the reader does.

    def take(self) -> StreamChunk | None:
        """Return the next chunk, None if no chunk has come."""
        if not self._unread:
            return None
        chunk = self._unread.popleft()
        self._size -= _size_of(chunk)
        self.taken += 1
        if self.backlog:
            self._measure()
        return chunk

    async def wait(self, seconds: float | None) -> bool:
        """Wait until something has changed; return False if nothing has within the time.

        Time before the call is sent does not count: a person may have to confirm it.
        """
        self._changed = anyio.Event()
        self.reading = True
        self._seconds = seconds = None if self.id is None else seconds
        begins = max(self._counts_from, anyio.current_time())
        self._waiting = anyio.CancelScope(deadline=inf if seconds is None else begins + seconds)
        try:
            with self._waiting:
                await self._changed.wait()
        finally:
            self.reading = False
        return not self._waiting.cancelled_caught

    def give_up(self) -> None:
        """Forget what is unread, and take nothing any more."""
        self.cancelled = True
        self._unread.clear()
        self._size = 0
        self._measure()
        self._changed.set()

    def _add(self, chunk: StreamChunk) -> None:
        self._unread.append(chunk)
        self._size += _size_of(chunk)
        if len(self._unread) >= MOST_UNREAD or self._size >= MOST_UNREAD_BYTES:
            self._measure()
        self._changed.set()

    def _measure(self) -> None:
        """Have reading pause or resume by what is unread."""
        full = max(len(self._unread) / MOST_UNREAD, self._size / MOST_UNREAD_BYTES)
        if full >= _FAR:
            found = Backlog.FAR_BEHIND
        elif full >= 1 or (self.backlog and full > 0.5):  # so that it does not change every time
            found = Backlog.BEHIND
        else:
            found = Backlog.NONE
        if found is not self.backlog and self.id is not None and not self.over.is_set():
            self.backlog = found
            self._session.streamed.set(self.id, found)
            if found:
                self.behind.set()
            else:
                self.behind = anyio.Event()


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
    if isinstance(content, mcp.TextContent) and content.model_fields_set <= _PLAIN:
        return getsizeof(content.text)
    return getsizeof(repr(content))  # a server may put much into other fields


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
