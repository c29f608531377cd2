"""Events and messages that a server records, and delivers when a host takes them (MCPL 9, 14.3)."""

from __future__ import annotations

__all__ = ("OnRefused", "Outbox", "RefusedItem")

import json
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import anyio

from kinwire.managers.retry import QueuedItem, RetryQueue
from kinwire.mcpl.rules.deliveries import (
    DeliveryOutcome,
    error_outcome,
    message_outcome,
    push_outcome,
)
from kinwire.mcpl.server.host_peer import HostPeer, event_params
from kinwire.rpc.errors import InvalidResponseError, KinwireError, RpcError
from kinwire.storage.errors import StorageError
from kinwire.storage.records import Records
from kinwire.support.arguments import (
    FUNCTION,
    TEXT,
    ArgumentCheck,
    count_from,
    having,
    instance_of,
    list_of,
)
from kinwire.support.backoff import Backoff
from kinwire.support.sanitize import sanitize_for_log
from kinwire_protocols.base import JsonObject, from_wire, to_wire
from kinwire_protocols.mcpl.methods import CHANNELS_INCOMING, PUSH_EVENT
from kinwire_protocols.mcpl.models import (
    Content,
    IncomingMessage,
    PushEventParams,
)

if TYPE_CHECKING:
    from kinwire.mcpl.server.server import McplServer

logger = logging.getLogger("kinwire.mcpl")

_BACKOFF = Backoff()

_OUTBOX = ArgumentCheck(
    "Outbox",
    "Outbox(live)",
    {"live": having(("hosts", "outboxes"), "an McplServer", "live")},
    records=having(
        ("get", "put", "scan"), "records of a store", 'await store.records("outbox")'
    ).or_none,
    limit=count_from(1),
    attempts=count_from(1),
    backoff=instance_of(Backoff, "a Backoff", "Backoff(longest=60.0)"),
    address=FUNCTION.or_none,
    on_refused=FUNCTION.or_none,
)
_PUSH = ArgumentCheck(
    "Outbox.push",
    'await outbox.push("alarm.bell", "Somebody is at the door")',
    {"feature_set": TEXT},
    event_id=TEXT.or_none,
    timestamp=TEXT.or_none,
    to=TEXT.or_none,
)
_INCOMING = ArgumentCheck(
    "Outbox.incoming",
    "await outbox.incoming(mcpl.IncomingMessage(...))",
    {
        "messages": list_of(
            instance_of(IncomingMessage, "mcpl.IncomingMessage", "mcpl.IncomingMessage(...)"),
            "several messages",
        )
    },
    to=TEXT.or_none,
)


@dataclass(frozen=True, slots=True)
class RefusedItem:
    """An event or message that a host refused for good."""

    item: PushEventParams | IncomingMessage
    to: str | None
    """The address that it was for; None for any host."""
    reason: str


OnRefused = Callable[[RefusedItem], Awaitable[None]]
"""Is called once for each event or message that a host refused for good; again if the process ends
during the call."""


