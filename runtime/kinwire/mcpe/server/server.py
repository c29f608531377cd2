"""The server's side of MCPE."""

from __future__ import annotations

__all__ = ("McpeServer",)

from typing import ClassVar

from kinwire.mcp.extension import ExtensionBase
from kinwire.mcpe.rules.features import EventFeatures
from kinwire.mcpe.server.client_peer import ClientPeer
from kinwire.rpc.negotiated import Side
from kinwire.rpc.session import Session
from kinwire_protocols.base import JsonObject
from kinwire_protocols.mcpe.methods import PROTOCOL
from kinwire_protocols.peer import ProtocolTable


class McpeServer(ExtensionBase[ClientPeer]):
    """The server's side of MCPE: `Server(..., extensions=[McpeServer()])`."""

    protocol: ProtocolTable = PROTOCOL
    only_side: ClassVar[Side | None] = "server"

    def __init__(self, *, features: EventFeatures | None = None) -> None:
        super().__init__()
        self.features = features or EventFeatures()

    def join(self, session: Session, theirs: JsonObject) -> ClientPeer:
        """Return the client of a session."""
        return ClientPeer(session)
