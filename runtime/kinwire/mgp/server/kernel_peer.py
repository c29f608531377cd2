"""A kernel, as a server sees it."""

from __future__ import annotations

__all__ = ("KernelPeer",)

from typing import Final

from kinwire.rpc.session import Session
from kinwire_protocols.mgp.models import ClientOffer


class KernelPeer:
    """One connection of a server to a kernel. Get it from `MgpServer.of(context)`."""

    def __init__(self, session: Session, offer: ClientOffer, extensions: frozenset[str]) -> None:
        self.session = session
        self.offer: Final = offer
        """What the kernel offers."""
        self.extensions: Final = extensions
        """The extensions that both sides have."""
