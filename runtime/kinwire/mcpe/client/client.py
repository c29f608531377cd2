"""The client's side of MCPE: subscriptions at any number of servers, and their events."""

from __future__ import annotations

__all__ = ("McpeClient",)

import logging
from collections.abc import AsyncGenerator, Callable, Collection
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from contextvars import Context as Variables
from functools import partial
from typing import Any, ClassVar, Final

import anyio
from anyio import sleep

from kinwire.mcp.connection import Connection
from kinwire.mcp.extension import ExtensionBase
from kinwire.mcpe.client.arrived import ArrivedEvents
from kinwire.mcpe.client.event_server import EventServer
from kinwire.mcpe.client.memory import ServerMemory
from kinwire.mcpe.client.routes import EventRoutes
from kinwire.mcpe.client.subscription import EventSubscription
from kinwire.mcpe.client.tokens import RecoveryTokens, with_token
from kinwire.rpc.errors import ConnectionClosedError, KinwireError
from kinwire.rpc.interceptors import Next
from kinwire.rpc.negotiated import Side
from kinwire.rpc.session import Session
from kinwire.storage.records import Records
from kinwire.support.arguments import (
    FLAG,
    PLAIN_FUNCTION,
    SECONDS_OR_ZERO,
    TEXT,
    TEXTS,
    ArgumentCheck,
    having,
    instance_of,
    list_of,
    one_of,
)
from kinwire.support.background import start_detached
from kinwire_protocols import mcp
from kinwire_protocols.base import JsonObject, RpcError, to_wire
from kinwire_protocols.mcp.methods import NOTIFICATIONS_INITIALIZED, TOOLS_CALL
from kinwire_protocols.mcpe.methods import PROTOCOL
from kinwire_protocols.mcpe.models import (
    AgentEventHandler,
    BashEventHandler,
    DeliveryPreferences,
    EventFilter,
    EventsSubscribeParams,
    Subscription,
    WebhookEventHandler,
)
from kinwire_protocols.mcpe.tools import EVENTS_SUBSCRIBE
from kinwire_protocols.peer import Method, ProtocolTable

logger = logging.getLogger("kinwire.mcpe")

OnEvents = Callable[[ArrivedEvents], object]
Handler = BashEventHandler | WebhookEventHandler | AgentEventHandler

_TOOLS: Final = "events_"

_MCPE_CLIENT = ArgumentCheck(
    "McpeClient",
    "McpeClient()",
    {},
    keep_subscriptions=FLAG,
    reconnect_within=SECONDS_OR_ZERO,
    on_events=PLAIN_FUNCTION.or_none,
    records=having(
        ("get", "put", "scan"), "records of a store", 'await store.records("mcpe")'
    ).or_none,
)
_CONNECTION = {"connection": instance_of(Connection, "a Connection", "connection")}
_OF = ArgumentCheck("McpeClient.of", "events.of(connection)", _CONNECTION)
_SUBSCRIBE = ArgumentCheck(
    "McpeClient.subscribe",
    'events.subscribe(connection, ["github.*"])',
    {**_CONNECTION, "event_types": TEXTS},
    tags=TEXTS,
    priority=list_of(one_of("low", "normal", "high", "critical"), "several strings"),
    delivery=instance_of(
        DeliveryPreferences, "DeliveryPreferences", 'DeliveryPreferences(channels=["realtime"])'
    ).or_none,
    handler=instance_of(
        (BashEventHandler, WebhookEventHandler, AgentEventHandler), "a handler", "..."
    ).or_none,
    expires_at=TEXT.or_none,
)
_READ = ArgumentCheck(
    "McpeClient.read",
    "events.read(connection, subscription)",
    {**_CONNECTION, "subscription": instance_of(Subscription, "a Subscription", "subscription")},
)


