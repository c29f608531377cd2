"""A call of a tool whose result comes in pieces, as the program that made it sees it (MGP 12)."""

from __future__ import annotations

__all__ = ("CallStream", "StreamUnreadError")

import logging
from typing import Self

import anyio

from kinwire.mgp.kernel.stream_inbox import StreamChunk, StreamInbox
from kinwire.rpc.errors import KinwireError, RequestTimeoutError
from kinwire.rpc.session import Session
from kinwire.support.arguments import TEXT, ArgumentCheck
from kinwire_protocols import mcp
from kinwire_protocols.base import RpcError
from kinwire_protocols.mgp.methods import MGP_STREAM_CANCEL
from kinwire_protocols.mgp.models import StreamCancelParams, StreamCancelResult

logger = logging.getLogger("kinwire.mgp")

_CANCEL = ArgumentCheck("CallStream.cancel", 'await stream.cancel("...")', {}, reason=TEXT.or_none)
_CANCELLING = 5.0  # seconds for the answer to a cancellation, and then for the final result


class StreamUnreadError(KinwireError):
    """Nobody read a stream while other calls on its connection waited, so it was ended.

    A connection carries all calls. Read streams at the same time, or on connections of their own.
    """

    def __init__(self) -> None:
        super().__init__(
            "Nobody read the stream while other calls on its connection waited. Read streams at "
            "the same time, or on connections of their own."
        )


class CallStream:
    """A stream: `async for chunk in stream`, then `stream.result`. Get it from `MgpKernel.stream`.

    A server that sends no chunks gives the blocks of its result as chunks at the end.
    """

    def __init__(
        self, inbox: StreamInbox, session: Session, timeout: float | None, *, is_negotiated: bool
    ) -> None:
        self._inbox = inbox
        self._session = session
        self._timeout = timeout
        self._is_negotiated = is_negotiated
        self._partial: list[mcp.ContentBlock] = []

    @property
    def result(self) -> mcp.CallToolResult:
        """The final result, once the stream has been read to its end.

        Raises:
            RuntimeError: the call is still under way, or was cancelled and not answered.
            RpcError, KinwireError: the call has failed.
        """
        inbox = self._inbox
        if inbox.error is not None:
            raise inbox.error
        if inbox.result is None:
            over = "The call was cancelled, and has no result."
            under_way = "The call is still under way. Read the stream to its end first."
            raise RuntimeError(over if inbox.over.is_set() else under_way)
        return inbox.result

    @property
    def missed(self) -> int:
        """How many chunks did not come; the final result has what was in them."""
        return self._inbox.missed

    @property
    def cancelled(self) -> bool:
        """Whether `cancel` was called before the end."""
        return self._inbox.cancelled

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
        inbox = self._inbox
        while (chunk := inbox.take()) is None:
            if inbox.error is not None:
                raise inbox.error
            if inbox.over.is_set() or inbox.cancelled:
                raise StopAsyncIteration
            if not await inbox.wait(self._timeout):
                inbox.fail(RequestTimeoutError("tools/call", self._timeout or 0.0))
                inbox.scope.cancel()
        return chunk

    async def read(self) -> mcp.CallToolResult:
        """Read what is left of the chunks, and return the final result.

        Raises:
            RpcError, KinwireError: as for the next chunk.
        """
        async for _ in self:
            pass
        await self._inbox.over.wait()
        return self.result

    async def cancel(self, reason: str | None = None) -> list[mcp.ContentBlock]:
        """Give the call up, and return what there is of its result; nothing more is read.

        `reason` is for logs and people. `stream.result` is what the server answered to the call, if
        it did. A server without streams is asked to stop in MCP's way, and there is no partial
        result.

        Source: MGP 0.2.0 section 12.7.
        """
        _CANCEL.check(reason=reason)
        inbox = self._inbox
        if inbox.cancelled or inbox.over.is_set() or inbox.error is not None:
            return self._partial  # a call that has failed was given up before
        inbox.give_up()
        try:
            if inbox.id is not None and self._is_negotiated:
                await self._cancel_at_server(inbox.id, reason)
        finally:
            inbox.scope.cancel()
        with anyio.CancelScope(shield=True):  # the call takes a moment to end
            await inbox.over.wait()
        return self._partial

    async def _cancel_at_server(self, identifier: int, reason: str | None) -> None:
        params = StreamCancelParams(request_id=identifier, reason=reason)
        try:
            answer = await self._session.call(MGP_STREAM_CANCEL, params, timeout=_CANCELLING)
        except (RpcError, KinwireError) as error:
            logger.info("a stream could not be cancelled: %s", error)
            return
        self._partial = _partial(answer)
        with anyio.move_on_after(_CANCELLING):
            await self._inbox.over.wait()


def _partial(answer: StreamCancelResult) -> list[mcp.ContentBlock]:
    """Return the blocks of a partial result; servers are known to send bare text."""
    if answer.partial_result is None:
        return []
    content = answer.partial_result.content
    return [mcp.TextContent(text=content)] if isinstance(content, str) else list(content)
