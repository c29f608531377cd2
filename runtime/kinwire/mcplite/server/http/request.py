"""One HTTP request: what is called, and how it is answered (MCP-lite, 4).

What is checked before a tool hears of it, in this order: the path, the network, `Host` and
`Origin`, the size of the headers, who asks, the method, and the type and size of the body.
"""

from __future__ import annotations

__all__ = ("LiteHttpRequest",)

from functools import partial
from typing import TYPE_CHECKING

from kinwire.mcplite.rules.calls import ToolCall
from kinwire.mcplite.rules.unavailable import RETRY_AFTER, ServerUnavailableError
from kinwire.mcplite.server.http.calls import STOPPING, RunningCall
from kinwire.mcplite.server.http.message import BodyError, LiteRequest, call_in, read_request
from kinwire.mcplite.server.http.stream import LiteStream
from kinwire.mcplite.server.source import ANYONE, LiteCaller
from kinwire.rpc.codec import Id, encode, encoded_reply, is_object
from kinwire.rpc.error_table import internal_error
from kinwire.transports.http.body import coding_refusal, read_body
from kinwire.transports.http.guard import PRINCIPAL
from kinwire.transports.http.head import Head, is_utf8_json, prefers_event_stream, read_head
from kinwire.transports.http.replies import (
    JSON,
    HttpResponse,
    Receive,
    Scope,
    Send,
    refusal,
)
from kinwire_protocols.base import RpcError
from kinwire_protocols.jsonrpc.errors import InvalidParamsError, MethodNotFoundError
from kinwire_protocols.mcplite.methods import TOOLS_CALL, TOOLS_LIST
from kinwire_protocols.tables import HttpPath

if TYPE_CHECKING:
    from kinwire.mcplite.server.http.app import LiteHttpApp

_KEY = b"idempotency-key"
_HEADERS = frozenset({_KEY})
_ONLY_POST = ((b"allow", b"POST"),)
_LATER = ((b"retry-after", b"%d" % RETRY_AFTER),)


class LiteHttpRequest:
    """A request for one of the endpoints; `row` is that of its path."""

    __slots__ = ("_app", "_calls", "_head", "_receive", "_row", "_scope", "_send")

    def __init__(
        self, app: LiteHttpApp, row: HttpPath, scope: Scope, receive: Receive, send: Send
    ) -> None:
        self._app = app
        self._calls = app.calls
        self._row = row
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
        if reply is None:
            reply = _refusal_of_head(self._scope["method"], self._head)
        if reply is not None:
            return reply
        body = await read_body(self._head, self._receive, self._calls, self._app.frame_size)
        if isinstance(body, HttpResponse):
            return body
        if self._calls.full:
            return refusal(503, "Too many calls at the moment. Come back later.", headers=_LATER)
        return await self._answer(body)

    async def _answer(self, body: bytes) -> HttpResponse | None:
        """Respond to a body; what is not a call is answered as JSON, also if a stream is wanted."""
        id: Id | None = None
        try:
            request = read_request(body, self._row)
            id = request.id
            if request.method == TOOLS_CALL.name:
                return await self._call(call_in(request.params, self._head.text(_KEY)), id)
            if request.method == TOOLS_LIST.name:
                return await self._list(request)
            raise MethodNotFoundError
        except BodyError as refused:
            return refusal(refused.status, refused.error, id=refused.id)
        except ServerUnavailableError as error:
            return refusal(503, error, id=id, headers=_LATER)
        except RpcError as error:
            return refusal(200, error, id=id)
        except Exception as fault:
            return refusal(200, internal_error("MCP-lite", fault), id=id)

    def _caller(self) -> LiteCaller:
        # An application around this one may have a principal of its own.
        return ANYONE if self._app.guard.bearers is None else LiteCaller(PRINCIPAL.get())

    async def _list(self, request: LiteRequest) -> HttpResponse | None:
        if request.params is not None and not is_object(request.params):
            raise InvalidParamsError("params: expected an object")
        running = RunningCall(self._calls, self._receive)
        listed = await running.run(self._app.service.list_tools(self._caller()))
        if listed is None:
            return _ended(running, request.id)
        body = listed.encoded if request.id is None else encoded_reply(request.id, listed)
        return HttpResponse(200, body, (JSON,))

    async def _call(self, call: ToolCall, id: Id | None) -> HttpResponse | None:
        running = RunningCall(self._calls, self._receive)
        if prefers_event_stream(self._head.values.get(b"accept")):
            stream = LiteStream(running, self._send, id, self._app.limits.keep_alive)
            await stream.send_all(partial(self._app.service.stream, call, self._caller()))
            return None
        result = await running.run(self._app.service.call(call, self._caller()))
        if result is None:
            return _ended(running, id)
        body = encode({"jsonrpc": "2.0", "id": id, "result": result})
        return HttpResponse(200, body, (JSON,))


def _ended(running: RunningCall, id: Id | None) -> HttpResponse | None:
    """Return what a call gets that has ended early: nothing if nobody is there to read it."""
    return refusal(503, STOPPING, id=id, headers=_LATER) if running.is_stopped else None


def _refusal_of_head(method: str, head: Head) -> HttpResponse | None:
    if method != "POST":
        return refusal(405, "POST only.", headers=_ONLY_POST)
    if not is_utf8_json(head.values.get(b"content-type")):
        return refusal(415, "Content-Type: expected application/json in UTF-8.")
    return coding_refusal(head) if b"content-encoding" in head.values else None
