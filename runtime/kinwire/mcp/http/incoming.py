"""One HTTP request: which session it is for, and what it earns (MCP, Streamable HTTP).

What is checked before a session hears of it, in this order: the network, `Host` and `Origin`, the
size of the headers, who asks, the method, and for a body its type and size.
"""

from __future__ import annotations

__all__ = ("IncomingHttpRequest",)

import re
import time
from typing import TYPE_CHECKING
from urllib.parse import parse_qs

from kinwire.mcp.http.flow import Responder
from kinwire.mcp.http.session import HttpServerSession
from kinwire.rpc.codec import FrameError, OutgoingFrame, decode, is_object
from kinwire.rpc.errors import ConnectionClosedError
from kinwire.rpc.response_stream import (
    HANDLED,
    ResponseStream,
    StreamAttachment,
    StreamPhase,
    current_stream,
)
from kinwire.transports.http.body import coding_refusal, read_body
from kinwire.transports.http.guard import PRINCIPAL
from kinwire.transports.http.head import (
    Accepted,
    accepted,
    is_json,
    names_event_stream,
    read_head,
)
from kinwire.transports.http.listener import client_of
from kinwire.transports.http.replies import HttpResponse, Receive, Scope, Send, refusal, too_many
from kinwire.transports.http.sse import encoded_event
from kinwire_protocols.base import JsonObject
from kinwire_protocols.mcp import PROTOCOL
from kinwire_protocols.mcp.methods import INITIALIZE, NOTIFICATIONS_INITIALIZED

if TYPE_CHECKING:
    from kinwire.mcp.http.app import HttpApp

_VERSION = re.compile(rb"\d{4}-\d{2}-\d{2}")  # the form of every version of MCP
_INITIALIZED = NOTIFICATIONS_INITIALIZED.name
_NEGOTIATED = PROTOCOL.version.encode()
_PRIMED = "2025-11-25"  # the first whose clients know events without data
_LONGEST_QUERY = 200  # bytes of a query; the one that is handed out is shorter

_UNKNOWN = (
    "This process does not know the session. It has ended, or it is in another process: a proxy "
    "in front of several must route each session to the process that began it (sticky sessions)."
)
_DELETED = ConnectionClosedError("The client has ended the session.")
_GONE = ConnectionClosedError("The client has closed its stream.")
_METHODS = ("GET", "POST", "DELETE")
_ACCEPTED, _DONE = HttpResponse(202), HttpResponse(204)
_HEADERS = frozenset({b"mcp-protocol-version", b"mcp-session-id"})


