"""An inbox for events and messages, which are acknowledged when the program has confirmed them.

An item is recorded before the program gets it, and removed when the program has confirmed it; only
then the server gets its answer. After a crash the recorded items are handed over again, and a
repeat of an item that was confirmed is answered from the records (MCPL 9.4, 14.3).
"""

from __future__ import annotations

__all__ = ("DurableInbox",)

import logging
import time
from collections import deque
from collections.abc import AsyncIterator
from dataclasses import replace

import anyio

from kinwire.managers.concurrency import InFlight, KeyedLock
from kinwire.managers.inbox import Inbox, InboxKey
from kinwire.managers.peer_records import PeerRecords
from kinwire.mcpl.host.event_inbox import PushedEvent
from kinwire.mcpl.host.inbox_item import InboxItem, PendingItem, event_id, message_id
from kinwire.mcpl.host.message_inbox import UserTurn
from kinwire.storage.clock import Clock, forward
from kinwire.storage.records import Record, Records
from kinwire.support.arguments import FUNCTION, SECONDS, ArgumentCheck, having
from kinwire.support.sanitize import sanitize_for_log
from kinwire_protocols.base import from_wire, to_wire
from kinwire_protocols.mcpl.models import IncomingMessage, PushEventResult

logger = logging.getLogger("kinwire.mcpl")

_MOST_PENDING = 1000  # items; then servers wait
_PENDING = "inbox/pending/"

_DURABLE_INBOX = ArgumentCheck(
    "DurableInbox",
    'DurableInbox(await store.records("mcpl"))',
    {"records": having(("get", "put", "scan"), "records of a store", "records").or_none},
    retry_delay=SECONDS,
    clock=FUNCTION,
)


