"""Bytes to JSON-RPC envelope and back, without I/O (JSON-RPC 2.0, 4 and 5).

A frame is one message. Anything else is refused with the error to send back, and with the id
where it can be found. Batches are refused: MCP 2024-11-05 does not have them.

Left out, each because looking for it would cost more than reading the frame: a repeated member
other than `id` and `method`, one of these two repeated in the middle of a long frame (the last
one counts then), and numbers beyond the range of a double inside untyped members.
"""

from __future__ import annotations

__all__ = (
    "FRAME_SIZE",
    "HEAD",
    "TAIL",
    "EncodedObject",
    "FrameError",
    "Id",
    "OutgoingFrame",
    "as_read",
    "decode",
    "encode",
    "encoded_notification",
    "encoded_reply",
    "ends_of",
    "frame_of_bytes",
    "has_id_at_its_end",
    "is_id",
    "is_object",
    "joined_notification",
    "kind_of",
    "longer_than",
    "same_id",
    "too_long",
)

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, TypeGuard, final

from pydantic_core import from_json, to_json

from kinwire.rpc.errors import RpcError, UnsendableError
from kinwire.support.json_values import must_be_finite
from kinwire_protocols.base import JsonObject
from kinwire_protocols.jsonrpc.errors import InvalidRequestError, ParseError

Id = int | str

_ID_TYPES = (int, str)

_END = 256  # bytes at each end of a frame in which a repeated member is looked for
_READ_AGAIN = 64 * 1024  # bytes of an unreadable frame in which its id is looked for
_DIGITS = 4300  # the longest integer that Python reads
_N, _I = b"NI"  # numbers: `in` makes and drops an exception first when it looks for bytes

FRAME_SIZE = "Limits(frame_size=...)"
"""How errors name the option that bounds a message."""

HEAD, TAIL = 512, 128  # bytes that are kept of a frame that is too long
_VERSION = rb'"jsonrpc"\s*:\s*"2\.0"'
_RESULT_FIRST = re.compile(rb'\s*\{\s*(?:%b\s*,\s*)?"(?:result|error)"\s*:' % _VERSION)
# A scalar before the last brace is a field of the outermost object.
_ID_LAST = re.compile(rb'[,{]\s*"id"\s*:\s*(\d{1,18})\s*(?:,\s*%b\s*)?\}\s*$' % _VERSION)

_METHOD_FIRST = b'{"jsonrpc":"2.0","method":'  # how joined notifications begin, and no result
_BODY = re.compile(rb'"(method|result|error)"\s*:')

Meant = Literal["request", "response", "unclear"]


@final
@dataclass(slots=True)
class OutgoingFrame:
    """A message of this side, encoded, and what a transport may have to know of it."""

    data: bytes

    kind: Literal["request", "notification", "result", "error"]

    id: int | None = None
    """The id of a request; None for other messages."""

    method: str = ""
    """The method; empty for an answer."""

    cancels: int | None = None
    """The id of the request that a cancellation takes back; None for other messages."""


class FrameError(Exception):
    """A frame is not a message. `error` is for its sender, `meant` what it seems to have been."""

    def __init__(self, error: RpcError, id: Id | None = None, meant: Meant = "unclear") -> None:
        super().__init__(error, id, meant)
        self.error = error
        self.id = id
        self.meant = meant

    @property
    def why(self) -> str:
        """Return what is wrong with the frame, for the caller that waits for it."""
        return self.error.message.removeprefix("Invalid Request: ").removeprefix("Parse error: ")


def is_object(value: object) -> TypeGuard[JsonObject]:
    """Return whether decoded JSON is an object."""
    return type(value) is dict


def is_id(value: object) -> TypeGuard[Id]:
    """Return whether `value` may be an id. 1.0 and true are not ids, though they equal 1."""
    return type(value) in _ID_TYPES


def same_id(one: object, other: object) -> bool:
    """Return whether two ids of requests are one: 1, 1.0, true and "1" are four."""
    return type(one) is type(other) and one == other


def kind_of(value: object) -> str:
    """Return what decoded JSON is, in words; the value itself may be a secret."""
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    names: dict[type, str] = {dict: "an object", list: "an array", str: "a string"}
    return names.get(type(value), "a number")


