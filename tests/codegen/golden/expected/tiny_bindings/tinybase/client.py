"""Typed calls of Tiny Base. Generated from tiny-base.json by `kinwire generate`: do not edit."""

from __future__ import annotations

from tiny_bindings.peer import Peer
from tiny_bindings.tinybase import methods
from tiny_bindings.tinybase.models import Named, OpenParams, OpenResult


class Server:
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
        params = OpenParams(who=who)
        return await self._peer.call(methods.SHELF_OPEN, params)


class Client:
    """The reader as the shelf sees it: every method that the shelf may send."""

    def __init__(self, peer: Peer) -> None:
        self._peer = peer
