"""Content of messages: its one form, a list of blocks, and the text in it (MCPL 10.3)."""

from __future__ import annotations

__all__ = ("blocks_of", "content_text")

from collections.abc import Iterable, Iterator

from kinwire.support.arguments import ArgumentCheck, instance_of, list_of
from kinwire_protocols.mcp.models import TextContent, TextResourceContents
from kinwire_protocols.mcpl.models import AudioBlock, Block, Content, ImageBlock, ResourceBlock

_BLOCK = instance_of(
    (TextContent, ImageBlock, AudioBlock, ResourceBlock), "a block", 'mcp.TextContent(text="...")'
)
_CONTENT_TEXT = ArgumentCheck(
    "content_text",
    "content_text(params.content)",
    {"content": list_of(_BLOCK, "several blocks").or_text},
)


def blocks_of(content: Content) -> list[Block]:
    """Return content as blocks: a string becomes one text block."""
    return [TextContent(text=content)] if isinstance(content, str) else content


def content_text(content: str | Iterable[Block]) -> str:
    """Return the text of content, a line break between blocks.

    The text of resources is included. Images, audio and addresses are left out. A string is
    returned as it is.

    Raises:
        TypeError: `content` is not a string or several blocks.
    """
    if isinstance(content, str):
        return content
    _CONTENT_TEXT.check(content=content)
    return "\n".join(_texts(content))


def _texts(blocks: Iterable[Block]) -> Iterator[str]:
    for block in blocks:
        match block:
            case TextContent(text=text) | ResourceBlock(resource=TextResourceContents(text=text)):
                yield text
            case _:
                pass
