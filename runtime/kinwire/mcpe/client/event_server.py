"""A server of events over one connection: the six tools, and what has arrived (MCPE 6, 7)."""

from __future__ import annotations

__all__ = ("EventServer",)

import json
import logging
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final, TypeVar

import anyio
from pydantic import ValidationError

from kinwire.mcp.lists import tools as listed_tools
from kinwire.mcpe.client.arrived import ArrivedEvents
from kinwire.mcpe.client.memory import ServerMemory
from kinwire.mcpe.client.subscription import EventSubscription, waiting_events, weight_of
from kinwire.mcpe.rules.dialect import completed, flat_update
from kinwire.mcpe.rules.support import lacking, lacking_pause
from kinwire.rpc.codec import is_object
from kinwire.rpc.errors import CapabilityNotNegotiatedError, KinwireError, ProtocolVersionError
from kinwire.rpc.session import Session
from kinwire.support.arguments import TEXT, ArgumentCheck, instance_of, one_of
from kinwire.support.timestamps import timestamp_of
from kinwire_protocols import mcp
from kinwire_protocols.base import JsonObject, Message, RpcError, from_wire, to_wire
from kinwire_protocols.mcp.methods import TOOLS_CALL
from kinwire_protocols.mcpe import tools
from kinwire_protocols.mcpe.errors import SubscriptionNotFoundError
from kinwire_protocols.mcpe.methods import PROTOCOL
from kinwire_protocols.mcpe.models import (
    EventsSubscribeParams,
    MCPECapabilities,
    Subscription,
    SubscriptionStatus,
    UpdateSubscriptionRequest,
)
from kinwire_protocols.tool_methods import ToolMethod

R = TypeVar("R", bound=Message)

OnEvents = Callable[[ArrivedEvents], object]

logger = logging.getLogger("kinwire.mcpe")

_UNSUBSCRIBE_TIMEOUT: Final = 5.0  # seconds
_MOST_NOTED: Final = 1_000  # ids of subscriptions
_MOST_MADE: Final = 1_000
_GATE: Final = "server:experimental.mcpe"
_LIST = ArgumentCheck(
    "EventServer.list",
    'await events.of(connection).list("paused")',
    {"status": one_of("active", "paused", "expired").or_none},
)
_UPDATE = ArgumentCheck(
    "EventServer.update",
    'await events.of(connection).update(id, UpdateSubscriptionRequest(status="paused"))',
    {
        "id": TEXT,
        "updates": instance_of(
            UpdateSubscriptionRequest,
            "UpdateSubscriptionRequest",
            'UpdateSubscriptionRequest(status="paused")',
        ),
    },
)


