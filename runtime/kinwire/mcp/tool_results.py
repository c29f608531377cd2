"""What a tool returns, as the result of `tools/call` (MCP, Tools)."""

from __future__ import annotations

__all__ = ("error_result", "result_from")

from typing import cast

from pydantic_core import to_json

from kinwire.mcp.content import BLOCKS, items_of, text_block
from kinwire_protocols import mcp
from kinwire_protocols.base import JsonObject, Message, to_wire


def result_from(value: object) -> JsonObject:
    """Return the result that says `value`.

    Text becomes one text block and None no block; content blocks, lists of them and whole results
    go out as they are; anything else becomes its JSON in a text block.

    Raises:
        ValueError: JSON cannot hold the value.
    """
    if isinstance(value, str):
        return {"content": [text_block(value)]}
    if value is None:
        return {"content": []}
    if isinstance(value, mcp.CallToolResult):
        return to_wire(value)
    items = items_of(value)
    if any(isinstance(item, BLOCKS) for item in items):
        return {"content": [_block(item) for item in items]}
    return {"content": [_block(value)]}


def error_result(text: str) -> JsonObject:
    """Return the result of a tool that ran and failed."""
    return {"content": [text_block(text)], "isError": True}


def _block(value: object) -> JsonObject:
    if isinstance(value, BLOCKS):
        return to_wire(cast(Message, value))
    if isinstance(value, str):
        return text_block(value)
    return text_block(to_json(value, inf_nan_mode="null").decode())
