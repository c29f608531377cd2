"""MGP in a server: what it offers, the security of its tools, and the kernels that speak it."""

from __future__ import annotations

__all__ = ("MgpServer",)

from kinwire.mcp.extension import ExtensionBase
from kinwire.mgp.server.kernel_peer import KernelPeer
from kinwire.rpc.session import Session
from kinwire_protocols import mgp
from kinwire_protocols.base import JsonObject, from_wire
from kinwire_protocols.mgp.methods import PROTOCOL
from kinwire_protocols.mgp.models import ClientOffer
from kinwire_protocols.peer import ProtocolTable


class MgpServer(ExtensionBase[KernelPeer]):
    """The server's side of MGP: `Server(..., extensions=[MgpServer(...)])`."""

    protocol: ProtocolTable = PROTOCOL

    def __init__(self) -> None:
        """Prepare to serve any number of kernels."""
        super().__init__()
        self.on = mgp.ServerOn(self.handlers.add)
        """Where your own handlers are registered."""

    @property
    def kernels(self) -> list[KernelPeer]:
        """The connected kernels that speak MGP, in the order in which they connected."""
        return self.peers

    def offer(self, theirs: JsonObject | None) -> JsonObject:
        """Return what the server offers."""
        return {"version": PROTOCOL.version, "extensions": []}

    def join(self, session: Session, theirs: JsonObject) -> KernelPeer:
        """Return the kernel of a session in which both sides speak MGP."""
        return KernelPeer(session, from_wire(ClientOffer, theirs), frozenset())
