"""The server's side of MCPE: subscriptions, and the events that are published to them."""

from __future__ import annotations

__all__ = ("McpeServer",)

import logging
import time
from collections.abc import Sequence
from typing import ClassVar

from kinwire.mcp.context import Context
from kinwire.mcp.extension import ExtensionBase
from kinwire.mcp.server import Server
from kinwire.mcpe.rules.features import EventFeatures, capability_of
from kinwire.mcpe.server.board import SubscriptionBoard
from kinwire.mcpe.server.catalog import EventCatalog
from kinwire.mcpe.server.clients import ClientSession, ClientTable
from kinwire.mcpe.server.cluster import ClusterNode
from kinwire.mcpe.server.desk import Caller, SubscriptionDesk
from kinwire.mcpe.server.fan_out import EventFanOut, Publication
from kinwire.mcpe.server.handler_port import HandlerPort
from kinwire.mcpe.server.kept import KeptSubscriptions
from kinwire.mcpe.server.options import EventCluster, EventDeclaration, EventRates, EventTerms
from kinwire.mcpe.server.tools import EventTools
from kinwire.mcpe.server.visible import VisibleEvents
from kinwire.rpc.negotiated import Side
from kinwire.rpc.session import Session
from kinwire.storage.clock import Clock
from kinwire.storage.errors import StorageError
from kinwire.storage.log import Log
from kinwire.storage.records import Records
from kinwire.support.arguments import (
    FLAG,
    PLAIN_FUNCTION,
    ArgumentCheck,
    having,
    instance_of,
    list_of,
)
from kinwire.support.sanitize import sanitize_for_log
from kinwire_protocols.base import JsonObject, RpcError, to_wire
from kinwire_protocols.mcpe.errors import NotInitializedError
from kinwire_protocols.mcpe.methods import PROTOCOL
from kinwire_protocols.mcpe.models import MCPEvent
from kinwire_protocols.peer import ProtocolTable

logger = logging.getLogger("kinwire.mcpe")

_DECLARATION = instance_of(
    EventDeclaration, "EventDeclaration", 'EventDeclaration("github.push", "Commits were pushed.")'
)
_MCPE_SERVER = ArgumentCheck(
    "McpeServer",
    'McpeServer([EventDeclaration("github.push", "Commits were pushed.")])',
    {"event_types": list_of(_DECLARATION, "several declarations")},
    features=instance_of(EventFeatures, "EventFeatures", "EventFeatures()").or_none,
    terms=instance_of(EventTerms, "EventTerms", "EventTerms(grace=60)").or_none,
    rates=instance_of(EventRates, "EventRates", "EventRates(deliveries=100)").or_none,
    handlers=having(("begin", "problems", "handle"), "handlers", "EventHandlers(...)").or_none,
    records=having(
        ("get", "put", "scan"), "records of a store", 'await store.records("mcpe")'
    ).or_none,
    log=having(("append", "read"), "a log of a store", 'await store.log("mcpe")').or_none,
    cluster=instance_of(EventCluster, "EventCluster", "EventCluster()").or_none,
    strict=FLAG,
    lenient=FLAG,
    clock=PLAIN_FUNCTION,
)
_PUBLISH = ArgumentCheck(
    "McpeServer.publish",
    'await events.publish(new_event("github.push", {"branch": "main"}))',
    {"event": instance_of(MCPEvent, "an MCPEvent", 'new_event("github.push")')},
)


