"""The gRPC binding of a protocol as protoc would compile it: the bytes of a FileDescriptorProto.

Programs make their message classes of it when they start. So no compiler is needed, and no release
of protobuf is too old or too new for what a compiler wrote. The numbers below are those of
`google/protobuf/descriptor.proto`.
"""

from __future__ import annotations

__all__ = ("STRUCT", "codes_of", "descriptor_of", "uses_struct", "words_of")

from collections.abc import Iterator
from typing import Any

from kinwire_codegen.load.document import Document

STRUCT = "google/protobuf/struct.proto"
"""The file that is imported where a field has any JSON."""

_SCALARS = {
    "double": 1,
    "float": 2,
    "int64": 3,
    "uint64": 4,
    "int32": 5,
    "fixed64": 6,
    "fixed32": 7,
    "bool": 8,
    "string": 9,
    "bytes": 12,
    "uint32": 13,
    "sfixed32": 15,
    "sfixed64": 16,
    "sint32": 17,
    "sint64": 18,
}
_MESSAGE, _ENUM = 11, 14
_OPTIONAL, _REPEATED = 1, 3

_LITERAL = 90  # characters of a line of bytes


def descriptor_of(document: Document) -> list[tuple[str, list[bytes]]]:
    """Return the descriptor in parts, each with what it declares and with short pieces of it."""
    grpc = document.content["grpc"]
    package = f".{grpc['package']}."
    parts = [("file", _text(1, f"{document.module}.proto") + _text(2, grpc["package"]))]
    if uses_struct(grpc):
        parts.append(("import", _text(3, STRUCT)))
    for name, message in grpc["messages"].items():
        parts.append((name, _bytes(4, _message(name, message, package, grpc))))
    for name, enum in grpc.get("enums", {}).items():
        values = (
            _bytes(2, _text(1, word) + _number(2, row["number"])) for word, row in _rows(enum)
        )
        parts.append((name, _bytes(5, _text(1, name) + b"".join(values))))
    parts.append((grpc["service"], _bytes(6, _service(grpc, package))))
    parts.append(("syntax", _text(12, "proto3")))
    return [(name, list(_pieces(part))) for name, part in parts]


def words_of(document: Document) -> dict[str, dict[str, int]]:
    """Return the numbers of each enum by the words of JSON that they stand for."""
    enums = document.content["grpc"].get("enums", {})
    return {
        name: {row.get("value", word): row["number"] for word, row in _rows(enum)}
        for name, enum in enums.items()
    }


def codes_of(document: Document) -> dict[tuple[str, str], str]:
    """Return the status codes by the protocol and the name of the errors that they stand for."""
    found: dict[tuple[str, str], str] = {}
    for row in document.content["grpc"].get("codes", ()):
        if "error" in row:
            protocol, _, name = row["error"].rpartition("#")
            found[protocol or document.name, name] = row["code"]
    return found


def uses_struct(grpc: dict[str, Any]) -> bool:
    """Return whether a field has any JSON."""
    fields = (
        field for message in grpc["messages"].values() for field in message["fields"].values()
    )
    return any(field["type"].startswith("google.") for field in fields)


def _rows(enum: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    yield from enum["values"].items()


def _message(name: str, message: dict[str, Any], package: str, grpc: dict[str, Any]) -> bytes:
    fields = (_field(key, row, package, grpc) for key, row in message["fields"].items())
    return _text(1, name) + b"".join(_bytes(2, field) for field in fields)


def _field(name: str, row: dict[str, Any], package: str, grpc: dict[str, Any]) -> bytes:
    kind, label = row["type"], _REPEATED if row.get("repeated") else _OPTIONAL
    head = _text(1, name) + _number(3, row["number"]) + _number(4, label)
    if kind in _SCALARS:
        return head + _number(5, _SCALARS[kind])
    full = f".{kind}" if kind.startswith("google.") else package + kind
    return head + _number(5, _ENUM if kind in grpc.get("enums", {}) else _MESSAGE) + _text(6, full)


def _service(grpc: dict[str, Any], package: str) -> bytes:
    methods = (
        _bytes(2, _method(name, rpc, package))
        for name, rpc in grpc["rpcs"].items()
        if rpc.get("status") != "considered"
    )
    return _text(1, grpc["service"]) + b"".join(methods)


def _method(name: str, rpc: dict[str, Any], package: str) -> bytes:
    types = _text(2, package + rpc["request"]) + _text(3, package + rpc["response"])
    return _text(1, name) + types + (_number(6, 1) if rpc.get("stream") else b"")


def _text(number: int, value: str) -> bytes:
    return _bytes(number, value.encode())


def _bytes(number: int, value: bytes) -> bytes:
    return _varint(number << 3 | 2) + _varint(len(value)) + value


def _number(number: int, value: int) -> bytes:
    return _varint(number << 3) + _varint(value)


def _varint(value: int) -> bytes:
    low, rest = value & 0x7F, value >> 7
    return bytes((low | 0x80,)) + _varint(rest) if rest else bytes((low,))


def _pieces(part: bytes) -> Iterator[bytes]:
    """Yield pieces whose literals fit a line."""
    start = 0
    for end in range(1, len(part) + 1):
        if end == len(part) or len(repr(part[start : end + 1])) > _LITERAL:
            yield part[start:end]
            start = end
