"""One HTTP request: what is called, and how it is answered (MCP-lite, 4).

What is checked before a tool hears of it, in this order: the path, the network, `Host` and
`Origin`, the size of the headers, who asks, the method, and the type and size of the body.
"""

from __future__ import annotations

__all__ = ("respond",)

from functools import partial
from typing import TYPE_CHECKING

from kinwire.mcplite.rules.unavailable import RETRY_AFTER, ServerUnavailableError
from kinwire.mcplite.server.http.calls import STOPPING, RunningCall
from kinwire.mcplite.server.http.message import BodyError, call_in, read_request
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
_CALL, _LIST = TOOLS_CALL.name, TOOLS_LIST.name


async def respond(
    app: LiteHttpApp, row: HttpPath, scope: Scope, receive: Receive, send: Send
) -> HttpResponse | None:
    """Respond to a request for the endpoint of `row`, or return what to respond."""
    guard, calls = app.guard, app.calls
    head = read_head(scope["headers"], _HEADERS)
    reply = guard.refusal(scope, head)
    if reply is None and guard.bearers is not None:
        reply = await guard.identify(guard.bearers, head)
    if reply is None:
        reply = _refusal_of_head(scope["method"], head)
    if reply is not None:
        return reply
    body = await read_body(head, receive, calls, app.frame_size)
    if isinstance(body, HttpResponse):
        return body
    if calls.full:
        why = STOPPING if calls.stopping else "Too many calls at the moment. Come back later."
        return refusal(503, why, headers=_LATER)
    return await _answer(app, row, head, body, RunningCall(calls, receive), send)


async def _answer(  # coroutines for its steps would add two percent each to the cost of a call
    app: LiteHttpApp, row: HttpPath, head: Head, body: bytes, running: RunningCall, send: Send
) -> HttpResponse | None:
    """Respond to a body; what is not a call is answered as JSON, also if a stream is wanted."""
    id: Id | None = None
    try:
        method, params, id = read_request(body, row)
        # An application around this one may have a principal of its own.
        caller = ANYONE if app.guard.bearers is None else LiteCaller(PRINCIPAL.get())
        if method == _LIST:
            return await _list(app, caller, params, id, running)
        if method != _CALL:
            raise MethodNotFoundError
        call = call_in(params, head.text(_KEY) if _KEY in head.values else None)
        if prefers_event_stream(head.values.get(b"accept")):
            stream = LiteStream(running, send, id, app.limits.keep_alive)
            await stream.send_all(partial(app.service.stream, call, caller))
            return None
        result = await running.run(app.service.call(call, caller))
        if result is None:
            return _ended(running, id)
        data = encode({"jsonrpc": "2.0", "id": id, "result": result})
    except Exception as error:
        return _refused(error, id)
    headers = [JSON, (b"content-length", b"%d" % len(data))]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": data})
    return None


async def _list(
    app: LiteHttpApp, caller: LiteCaller, params: object, id: Id | None, running: RunningCall
) -> HttpResponse | None:
    if params is not None and not is_object(params):
        raise InvalidParamsError("params: expected an object")
    listed = await running.run(app.service.list_tools(caller))
    if listed is None:
        return _ended(running, id)
    body = listed.encoded if id is None else encoded_reply(id, listed)
    return HttpResponse(200, body, (JSON,))


def _ended(running: RunningCall, id: Id | None) -> HttpResponse | None:
    """Return what a call gets that has ended early: nothing if nobody is there to read it."""
    return _refused(STOPPING, id) if running.is_stopped else None


def _refused(error: Exception, id: Id | None) -> HttpResponse:
    if isinstance(error, BodyError):
        return refusal(error.status, error.error, id=error.id)
    if isinstance(error, ServerUnavailableError):
        return refusal(503, error, id=id, headers=_LATER)
    known = error if isinstance(error, RpcError) else internal_error("MCP-lite", error)
    return refusal(200, known, id=id)


def _refusal_of_head(method: str, head: Head) -> HttpResponse | None:
    if method != "POST":
        return refusal(405, "POST only.", headers=_ONLY_POST)
    if not is_utf8_json(head.values.get(b"content-type")):
        return refusal(415, "Content-Type: expected application/json in UTF-8.")
    return coding_refusal(head) if b"content-encoding" in head.values else None
