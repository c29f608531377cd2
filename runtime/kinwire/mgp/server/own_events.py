"""Events that an `MgpServer` emits by itself: of calls, faults and refusals (MGP 0.2.0, 13.5).

A kernel gets those of its own requests. `rules/own_events.py` says what is in them.
"""

from __future__ import annotations

__all__ = ("OwnEvents", "note_rejected_code")

import time
from collections.abc import Callable, Collection, Iterator
from contextvars import ContextVar
from functools import partial
from typing import Any

import anyio

from kinwire.mcp.extension import Next
from kinwire.mgp.rules.events import OWN_CHANNELS
from kinwire.mgp.rules.own_events import (
    OwnEvent,
    call_ended,
    call_started,
    code_rejected,
    request_failed,
)
from kinwire.mgp.rules.trace import trace_id_in
from kinwire.mgp.server.usage import resource_usage
from kinwire.rpc.request import Request
from kinwire.rpc.session import Session
from kinwire.support.sanitize import printable
from kinwire_protocols import mcp
from kinwire_protocols.base import JsonObject, Message
from kinwire_protocols.mcp.methods import INITIALIZE, PING, PROTOCOL as MCP
from kinwire_protocols.peer import Method

USAGE = "system.resource_usage"
USAGE_SECONDS = 60.0
"""Between two events of the resources that the process uses."""

_LONGEST = 128  # characters of a name or an id that a kernel has chosen

_rejected: ContextVar[list[bool] | None] = ContextVar("kinwire.mgp.rejected", default=None)


def note_rejected_code() -> None:
    """Note that the tool whose call is served has rejected code."""
    noted = _rejected.get()
    if noted is not None:
        noted.append(True)


class OwnEvents:
    """Watches the requests of the kernels that want to know.

    `emit` sends an event to the kernel of a session, if that has subscribed to its channel.
    """

    def __init__(self, emit: Callable[[Session, OwnEvent], None]) -> None:
        self._emit = emit
        self._watched = set[Session]()
        self._measured = set[Session]()

    def subscribed(self, session: Session, channels: Collection[str]) -> None:
        """Emit events from now on, if one of the channels is the server's own."""
        if USAGE in channels and session not in self._measured:
            self._measured.add(session)
            session.start_soon(partial(self._report_usage, session))
        if session not in self._watched and not set(channels).isdisjoint(OWN_CHANNELS):
            self._watched.add(session)
            for row in _watched_rows():
                session.intercept_inbound(self._serve, row)

    def left(self, session: Session) -> None:
        """Forget a session that is over."""
        self._watched.discard(session)
        self._measured.discard(session)

    async def _report_usage(self, session: Session) -> None:
        while True:
            self._emit(session, OwnEvent(USAGE, "info", resource_usage()))
            await anyio.sleep(USAGE_SECONDS)

    async def _serve(self, params: Message, request: Request, go_on: Next[Any, Any]) -> Any:
        about = _about(request)
        if isinstance(params, mcp.CallToolRequestParams):
            return await self._call(params, request, go_on, about)
        try:
            return await go_on(params)
        except BaseException as error:
            self._failed(request, about, error)
            raise

    async def _call(
        self,
        params: mcp.CallToolRequestParams,
        request: Request,
        go_on: Next[Any, Any],
        about: JsonObject,
    ) -> Any:
        about["tool"] = printable(params.name[:_LONGEST])
        self._emit(request.session, call_started(about))
        noted, begun = list[bool](), time.monotonic()
        token = _rejected.set(noted)
        try:
            result = await go_on(params)
        except BaseException as error:
            self._failed(request, about, error)
            self._emit(request.session, call_ended(about, _since(begun), error))
            raise
        finally:
            _rejected.reset(token)
        if noted:
            self._emit(request.session, code_rejected(about))
        ended = call_ended(about, _since(begun), None, is_error=result.is_error is True)
        self._emit(request.session, ended)
        return result

    def _failed(self, request: Request, about: JsonObject, error: BaseException) -> None:
        for event in request_failed(about, error):
            self._emit(request.session, event)


def _about(request: Request) -> JsonObject:
    """Return which request it is. What is too long is left out: it only helps to find it."""
    about: JsonObject = {"method": request.method.name}
    if request.id is not None and len(str(request.id)) <= _LONGEST:
        about["request_id"] = request.id
    trace_id = trace_id_in(request.message)
    if trace_id is not None:
        about["trace_id"] = trace_id
    return about


def _since(begun: float) -> int:
    return round((time.monotonic() - begun) * 1000)


def _watched_rows() -> Iterator[Method[Any, Any]]:
    """Yield the requests that functions of the user serve."""
    for row in MCP.methods.values():
        if row.kind == "request" and row.sender != "server" and row not in (INITIALIZE, PING):
            yield row
