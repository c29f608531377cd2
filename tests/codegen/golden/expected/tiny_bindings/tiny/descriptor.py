"""Tiny over gRPC. Generated from tiny.json by `kinwire generate`: do not edit."""

from __future__ import annotations

from typing import Final

SERVICE: Final = "tiny.Shelf"
"""The full name of the service."""

SHELF_STATE: Final = {"empty": 0, "full": 1}
"""The numbers of the enum `ShelfState` by the words of JSON."""

CODES: Final = {("tiny", "NoSuchBook"): "NOT_FOUND"}
"""The status codes by the protocol and the name of an error."""

FILE: Final = (
    # file
    b"\n\ntiny.proto\x12\x04tiny"
    # import
    b"\x1a\x1cgoogle/protobuf/struct.proto"
    # Query
    b'"<\n\x05Query\x12\x0c\n\x04word\x18\x01 \x01(\t\x12%\n\x04more\x18\n \x01(\x0b2\x17.goo'
    b"gle.protobuf.Struct"
    # Found
    b'"8\n\x05Found\x12\x0e\n\x06titles\x18\x02 \x03(\t\x12\x1f\n\x05state\x18\x01 \x01(\x0e2'
    b"\x10.tiny.ShelfState"
    # ShelfState
    b"*!\n\nShelfState\x12\t\n\x05EMPTY\x10\x00\x12\x08\n\x04FULL\x10\x01"
    # Shelf
    b'2+\n\x05Shelf\x12"\n\x04Find\x12\x0b.tiny.Query\x1a\x0b.tiny.Found0\x01'
    # syntax
    b"b\x06proto3"
)
"""`tiny.proto` as protoc compiles it: a FileDescriptorProto of Protocol Buffers."""