class IncomingHttpRequest:
    """A request on its way to its session."""

    __slots__ = ("_app", "_head", "_receive", "_scope", "_send", "_sessions")

    def __init__(self, app: HttpApp, scope: Scope, receive: Receive, send: Send) -> None:
        self._app = app
        self._sessions = app.sessions
        self._scope = scope
        self._receive = receive
        self._send = send
        self._head = read_head(scope["headers"], _HEADERS)

    async def respond(self) -> HttpResponse | None:
        """Respond, or return what to respond."""
        guard = self._app.guard  # `Guard.admit`, in line: a coroutine less for every request
        reply = guard.refusal(self._scope, self._head)
        if reply is None and guard.bearers is not None:
            reply = await guard.identify(guard.bearers, self._head)
        if reply is not None:
            return reply
        method = self._scope["method"]
        if method == "POST":
            return await self._post()
        if self._app.stateless or method not in _METHODS:
            allowed = "POST" if self._app.stateless else ", ".join(_METHODS)
            return refusal(405, f"{allowed} only.", headers=((b"allow", allowed.encode()),))
        if method == "GET":
            return await self._get()
        session = self._session(self._head.values.get(b"mcp-session-id"))
        if isinstance(session, HttpResponse):
            return session
        self._sessions.end(session, _DELETED)
        return _DONE

    def _session(
        self, id: bytes | None, *, by_stream: bool = False
    ) -> HttpServerSession | HttpResponse:
        """Return the session of that id, if the request may use it."""
        head = self._head
        if id is None or b"mcp-session-id" in head.repeated:
            return refusal(400, "Mcp-Session-Id: expected the one that came with initialize.")
        version = head.values.get(b"mcp-protocol-version", _NEGOTIATED).strip()
        if version != _NEGOTIATED and _VERSION.fullmatch(version) is None:
            expected = f"expected a version such as {PROTOCOL.version}"
            return refusal(400, f"MCP-Protocol-Version: {expected}.")
        session = self._sessions.get(id.decode("latin-1").strip())
        if session is None or session.has_ended or session.by_stream is not by_stream:
            return refusal(404, _UNKNOWN)
        if session.principal != PRINCIPAL.get():
            return refusal(403, "The session belongs to somebody else.")
        if version != _NEGOTIATED:
            session.read_other_version(version.decode())
        session.used_at = time.monotonic()
        return session

    # Messages.

    async def _post(self) -> HttpResponse | None:
        head = self._head
        if not is_json(head.values.get(b"content-type")):
            return refusal(415, "Content-Type: expected application/json.")
        if b"content-encoding" in head.values and (coded := coding_refusal(head)) is not None:
            return coded
        body = await read_body(head, self._receive, self._sessions, self._app.frame_size)
        if isinstance(body, HttpResponse):
            return body
        query = self._scope["query_string"]
        if query and b"mcp-session-id" not in head.values:
            by_stream = _named_session(query)
            if by_stream is not None:
                return self._take(by_stream, body)
        return await self._handle(body)

    async def _handle(self, body: bytes) -> HttpResponse | None:
        head = self._head
        accepts = accepted(head.values.get(b"accept"))
        if not (accepts.json or accepts.stream):
            return refusal(406, "Accept: expected application/json and text/event-stream.")
        try:
            message = decode(body)
        except FrameError as refused:
            return refusal(400, refused.error, id=refused.id)
        id = head.values.get(b"mcp-session-id")
        if self._app.stateless or (id is None and _is_handshake(message)):
            return await self._begin(message, accepts)
        session = self._session(id)
        if isinstance(session, HttpResponse):
            return session
        if "method" not in message or message["method"] != _INITIALIZED:
            session.used = True
        stream = _accept(session, message)
        if isinstance(stream, HttpResponse):
            return stream
        await Responder(session, stream, self._receive, self._send).answer(accepts)
        return None

    async def _begin(self, message: JsonObject, accepts: Accepted) -> HttpResponse | None:
        """Handle the first message of a session, or the only one of it."""
        named = b"mcp-session-id" in self._head.values
        handshake = not named and _is_handshake(message)
        principal = PRINCIPAL.get()
        client = client_of(principal, self._scope)
        session = await self._sessions.begin(principal, client, handshake=handshake)
        if session is None:
            return too_many()
        lasts = False
        try:
            session.supports_priming = _offered(message) >= _PRIMED
            stream = _accept(session, message)
            if isinstance(stream, HttpResponse):
                return stream
            if not self._app.stateless:
                while not (stream.queue or stream.phase is StreamPhase.OVER):
                    await stream.change(self._sessions.loop)
                lasts = _is_result(stream)
            headers = [(b"mcp-session-id", session.id.encode())] if lasts else []
            responder = Responder(session, stream, self._receive, self._send, headers)
            await responder.answer(accepts)
        finally:
            if not lasts:
                self._sessions.end(session, _DELETED)
        return None

    def _take(self, id: bytes, body: bytes) -> HttpResponse:
        """Hand a message of HTTP+SSE over. Whatever there is to say to it goes on the stream."""
        session = self._session(id, by_stream=True)
        if isinstance(session, HttpResponse):
            return session
        if session.callbacks.paused:
            return _too_much()
        session.callbacks.feed(body)
        return _ACCEPTED

    # Streams.

    async def _get(self) -> HttpResponse | None:
        head = self._head
        if not names_event_stream(head.values.get(b"accept")):
            return refusal(406, "Accept: expected text/event-stream.")
        if b"mcp-session-id" not in head.values:
            return await self._stream_all()
        session = self._session(head.values[b"mcp-session-id"])
        if isinstance(session, HttpResponse):
            return session
        stream, missed = session.callbacks.outbox.own, list[bytes]()
        last = head.text(b"last-event-id")
        if last:
            found = session.events.after(last, now=time.monotonic())
            if found is None:
                return refusal(400, "Last-Event-ID: that event is not kept (any more).")
            stream, missed = found
        if stream.attachment is StreamAttachment.ATTACHED:
            return refusal(409, "There is a connection to this stream already.")
        await Responder(session, stream, self._receive, self._send).send_events(missed)
        return None

    async def _stream_all(self) -> HttpResponse | None:
        """Begin a session of HTTP+SSE (MCP 2024-11-05), which lasts as long as this stream.

        Its id is part of the address that the client sends messages to, as clients know no other
        way: a log of requests should leave out the query.
        """
        principal = PRINCIPAL.get()
        session = await self._sessions.begin(principal, client_of(principal, self._scope))
        if session is None:
            return too_many()
        session.by_stream = True
        try:
            stream = session.callbacks.outbox.own
            responder = Responder(session, stream, self._receive, self._send)
            await responder.send_events([_first_event(session.id)])
        finally:
            self._sessions.end(session, _GONE)
        return None


def _is_handshake(message: JsonObject) -> bool:
    return message.get("method") == INITIALIZE.name and "id" in message


def _accept(session: HttpServerSession, message: JsonObject) -> ResponseStream | HttpResponse:
    """Hand a message over; return the stream with its answer, or the reply if it has none."""
    callbacks = session.callbacks
    if callbacks.paused:
        return _too_much()
    if "id" not in message or "method" not in message:  # nothing answers it
        callbacks.accept(message)
        return _ACCEPTED
    stream = ResponseStream(callbacks.outbox)
    token = current_stream.set(stream)
    try:
        callbacks.accept(message)
    finally:
        current_stream.reset(token)
    if stream.phase in HANDLED or stream.queue:
        return stream
    stream.end()
    return _ACCEPTED


def _offered(message: JsonObject) -> str:
    params = message.get("params")
    version = params.get("protocolVersion") if is_object(params) else None
    return version if isinstance(version, str) else ""


def _is_result(stream: ResponseStream) -> bool:
    """Return whether a request is not answered with an error, as far as can be seen."""
    first = stream.queue[0] if stream.queue else None
    failed = isinstance(first, OutgoingFrame) and first.kind == "error"
    return first is not None and not failed


def _too_much() -> HttpResponse:
    retry = ((b"retry-after", b"1"),)
    return refusal(503, "Too much that was sent to this session is unread.", headers=retry)


def _first_event(id: str) -> bytes:
    """Return the event that says where to send messages: relative, so proxies may rename."""
    return encoded_event(f"?session_id={id}".encode(), name="endpoint")


def _named_session(query: bytes) -> bytes | None:
    """Return the session that the address of a message names."""
    if len(query) > _LONGEST_QUERY:
        return None
    return parse_qs(query).get(b"session_id", [None])[0]
