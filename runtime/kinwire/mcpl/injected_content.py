"""Blocks that only name their content: it is read from the server that injects them (MCPL 10.3)."""

from __future__ import annotations

__all__ = ("Fetch", "resolved")

from collections.abc import Awaitable, Callable, Sequence

from kinwire.session import Session
from kinwire_protocols import mcp
from kinwire_protocols.mcp.models import BlobResourceContents, TextContent, TextResourceContents
from kinwire_protocols.mcpl.models import AudioBlock, Block, ImageBlock, ResourceBlock

Fetch = Callable[[str], Awaitable[Block | None]]
"""Fetches what is at an http or https address; None for what the host does not want to have."""


async def resolved(block: Block, session: Session, fetch: Fetch | None) -> Sequence[Block]:
    """Return the block with its content in it; nothing where there is none to be had.

    Raises:
        RpcError, ConnectionClosedError, CapabilityNotNegotiatedError, InvalidResponseError: the
            server does not give it.
    """
    if isinstance(block, TextContent):
        return [block]
    if isinstance(block, ResourceBlock):
        if block.resource is not None:
            return _from_contents(block.resource)
        return await _read(block.uri, session, fetch)
    if block.data is not None and block.mime_type is not None:
        return [block]
    return await _read(block.uri, session, fetch)


async def _read(uri: str | None, session: Session, fetch: Fetch | None) -> Sequence[Block]:
    if uri is None:
        return []
    if uri.lower().startswith(("http:", "https:")):
        fetched = None if fetch is None else await fetch(uri)
        return [] if fetched is None else [fetched]
    found = await mcp.Server(session).resources_read(uri=uri)
    return [block for contents in found.contents for block in _from_contents(contents)]


def _from_contents(contents: object) -> Sequence[Block]:
    if isinstance(contents, TextResourceContents):
        return [TextContent(text=contents.text)]
    if isinstance(contents, BlobResourceContents):
        kind = (contents.mime_type or "").partition("/")[0]
        if kind == "image":
            return [ImageBlock(data=contents.blob, mime_type=contents.mime_type)]
        if kind == "audio":
            return [AudioBlock(data=contents.blob, mime_type=contents.mime_type)]
    return []
