"""Typed calls of Tiny Base. Generated from tiny-base.json by `kinwire generate`: do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tiny_bindings.peer import Peer
from tiny_bindings.tinybase import methods, models as _tinybase_models

if TYPE_CHECKING:
    from tiny_bindings.tinybase.models import CallResult, Named, OpenResult


class ServerStub:
    """The shelf as the reader sees it: every method that the reader may send."""

    def __init__(self, peer: Peer) -> None:
        self._peer = peer

    async def shelf_open(self, *, who: Named | None = None) -> OpenResult:
        """Open the shelf.

        shelf/open, a request. Source: Tiny Base 1, 1.

        Args:
            who: Who opens.

        Raises:
            LockedError: Nobody may open it now.
            InvalidParamsError: The params do not fit the method's type, or name something that the receiver does not have.
        """
        params = _tinybase_models.OpenParams(who=who)
        return await self._peer.call(methods.SHELF_OPEN, params)

    async def tools_call(self, *, name: str, arguments: dict[str, Any] | None = None) -> CallResult:
        """Call a tool.

        tools/call, a request. Source: Tiny Base 1, 2.

        Args:
            name: The tool.
            arguments: What it is given.
        """
        params = _tinybase_models.CallParams(name=name, arguments=arguments)
        return await self._peer.call(methods.TOOLS_CALL, params)


class ClientStub:
    """The reader as the shelf sees it: every method that the shelf may send."""

    def __init__(self, peer: Peer) -> None:
        self._peer = peer
