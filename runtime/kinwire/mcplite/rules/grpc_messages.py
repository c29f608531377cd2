"""Calls and results of MCP-lite as messages of Protocol Buffers, and back (sections 5.2 and 5.4).

A result is the Struct `result` and, in place of its `_meta`, the message `meta`. What this message
has no field for stays in the Struct, as its `_meta`. The fields of a Struct have no order.
"""

from __future__ import annotations

__all__ = (
    "CLASSES",
    "GrpcCall",
    "call_from",
    "encoded_call",
    "encoded_part",
    "encoded_result",
    "encoded_tools",
    "response_from",
    "tools_from",
)

import logging
from collections.abc import Iterable
from typing import Any, NamedTuple

from google.protobuf.message import DecodeError

from kinwire.support.sanitize import sanitize_for_log
from kinwire.support.timestamps import seconds_of, timestamp_of
from kinwire.transports.grpc.messages import MessageClasses
from kinwire.transports.grpc.struct_values import fill_struct, fill_value, from_struct, from_value
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
_TEXTS = ("promise_token", "estimated_completion", "expires_at", "server_version")
_COUNTS = {"processing_time_ms": 2**31 - 1, "retry_after_ms": 2**63 - 1}
_OURS = {*_TEXTS, *_COUNTS, "response_type", "timestamp", "session_context"}


class GrpcCall(NamedTuple):
    """A call of a tool."""

    name: str
    arguments: JsonObject
    meta: JsonObject
    """The `_meta` of the request."""


def encoded_tools(tools: Iterable[JsonObject]) -> bytes:
    """Return a `ToolsList`. A tool whose schema does not fit a Struct is left out, and logged."""
    message = _ToolsList()
    for tool in tools:
        entry = message.tools.add(
            name=tool["name"], type=tool.get("@type") or "", description=tool["description"]
        )
        try:
            entry.input_schema.SetInParent()
            fill_struct(entry.input_schema, tool["inputSchema"])
        except ValueError as error:
            del message.tools[-1]
            said = sanitize_for_log(f"tool {tool['name']!r:.100} is not listed over gRPC: {error}")
            logger.warning("%s", said)
    encoded: bytes = message.SerializeToString()
    return encoded


def tools_from(encoded: bytes) -> list[JsonObject]:
    """Return the definitions in a `ToolsList`.

    Raises:
        ValueError: it is not one, or a schema has what JSON or a Struct cannot hold.
    """
    return [_tool(entry) for entry in _read(_ToolsList, encoded).tools]


def encoded_call(call: GrpcCall) -> bytes:
    """Return a `ToolRequest`.

    Raises:
        ValueError: arguments or metadata do not fit a Struct; the text is a clause with the place.
    """
    message = _ToolRequest(name=call.name)
    for place, struct, value in (
        ("/arguments", message.arguments, call.arguments),
        ("/_meta", message.meta, call.meta),
    ):
        if value:
            try:
                fill_struct(struct, value)
            except ValueError as error:
                raise _below(place, error) from None
    encoded: bytes = message.SerializeToString()
    return encoded


def call_from(encoded: bytes) -> GrpcCall:
    """Return the call in a `ToolRequest`.

    Raises:
        ValueError: it is not one, or has a number that JSON does not have or that may have been
            rounded, or too many levels; the text is a clause with the place.
    """
    message = _read(_ToolRequest, encoded)
    try:
        arguments = from_struct(message.arguments)
    except ValueError as error:
        raise _below("/arguments", error) from None
    if not message.HasField("meta"):
        return GrpcCall(message.name, arguments, {})
    try:
        return GrpcCall(message.name, arguments, from_struct(message.meta))
    except ValueError as error:
        raise _below("/_meta", error) from None


def encoded_part(part: JsonObject) -> bytes:
    """Return a part of a result: a `ToolResponse` without `meta`.

    Raises:
        ValueError: it does not fit a Struct; the text is a clause with the place.
    """
    message = _ToolResponse()
    fill_struct(message.result, part)
    encoded: bytes = message.SerializeToString()
    return encoded


def encoded_result(result: JsonObject) -> bytes:
    """Return a whole result: a `ToolResponse` with `meta`.

    Raises:
        ValueError: it does not fit the messages; the text is a clause with the place.
    """
    message = _ToolResponse()
    message.result.SetInParent()
    body = {name: value for name, value in result.items() if name != "_meta"}
    rest = _fill_meta(message.meta, result.get("_meta") or {})
    if rest:
        body["_meta"] = rest
    fill_struct(message.result, body)
    encoded: bytes = message.SerializeToString()
    return encoded


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


def _fill_meta(message: Any, meta: JsonObject) -> JsonObject:
    """Fill the fields that there are, and return what has none."""
    message.SetInParent()
    rest = {name: value for name, value in meta.items() if name not in _OURS}
    kind = meta.get("response_type", "answer")
    if kind in RESPONSE_TYPE:
        message.response_type = RESPONSE_TYPE[kind]
    else:
        rest["response_type"] = kind
    for name in _TEXTS:
        if name in meta:
            setattr(message, name, meta[name])
    for name, most in _COUNTS.items():
        if name in meta:
            setattr(message, name, min(meta[name], most))
    if "timestamp" in meta:
        message.timestamp = round(seconds_of(meta["timestamp"]) * 1000)
    if "session_context" in meta:
        message.session_context.SetInParent()
        fill_value(message.session_context, meta["session_context"])
    return rest


def _meta_from(message: Any) -> JsonObject:
    number = message.response_type
    meta: JsonObject = {"response_type": _WORDS.get(number, str(number))}
    for name in (*_TEXTS, *_COUNTS):
        value = getattr(message, name)
        if value:  # proto3 does not tell nothing from absent
            meta[name] = value
    if message.timestamp:
        meta["timestamp"] = timestamp_of(message.timestamp / 1000)
    if message.HasField("session_context"):
        meta["session_context"] = from_value(message.session_context)
    return meta


def _below(place: str, error: ValueError) -> ValueError:
    said = str(error)
    return ValueError(place + (said[1:] if said.startswith("/:") else said))


def _read(kind: Any, encoded: bytes) -> Any:
    try:
        return kind.FromString(encoded)
    except DecodeError as error:
        raise ValueError(f"expected a {kind.DESCRIPTOR.name}: {error}") from None
