"""Content of messages: its one form, a list of blocks, and the text in it (MCPL 10.3)."""

from __future__ import annotations

__all__ = ("blocks_of", "content_text")

from collections.abc import Iterable

from kinwire_protocols.mcp.models import TextContent
from kinwire_protocols.mcpl.models import Block, Content


def blocks_of(content: Content) -> list[Block]:
    """Return content as blocks: a string becomes one text block."""
    return [TextContent(text=content)] if isinstance(content, str) else content


def content_text(content: str | Iterable[Block]) -> str:
    """Return the text of content, a line break between blocks.

    Images, audio and resources are left out. A string is returned as it is.
    """
    if isinstance(content, str):
        return content
    return "\n".join(block.text for block in content if isinstance(block, TextContent))
