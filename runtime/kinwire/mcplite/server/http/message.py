"""From the body of a request to what it asks for, and the refusal of one that asks for nothing.

Pure. A body that is not JSON earns 400; all that is wrong with JSON is an error of JSON-RPC, and
those have the status 200 (MCP-lite, 4.4).
"""

from __future__ import annotations

__all__ = ("DEEPEST", "BodyError", "call_in", "idempotency_key", "read_request")

from typing import Any

from pydantic_core import from_json

from kinwire.mcplite.rules.calls import ToolCall
from kinwire.rpc.codec import FrameError, Id, decode, is_id, is_object, kind_of
from kinwire.support.json_values import depth
from kinwire_protocols.base import JsonObject, RpcError
from kinwire_protocols.jsonrpc.errors import InvalidParamsError, InvalidRequestError, ParseError
from kinwire_protocols.tables import HttpPath

DEEPEST = 64
"""How many arrays and objects of a body may be nested in one another."""

_TOO_DEEP = f"Invalid Request: more than {DEEPEST} arrays and objects are nested in one another"
_NO_ID = "Invalid Request: id: expected a string or an integer, as a call wants an answer"
_NO_METHOD = "Invalid Request: method: expected a string"
_NOT_AN_OBJECT = "Invalid Request: expected one JSON object, got"


class BodyError(Exception):
    """What a body earns that asks for nothing that can be done."""

    def __init__(self, error: RpcError, *, id: Id | None = None, status: int = 200) -> None:
        super().__init__(error)
        self.error = error
        self.id = id
        self.status = status


def read_request(body: bytes, row: HttpPath) -> tuple[str, Any, Id | None]:
    """Return what `body` asks for at the path of `row`: the method, its params, and the id.

    Where bodies are params alone, one with `jsonrpc` is read as an envelope all the same. Without
    an envelope the id is None, and so goes the result.

    Raises:
        BodyError: it asks for nothing.
    """
    if not row.enveloped:
        params = _object_in(body)
        if "jsonrpc" not in params:
            return row.method, params, None
    try:
        message = decode(body)
    except FrameError as refused:
        _object_in(body)
        raise BodyError(refused.error, id=refused.id) from None
    id = message.get("id")
    if id is None or "method" not in message:
        raise _incomplete(message)
    # To count the brackets is far cheaper than to look inside, and is enough for most.
    if body.count(b"{") + body.count(b"[") > DEEPEST:
        _must_be_flat(message, id)
    return message["method"], message.get("params"), id


def _incomplete(message: JsonObject) -> BodyError:
    id = message.get("id")
    if "method" in message:
        return BodyError(InvalidRequestError(_NO_ID))
    return BodyError(InvalidRequestError(_NO_METHOD), id=id if is_id(id) else None)


def _object_in(body: bytes) -> JsonObject:
    try:
        value = from_json(body, allow_inf_nan=False)
    except ValueError as error:
        if "recursion limit" in str(error):  # JSON, as far as anybody reads
            raise BodyError(InvalidRequestError(_TOO_DEEP)) from None
        raise BodyError(ParseError(f"Parse error: {error}"), status=400) from None
    if not is_object(value):
        raise BodyError(InvalidRequestError(f"{_NOT_AN_OBJECT} {kind_of(value)}"))
    _must_be_flat(value, None)
    return value


def _must_be_flat(value: JsonObject, id: Id | None) -> None:
    if depth(value) > DEEPEST:
        raise BodyError(InvalidRequestError(_TOO_DEEP), id=id)


def call_in(params: Any, header: str | None) -> ToolCall:
    """Return the call that `params` describe; `header` is that of `Idempotency-Key`.

    Raises:
        InvalidParamsError: they describe none.
    """
    if params.__class__ is not dict:  # in place: calls of `is_object` would show
        raise InvalidParamsError(f"params: expected an object, got {kind_of(params)}")
    name, arguments, meta = params.get("name"), params.get("arguments", {}), params.get("_meta", {})
    if type(name) is not str:
        raise InvalidParamsError(f"name: expected a string, got {kind_of(name)}")
    if arguments.__class__ is not dict:
        raise InvalidParamsError(f"arguments: expected an object, got {kind_of(arguments)}")
    if meta.__class__ is not dict:
        raise InvalidParamsError(f"_meta: expected an object, got {kind_of(meta)}")
    if header is not None:
        meta = _with_key(meta, idempotency_key(header))
    return ToolCall(name, arguments, meta)


def _with_key(meta: JsonObject, key: str) -> JsonObject:
    if meta.get("idempotency_key", key) != key:
        raise InvalidParamsError("_meta.idempotency_key: expected that of Idempotency-Key, or none")
    return {**meta, "idempotency_key": key}


def idempotency_key(header: str) -> str:
    """Return the key in an `Idempotency-Key` header: it may stand in quotes, as texts do there."""
    if len(header) < 2 or not (header[0] == header[-1] == '"'):
        return header
    return header[1:-1].replace('\\"', '"').replace("\\\\", "\\")
