"""Bounds of connections under uvicorn, which has none of its own: for what comes before and behind
the body of a request, for the time until its head is complete, and for peers that do not read.

Sessions and their answers have other bounds; these are for what is below them. A connection that
is given up here still holds a descriptor and what was written to it, whatever became of its
session.
"""

from __future__ import annotations

__all__ = ("BoundedProtocol", "ConnectionWatch", "LeavingProtocol")

import asyncio
from collections import deque
from collections.abc import Iterable
from contextvars import Context, copy_context
from dataclasses import dataclass
from typing import Any, cast

import httptools
from uvicorn.protocols.http.flow_control import FlowControl
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

_HEAD_SIZE = 64 * 1024  # bytes that may come without anything that can be used: a head, trailers
_HEAD_TIME = 10.0  # seconds for a head
_UNREAD_TIME = 30.0  # seconds in which a peer reads nothing of what waits for it
_TOO_LONG = f"More than {_HEAD_SIZE} bytes came outside a body."
_BODY_OF_UPGRADE = "A request to begin a WebSocket has no body."
_NOT_HTTP = "Invalid HTTP request received."


class _UnusableHeadError(Exception):
    """A request is answered with 400, and the connection is closed."""


class BoundedProtocol(HttpToolsProtocol):
    """A connection of HTTP that keeps no more than the head and what is not read of a body.

    It takes one upgrade, to WebSocket, and reads a request that offers another one as if it did
    not (RFC 9110 section 7.8). Trailers are dropped (section 6.5.1). A client that closes its side
    behind its request gets the answer.
    """

    _unfinished = 0  # bytes that came since the last one that can be used
    _usable = False  # whether some of the bytes that came last can be used
    _in_head = True
    _context: Context  # of the connection, which is that of no request
    _cycles: tuple[RequestResponseCycle, ...] = ()  # of requests without a whole answer, in order
    _early = b""  # what came before the requests before it had their answers
    _late_refusal: str | None = None  # what is sent when the requests before have their answers

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """See `asyncio.Protocol`."""
        self._context = copy_context()
        super().connection_made(transport)
        self.flow = _Flow(transport, self._context)

    def connection_lost(self, exc: Exception | None) -> None:
        """See `asyncio.Protocol`: the base ends the last request only."""
        super().connection_lost(exc)
        self._early = b""
        for cycle in self._cycles:
            cycle.disconnected = cycle.disconnected or not cycle.response_complete
            cycle.message_event.set()

    def data_received(self, data: bytes) -> None:
        """See `asyncio.Protocol`."""
        self._unset_keepalive_if_required()
        if self._late_refusal is not None:
            return
        if self._early or (self.pipeline and not self.cycle.more_body):
            # It is read, so that the end of the connection is noticed, and not looked at yet.
            self._early += data
            if len(self._early) > _HEAD_SIZE:
                self.flow.pause_reading()
            return
        self._look_at(data)

    def _look_at(self, data: bytes) -> None:
        before, self._usable = self.scope, False
        try:
            self._read(data)
        except _UnusableHeadError as error:
            self._refuse(str(error))
            return
        if self._usable or self.scope is not before:  # it may have begun anywhere in `data`
            self._unfinished = 0
            return
        self._unfinished += len(data)
        if self._unfinished > _HEAD_SIZE:
            self._refuse(_TOO_LONG)

    def _refuse(self, why: str) -> None:
        """Answer with 400, behind the answers to the requests before, and close."""
        self._cycles = tuple(one for one in self._cycles if not one.more_body)
        self.pipeline = deque(waiting for waiting in self.pipeline if not waiting[0].more_body)
        if self._cycles:
            self._late_refusal = why
        elif not self.transport.is_closing():
            self.send_400_response(why)

    def on_response_complete(self) -> None:
        """See uvicorn: the next request begins, in the context of the connection."""
        if not self.pipeline:
            self._cycles = ()
            super().on_response_complete()
        else:
            self._cycles = tuple(one for one in self._cycles if not one.response_complete)
            self._context.copy().run(super().on_response_complete)
        if self._cycles or self.transport.is_closing():
            return
        if self._late_refusal is not None:
            self.send_400_response(self._late_refusal)
        elif self._early:
            self._context.copy().run(self._look_at_early)

    def _look_at_early(self) -> None:
        self._unset_keepalive_if_required()
        early, self._early = self._early, b""
        self._look_at(early)

    def _read(self, data: bytes) -> None:
        """Pass bytes to the parser.

        Raises:
            _UnusableHeadError: they are not HTTP, or a request that is not served.
        """
        try:
            self.parser.feed_data(data)
        except httptools.HttpParserUpgrade as upgrade:
            self._after_upgrade(data[upgrade.args[0] :])
        except httptools.HttpParserError as error:
            cause = error.__context__
            unusable = cause if isinstance(cause, _UnusableHeadError) else None
            raise unusable or _UnusableHeadError(_NOT_HTTP) from None

    def _after_upgrade(self, rest: bytes) -> None:
        """Go on behind the head of a request that offers an upgrade."""
        if self._should_upgrade():
            self.handle_websocket_upgrade()
            if rest:  # a client should wait for the answer
                cast("asyncio.Protocol", self.transport.get_protocol()).data_received(rest)
            return
        method = self.scope["method"].encode()
        kept = [(name, value) for name, value in self.headers if name != b"upgrade"]
        lines = [b"%b %b HTTP/1.1" % (method, self.url), *(b"%b: %b" % one for one in kept)]
        self.parser = httptools.HttpRequestParser(self)  # the other one takes no body any more
        self.parser.set_dangerous_leniencies(lenient_data_after_close=True)
        self._read(b"\r\n".join([*lines, b"", rest]))

    def _should_upgrade(self) -> bool:
        return self.scope["method"] == "GET" and super()._should_upgrade()

    def on_header(self, name: bytes, value: bytes) -> None:
        """See httptools: it is called for headers, and then for trailers."""
        if self._in_head:
            super().on_header(name, value)

    def on_message_begin(self) -> None:
        """See httptools."""
        self._in_head = True
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        """See httptools.

        Raises:
            _UnusableHeadError: the request is not served.
        """
        self._usable, self._in_head = True, False
        if not self.parser.should_upgrade():
            super().on_headers_complete()
            self._cycles += (self.cycle,)
            if self.pipeline:
                self.flow.resume_reading()
            return
        self.scope["method"] = method = self.parser.get_method().decode("ascii")
        if method == "CONNECT":
            raise _UnusableHeadError("This server is not a proxy.")
        if self._get_upgrade() == b"websocket" and _has_body(self.headers):
            raise _UnusableHeadError(_BODY_OF_UPGRADE)

    def on_body(self, body: bytes) -> None:
        """See httptools."""
        self._usable = True
        super().on_body(body)

    def on_message_complete(self) -> None:
        """See httptools: with an upgrade it comes before the body, and is meant for the head."""
        if not self.parser.should_upgrade():
            super().on_message_complete()

    def eof_received(self) -> bool | None:  # type: ignore[override]
        """See `asyncio.Protocol`. A stream that goes on is given up, as its client has left.

        TLS cannot be closed on one side.
        """
        if self._early:
            self._context.copy().run(self._look_at_early)
        cycle = cast("RequestResponseCycle | None", self.cycle)
        if cycle is None or cycle.more_body or cycle.response_started or self.scheme == "https":
            return None
        cycle.keep_alive = False
        return cycle.scope["method"] == "POST"


