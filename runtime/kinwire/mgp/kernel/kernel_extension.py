"""What a kernel is to its host: an extension that joins every server, also one without MGP."""

from __future__ import annotations

__all__ = ("GuardingExtension",)

import logging
from abc import abstractmethod
from functools import partial
from typing import ClassVar

from kinwire.mcp.extension import ExtensionBase, capability_from
from kinwire.mgp.kernel.audit import AuditLog, kernel_event
from kinwire.mgp.kernel.callers import as_host
from kinwire.mgp.kernel.guarded_server import GuardedServer
from kinwire.mgp.kernel.identities import must_be_itself
from kinwire.mgp.kernel.manager import ServerManager
from kinwire.mgp.kernel.policy_guard import PolicyGuard
from kinwire.mgp.kernel.tracing import trace_requests
from kinwire.mgp.rules.negotiation import active_extensions, read_offer
from kinwire.mgp.rules.server_policy import ServerPolicy
from kinwire.rpc.errors import KinwireError
from kinwire.rpc.negotiated import Side
from kinwire.rpc.session import Session
from kinwire_protocols.base import JsonObject, from_wire, to_wire
from kinwire_protocols.mgp.methods import PROTOCOL
from kinwire_protocols.mgp.models import ServerOffer
from kinwire_protocols.peer import ProtocolTable

logger = logging.getLogger("kinwire.mgp")

_EXTENSIONS = (
    "security",
    "access_control",
    "audit",
    "code_safety",
    "lifecycle",
    "bidirectional",
    "discovery",
    "tool_discovery",
)
"""What a kernel always offers; handlers of yours add others."""

_SERVER_REFUSED = "io.kinwire.server_refused"


class GuardingExtension(ExtensionBase[GuardedServer]):
    """The handshake of a kernel, and what it does when a server comes or goes."""

    protocol: ProtocolTable = PROTOCOL
    guards_plain_peers: ClassVar[bool] = True
    only_side: ClassVar[Side | None] = "client"

    def __init__(self, policy: PolicyGuard, audit: AuditLog) -> None:
        super().__init__()
        self._policy = policy
        self._audit = audit
        self._managers: tuple[ServerManager, ...] = ()
        """The features of the kernel, in the order in which they learn of a server."""

    def add_manager(self, manager: ServerManager) -> None:
        """Have a manager learn of servers from now on, and of those that are connected.

        It comes after those that are there. `negotiate` is awaited for later servers only.
        """
        for server in self.peers:
            manager.join(server)
        self._managers = (*self._managers, manager)

    @abstractmethod
    def _policy_for(self, id: str) -> ServerPolicy:
        """Return what holds for a server."""

    def offer(self, theirs: JsonObject | None) -> JsonObject:
        """Return what the kernel offers: its version and its extensions (MGP 0.2.0, 2.2)."""
        gates: JsonObject = {"version": PROTOCOL.version, "extensions": list(_EXTENSIONS)}
        return capability_from(self.handlers, gates)

    def understood(self, offer: JsonObject) -> JsonObject | None:
        """Return what counts of an offer: None with another major version (MGP 0.2.0, 2.4)."""
        reading = read_offer(offer, PROTOCOL.version)
        for warning in reading.warnings:
            logger.warning("an offer of MGP: %s", warning)
        return None if reading.offer is None else to_wire(reading.offer)

    def attach(self, session: Session, theirs: JsonObject | None) -> None:
        """Guard a server, also one that does not speak MGP."""
        super().attach(session, {} if theirs is None else theirs)

    def join(self, session: Session, theirs: JsonObject) -> GuardedServer:
        """Return the guarded side of a session; `theirs` is empty for a plain server.

        Raises:
            DuplicateServerError: a connection to the same server is open.
            IdentityRefusedError: it declares the identity of another server.
        """
        server = self._made(session, from_wire(ServerOffer, theirs) if theirs else None)
        try:
            self.must_be_only_session(session)
            must_be_itself(server, self.peers, self._policy.servers)
        except KinwireError as error:
            reason: JsonObject = {"reason": str(error)}
            self._audit.note(kernel_event(_SERVER_REFUSED, server.id, "BLOCKED", reason))
            raise
        session.intercept_inbound(as_host, passes_result=True)
        session.must_not_repeat_handshake()  # a new session may be with another program
        if server.offer is not None:
            trace_requests(session)
        for manager in self._managers:
            manager.join(server)
        return server

    async def negotiated(self, session: Session) -> None:
        """Write that the server is connected, and forward events to it if it takes them."""
        server = self.peer_of(session)
        if server is not None:
            await self._audit.record(kernel_event("SERVER_CONNECTED", server.id))
            gone = kernel_event("SERVER_DISCONNECTED", server.id)
            session.start_soon(partial(self._audit.attend, server, gone))
            for manager in self._managers:
                await manager.negotiate(server)

    def left(self, peer: GuardedServer) -> None:
        """Forget what was decided for the connection alone."""
        for manager in self._managers:
            manager.left(peer)

    def _made(self, session: Session, offer: ServerOffer | None) -> GuardedServer:
        policy = self._policy_for(session.identity.server_id or "")
        theirs = () if offer is None else offer.extensions
        extensions = active_extensions(self.offer(None)["extensions"], theirs)
        return GuardedServer(session, offer, extensions, policy)