class EventServer:
    """The operations of MCPE at one server, checked against what it offers.

    A server without a capability object that has the six tools is one, too.
    """

    def __init__(
        self, session: Session, offer: JsonObject | None, memory: ServerMemory, on_events: OnEvents
    ) -> None:
        self.session = session
        self.capability = _capability_in(offer)
        """What the server says of its events; None if it says nothing that can be read."""
        self.memory = memory
        self._offer = offer
        self._on_events = on_events
        self._has_tools: bool | None = None  # not known
        self._asking = 0
        # Events that come right behind the answer, before the task that waits for it runs.
        self._early = waiting_events()
        self._early_lost = Counter[str]()  # events, by the id of their subscription
        self._early_ends: dict[str, str] = {}

    async def subscribe(self, asked: EventsSubscribeParams) -> EventSubscription:
        """Subscribe, and return the reader of the events (MCPE 6.1).

        Raises:
            CapabilityNotNegotiatedError: the server has no events, or not what is asked for.
            ProtocolVersionError: it speaks another version of MCPE.
            SubscriptionLimitReachedError, UnauthorizedError, InvalidParamsError: it refuses.
            RpcError, ConnectionClosedError, RequestTimeoutError, InvalidResponseError: as for
                `Session.call`.
        """
        self._asking += 1
        try:
            reader = EventSubscription(await self.make(asked), asked, self)
            self.claim(reader)
            return reader
        finally:
            self._done_asking()

    async def make(self, asked: EventsSubscribeParams) -> Subscription:
        """Subscribe, and return the subscription, which no reader reads; errors as above."""
        await self._must_be_usable(tools.EVENTS_SUBSCRIBE)
        if self.capability is not None:
            _must_not_lack(tools.EVENTS_SUBSCRIBE, lacking(asked, self.capability))
        return await self._call(tools.EVENTS_SUBSCRIBE, to_wire(asked))

    async def unsubscribe(self, id: str) -> None:
        """Remove a subscription (MCPE 6.2).

        Raises:
            SubscriptionNotFoundError: the server has no such one.
            RpcError, ConnectionClosedError, RequestTimeoutError, InvalidResponseError: as for
                `Session.call`.
        """
        self.memory.made.pop(id, None)
        answer = await self._call(tools.EVENTS_UNSUBSCRIBE, {"subscriptionId": id})
        if not answer.success:  # so a known server says that it has none
            raise SubscriptionNotFoundError(data={"subscriptionId": id})

    async def leave(self, id: str) -> None:
        """Remove a subscription at its end, if that can be done soon; also in a cancelled scope."""
        if self.session.closed:
            return
        try:
            with anyio.move_on_after(_UNSUBSCRIBE_TIMEOUT, shield=True):
                await self.unsubscribe(id)
        except (RpcError, KinwireError) as error:
            logger.info("a subscription to events was not ended: %s", error)

    async def list(self, status: SubscriptionStatus | None = None) -> list[Subscription]:
        """Return the subscriptions of this client, or those of a status (MCPE 6.3).

        Raises:
            ValueError: there is no such status.
            CapabilityNotNegotiatedError, ProtocolVersionError: as for `subscribe`.
            RpcError, ConnectionClosedError, RequestTimeoutError, InvalidResponseError: as for
                `Session.call`.
        """
        _LIST.check(status=status)
        await self._must_be_usable(tools.EVENTS_LIST)
        arguments: JsonObject = {} if status is None else {"status": status}
        return (await self._call(tools.EVENTS_LIST, arguments)).subscriptions

    async def pause(self, id: str) -> None:
        """Pause a subscription (MCPE 6.4).

        Raises:
            CapabilityNotNegotiatedError: the server does not pause subscriptions.
            SubscriptionNotFoundError: the server has no such one.
            RpcError, ConnectionClosedError, RequestTimeoutError, InvalidResponseError: as for
                `Session.call`.
        """
        if self.capability is not None:
            _must_not_lack(tools.EVENTS_PAUSE, lacking_pause(self.capability))
        await self._call(tools.EVENTS_PAUSE, {"subscriptionId": id})

    async def resume(self, id: str) -> None:
        """Resume a subscription (MCPE 6.5); errors as for `pause`."""
        if self.capability is not None:
            _must_not_lack(tools.EVENTS_RESUME, lacking_pause(self.capability))
        await self._call(tools.EVENTS_RESUME, {"subscriptionId": id})

    async def update(self, id: str, updates: UpdateSubscriptionRequest) -> Subscription:
        """Change a subscription, and return it (MCPE 6.6).

        Raises:
            SubscriptionNotFoundError: the server has no such one.
            RpcError, ConnectionClosedError, RequestTimeoutError, InvalidResponseError: as for
                `Session.call`.
            TypeError: an argument is not of its type.
        """
        _UPDATE.check(id=id, updates=updates)
        arguments: JsonObject = {"subscriptionId": id, "updates": to_wire(updates)}
        if self._offer is None:  # a known server without one reads only the flat form
            arguments = flat_update(id, to_wire(updates))
        return await self._call(tools.EVENTS_UPDATE, arguments)

    def note_made(self, body: JsonObject) -> None:
        """Remember the subscription that a result of `events_subscribe` has."""
        said = _said(body)
        id: object = said.get("id", said.get("subscriptionId"))
        if isinstance(id, str) and len(self.memory.made) < _MOST_MADE:
            self.memory.made[id] = None

    def claim(self, reader: EventSubscription) -> None:
        """Give a reader what comes for its subscription, also what has come already."""
        self.session.must_not_repeat_handshake()  # a new session would not know whom to tell
        self.memory.claim(reader)
        reader.lost += self._early_lost.pop(reader.id, 0)
        for _ in range(len(self._early)):
            self._pass_on(self._early.take())
        ended = self._early_ends.pop(reader.id, None)
        if ended is not None:
            self.expired(reader.id, ended)

    def take(self, arrived: ArrivedEvents) -> None:
        """Give events to their reader; a delivery that was repeated is dropped."""
        if not self.memory.is_repeated(arrived):
            self._pass_on(arrived)

    def expired(self, id: str, at: str | None) -> None:
        """End the reader of a subscription that has expired."""
        self.memory.made.pop(id, None)
        reader = self.memory.readers.pop(id, None)
        when = timestamp_of(time.time()) if at is None else at
        if reader is not None:
            reader.end(when)
        elif self._asking and len(self._early_ends) < _MOST_NOTED:
            self._early_ends[id] = when

    async def recover(self) -> None:
        """Go on with the subscriptions of an earlier connection to the same server.

        Those that the server does not have any more are made again.

        Raises:
            CapabilityNotNegotiatedError, ProtocolVersionError, RpcError, ConnectionClosedError,
            RequestTimeoutError, InvalidResponseError: as for `list` and `subscribe`.
        """
        listed = {one.id: one for one in await self.list()}
        for reader in list(self.memory.readers.values()):
            message = listed.get(reader.id)
            if message is not None and message.status == "expired":
                self.expired(reader.id, message.expires_at)
            elif message is not None:
                reader.message = message
                reader.moved(self)
            else:
                await self._renew(reader)

    async def _renew(self, reader: EventSubscription) -> None:
        if reader.asked is None:
            self.memory.leave(reader)
            reader.end()
            return
        self._asking += 1
        try:
            made = await self.make(reader.asked)
            self.memory.leave(reader)  # it has another id from now on
            reader.message = made
            reader.renewed += 1
            reader.moved(self)
            self.claim(reader)
        finally:
            self._done_asking()

    def _pass_on(self, arrived: ArrivedEvents) -> None:
        reader = self.memory.readers.get(arrived.subscription_id)
        if reader is not None:
            reader.put(arrived)
        elif self._asking:
            for one in self._early.put(arrived, weight_of(arrived)):
                self._note_lost(one)
        else:
            self._on_events(arrived)

    def _note_lost(self, one: ArrivedEvents) -> None:
        if one.subscription_id in self._early_lost or len(self._early_lost) < _MOST_NOTED:
            self._early_lost[one.subscription_id] += one.dropped + len(one.events)

    def _done_asking(self) -> None:
        self._asking -= 1
        while not self._asking and len(self._early):
            self._on_events(self._early.take())
        if not self._asking:
            self._early_ends.clear()
            self._early_lost.clear()

    async def _must_be_usable(self, row: ToolMethod[Any, Any]) -> None:
        """Check that the server has events, in a version that this client speaks.

        Raises:
            ProtocolVersionError, CapabilityNotNegotiatedError: it does not.
        """
        if self._offer is not None:
            version: object = self._offer.get("protocolVersion", PROTOCOL.version)
            if version != PROTOCOL.version:
                raise ProtocolVersionError(
                    f"{row.name}: expected a server of MCPE {PROTOCOL.version}, "
                    f"got one of {version!r:.40}."
                )
            return
        if self._has_tools is None:
            names: set[str] = set()
            with suppress(CapabilityNotNegotiatedError):  # it has no tools at all
                names = {tool.name async for tool in listed_tools(mcp.ServerStub(self.session))}
            self._has_tools = names >= {tools.EVENTS_SUBSCRIBE.name, tools.EVENTS_UNSUBSCRIBE.name}
        if not self._has_tools:
            raise CapabilityNotNegotiatedError(row.name, _GATE, "the server has no events")

    async def _call(self, row: ToolMethod[Any, R], arguments: JsonObject) -> R:
        params = mcp.CallToolRequestParams(name=row.name, arguments=arguments)
        result = await self.session.call(TOOLS_CALL, params)
        body = to_wire(result)
        said: JsonObject = {}
        if body.get("isError") is not True:
            said = completed(row.name, _said(body), arguments, time.time())
            body = {**body, "structuredContent": said}
        try:
            return row.decode_result(body)
        except ValidationError as error:
            failure = self.session.shape_error(row.name, error, said)
        raise failure


def _must_not_lack(row: ToolMethod[Any, Any], lacks: tuple[str, str] | None) -> None:
    if lacks is not None:
        raise CapabilityNotNegotiatedError(row.name, f"{_GATE}.{lacks[0]}", lacks[1])


def _capability_in(offer: JsonObject | None) -> MCPECapabilities | None:
    try:
        return None if offer is None else from_wire(MCPECapabilities, offer)
    except ValidationError:
        return None


def _said(body: JsonObject) -> JsonObject:
    """Return the object that a result says; its text counts where it has no structure."""
    structured: object = body.get("structuredContent")
    if is_object(structured):
        return structured
    try:
        read: object = json.loads(body["content"][0]["text"])
    except (KeyError, IndexError, TypeError, ValueError, RecursionError):
        return {}
    return read if is_object(read) else {}