class DurableInbox:
    """Events and turns, one after the other: `async for item in inbox: async with item: ...`.

    Pass `inbox.push` as `McplHost(on_push=...)` and `inbox.turn` as `Channels(on_turn=...)`. A
    server gets its answer when the block of the item has ended. If that takes longer than
    `push_timeout`, or than the server waits, the item stays here, and the server gets the answer
    when it sends the item again. With `records`, items survive the process; without them, a server
    must send again what was not confirmed. `retry_delay` is in seconds.

    Events of a feature set are handed over one at a time and in order, turns in the order in which
    they came. Several tasks may read from one inbox.
    """

    def __init__(
        self,
        records: Records | None = None,
        *,
        retry_delay: float = 1.0,
        clock: Clock = time.time,
    ) -> None:
        """Prepare an inbox for one host.

        Raises:
            ValueError: `retry_delay` is out of range.
            TypeError: `records` are not records of a store, or `clock` is not a function.
        """
        _DURABLE_INBOX.check(records=records, retry_delay=retry_delay, clock=clock)
        self._records = None if records is None else PeerRecords(records)
        self._retry_delay = retry_delay
        self._confirmed = Inbox[None, PushEventResult](
            "inbox/confirmed/",
            write=to_wire,
            read=lambda answer: from_wire(PushEventResult, answer),
            records=self._records,
            clock=forward(clock),
        )
        self._pending: dict[InboxKey, PendingItem] = {}
        self._ready = deque[PendingItem]()
        self._delayed = deque[tuple[float, PendingItem]]()  # with the time when it is ready
        self._waiting = set[anyio.Event]()  # of tasks that wait for a change
        self._adding = KeyedLock[str]()  # by server
        self._loads = InFlight[str, None]()
        self._is_loaded = records is None

    def __aiter__(self) -> AsyncIterator[InboxItem]:
        """Return the inbox itself: the loop ends only if it is left, or cancelled."""
        return self

    async def __anext__(self) -> InboxItem:
        """Wait for the next item.

        Raises:
            StorageError: the recorded items could not be read.
        """
        await self._load()
        while True:
            now = anyio.current_time()
            while self._delayed and self._delayed[0][0] <= now:
                self._ready.append(self._delayed.popleft()[1])
            if self._ready:
                return InboxItem(self._ready.popleft(), self._end, self._put_back)
            await self._change(self._delayed[0][0] - now if self._delayed else None)

    async def push(self, event: PushedEvent) -> PushEventResult:
        """Take an event, and return its answer when it is confirmed.

        Raises:
            StorageError: it could not be recorded; the server may send it again.
        """
        await self._load()
        server, params = event.server.key, event.params
        key = self._confirmed.key(server, *event_id(params))
        async with self._adding.of(server):
            known = await self._confirmed.look(key)
            if known is not None:
                assert known.answer is not None  # only what is confirmed is recorded
                return known.answer
            pending = self._pending.get(key)
            if pending is None:
                pending = PendingItem(server, [key], params, None, event.again)
                await self._add(pending)
        return await pending.answered()

    async def turn(self, turn: UserTurn) -> None:
        """Take a turn, and return when all its messages are confirmed.

        Messages that are here already, or were confirmed, are not handed over twice.

        Raises:
            StorageError: it could not be recorded; the server may send its messages again.
        """
        await self._load()
        async with self._adding.of(turn.server_key):
            awaited = await self._with(turn)
        for pending in awaited:
            await pending.answered()

    async def _with(self, turn: UserTurn) -> list[PendingItem]:
        """Return the items that have messages of a turn; what is new is one of them."""
        awaited: list[PendingItem] = []
        new: dict[InboxKey, IncomingMessage] = {}
        for message in turn.messages:
            key = self._confirmed.key(turn.server_key, *message_id(message))
            pending = self._pending.get(key)
            if pending is not None:
                awaited.append(pending)
            elif await self._confirmed.look(key) is None:
                new[key] = message
        if new:
            messages = list(new.values())
            again = [one for one in turn.again if one in messages]
            part = replace(turn, messages=messages, again=again)
            pending = PendingItem(turn.server_key, list(new), None, part, bool(again))
            await self._add(pending)
            awaited.append(pending)
        return awaited

    async def _end(self, pending: PendingItem, answer: PushEventResult) -> None:
        with anyio.CancelScope(shield=True):  # at most for the time-out of the store
            if answer.accepted:
                for key in pending.keys:
                    await self._confirmed.record(key, answer)
            if self._records is not None:
                await self._records.delete(_place(pending))
        pending.answer = answer
        self._remove(pending)

    def _put_back(self, pending: PendingItem, delayed: bool) -> None:
        pending.mark_again()
        if delayed:
            self._delayed.append((anyio.current_time() + self._retry_delay, pending))
        else:
            self._ready.appendleft(pending)
        self._changed()

    async def _add(self, pending: PendingItem) -> None:
        while len(self._pending) >= _MOST_PENDING:
            await self._change(None)
        self._pending.update(dict.fromkeys(pending.keys, pending))
        try:
            if self._records is not None:
                await self._records.put(_place(pending), pending.written)
        except BaseException:
            self._remove(pending)
            raise
        self._ready.append(pending)
        self._changed()

    def _remove(self, pending: PendingItem) -> None:
        for key in pending.keys:
            self._pending.pop(key, None)
        pending.ended.set()
        self._changed()

    async def _load(self) -> None:
        if not self._is_loaded:
            await self._loads.run("", self._restore)

    async def _restore(self) -> None:
        assert self._records is not None
        found = [record async for record in self._records.scan(_PENDING)]
        restored: list[PendingItem] = []
        for record in sorted(found, key=lambda one: one.revision):
            pending = self._read(record)
            if pending is None:
                continue
            if await self._confirmed.look(pending.keys[-1]) is not None:
                await self._records.delete(record.key)  # the process ended before this
                continue
            restored.append(pending)
        for pending in restored:  # not before: if the store fails, all are read again
            self._pending.update(dict.fromkeys(pending.keys, pending))
            self._ready.append(pending)
        self._is_loaded = True
        if restored:
            logger.info("%d items that were not confirmed are handed over again", len(restored))

    def _read(self, record: Record) -> PendingItem | None:
        """Return the item of a record; None if it cannot be read, so that it stops no other."""
        server = record.key.removeprefix(_PENDING).partition("/")[0]
        try:
            return PendingItem.restored(server, record.value, self._confirmed.key)
        except (AttributeError, LookupError, TypeError, ValueError) as error:
            text = "ignored the record %.80r, which is not an item: %s"
            logger.error(text, record.key, sanitize_for_log(error))
            return None

    def _changed(self) -> None:
        for waiting in self._waiting:
            waiting.set()

    async def _change(self, seconds: float | None) -> None:
        """Wait until something has changed, at most that long."""
        waiting = anyio.Event()
        self._waiting.add(waiting)
        try:
            with anyio.move_on_after(seconds):
                await waiting.wait()
        finally:
            self._waiting.discard(waiting)


def _place(pending: PendingItem) -> str:
    return f"{_PENDING}{pending.server_key}/{pending.keys[0].id}"