class McpeClient(ExtensionBase[EventServer]):
    """The client's side of MCPE: `Host(..., extensions=[McpeClient()])`.

    When this side ends a connection, what was subscribed to over it is unsubscribed, by the program
    or by a model that has called the tools; with `keep_subscriptions` it is not. If a connection
    ends otherwise, readers wait up to `reconnect_within` seconds for the next connection to the
    same server, as `Host.keep_connected` makes one, and go on with it. `on_events` is a plain
    function that gets the events of subscriptions that nobody reads, such as those that a model has
    made. With `records`, the token by which a server knows this client outlives the process.
    """

    protocol: ProtocolTable = PROTOCOL
    only_side: ClassVar[Side | None] = "client"
    guards_plain_peers: ClassVar[bool] = True

    def __init__(
        self,
        *,
        keep_subscriptions: bool = False,
        reconnect_within: float = 0.0,
        on_events: OnEvents | None = None,
        records: Records | None = None,
    ) -> None:
        """Prepare to subscribe at any number of servers.

        Raises:
            TypeError: an argument is not of its type.
            ValueError: `reconnect_within` is not a number of seconds.
        """
        _MCPE_CLIENT.check(
            keep_subscriptions=keep_subscriptions,
            reconnect_within=reconnect_within,
            on_events=on_events,
            records=records,
        )
        super().__init__()
        self._keep = keep_subscriptions
        self._reconnect_within = reconnect_within
        self._on_events = on_events
        self._memories: dict[str, ServerMemory] = {}
        self._offers: dict[Session, JsonObject | None] = {}
        self._tokens = RecoveryTokens(records)

    def of(self, connection: Connection) -> EventServer:
        """Return the server of a connection, for its operations.

        Raises:
            ConnectionClosedError: the connection has ended.
            TypeError: it is not a connection of a host that has this extension.
        """
        _OF.check(connection=connection)
        found = self.peer_of(connection.session)
        if found is None:
            if not connection.session.closed:
                raise TypeError("McpeClient.of: expected a connection of a host that has this one.")
            raise connection.session.closed_why or ConnectionClosedError("The session is over.")
        return found

    def subscribe(
        self,
        connection: Connection,
        event_types: Collection[str] = (),
        *,
        tags: Collection[str] = (),
        priority: Collection[str] = (),
        delivery: DeliveryPreferences | None = None,
        handler: Handler | None = None,
        expires_at: str | None = None,
    ) -> AbstractAsyncContextManager[EventSubscription]:
        """Subscribe while a block lasts: `async with events.subscribe(...) as subscription:`.

        `event_types` are types such as `github.push`, or `github.*`; an event has one of them, one
        of the `tags` and one of the priorities. What is left out selects everything. Without
        `delivery`, each event is delivered immediately. `handler` is what the server does with the
        events, too. `expires_at` is an RFC 3339 date-time. The end of the block unsubscribes,
        unless `keep_subscriptions` is set.

        Raises:
            CapabilityNotNegotiatedError: the server has no events, or not what is asked for.
            ProtocolVersionError: it speaks another version of MCPE.
            SubscriptionLimitReachedError, UnauthorizedError, InvalidParamsError: it refuses.
            RpcError, ConnectionClosedError, RequestTimeoutError, InvalidResponseError: as for
                `Session.call`.
            ValueError: a priority is not one of the four.
            TypeError: an argument is not of its type.

        Source: MCPE 2025-01-01 section 6.1.
        """
        options = {"tags": tags, "priority": priority, "delivery": delivery}
        _SUBSCRIBE.check(
            connection=connection,
            event_types=event_types,
            handler=handler,
            expires_at=expires_at,
            **options,
        )
        priorities: Any = list(priority) or None
        asked = EventsSubscribeParams(
            filter=EventFilter(
                event_types=list(event_types) or None,
                tags=list(tags) or None,
                priority=priorities,
            ),
            delivery=delivery or DeliveryPreferences(channels=["realtime"]),
            handler=handler,
            expires_at=expires_at,
        )
        return self._subscribed(connection, asked)

    @asynccontextmanager
    async def read(
        self, connection: Connection, subscription: Subscription
    ) -> AsyncGenerator[EventSubscription]:
        """Read the events of a subscription that is there, such as one of `EventServer.list`.

        The end of the block leaves the subscription as it is. A subscription has one reader: the
        loop of an earlier one ends.

        Raises:
            ConnectionClosedError: the connection has ended.
            TypeError: an argument is not of its type.
        """
        _READ.check(connection=connection, subscription=subscription)
        server = self.of(connection)
        reader = EventSubscription(subscription, None, server)
        server.claim(reader)
        try:
            yield reader
        finally:
            server.memory.leave(reader)

    def offer(self, theirs: JsonObject | None) -> JsonObject:
        """Return that this client speaks MCPE, and in which version."""
        return {"protocolVersion": PROTOCOL.version, "protocolName": PROTOCOL.name}

    def attach(self, session: Session, theirs: JsonObject | None) -> None:
        """Prepare for a server, also for one that does not say that it has events."""
        self._offers[session] = theirs
        super().attach(session, {} if theirs is None else theirs)

    def join(self, session: Session, theirs: JsonObject) -> EventServer:
        """Return the server of a session."""
        memory = self._memories.setdefault(session.identity.key, ServerMemory())
        memory.session = session
        offer = self._offers.pop(session)
        peer = EventServer(session, offer, memory, self._unread)
        session.wrap_routes(lambda routes: EventRoutes(routes, self._take, self._expired))
        session.intercept_outbound(partial(self._call, peer), TOOLS_CALL)
        session.before_close(partial(self._unsubscribe_all, peer))
        return peer

    async def negotiated(self, session: Session) -> None:
        """Go on with what was subscribed to over an earlier connection to the same server."""
        peer = self.peer_of(session)
        assert peer is not None
        memory = peer.memory
        await self._tokens.find_for(memory, session.identity.key)
        if memory.readers:
            initialized = anyio.Event()
            session.guard(
                NOTIFICATIONS_INITIALIZED, lambda params, method: initialized.set(), outbound=True
            )
            session.start_soon(partial(self._recover, peer, initialized))

    def left(self, peer: EventServer) -> None:
        """End the readers of a connection, or have them wait for the next one."""
        memory, session = peer.memory, peer.session
        if memory.session is not session:
            return  # the server is connected again
        memory.session = None
        memory.ended += 1
        why = session.closed_why or ConnectionClosedError("The session is over.")
        if session.identity.transient or not self._reconnect_within:
            memory.fail(why)
            self._forget(session.identity.key, memory)
            return
        for reader in memory.readers.values():
            reader.moved(None)
        Variables().run(start_detached, partial(self._give_up, memory, memory.ended, why))

    @asynccontextmanager
    async def _subscribed(
        self, connection: Connection, asked: EventsSubscribeParams
    ) -> AsyncGenerator[EventSubscription]:
        first = self.of(connection)
        reader = await first.subscribe(asked)
        try:
            yield reader
        finally:
            reader.end()
            first.memory.leave(reader)
            server = reader.server  # over the connection of now
            if server is not None and not self._keep and reader.expired_at is None:
                await server.leave(reader.id)

    async def _unsubscribe_all(self, peer: EventServer) -> None:
        """Unsubscribe from all that was subscribed to, since this side ends the connection."""
        peer.memory.fail(ConnectionClosedError("The connection was closed by this side."))
        if not self._keep:
            for id in list(peer.memory.made):
                await peer.leave(id)

    async def _call(
        self,
        peer: EventServer,
        params: mcp.CallToolRequestParams,
        method: Method[mcp.CallToolRequestParams, Any],
        go_on: Next[mcp.CallToolRequestParams, Any],
    ) -> Any:
        """Say who this client is in calls of the six tools, also in those of a model."""
        if not params.name.startswith(_TOOLS):
            return await go_on(params)
        result = await go_on(with_token(params, peer.memory.token))
        body = to_wire(result)
        if params.name == EVENTS_SUBSCRIBE.name and body.get("isError") is not True:
            peer.note_made(body)
        await self._tokens.take_from(body, peer.memory, peer.session.identity.key)
        return result

    async def _recover(self, peer: EventServer, initialized: anyio.Event) -> None:
        await initialized.wait()
        try:
            await peer.recover()
        except ConnectionClosedError:
            return  # `left` decides whether the readers wait for another connection
        except (RpcError, KinwireError) as error:
            peer.memory.fail(ConnectionClosedError(f"Subscriptions were not recovered: {error}"))

    async def _give_up(self, memory: ServerMemory, ended: int, why: ConnectionClosedError) -> None:
        await sleep(self._reconnect_within)
        if memory.session is None and memory.ended == ended:  # no other one was there since
            memory.fail(why)

    def _forget(self, key: str, memory: ServerMemory) -> None:
        if memory.token is None or key.startswith("transient"):
            self._memories.pop(key, None)

    def _unread(self, arrived: ArrivedEvents) -> None:
        if self._on_events is None:
            return
        try:
            self._on_events(arrived)
        except Exception:
            logger.exception("on_events failed")

    def _take(self, session: Session, arrived: ArrivedEvents) -> None:
        peer = self.peer_of(session)
        if peer is not None:
            peer.take(arrived)

    def _expired(self, session: Session, id: str, at: str | None) -> None:
        peer = self.peer_of(session)
        if peer is not None:
            peer.expired(id, at)
