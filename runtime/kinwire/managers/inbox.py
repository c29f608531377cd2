"""Items that a peer sends under an id: recorded, handed over, and answered once for each id.

An item is recorded before it is handed over, and its answer before the peer gets it. So a repeat of
an item gets the first answer, also after a restart if there are records, and an item whose answer
is unknown is handed over again, marked so.
"""

from __future__ import annotations

__all__ = (
    "REMEMBERED",
    "Fate",
    "HandOver",
    "Inbox",
    "InboxKey",
    "Remembered",
    "ReusedIdError",
)

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from enum import Enum
from typing import Any, Generic, NamedTuple, TypeVar

from pydantic_core import from_json

from kinwire.managers.concurrency import KeyedLock
from kinwire.storage.clock import Clock
from kinwire.storage.records import Records
from kinwire.support.bounded import DEDUP_SECONDS, TtlDict
from kinwire.support.errors import KinwireError
from kinwire.support.json_values import short_digest, text

Item = TypeVar("Item")
Answer = TypeVar("Answer")

REMEMBERED = 100_000
"""How many ids an inbox remembers in memory, of all senders together."""

_SWEEP_SECONDS = 900.0  # between two removals of what has expired of idle senders


class InboxKey(NamedTuple):
    """Names an item by its sender and by a digest of its id, since peers may choose long ids."""

    sender: str
    id: str


class Fate(Enum):
    """What a hand-over means for a repeat of the item."""

    ANSWERED = "answered"
    """The answer is final: a repeat gets it."""
    REFUSED = "refused"
    """The item was not taken: a repeat is handed over as new."""
    UNKNOWN = "unknown"
    """Whether it was taken is unknown: a repeat is handed over again, marked so."""


HandOver = Callable[[Item, bool], Awaitable[tuple[Answer, Fate]]]
"""Takes an item, and whether it was handed over before with an unknown outcome; returns the answer.

An exception is as `Fate.REFUSED`, a cancellation as `Fate.UNKNOWN`.
"""


class ReusedIdError(KinwireError):
    """An id came again with another item."""


@dataclass(frozen=True, slots=True)
class Remembered(Generic[Answer]):
    """What is known of an item that was handed over."""

    digest: str
    """That of the item."""
    answer: Answer | None
    """None if it is unknown."""