class Outbox:
    """Delivers events and messages to hosts, in order, until a host has accepted each of them.

    `push` and `incoming` return when the item is recorded, and wait while `limit` items of the same
    feature set or channel are not delivered. An item goes to one host: the one that connected last
    of those that take it at the moment, as the feature set is enabled or the channel registered
    there. Without such a host it waits for one. An item with an address, `to`, goes only to hosts
    for which `address` returned the same text when they connected.

    Order is kept within a feature set or channel of an address. An item that a host refused for the
    moment, or did not answer, is sent again with the same `eventId` or `messageId`, with growing
    delays. With `records`, items are kept over restarts; one outbox at a time may use them.

    A refusal for good goes to `on_refused`, else to the log. So does an item after `attempts`
    errors of a host.
    """

    def __init__(
        self,
        live: McplServer,
        *,
        records: Records | None = None,
        limit: int = 1000,
        attempts: int = 20,
        backoff: Backoff = _BACKOFF,
        address: Callable[[HostPeer], str | None] | None = None,
        on_refused: OnRefused | None = None,
    ) -> None:
        """Prepare an outbox; it delivers while hosts are connected.

        Raises:
            TypeError, ValueError: an argument is wrong.
        """
        _OUTBOX.check(
            live=live,
            records=records,
            limit=limit,
            attempts=attempts,
            backoff=backoff,
            address=address,
            on_refused=on_refused,
        )
        self._live = live
        self._attempts = attempts
        self._address = address
        self._on_refused = on_refused
        self._addresses: dict[HostPeer, str | None] = {}
        self._backoff = backoff
        self._queue = RetryQueue(
            self._deliver, records=records, prefix="outbox/", limit=limit, backoff=backoff
        )
        self._running = anyio.Lock()
        self._changed = anyio.Event()
        live.outboxes.append(self)

    @property
    def pending(self) -> int:
        """The number of items that are not delivered."""
        return self._queue.pending

    async def push(
        self,
        feature_set: str,
        content: Content,
        *,
        event_id: str | None = None,
        timestamp: str | None = None,
        origin: JsonObject | None = None,
        to: str | None = None,
    ) -> str:
        """Record an event and return its id; it is pushed in the background.

        Raises:
            ValueError: the server has not declared the feature set, or it does not push events.
            StorageError: it could not be recorded; `outcome_unknown` says if it may have been.
        """
        _PUSH.check(feature_set=feature_set, event_id=event_id, timestamp=timestamp, to=to)
        declared = self._live.declared.get(feature_set)
        if declared is None or "pushEvents" not in declared.uses:
            raise ValueError(
                "Outbox.push: expected a feature set that the server declares and that uses "
                f"pushEvents, got {feature_set!r:.60}."
            )
        params = event_params(feature_set, content, event_id, timestamp, origin)
        await self._put(PUSH_EVENT.name, feature_set, to_wire(params), to)
        return params.event_id

    async def incoming(self, *messages: IncomingMessage, to: str | None = None) -> None:
        """Record messages of channels; they are sent in the background.

        Raises:
            StorageError: a message could not be recorded, and no later one was;
                `outcome_unknown` says if it may have been.
        """
        _INCOMING.check(messages=messages, to=to)
        for message in messages:
            await self._put(CHANNELS_INCOMING.name, message.channel_id, to_wire(message), to)

    async def drain(self) -> None:
        """Wait until every item is delivered or refused.

        Raises:
            StorageError: the recorded items cannot be read.
        """
        await self._queue.drain()

    def attached(self, host: HostPeer) -> None:
        """Note a new host, while its `initialize` is served."""
        self._addresses = {one: to for one, to in self._addresses.items() if not one.session.closed}
        self._addresses[host] = None if self._address is None else self._address(host)

    def changed(self) -> None:
        """Look again which hosts take items."""
        self._changed.set()
        self._changed = anyio.Event()

    async def attend(self) -> None:
        """Deliver; each session of a host runs this, and one of them does it for all."""
        failures = 0
        async with self._running:
            while True:
                try:
                    async with self._queue.running():
                        await anyio.sleep_forever()
                except StorageError as error:
                    failures += 1
                    logger.error("the outbox cannot be read: %s", sanitize_for_log(error))
                    await anyio.sleep(self._backoff.delay(failures, jitter=0.5))

    async def _put(self, method: str, name: str, item: JsonObject, to: str | None) -> None:
        key = json.dumps([method, to, name])
        await self._queue.put(key, {"method": method, "to": to, "item": item})

    async def _deliver(self, queued: QueuedItem) -> bool:
        try:
            item, to = _read(queued.value)
        except (LookupError, TypeError, ValueError) as error:  # it would fail each time
            why = sanitize_for_log(error)
            logger.error("an item of the outbox cannot be read, and is removed: %s", why)
            return True
        if isinstance(item, PushEventParams):
            outcome = await self._pushed(item, to, queued)
        else:
            outcome = await self._brought(item, to, queued)
        return await self._ended(outcome, item, to)

    async def _pushed(
        self, event: PushEventParams, to: str | None, queued: QueuedItem
    ) -> DeliveryOutcome:
        name = event.feature_set
        host = await self._host(to, lambda one: one.may_push(name), name)
        if host is None:
            return DeliveryOutcome(True, "the server no longer has the feature set")
        try:
            answer = await host.session.call(PUSH_EVENT, event)
        except (KinwireError, RpcError) as error:
            return error_outcome(error, attempt=queued.attempt, attempts=self._attempts)
        return push_outcome(answer, repeated=queued.may_be_repeated)

    async def _brought(
        self, message: IncomingMessage, to: str | None, queued: QueuedItem
    ) -> DeliveryOutcome:
        host = await self._host(to, lambda one: one.may_bring(message.channel_id))
        assert host is not None  # only the host of a removed feature set may be None
        try:
            outcomes = await host.channels.incoming(message)
            if len(outcomes) != 1:
                raise InvalidResponseError(
                    f"channels/incoming#/results: expected 1 outcome, got {len(outcomes)}"
                )
        except (KinwireError, RpcError) as error:
            return error_outcome(error, attempt=queued.attempt, attempts=self._attempts)
        return message_outcome(outcomes[0])

    async def _host(
        self, to: str | None, takes: Callable[[HostPeer], bool], feature_set: str | None = None
    ) -> HostPeer | None:
        """Return the host for an item when there is one; None if its feature set was removed."""
        while feature_set is None or feature_set in self._live.declared:
            for host in reversed(self._live.hosts):
                if (to is None or self._addresses.get(host) == to) and takes(host):
                    return host
            await self._changed.wait()
        return None

    async def _ended(
        self, outcome: DeliveryOutcome, item: PushEventParams | IncomingMessage, to: str | None
    ) -> bool:
        if outcome.refusal is not None:
            await self._report(RefusedItem(item, to, outcome.refusal))
        return outcome.done

    async def _report(self, refused: RefusedItem) -> None:
        if self._on_refused is None:
            name = _name_of(refused.item)
            logger.warning("%s was refused: %s", name, sanitize_for_log(refused.reason))
            return
        try:
            await self._on_refused(refused)
        except Exception:
            logger.exception("Outbox.on_refused failed for %s", _name_of(refused.item))


def _read(kept: Any) -> tuple[PushEventParams | IncomingMessage, str | None]:
    """Return the item of a record, and its address.

    Raises:
        LookupError, TypeError, ValueError: it cannot be read.
    """
    to = kept["to"]
    if to is not None and not isinstance(to, str):
        raise TypeError("expected an address or null")
    if kept["method"] == PUSH_EVENT.name:
        return from_wire(PushEventParams, kept["item"]), to
    return from_wire(IncomingMessage, kept["item"]), to


def _name_of(item: PushEventParams | IncomingMessage) -> str:
    if isinstance(item, PushEventParams):
        return f"event {item.event_id!r:.60}"
    return f"message {item.message_id!r:.60}"
