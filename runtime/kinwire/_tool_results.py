"""What a tool returns, as the result of `tools/call` (MCP, Tools)."""

from __future__ import annotations

__all__ = ("error_result", "result_from")

from collections.abc import Sequence
from typing import cast

from pydantic_core import to_json

from kinwire_protocols import mcp
from kinwire_protocols.base import JsonObject, Message, to_wire

_BLOCKS = (mcp.TextContent, mcp.ImageContent, mcp.AudioContent, mcp.EmbeddedResource)


def result_from(value: object) -> JsonObject:
    """Return the result that says `value`.

    Text becomes one text block and None no block; content blocks, lists of them and whole results
    go out as they are; anything else becomes its JSON in a text block.

    Raises:
        ValueError: JSON cannot hold the value.
    """
    # Plain dicts: building and dumping models would cost as much as all the rest of a small call.
    if isinstance(value, str):
        return {"content": [_text(value)]}
    if value is None:
        return {"content": []}
    if isinstance(value, mcp.CallToolResult):
        return to_wire(value)
    items = _items(value)
    if any(isinstance(item, _BLOCKS) for item in items):
        return {"content": [_block(item) for item in items]}
    return {"content": [_block(value)]}


def error_result(text: str) -> JsonObject:
    """Return the result of a tool that ran and failed."""
    return {"content": [_text(text)], "isError": True}


def _items(value: object) -> Sequence[object]:
    return cast("Sequence[object]", value) if isinstance(value, list | tuple) else ()


def _block(value: object) -> JsonObject:
    if isinstance(value, _BLOCKS):
        return to_wire(cast(Message, value))
    if isinstance(value, str):
        return _text(value)
    return _text(to_json(value, inf_nan_mode="null").decode())


def _text(text: str) -> JsonObject:
    return {"type": "text", "text": text}
