"""The kernel: the host side of MGP, which guards every server of its host."""

from __future__ import annotations

__all__ = ("MgpKernel",)

from collections.abc import Mapping

from kinwire.mcp.connection import Connection
from kinwire.mcp.extension import ExtensionBase
from kinwire.mgp.kernel.guarded_server import GuardedServer
from kinwire.mgp.rules.server_policy import ServerPolicy
from kinwire.rpc.session import Session
from kinwire.support.arguments import ArgumentCheck, instance_of, table_of
from kinwire_protocols import mgp
from kinwire_protocols.base import JsonObject, from_wire
from kinwire_protocols.mgp.methods import PROTOCOL
from kinwire_protocols.mgp.models import ServerOffer
from kinwire_protocols.peer import ProtocolTable

_SERVERS = table_of(
    instance_of(ServerPolicy, "ServerPolicy", "ServerPolicy()"),
    "a dictionary from server_id to ServerPolicy",
    '"files"',
)
_MGP_KERNEL = ArgumentCheck("MgpKernel", "MgpKernel()", {}, servers=_SERVERS.or_none)
_OF = ArgumentCheck(
    "MgpKernel.of",
    "kernel.of(connection)",
    {"connection": instance_of(Connection, "a Connection", "connection")},
)


class MgpKernel(ExtensionBase[GuardedServer]):
    """The host's side of MGP: `Host(..., extensions=[MgpKernel(...)])`."""

    protocol: ProtocolTable = PROTOCOL

    def __init__(self, *, servers: Mapping[str, ServerPolicy] | None = None) -> None:
        """Prepare to guard any number of servers."""
        _MGP_KERNEL.check(servers=servers)
        super().__init__()
        self._policies = dict(servers or {})
        self.on = mgp.ClientOn(self.handlers.add)
        """Where your own handlers are registered."""

    @property
    def servers(self) -> list[GuardedServer]:
        """The connected servers, also those that speak only MCP."""
        return self.peers

    def of(self, connection: Connection) -> GuardedServer | None:
        """Return the guarded side of a connection; None if it is over."""
        _OF.check(connection=connection)
        return self.peer_of(connection.session)

    def offer(self, theirs: JsonObject | None) -> JsonObject:
        """Return what the kernel offers."""
        return {"version": PROTOCOL.version, "extensions": []}

    def attach(self, session: Session, theirs: JsonObject | None) -> None:
        """Guard every server; serve MGP to those that speak it."""
        super().attach(session, {} if theirs is None else theirs)

    def join(self, session: Session, theirs: JsonObject) -> GuardedServer:
        """Return the guarded side of a session."""
        offer = from_wire(ServerOffer, theirs) if theirs else None
        policy = self._policies.get(session.identity.server_id or "", ServerPolicy())
        return GuardedServer(session, offer, frozenset(), policy)