class _Flow(FlowControl):
    """Goes on with reading in the context of the connection.

    asyncio calls what reads in the context that reading was begun in, which would be that of a
    request, for all requests that follow.
    """

    def __init__(self, transport: asyncio.Transport, context: Context) -> None:
        super().__init__(transport)
        self._context = context

    def resume_reading(self) -> None:
        if self.read_paused:
            self._context.copy().run(super().resume_reading)


class LeavingProtocol(BoundedProtocol):
    """For clients that cancel what they asked for when they leave.

    One that closes its side is taken to have left, as TCP does not say which of the two it is.
    """

    def eof_received(self) -> None:
        """See `asyncio.Protocol`."""


def _has_body(headers: list[tuple[bytes, bytes]]) -> bool:
    named = dict(headers)
    return b"transfer-encoding" in named or named.get(b"content-length", b"0").strip(b" 0") != b""


class ConnectionWatch:
    """Gives up connections on which nothing moves; the time is handed in."""

    def __init__(self) -> None:
        self._still: dict[Any, _Still] = {}

    def tick(self, connections: Iterable[Any], now: float) -> None:
        """Look at all connections of a server, as often as you like."""
        before, self._still = self._still, {}
        for connection in list(connections):
            unread = connection.transport.get_write_buffer_size()
            if not (unread or _awaits_head(connection)):
                continue
            still = before.get(connection)
            scope = getattr(connection, "scope", None)
            if still is None or still.has_moved(unread, scope):
                still = _Still(now, unread, scope)
            still.unread = unread
            if now - still.since >= (_UNREAD_TIME if unread else _HEAD_TIME):
                connection.transport.abort()
            else:
                self._still[connection] = still


@dataclass(slots=True)
class _Still:
    """How a connection was at the last look, and since when it has not moved."""

    since: float
    unread: int
    """Bytes that the peer has not read."""
    scope: object
    """Of the request that has come last, or is coming."""

    def has_moved(self, unread: int, scope: object) -> bool:
        """Return whether the peer has read something since then, or begun another request."""
        return unread < self.unread or (not self.unread and unread > 0) or scope is not self.scope


def _awaits_head(connection: Any) -> bool:
    """Return whether a request, or the rest of its head, should come next."""
    try:
        cycle = connection.cycle
    except AttributeError:  # a WebSocket, whose handshake is over
        return False
    return cycle is None or cycle.response_complete or not _has_head(connection)


def _has_head(connection: Any) -> bool:
    """Return whether the head of the last request is complete."""
    scope = connection.scope
    return scope is not None and "path" in scope
