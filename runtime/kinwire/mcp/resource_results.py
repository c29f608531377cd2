"""What a resource's function returns, as the result of `resources/read` (MCP, Resources)."""

from __future__ import annotations

__all__ = ("resource_result",)

from base64 import b64encode

from pydantic_core import to_json

from kinwire.mcp.content import items_of
from kinwire_protocols import mcp
from kinwire_protocols.base import JsonObject, to_wire

_CONTENTS = (mcp.TextResourceContents, mcp.BlobResourceContents)


def resource_result(value: object, uri: str, mime_type: str | None) -> JsonObject:
    """Return the result that says `value`, which was read at `uri`.

    Text and bytes become one part of the type that the resource declares, and None no part;
    contents, lists with any of them and whole results go out as they are; anything else becomes
    its JSON.

    Raises:
        ValueError: JSON cannot hold the value.
    """
    if isinstance(value, mcp.ReadResourceResult):
        return to_wire(value)
    if value is None:
        return {"contents": []}
    items = items_of(value)
    if any(isinstance(item, _CONTENTS) for item in items):
        return {"contents": [_part(item, uri, mime_type) for item in items]}
    return {"contents": [_part(value, uri, mime_type)]}


def _part(value: object, uri: str, mime_type: str | None) -> JsonObject:
    if isinstance(value, _CONTENTS):
        return to_wire(value)
    part: JsonObject = {"uri": uri}
    if mime_type is not None:
        part["mimeType"] = mime_type
    if isinstance(value, str):
        return {**part, "text": value}
    if isinstance(value, bytes | bytearray):
        return {**part, "blob": b64encode(value).decode()}
    return {
        "mimeType": "application/json",
        **part,
        "text": to_json(value, inf_nan_mode="null").decode(),
    }
