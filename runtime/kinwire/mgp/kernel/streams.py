"""The streams of a kernel: calls whose results come in pieces, from all its servers (MGP 12)."""

from __future__ import annotations

__all__ = ("CallStreams",)

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import anyio

from kinwire.mcp.handlers import ExtensionHandlers
from kinwire.mgp.kernel.call_stream import CallStream, StreamUnreadError
from kinwire.mgp.kernel.guarded_server import GuardedServer
from kinwire.mgp.kernel.stream_inbox import StreamChunk, StreamInbox
from kinwire.rpc.calls import DEFAULT, ProgressCallback, Timeout
from kinwire.rpc.engine.streamed import Backlog
from kinwire.rpc.request import Request
from kinwire.rpc.session import Session
from kinwire.support.background import background
from kinwire_protocols.base import JsonObject
from kinwire_protocols.mcp.methods import TOOLS_CALL
from kinwire_protocols.mcp.models import CallToolRequestParams
from kinwire_protocols.mgp.augments import TOOLS_CALL_PARAMS_MGP
from kinwire_protocols.mgp.methods import (
    NOTIFICATIONS_MGP_STREAM_CHUNK,
    NOTIFICATIONS_MGP_STREAM_PROGRESS,
)
from kinwire_protocols.mgp.models import (
    StreamChunkNotificationParams,
    StreamProgressNotificationParams,
    ToolCallExtras,
)

_PATIENCE = 3.0  # seconds without a reader, while an ordinary call waits for it
_MORE_PATIENCE = 10  # times as long, while another stream waits for it


class CallStreams:
    """The streams of all servers."""

    def __init__(self, handlers: ExtensionHandlers) -> None:
        self._open: dict[Session, dict[int, StreamInbox]] = {}
        handlers.add_intake(NOTIFICATIONS_MGP_STREAM_CHUNK, self._chunk)
        handlers.add_intake(NOTIFICATIONS_MGP_STREAM_PROGRESS, _progressed)

    def join(self, server: GuardedServer) -> None:
        """See `ServerManager.join`."""
        self._open[server.session] = {}

    async def negotiate(self, server: GuardedServer) -> None:
        """See `ServerManager.negotiate`."""

    def left(self, server: GuardedServer) -> None:
        """See `ServerManager.left`."""
        self._open.pop(server.session, None)

    @asynccontextmanager
    async def open(
        self,
        server: GuardedServer,
        params: CallToolRequestParams,
        timeout: Timeout,
        on_progress: ProgressCallback | None,
    ) -> AsyncGenerator[CallStream]:
        """Yield the stream of a call; the end of the block cancels what is left of it."""
        session, is_negotiated = server.session, "streaming" in server.extensions
        seconds = session.limits.request_timeout if timeout is DEFAULT else timeout
        inbox = StreamInbox(session)
        if on_progress is not None:
            on_progress = inbox.hears(on_progress)
        if is_negotiated:
            params = TOOLS_CALL_PARAMS_MGP.write(params, ToolCallExtras(stream=True))
        async with background() as tasks:
            tasks.start_soon(self._run, inbox, session, params, on_progress)
            if is_negotiated:
                tasks.start_soon(self._watch, inbox, session)
            yield CallStream(inbox, session, seconds, is_negotiated=is_negotiated)
            tasks.cancel_scope.cancel()

    def prolong(self, session: Session, identifier: int, seconds: float) -> None:
        """Give a call these seconds, and then the time for an answer again; also a stream."""
        session.prolong(identifier, seconds)
        inbox = self._open.get(session, {}).get(identifier)
        if inbox is not None:
            inbox.prolong(seconds)

    async def _run(
        self,
        inbox: StreamInbox,
        session: Session,
        params: CallToolRequestParams,
        on_progress: ProgressCallback | None,
    ) -> None:
        streams = self._open.get(session, {})

        def begun(identifier: int) -> None:
            streams.pop(inbox.id or 0, None)
            streams[identifier] = inbox
            inbox.begun(identifier)

        inbox.runs()
        try:
            with inbox.scope:
                result = await session.call(
                    TOOLS_CALL, params, timeout=None, on_progress=on_progress, on_id=begun
                )
                inbox.finish(result)
        except Exception as error:  # it is raised where the stream is read
            inbox.fail(error)
        finally:
            streams.pop(inbox.id or 0, None)
            inbox.end()

    async def _watch(self, inbox: StreamInbox, session: Session) -> None:
        """End a stream that nobody reads while others wait for that."""
        periods = 0
        while not inbox.over.is_set():
            await inbox.behind.wait()
            taken, waiting = inbox.taken, self._waiting(inbox, session)
            with anyio.move_on_after(_PATIENCE):
                await inbox.over.wait()
            waiting &= self._waiting(inbox, session)
            periods = periods + 1 if waiting and taken == inbox.taken else 0
            streams = self._open.get(session, {})
            far = inbox.backlog is Backlog.FAR_BEHIND and not waiting <= streams.keys()
            if periods and (far or periods >= _MORE_PATIENCE):
                inbox.fail(StreamUnreadError())
                inbox.scope.cancel()
                return

    def _waiting(self, inbox: StreamInbox, session: Session) -> set[int]:
        """Return the other calls that wait: ordinary ones, and streams that are read."""
        streams = self._open.get(session, {})
        others = session.streamed.others(inbox.id or 0)
        return {one for one in others if one not in streams or streams[one].reading}

    def _chunk(self, params: StreamChunkNotificationParams, request: Request) -> None:
        identifier = params.request_id
        inbox = None
        if isinstance(identifier, int) and request.session.streamed.waits(identifier):
            inbox = self._open.get(request.session, {}).get(identifier)
        if inbox is None:
            request.session.counts.late_replies += 1
            return
        inbox.put(StreamChunk(params.index, params.content), done=params.done is True)


def _progressed(params: StreamProgressNotificationParams, request: Request) -> None:
    """Report progress as if it had come by the token of the request."""
    if isinstance(params.request_id, int):
        report: JsonObject = {"progress": params.progress, "total": 1.0}
        if params.message is not None:
            report["message"] = params.message
        request.session.progressed(params.request_id, report)