class McpeServer(ExtensionBase[ClientSession]):
    """The server's side of MCPE: `Server(..., extensions=[McpeServer()])`.

    The server gets the six tools, which every client may use, and `publish` sends an event to those
    whose subscriptions select it. `event_types` are the types that models can read about; without
    any, events of every type may be published. `features` is what clients may ask for, `terms` who
    may have which events and how long subscriptions are kept, `rates` how often something may
    happen. `handlers` work on events; without them a subscription with a handler is refused.

    With `records`, subscriptions outlive the process, and with `log` the events that wait for a
    schedule do, too. With `cluster`, other processes serve the same subscriptions: an event that
    one of them publishes reaches the clients of all. If `strict`, a tool that fails is an error
    response, and not a result with `isError`. If `lenient`, `events_subscribe` without a filter
    selects all events, and without preferences delivers each one immediately. `clock` is the wall
    clock.
    """

    protocol: ProtocolTable = PROTOCOL
    only_side: ClassVar[Side | None] = "server"
    offers_to_plain_peers: ClassVar[bool] = True
    guards_plain_peers: ClassVar[bool] = True
    early_error: ClassVar[type[RpcError] | None] = NotInitializedError

    def __init__(  # noqa: PLR0913 - all that there is to say about a server's events
        self,
        event_types: Sequence[EventDeclaration] = (),
        *,
        features: EventFeatures | None = None,
        terms: EventTerms | None = None,
        rates: EventRates | None = None,
        handlers: HandlerPort | None = None,
        records: Records | None = None,
        log: Log | None = None,
        cluster: EventCluster | None = None,
        strict: bool = False,
        lenient: bool = False,
        clock: Clock = time.time,
    ) -> None:
        """Prepare to serve any number of clients of one server.

        Raises:
            ValueError: a type is declared twice, or the schema of one cannot be read or does not
                fit its example, or a cluster has no records or no log.
            TypeError: an argument is not of its type.
        """
        _MCPE_SERVER.check(
            event_types=event_types,
            features=features,
            terms=terms,
            rates=rates,
            handlers=handlers,
            records=records,
            log=log,
            cluster=cluster,
            strict=strict,
            lenient=lenient,
            clock=clock,
        )
        super().__init__()
        self.features = features or EventFeatures()
        """What clients may ask for."""
        terms, rates = terms or EventTerms(), rates or EventRates()
        kept, visible = KeptSubscriptions(records, log), VisibleEvents(terms)
        catalog = EventCatalog(event_types)
        self._clients = ClientTable(rates)
        self._board = SubscriptionBoard(
            self.features, terms, self._clients, kept, visible, handlers, clock
        )
        self._fan_out = EventFanOut(self._board, catalog, kept, visible, rates, records)
        self._node: ClusterNode | None = None
        if cluster is not None:
            if records is None or log is None:
                raise ValueError(
                    "McpeServer: expected records and a log for a cluster, got "
                    f"{'no records' if records is None else 'no log'}. Pass those of a store that "
                    "all processes share."
                )
            self._node = ClusterNode(
                *(cluster, records, log, kept, self._clients, self._board, self._fan_out)
            )
        desk = SubscriptionDesk(self._board, terms, handlers)
        self._tools = EventTools(desk, catalog, self._caller, strict=strict, lenient=lenient)
        self._server: Server | None = None

    async def publish(self, event: MCPEvent) -> Publication:
        """Publish an event: to connected clients immediately, to others when a schedule is due.

        An event whose `sourceEventId` came from the same source in the last 24 hours, the first
        name of its type, is a duplicate: nothing is done. Call this in the event loop.

        Raises:
            InvalidEventError: it is not a valid event (a UUID of version 4, a type with dots, an
                RFC 3339 time, one of the four priorities), is larger than 1 MiB, or is not one that
                the server has declared.
            PublicationLimitError: too many are published.
            UnsendableError: JSON cannot hold it.
            StorageError: it cannot be written for the subscriptions that wait for a schedule.
            TypeError: it is not an `MCPEvent`.

        Source: MCPE 2025-01-01 sections 4 and 8.
        """
        _PUBLISH.check(event=event)
        return await self._fan_out.publish(event)

    async def leave_cluster(self) -> None:
        """Let other processes of the cluster have the clients of this one, before it ends.

        Call it before the store is closed, when no client is served any more. Without it, others
        wait until the lease of this process is over. Without a cluster, this does nothing.
        """
        if self._node is not None:
            await self._node.leave()

    def look_at_clock(self) -> None:
        """Act on what is due now: a `clock` that was changed is looked at within a second else."""
        self._board.timers.look()

    def offer(self, theirs: JsonObject | None) -> JsonObject | None:
        """Return the capability object, which every client is shown (MCPE 3.2)."""
        info = {} if self._server is None else to_wire(self._server.info)
        return capability_of(self.features, info)

    def understood(self, offer: JsonObject) -> JsonObject | None:
        """Return what counts of an offer: None in another version (MCPE 2.2)."""
        return offer if offer.get("protocolVersion", PROTOCOL.version) == PROTOCOL.version else None

    def served_by(self, server: Server) -> None:
        """Add the tools to the server.

        Raises:
            ValueError: it was given to another server before.
            ToolDefinitionError: the server has a tool with the name of one of them.
        """
        if self._server is not None:
            raise ValueError("McpeServer: expected one server, got a second one. Make another one.")
        self._server = server
        self._tools.add_to(server)

    def attach(self, session: Session, theirs: JsonObject | None) -> None:
        """Serve a client, also one that speaks only MCP: the tools are for all."""
        super().attach(session, {} if theirs is None else theirs)
        session.allow(PROTOCOL.methods.values())

    def join(self, session: Session, theirs: JsonObject) -> ClientSession:
        """Return the client of a session."""
        return ClientSession(session)

    async def negotiated(self, session: Session) -> None:
        """Go on with what was kept, and with the client if it has a name and connects again.

        A client that speaks only MCP begins this, too. If the store fails, the next call tries.
        """
        peer = self.peer_of(session)
        try:
            await self._board.ready()
            if peer is not None:
                await self._bring(peer, None)
        except StorageError as error:
            logger.error("subscriptions cannot be read now: %s", sanitize_for_log(error))
            return
        if peer is not None and self._clients.authenticated(peer) is not None:
            self._identified(peer, None)
            peer.sender.start()

    def left(self, peer: ClientSession) -> None:
        """Keep the subscriptions of a client that has left, for the time of grace."""
        self._board.left(peer)

    async def _caller(self, context: Context, token: str | None) -> Caller:
        await self._board.ready()
        peer = self.peer_of(context.session)
        assert peer is not None
        await self._bring(peer, token)
        return self._identified(peer, token)

    async def _bring(self, peer: ClientSession, token: str | None) -> None:
        """Serve a client here that another process of the cluster may have served so far."""
        homes, id = self._board.homes, self._clients.id_of(peer, token)
        if homes is not None and id is not None:
            await homes.bring(id)

    def _identified(self, peer: ClientSession, token: str | None) -> Caller:
        client = self._clients.of(peer, token)
        self._board.joined(client, peer)
        return Caller(client, peer)