def decode(frame: bytes) -> JsonObject:
    """Return the message in `frame`: a request, a notification or a response.

    A message with the member `method` is well-formed. Without one it is a response in which
    `id`, `result` and `error` still have to be judged against the call that they answer.

    Raises:
        FrameError: the frame is not a message; nothing in it may be acted on.
    """
    try:
        message: JsonObject = from_json(frame, allow_inf_nan=False, cache_strings="keys")
    except ValueError as error:
        raise _unreadable(frame, str(error)) from None
    if type(message) is not dict:  # in place: a call of `is_object` would show on every frame
        raise FrameError(InvalidRequestError(f"Expected one JSON object, got {kind_of(message)}"))
    # Counting in the whole of a long frame would take longer than to decode it.
    ends = frame if len(frame) <= 2 * _END else frame[:_END] + frame[-_END:]
    if ends.count(b'"id"') > 1 or ends.count(b'"method"') > 1:
        _refuse_repeated(frame, message)
    if "method" in message:
        fault = _request_fault(message)
    elif "result" in message or "error" in message:
        return message
    else:
        fault = "a message has a method, a result or an error"
    if fault:
        raise FrameError(InvalidRequestError(f"Invalid Request: {fault}"), *_about(message))
    return message


def longer_than(limit: int) -> str:
    """Return what is wrong with a message of more bytes, and which option changes that."""
    return f"longer than {limit} bytes; {FRAME_SIZE} of the side that reads it sets this"


def ends_of(frame: bytes) -> bytes:
    """Return beginning and end of a frame that is too long, which is what `too_long` looks at."""
    return frame if len(frame) <= HEAD + TAIL else frame[:HEAD] + frame[-TAIL:]


def has_id_at_its_end(head: bytes) -> bool:
    """Return whether the message that begins with `head` is an answer whose id comes last."""
    return _RESULT_FIRST.match(head) is not None


def too_long(ends: bytes, limit: int) -> FrameError:
    """Return the refusal of a frame of more than `limit` bytes, with these `ends`."""
    why = f"frame {longer_than(limit)}"
    refused = _unreadable_from(ends, why)
    if refused.id is not None or not has_id_at_its_end(ends):
        return refused
    last = _ID_LAST.search(ends)
    if last is None:
        return refused
    return FrameError(InvalidRequestError(f"Invalid Request: {why}"), int(last[1]), "response")


def _request_fault(message: JsonObject) -> str | None:
    if type(message["method"]) is not str:
        return f"method: expected a string, got {kind_of(message['method'])}"
    if message.get("jsonrpc") != "2.0":
        return 'jsonrpc: expected "2.0"'
    if "id" in message and type(message["id"]) not in _ID_TYPES:
        return f"id: expected a string or an integer, got {kind_of(message['id'])}"
    if "result" in message or "error" in message:
        return "a message with a method has no result and no error"
    return None


def _about(message: JsonObject) -> tuple[Id | None, Meant]:
    # Which request an unusable message belongs to, and whose.
    identifier = message.get("id")
    found = identifier if is_id(identifier) and _encodes(identifier) else None
    if "method" in message:
        return found, "request"
    return found, "response" if "result" in message or "error" in message else "unclear"


def _encodes(value: object) -> bool:
    try:
        encode(value)
    except UnsendableError:
        return False
    return True


def _unreadable(frame: bytes, why: str) -> FrameError:
    # Peers do send cut surrogate pairs, NaN and a BOM: the id shows which call it was.
    from kinwire.rpc.unreadable import fault_of, parse_error  # few processes need it

    if len(frame) > _READ_AGAIN:  # this is far slower than what refused it
        return _unreadable_from(frame[:_READ_AGAIN], why)
    try:
        message = json.loads(frame, parse_constant=lambda _: None, parse_int=_short_int)
    except RecursionError:  # JSON so far, and too deep for both readers
        return _unreadable_from(frame, why)
    except ValueError:
        message = None
        begun = _unreadable_from(frame, why)
        if begun.meant == "response":  # a torn answer is an answer, a torn request is not a request
            return begun
    if is_object(message) and _outer_names(frame).count(b'"id"') == 1:
        found, meant = _about(message)
        if found is not None:
            return FrameError(fault_of(frame, why), found, meant)
    return FrameError(parse_error(frame, why))


def _unreadable_from(head: bytes, why: str) -> FrameError:
    # What comes before the body is small: the id is there, or nowhere.
    body = _BODY.search(head)
    if body is not None:
        refused = _unreadable(head[: body.start()].rstrip(b" \t,") + b"}", why)
        if refused.id is not None:
            meant: Meant = "request" if body[1] == b"method" else "response"
            return FrameError(refused.error, refused.id, meant)
    return FrameError(ParseError(f"Parse error: {why}"))


def _short_int(digits: str) -> int | None:
    return int(digits) if len(digits) <= _DIGITS else None


def _refuse_repeated(frame: bytes, message: JsonObject) -> None:
    names = _outer_names(frame)
    for name in ("id", "method"):
        if names.count(b'"%b"' % name.encode()) > 1:
            found, meant = _about(message)
            fault = InvalidRequestError(f"Invalid Request: {name} occurs more than once")
            raise FrameError(fault, None if name == "id" else found, meant)


def _outer_names(frame: bytes) -> list[bytes]:
    from kinwire.rpc.outer_members import outer_names  # few processes need it

    return outer_names(frame)


