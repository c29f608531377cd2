"""Calls and results of MCP-lite as messages of Protocol Buffers, and back (sections 5.2 and 5.4).

A result is the Struct `result` and, in place of its `_meta`, the message `meta`. What this message
has no field for stays in the Struct, as its `_meta`. The fields of a Struct have no order.
"""

from __future__ import annotations

__all__ = (
    "CLASSES",
    "call_from",
    "encoded_call",
    "encoded_part",
    "encoded_result",
    "encoded_tools",
    "response_from",
    "tools_from",
)

import logging
from collections.abc import Callable, Iterable
from functools import lru_cache, partial
from typing import Any, ParamSpec, TypeVar

from google.protobuf.message import DecodeError

from kinwire.mcplite.rules.calls import ToolCall
from kinwire.support.sanitize import sanitize_for_log
from kinwire.support.timestamps import seconds_of, timestamp_of
from kinwire.transports.grpc.messages import MessageClasses
from kinwire.transports.grpc.struct_values import from_struct, from_value
from kinwire.transports.grpc.struct_writer import (
    count_field,
    encoded_struct,
    encoded_value,
    message_field,
    text_field,
)
from kinwire_protocols.base import JsonObject
from kinwire_protocols.mcplite.descriptor import FILE, RESPONSE_TYPE

logger = logging.getLogger("kinwire.transports")

CLASSES = MessageClasses(FILE)
"""The classes of all messages of the binding."""

# Their fields are those of the descriptor, which no type checker reads.
_ToolsList: Any = CLASSES.of("ToolsList")
_ToolRequest: Any = CLASSES.of("ToolRequest")
_ToolResponse: Any = CLASSES.of("ToolResponse")

_WORDS = {number: word for word, number in RESPONSE_TYPE.items()}
P = ParamSpec("P")
T = TypeVar("T")

_TEXTS = {"promise_token": 2, "estimated_completion": 10, "expires_at": 11}
_COUNTS = ("processing_time_ms", "retry_after_ms")


def encoded_tools(tools: Iterable[JsonObject]) -> bytes:
    """Return a `ToolsList`. A tool that does not fit into one is left out, and logged."""
    return b"".join(map(_encoded_tool, tools))


def tools_from(encoded: bytes) -> list[JsonObject]:
    """Return the definitions in a `ToolsList`.

    Raises:
        ValueError: it is not one, or a schema has what JSON or a Struct cannot hold.
    """
    return [_tool(entry) for entry in _read(_ToolsList, encoded).tools]


def encoded_call(call: ToolCall) -> bytes:
    """Return a `ToolRequest`.

    Raises:
        ValueError: name, arguments or metadata do not fit; the text is a clause with the place.
    """
    found = [_below("/name", text_field, 1, call.name)]
    if call.arguments:
        found.append(message_field(2, _below("/arguments", encoded_struct, call.arguments)))
    if call.meta:
        found.append(message_field(10, _below("/_meta", encoded_struct, call.meta)))
    return b"".join(found)


def call_from(encoded: bytes) -> ToolCall:
    """Return the call in a `ToolRequest`.

    Raises:
        ValueError: it is not one, or has a number that JSON does not have or that may have been
            rounded, or too many levels; the text is a clause with the place.
    """
    message = _read(_ToolRequest, encoded)
    place = "/arguments"
    try:
        arguments = from_struct(message.arguments)
        place = "/_meta"
        meta = from_struct(message.meta) if message.HasField("meta") else {}
    except ValueError as error:
        raise _placed(place, error) from None
    return ToolCall(message.name, arguments, meta)


def encoded_part(part: JsonObject) -> bytes:
    """Return a part of a result: a `ToolResponse` without `meta`.

    Raises:
        ValueError: it does not fit a Struct; the text is a clause with the place.
    """
    return message_field(1, encoded_struct(part))


def encoded_result(result: JsonObject) -> bytes:
    """Return a whole result: a `ToolResponse` with `meta`.

    Raises:
        ValueError: it does not fit the messages; the text is a clause with the place.
    """
    body = {**result}
    meta: JsonObject = body.pop("_meta", None) or {}
    fields: list[bytes] = []
    rest: JsonObject = {}
    try:
        for name, value in meta.items():
            encode = _META.get(name)
            field = None if encode is None else encode(value)
            if field is None:
                rest[name] = value
            else:
                fields.append(field)
    except ValueError as error:
        raise _placed("/_meta", error) from None
    if rest:
        body["_meta"] = rest
    return message_field(1, encoded_struct(body)) + message_field(2, b"".join(fields))


