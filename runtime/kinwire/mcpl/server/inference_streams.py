"""Answers to a server's inference requests, in pieces (MCPL 11.4).

A chunk names the id of its request; a chunk without a pending request is dropped. The result may be
read before the last chunks: they get a short time, and what is missing then is taken from the
result.
"""

from __future__ import annotations

__all__ = ("InferenceStream", "InferenceStreams")

from collections import deque
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from io import StringIO
from typing import Self

import anyio

from kinwire.rpc.codec import Id
from kinwire.rpc.errors import InvalidResponseError
from kinwire.rpc.request import Request
from kinwire.rpc.session import Session
from kinwire.support.background import background
from kinwire_protocols.mcpl.methods import INFERENCE_CHUNK, INFERENCE_REQUEST
from kinwire_protocols.mcpl.models import (
    InferenceChunkParams,
    InferenceRequestParams,
    InferenceRequestResult,
)

_PATIENCE = 300.0  # seconds, for the whole answer
_MOMENT = 0.05  # seconds to wait for chunks after the result
_MOST_UNREAD = 1000  # pieces; after that the last one grows
_MOST_SAID = 16 * 1024 * 1024  # characters of one answer


class InferenceStream:
    """An answer under way: `async for delta in stream`, then `stream.result`."""

    def __init__(self) -> None:
        self._said = StringIO()  # joining strings each time would take quadratic time
        self._read = 0  # characters
        self._unread: deque[int] = deque()  # the length of each piece
        self._news = anyio.Event()
        self._error: Exception | None = None
        self._result: InferenceRequestResult | None = None
        self._next_index = 0
        self._length = 0
        self._piece = anyio.Event()

    @property
    def result(self) -> InferenceRequestResult:
        """The whole answer, once the loop has ended.

        Raises:
            RuntimeError: the loop has not ended.
        """
        if self._result is None:
            raise RuntimeError("The answer is still under way. Read the stream to its end first.")
        return self._result

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> str:
        while not self._unread:
            if self._error is not None:
                raise self._error
            if self._result is not None:
                raise StopAsyncIteration
            self._news = anyio.Event()
            await self._news.wait()
        self._said.seek(self._read)
        piece = self._said.read(self._unread.popleft())
        self._read += len(piece)
        return piece

    def take(self, index: int, delta: str) -> None:
        """Add a piece; a repeated one, or one after the end, is dropped."""
        if index < self._next_index or self._result is not None or self._error is not None:
            return
        if self._length + len(delta) > _MOST_SAID:
            self.end(None, _too_long())
            return
        self._next_index = index + 1
        self._said.seek(self._length)
        self._said.write(delta)
        self._length += len(delta)
        self._piece.set()
        if len(self._unread) < _MOST_UNREAD:
            self._unread.append(len(delta))
        else:
            self._unread[-1] += len(delta)
        self._news.set()

    async def has_length(self, length: int) -> None:
        """Return when the pieces have `length` characters."""
        while self._length < length:
            self._piece = anyio.Event()
            await self._piece.wait()

    def end(self, result: InferenceRequestResult | None, error: Exception | None) -> None:
        """Set the whole answer, or the error; pieces that were added before stay."""
        if self._error is not None:
            return
        said = self._said.getvalue()
        if result is not None and result.content.startswith(said) and result.content != said:
            self.take(self._next_index, result.content[len(said) :])
        self._result, self._error = result, error
        self._news.set()


def _too_long() -> InvalidResponseError:
    return InvalidResponseError(
        f"inference/chunk#/delta: expected an answer of at most {_MOST_SAID} characters, got more. "
        "The request is taken back once the stream is left."
    )


class InferenceStreams:
    """The streams of one session."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._open: dict[Id, InferenceStream] = {}
        session.guard(INFERENCE_CHUNK, self._chunk)

    @asynccontextmanager
    async def open(self, params: InferenceRequestParams) -> AsyncGenerator[InferenceStream]:
        """Yield the answer to a request; the end of the block cancels the rest."""
        stream = InferenceStream()
        async with background() as tasks:
            tasks.start_soon(self._run, stream, params)
            yield stream
            tasks.cancel_scope.cancel()

    async def _run(self, stream: InferenceStream, params: InferenceRequestParams) -> None:
        ids: list[Id] = []

        def begin(identifier: Id) -> None:
            ids.append(identifier)
            self._open[identifier] = stream

        try:
            result = await self._session.call(
                INFERENCE_REQUEST, params, timeout=_PATIENCE, on_id=begin
            )
            with anyio.move_on_after(_MOMENT):
                await stream.has_length(len(result.content))
            stream.end(result, None)
        except Exception as error:  # it is raised where the stream is read
            stream.end(None, error)
        finally:
            for identifier in ids:  # empty if nothing was sent
                del self._open[identifier]

    def _chunk(self, params: InferenceChunkParams, request: Request) -> None:
        stream = self._open.get(params.request_id)
        if stream is not None:
            stream.take(params.index, params.delta)
