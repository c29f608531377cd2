"""MCP-lite over gRPC. Generated from mcp-lite.json by `kinwire generate`: do not edit."""

from __future__ import annotations

from typing import Final

SERVICE: Final = "mcplite.MCPLite"
"""The full name of the service."""

RESPONSE_TYPE: Final = {
    "answer": 0,
    "promise": 1,
    "elicitation": 2,
    "failure": 3,
    "request-for-more-resource": 4,
}
"""The numbers of the enum `ResponseType` by the words of JSON."""

CODES: Final = {
    ("jsonrpc", "InvalidParams"): "INVALID_ARGUMENT",
    ("mcp-lite", "ToolNotFound"): "NOT_FOUND",
    ("jsonrpc", "InternalError"): "INTERNAL",
}
"""The status codes by the protocol and the name of an error."""

FILE: Final = (
    # file
    b"\n\rmcplite.proto\x12\x07mcplite"
    # import
    b"\x1a\x1cgoogle/protobuf/struct.proto"
    # Empty
    b'"\x07\n\x05Empty'
    # Tool
    b'"f\n\x04Tool\x12\x0c\n\x04name\x18\x01 \x01(\t\x12\x0c\n\x04type\x18\x02 \x01(\t\x12'
    b"\x13\n\x0bdescription\x18\x03 \x01(\t\x12-\n\x0cinput_schema\x18\x04 \x01(\x0b2\x17.goo"
    b"gle.protobuf.Struct"
    # ToolsList
    b'")\n\tToolsList\x12\x1c\n\x05tools\x18\x01 \x03(\x0b2\r.mcplite.Tool'
    # ToolRequest
    b'"n\n\x0bToolRequest\x12\x0c\n\x04name\x18\x01 \x01(\t\x12*\n\targuments\x18\x02 \x01('
    b"\x0b2\x17.google.protobuf.Struct\x12%\n\x04meta\x18\n \x01(\x0b2\x17.google.protobuf.St"
    b"ruct"
    # ToolResponse
    b"\"\\\n\x0cToolResponse\x12'\n\x06result\x18\x01 \x01(\x0b2\x17.google.protobuf.Struct"
    b"\x12#\n\x04meta\x18\x02 \x01(\x0b2\x15.mcplite.ResponseMeta"
    # ResponseMeta
    b'"\x95\x02\n\x0cResponseMeta\x12,\n\rresponse_type\x18\x01 \x01(\x0e2\x15.mcplite.Respon'
    b"seType\x12\x15\n\rpromise_token\x18\x02 \x01(\t\x12\x11\n\ttimestamp\x18\x03 \x01(\x03"
    b"\x12\x1a\n\x12processing_time_ms\x18\x04 \x01(\x05\x12\x1c\n\x14estimated_completion"
    b"\x18\n \x01(\t\x12\x12\n\nexpires_at\x18\x0b \x01(\t\x12\x16\n\x0eretry_after_ms\x18"
    b"\x0c \x01(\x03\x12\x16\n\x0eserver_version\x18\r \x01(\t\x12/\n\x0fsession_context\x18"
    b"\x0e \x01(\x0b2\x16.google.protobuf.Value"
    # Prompt
    b'"Y\n\x06Prompt\x12\x0c\n\x04name\x18\x01 \x01(\t\x12\x13\n\x0bdescription\x18\x02 \x01('
    b"\t\x12,\n\nparameters\x18\x03 \x03(\x0b2\x18.mcplite.PromptParameter"
    # PromptParameter
    b'"F\n\x0fPromptParameter\x12\x0c\n\x04name\x18\x01 \x01(\t\x12\x13\n\x0bdescription\x18'
    b"\x02 \x01(\t\x12\x10\n\x08required\x18\x03 \x01(\x08"
    # PromptsList
    b'"/\n\x0bPromptsList\x12 \n\x07prompts\x18\x01 \x03(\x0b2\x0f.mcplite.Prompt'
    # ResponseType
    b"*d\n\x0cResponseType\x12\n\n\x06ANSWER\x10\x00\x12\x0b\n\x07PROMISE\x10\x01\x12\x0f\n"
    b"\x0bELICITATION\x10\x02\x12\x0b\n\x07FAILURE\x10\x03\x12\x1d\n\x19REQUEST_FOR_MORE_RESO"
    b"URCE\x10\x04"
    # MCPLite
    b"2\xb3\x01\n\x07MCPLite\x12.\n\x08GetTools\x12\x0e.mcplite.Empty\x1a\x12.mcplite.ToolsLi"
    b"st\x127\n\x08CallTool\x12\x14.mcplite.ToolRequest\x1a\x15.mcplite.ToolResponse\x12?\n"
    b"\x0eCallToolStream\x12\x14.mcplite.ToolRequest\x1a\x15.mcplite.ToolResponse0\x01"
    # syntax
    b"b\x06proto3"
)
"""`mcplite.proto` as protoc compiles it: a FileDescriptorProto of Protocol Buffers."""