def response_from(encoded: bytes) -> tuple[JsonObject, bool]:
    """Return what is in a `ToolResponse`, and whether it is a whole result rather than a part.

    Raises:
        ValueError: it is not one, or has what JSON or a Struct cannot hold.
    """
    message = _read(_ToolResponse, encoded)
    body = from_struct(message.result)
    if not message.HasField("meta"):
        return body, False
    rest = body.pop("_meta", None)
    meta = _meta_from(message.meta)
    return {**body, "_meta": {**meta, **rest} if isinstance(rest, dict) else meta}, True


def _tool(entry: Any) -> JsonObject:
    kind = {"@type": entry.type} if entry.type else {}
    schema = from_struct(entry.input_schema)
    return {
        "name": entry.name,
        **kind,
        "description": entry.description,
        "inputSchema": schema,
    }


def _encoded_tool(tool: JsonObject) -> bytes:
    try:
        texts = (tool["name"], tool.get("@type") or "", tool["description"])
        fields = [text_field(number, text) for number, text in enumerate(texts, 1)]
        schema = message_field(4, _below("/inputSchema", encoded_struct, tool["inputSchema"]))
    except ValueError as error:
        said = sanitize_for_log(f"tool {tool['name']!r:.100} is not listed over gRPC: {error}")
        logger.warning("%s", said)
        return b""
    return message_field(1, b"".join([*fields, schema]))


@lru_cache(maxsize=16)
def _encoded_time(text: str) -> bytes:
    if len(text) == 24 and text.endswith("Z"):  # our own form, as a rule
        milliseconds = _second(text[:19]) + int(text[20:23])
    else:
        milliseconds = round(seconds_of(text) * 1000)
    return count_field(3, max(0, milliseconds))


@lru_cache(maxsize=4)
def _second(text: str) -> int:
    return round(seconds_of(f"{text}Z")) * 1000


@lru_cache(maxsize=4)
def _encoded_version(text: str) -> bytes:
    return text_field(13, text)


def _encoded_context(value: object) -> bytes:
    return message_field(14, encoded_value(value))


def _count(number: int, most: int) -> Callable[[int], bytes]:
    return lambda count: count_field(number, min(count, most)) if count else b""


_KINDS = {word: count_field(1, number) for word, number in RESPONSE_TYPE.items()}
_META: dict[str, Callable[[Any], bytes | None]] = {
    "response_type": lambda kind: b"" if kind is None else _KINDS.get(kind),
    "timestamp": _encoded_time,
    "session_context": _encoded_context,
    "server_version": _encoded_version,
    "processing_time_ms": _count(4, 2**31 - 1),
    "retry_after_ms": _count(12, 2**63 - 1),
    **{name: partial(text_field, number) for name, number in _TEXTS.items()},
}
"""Encodes each field of `ResponseMeta`; None for a value that it cannot hold."""


def _meta_from(message: Any) -> JsonObject:
    number = message.response_type
    meta: JsonObject = {"response_type": _WORDS.get(number, str(number))}
    for name in (*_TEXTS, "server_version", *_COUNTS):
        value = getattr(message, name)
        if value:  # proto3 does not tell nothing from absent
            meta[name] = value
    if message.timestamp:
        meta["timestamp"] = _time(message.timestamp)
    if message.HasField("session_context"):
        meta["session_context"] = from_value(message.session_context)
    return meta


def _time(milliseconds: int) -> str:
    try:
        return timestamp_of(milliseconds / 1000)
    except OverflowError:
        raise ValueError("/_meta/timestamp: expected a time before the year 10000") from None


def _below(place: str, convert: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Return what `convert` returns; its errors are about what is at `place`."""
    try:
        return convert(*args, **kwargs)
    except ValueError as error:
        raise _placed(place, error) from None


def _placed(place: str, error: ValueError) -> ValueError:
    said = str(error)
    return ValueError(place + (said[1:] if said.startswith("/:") else said))


def _read(kind: Any, encoded: bytes) -> Any:
    try:
        return kind.FromString(encoded)
    except DecodeError as error:
        raise ValueError(f"expected a {kind.DESCRIPTOR.name}: {error}") from None
