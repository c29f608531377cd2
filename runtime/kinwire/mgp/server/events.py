"""Events of a server: its channels, and the kernels that have subscribed to them (MGP 13.2, 13.3).

Nothing here waits. An event is encoded once for all subscriptions; each kernel has an `EventSender`
of its own, so one that is slow holds nobody else.
"""

from __future__ import annotations

__all__ = ("MOST_SUBSCRIPTIONS", "EventPublisher")

import time
from collections.abc import Callable, Collection
from typing import Final

from anyio.lowlevel import checkpoint

from kinwire.mcp.context import Context
from kinwire.mcp.handlers import ExtensionHandlers
from kinwire.mgp.errors import refusal
from kinwire.mgp.rules.events import (
    MOST_NAMES,
    EventSelection,
    checked_channels,
    severity_rank,
)
from kinwire.mgp.rules.own_events import OwnEvent
from kinwire.mgp.server.event_sender import EventSender, Subscription
from kinwire.mgp.server.kernel_peer import KernelPeer
from kinwire.mgp.server.own_events import OwnEvents
from kinwire.rpc.codec import EncodedObject
from kinwire.rpc.session import Session
from kinwire.support.timestamps import timestamp_of
from kinwire_protocols.base import JsonObject
from kinwire_protocols.jsonrpc.errors import InvalidParamsError
from kinwire_protocols.mcp.models import LoggingLevel
from kinwire_protocols.mgp.errors import ResourceExhaustedError
from kinwire_protocols.mgp.methods import MGP_EVENTS_SUBSCRIBE, MGP_EVENTS_UNSUBSCRIBE
from kinwire_protocols.mgp.models import (
    EventsSubscribeParams,
    EventsSubscribeResult,
    EventsUnsubscribeParams,
    EventsUnsubscribeResult,
)
from kinwire_protocols.nearest import nearest

MOST_SUBSCRIPTIONS: Final = 100
"""How many subscriptions one kernel may have."""

_LARGEST = 64 * 1024  # bytes of an event


class EventPublisher:
    """The channels of one server, with the subscriptions to each. `channels` are their names."""

    def __init__(
        self,
        channels: Collection[str],
        handlers: ExtensionHandlers,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """Prepare the channels, and answer what kernels ask about them.

        Raises:
            ValueError: a name is not one of a channel.
        """
        self._channels: dict[str, dict[Subscription, None]] = {
            name: {} for name in checked_channels(channels)
        }
        self._clock = clock
        self._senders: dict[Session, EventSender] = {}
        self._own = OwnEvents(self._emit_own)
        handlers.add_default(MGP_EVENTS_SUBSCRIBE, self._subscribe)
        handlers.add_default(MGP_EVENTS_UNSUBSCRIBE, self._unsubscribe)

    def join(self, peer: KernelPeer) -> None:
        """Let a kernel subscribe."""
        if "bidirectional" in peer.extensions:
            self._senders[peer.session] = EventSender(peer.session)

    def left(self, peer: KernelPeer) -> None:
        """Forget the subscriptions of a kernel."""
        sender = self._senders.get(peer.session)
        for id in [] if sender is None else list(sender.subscriptions):
            self._end(peer.session, id)
        self._senders.pop(peer.session, None)
        self._own.left(peer.session)

    def emit(
        self,
        channel: str,
        data: JsonObject,
        severity: LoggingLevel | None,
        to: Session | None = None,
    ) -> int:
        """Send an event to those who want it; return how many subscriptions that are.

        Raises:
            ValueError: there is no such channel, or the event is too large.
            UnsendableError: JSON cannot hold the data.
        """
        if channel not in self._channels:
            near = nearest(channel, list(self._channels))
            hint = f"Did you mean {near!r}?" if near else "Declare it: MgpServer(channels=[...])."
            raise ValueError(f"MgpServer.emit: there is no channel {channel!r:.60}. {hint}")
        event = self._event(channel, data, severity)
        if len(event.encoded) > _LARGEST:
            raise ValueError(
                f"MgpServer.emit: expected an event of at most {_LARGEST} bytes, got "
                f"{len(event.encoded)}. Send where the data can be read."
            )
        wanting = self._wanting(channel, severity, to)
        for subscription in wanting:
            subscription.send(event)
        return len(wanting)

    def _wanting(
        self, channel: str, severity: str | None, to: Session | None
    ) -> list[Subscription]:
        rank, readers = severity_rank(severity), self._channels[channel]
        taking = [one for one in readers if rank >= one.least]
        if to is None:
            return taking
        sender = self._senders.get(to)
        return [one for one in taking if one.sender is sender]

    def _event(self, channel: str, data: JsonObject, severity: str | None) -> EncodedObject:
        event: JsonObject = {"channel": channel, "timestamp": timestamp_of(self._clock())}
        if severity is not None:
            event["severity"] = severity
        return EncodedObject({**event, "data": data})

    def _emit_own(self, session: Session, event: OwnEvent) -> None:
        if self._channels[event.channel]:  # nobody may want this one
            self.emit(event.channel, event.data, event.severity, session)

    async def _subscribe(
        self, params: EventsSubscribeParams, context: Context
    ) -> EventsSubscribeResult:
        sender = self._senders[context.session]
        if len(params.channels) > MOST_NAMES:
            raise InvalidParamsError(
                f"/channels: expected at most {MOST_NAMES} names, got {len(params.channels)}"
            )
        if len(sender.subscriptions) >= MOST_SUBSCRIPTIONS:
            raise refusal(
                ResourceExhaustedError,
                f"There are {MOST_SUBSCRIPTIONS} subscriptions already. End one of them.",
                details={"limit": MOST_SUBSCRIPTIONS},
            )
        least = None if params.filter is None else params.filter.min_severity
        selection = EventSelection(params.channels, least)
        found = list[tuple[str, set[str]]]()
        for part in selection.found(self._channels):
            found.append(part)
            await checkpoint()  # others get a turn: a kernel may ask for much
        subscribed, unsupported = selection.split(self._channels, found)
        made = sender.subscribe(selection.least)
        for name in subscribed:
            self._channels[name][made] = None
        self._own.subscribed(context.session, subscribed)
        return EventsSubscribeResult(
            subscribed=subscribed, unsupported=unsupported, subscription_id=made.id
        )

    async def _unsubscribe(
        self, params: EventsUnsubscribeParams, context: Context
    ) -> EventsUnsubscribeResult:
        ended = self._end(context.session, params.subscription_id)
        return EventsUnsubscribeResult(unsubscribed=ended)

    def _end(self, session: Session, id: str) -> bool:
        """End a subscription of a kernel; return whether there was one."""
        ended = self._senders[session].unsubscribe(id)
        if ended is None:
            return False
        for readers in self._channels.values():
            readers.pop(ended, None)
        return True
