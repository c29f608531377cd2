"""The content of blocks that a server injects: their own, or read from where they name it.

A resource is read from the server that injects it; a web address is fetched where the host allows
it (MCPL 10.3).
"""

from __future__ import annotations

__all__ = ("Fetch", "resolved")

from collections.abc import Awaitable, Callable, Sequence

from kinwire.rpc.session import Session
from kinwire.support.validation import expect_type
from kinwire.transports.guarded_fetch.rules import NotFetchedError
from kinwire_protocols import mcp
from kinwire_protocols.base import UnknownVariant
from kinwire_protocols.mcp.models import BlobResourceContents, TextContent, TextResourceContents
from kinwire_protocols.mcpl.models import AudioBlock, Block, ImageBlock, ResourceBlock

Fetch = Callable[[str], Awaitable[Block]]
"""Returns what is at an http or https address, or raises why not. `UrlGuard` is one."""

_BLOCK = TextContent | ImageBlock | AudioBlock | ResourceBlock


async def resolved(block: Block, session: Session, fetch: Fetch | None) -> Sequence[Block]:
    """Return the block with its content, which is read if the block only names it.

    The result is empty if there is no content, or if the content of a picture or a sound is of
    another type. A resource is read from the server that injects it (MCPL 10.3).

    Raises:
        RpcError, ConnectionClosedError, CapabilityNotNegotiatedError, InvalidResponseError: the
            server could not be read from.
        NotFetchedError: an http address may not be fetched, or has no usable content.
    """
    if isinstance(block, UnknownVariant):
        return []
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
        return [expect_type("Hooks.fetch", await fetch(uri), _BLOCK)]
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
