"""The client's side of MCPE."""

from __future__ import annotations

__all__ = ("McpeClient",)

from typing import ClassVar

from kinwire.mcp.extension import ExtensionBase
from kinwire.mcpe.client.server_peer import EventServer
from kinwire.rpc.negotiated import Side
from kinwire.rpc.session import Session
from kinwire_protocols.base import JsonObject
from kinwire_protocols.mcpe.methods import PROTOCOL
from kinwire_protocols.peer import ProtocolTable


class McpeClient(ExtensionBase[EventServer]):
    """The client's side of MCPE: `Host(..., extensions=[McpeClient()])`."""

    protocol: ProtocolTable = PROTOCOL
    only_side: ClassVar[Side | None] = "client"

    def join(self, session: Session, theirs: JsonObject) -> EventServer:
        """Return the server of a session."""
        return EventServer(session)
