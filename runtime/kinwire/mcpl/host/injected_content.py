"""Blocks that only name their content: it is read from the server that injects them (MCPL 10.3)."""

from __future__ import annotations

__all__ = ("Fetch", "resolved")

from collections.abc import Awaitable, Callable, Sequence

from kinwire.rpc.session import Session
from kinwire.transports.guarded_fetch.errors import NotFetchedError
from kinwire_protocols import mcp
from kinwire_protocols.mcp.models import BlobResourceContents, TextContent, TextResourceContents
from kinwire_protocols.mcpl.models import AudioBlock, Block, ImageBlock, ResourceBlock

Fetch = Callable[[str], Awaitable[Block]]
"""Fetches what is at an http or https address, or raises what says why the host has not got it.
`UrlGuard` is one."""


async def resolved(block: Block, session: Session, fetch: Fetch | None) -> Sequence[Block]:
    """Return the block with its content in it; nothing where there is none to be had.

    What a picture or a sound only names has to be one.

    Raises:
        RpcError, ConnectionClosedError, CapabilityNotNegotiatedError, InvalidResponseError: the
            server does not give it.
        NotFetchedError: it is at an http address which is not asked, or gives nothing of use.
    """
    if isinstance(block, TextContent):
        return [block]
    if isinstance(block, ResourceBlock):
        if block.resource is not None:
            return _from_contents(block.resource)
        return await _read(block.uri, session, fetch)
    if block.data is not None and block.mime_type is not None:
        return [block]
    return [one for one in await _read(block.uri, session, fetch) if one.type == block.type]


async def _read(uri: str | None, session: Session, fetch: Fetch | None) -> Sequence[Block]:
    if uri is None:
        return []
    if uri.lower().startswith(("http:", "https:")):
        if fetch is None:
            raise NotFetchedError("the host fetches nothing from the web")
        return [await fetch(uri)]
    found = await mcp.ServerStub(session).resources_read(uri=uri)
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
