"""Content blocks, from what functions of users return (MCP, Tools and Prompts)."""

from __future__ import annotations

__all__ = ("BLOCKS", "items_of", "text_block")

from collections.abc import Sequence
from typing import cast

from kinwire_protocols import mcp
from kinwire_protocols.base import JsonObject

BLOCKS = (mcp.TextContent, mcp.ImageContent, mcp.AudioContent, mcp.EmbeddedResource)
"""The classes of `mcp.ContentBlock`."""


def text_block(text: str) -> JsonObject:
    """Return a block of text. A plain dict: a model would cost as much as all of a small call."""
    return {"type": "text", "text": text}


def items_of(value: object) -> Sequence[object]:
    """Return the items of a list or a tuple; anything else is one item."""
    return cast("Sequence[object]", value) if isinstance(value, list | tuple) else (value,)