def _encoder() -> Callable[[object], bytes]:
    """Return what writes strict JSON in UTF-8; the bytes are the same with and without orjson."""
    try:
        import orjson
    except ImportError:
        return _plain_encode
    # What the two would write differently goes to the one of them.
    options = (
        orjson.OPT_PASSTHROUGH_DATETIME
        | orjson.OPT_PASSTHROUGH_DATACLASS
        | orjson.OPT_PASSTHROUGH_SUBCLASS
    )
    dumps = orjson.dumps

    def fast_encode(message: object) -> bytes:
        try:
            data = dumps(message, None, options)
        except TypeError:  # also integers beyond 64 bits and keys that are not strings
            return _plain_encode(message)
        if b"null" in data:  # it stands for NaN too; there are no pydantic models
            named = to_json(message, inf_nan_mode="constants")
            if _may_name_others(named):
                _check_numbers(message, named)
        return data

    return fast_encode


def _plain_encode(message: object) -> bytes:
    try:
        data = to_json(message, inf_nan_mode="constants")
    except (ValueError, TypeError, RecursionError) as error:
        raise UnsendableError(f"this message cannot be written as JSON: {error}") from None
    if b"null" in data or ((_N in data or _I in data) and _may_name_others(data)):
        _check_numbers(message, data)
    return data


def _may_name_others(data: bytes) -> bool:
    """Return whether NaN or infinity may be in `data`; one letter is found much faster than all."""
    return (_N in data and b"NaN" in data) or (_I in data and b"Infinity" in data)


def _check_numbers(message: object, data: bytes) -> None:
    try:
        must_be_finite(message, data)
    except ValueError as error:
        raise UnsendableError(f"this message cannot be written as JSON: {error}") from None


encode = _encoder()
"""Return `message` as one frame of strict JSON in UTF-8.

Raises:
    UnsendableError: JSON cannot hold it (NaN, a lone surrogate, a cycle, an object of no JSON
        type).
"""


def as_read(params: JsonObject) -> JsonObject:
    """Return a copy of params as the peer will read them, of plain values of JSON.

    Sets, bytes, iterators and models are written as JSON, too. Code that judges a call might not
    look into them, and what is judged must be what is sent.

    Raises:
        UnsendableError: JSON cannot hold them, or they have too many levels or digits to be read.
    """
    try:
        read: JsonObject = from_json(encode(params))
    except UnsendableError:
        raise
    except ValueError as error:
        raise UnsendableError(f"this message cannot be written as JSON: {error}") from None
    return read


class EncodedObject(dict[str, Any]):
    """A JSON object that goes out often and never changes, kept with its bytes."""

    def __init__(self, members: JsonObject) -> None:
        super().__init__(members)
        self.encoded = encode(members)

    @cached_property
    def begun(self) -> dict[str, bytes]:
        """The notifications by name whose params begin with this object, up to what follows it."""
        return _Begun(self.encoded[:-1])

    @cached_property
    def ending(self) -> bytes:
        """The end of a notification whose params end with this object."""
        return self.encoded[1:] + b"}"

    @cached_property
    def line_ending(self) -> bytes:
        """The same, and a newline."""
        return self.encoded[1:] + b"}\n"


class _Begun(dict[str, bytes]):
    """The beginnings of notifications, each made when it is needed first."""

    def __init__(self, opened: bytes) -> None:
        super().__init__()
        self._opened = opened

    def __missing__(self, name: str) -> bytes:
        head = _METHOD_FIRST + b'%b,"params":' % encode(name)
        self[name] = made = b"%b%b," % (head, self._opened)
        return made


def encoded_notification(
    name: str, params: JsonObject, *, cancels: int | None = None
) -> OutgoingFrame:
    """Return the notification of that name; empty params are left out.

    `cancels` is the id of the request that it takes back.

    Raises:
        UnsendableError: JSON cannot hold the params.
    """
    message: JsonObject = {"jsonrpc": "2.0", "method": name}
    if params:
        message["params"] = params
    return OutgoingFrame(encode(message), "notification", None, name, cancels)


def joined_notification(name: str, own: EncodedObject, shared: EncodedObject) -> bytes:
    """Return the notification whose params are those in `own` and those in `shared`.

    Neither is empty. `shared` goes out to many peers.
    """
    return own.begun[name] + shared.ending


def frame_of_bytes(data: bytes) -> OutgoingFrame:
    """Return what a frame is that was queued as bytes: a joined notification, or else a result."""
    if not data.startswith(_METHOD_FIRST):
        return OutgoingFrame(data, "result")
    return OutgoingFrame(data, "notification", None, from_json(data)["method"])


def encoded_reply(identifier: Id | None, result: EncodedObject) -> bytes:
    """Return the response that has `result`."""
    return b'{"jsonrpc":"2.0","id":%b,"result":%b}' % (encode(identifier), result.encoded)