class Inbox(Generic[Item, Answer]):
    """The items of all senders: `await inbox.take(inbox.key(sender, id), item, hand_over)`.

    `write` returns an answer as a JSON value that is not null, and `read` the answer of such a
    value. Ids are remembered for a day. With `records` all of them are, in records whose keys begin
    with `prefix`; in memory there are at most `limit`, of all senders together. For one more, the
    oldest of the sender with the most are forgotten, so a sender cannot make an inbox forget the
    ids of others. `clock` must never go back.
    """

    def __init__(
        self,
        prefix: str,
        *,
        write: Callable[[Answer], Any],
        read: Callable[[Any], Answer],
        records: Records | None,
        clock: Clock,
        limit: int = REMEMBERED,
    ) -> None:
        self._prefix = prefix
        self._write = write
        self._read = read
        self._records = records
        self._clock = clock
        self._memory = _Memory(limit)
        self._turns = KeyedLock[InboxKey]()

    def key(self, sender: str, *id: str) -> InboxKey:
        """Return the key of an item. `sender` is a digest, under which its ids are remembered."""
        return InboxKey(sender, short_digest(*id))

    def turn(self, key: InboxKey) -> AbstractAsyncContextManager[None]:
        """Return the lock that is held while an item is handed over; `take` takes it itself."""
        return self._turns.of(key)

    def is_under_way(self, key: InboxKey) -> bool:
        """Return whether the item is being handed over, or waits for that."""
        return key in self._turns

    async def take(
        self,
        key: InboxKey,
        item: Item,
        hand_over: HandOver[Item, Answer],
        *,
        digest: str = "",
    ) -> Answer:
        """Return the answer that is known, else hand the item over and return the answer to it.

        `digest` is the same for each repeat of an item, and another one for another item. Repeats
        wait until the item that is being handed over is answered.

        Raises:
            ReusedIdError: another item came under this key before.
            StorageError: the store failed; the item was not handed over, or its outcome is unknown.
            Exception: what `hand_over` raised.
        """
        await self._turns.acquire(key)
        try:
            known = await self.look(key)
            if known is not None and known.digest != digest:
                raise ReusedIdError("the id was used for another item")
            if known is not None and known.answer is not None:
                return known.answer
            if self._records is not None:  # in memory, only a repeat could need it: repeats wait
                await self._store(key, None, digest)
            try:
                answer, fate = await hand_over(item, known is not None)
            except BaseException as error:
                await self._failed(key, error, digest)
                raise
            if fate is Fate.REFUSED:
                await self.forget(key)
            else:
                await self.record(key, answer if fate is Fate.ANSWERED else None, digest=digest)
            return answer
        finally:
            self._turns.release(key)

    async def look(self, key: InboxKey) -> Remembered[Answer] | None:
        """Return what is known of an item, or None if it is new."""
        kept = self._memory.get(key, now=self._clock())
        if kept is not None:
            digest, _, answer = kept.partition(" ")
            return self._remembered(digest, from_json(answer))
        record = None if self._records is None else await self._records.get(self._place(key))
        if record is None:
            return None
        return self._remembered(record.value["digest"], record.value["answer"])

    async def record(self, key: InboxKey, answer: Answer | None, *, digest: str = "") -> None:
        """Remember the answer to an item, or with None that it is handed over.

        Raises:
            StorageError: the store failed, and nothing has changed in memory.
        """
        written = None if answer is None else self._write(answer)
        if self._records is not None:
            await self._store(key, written, digest)
        # As one text: objects would take several times the memory.
        self._memory.put(key, f"{digest} {text(written)}", now=self._clock())

    async def forget(self, key: InboxKey) -> None:
        """Treat an item as new again.

        Raises:
            StorageError: the store failed.
        """
        self._memory.pop(key, now=self._clock())
        if self._records is not None:
            await self._records.delete(self._place(key))

    async def _failed(self, key: InboxKey, error: BaseException, digest: str) -> None:
        if isinstance(error, Exception):
            await self.forget(key)
        else:
            self._memory.put(key, f"{digest} null", now=self._clock())

    async def _store(self, key: InboxKey, answer: Any, digest: str) -> None:
        assert self._records is not None
        value = {"digest": digest, "answer": answer}
        await self._records.put(self._place(key), value, expires_in=DEDUP_SECONDS)

    def _remembered(self, digest: str, answer: Any) -> Remembered[Answer]:
        return Remembered(digest, None if answer is None else self._read(answer))

    def _place(self, key: InboxKey) -> str:
        return f"{self._prefix}{key.sender}/{key.id}"


class _Memory:
    """What is remembered of items in memory, by sender."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._senders: dict[str, TtlDict[str, str]] = {}
        self._most = 0  # at least as many as there are
        self._sweep_at = 0.0

    def get(self, key: InboxKey, *, now: float) -> str | None:
        kept = self._senders.get(key.sender)
        return None if kept is None else kept.get(key.id, now=now)

    def put(self, key: InboxKey, value: str, *, now: float) -> None:
        kept = self._senders.get(key.sender)
        if kept is None:
            kept = self._senders[key.sender] = TtlDict(DEDUP_SECONDS)
        kept.put(key.id, value, now=now)
        self._most += 1
        if self._most > self._limit or now >= self._sweep_at:
            self._sweep(now)

    def pop(self, key: InboxKey, *, now: float) -> None:
        kept = self._senders.get(key.sender)
        if kept is not None:
            kept.pop(key.id, now=now)

    def _sweep(self, now: float) -> None:
        for kept in self._senders.values():
            kept.expire(now=now)
        self._senders = {sender: kept for sender, kept in self._senders.items() if kept}
        self._most = sum(map(len, self._senders.values()))
        self._sweep_at = now + _SWEEP_SECONDS
        while self._most > self._limit:
            largest = max(self._senders.values(), key=len)
            # A tenth at a time: finding the largest for each item would take long.
            for _ in range(max(1, len(largest) // 10)):
                largest.pop_oldest()
                self._most -= 1
