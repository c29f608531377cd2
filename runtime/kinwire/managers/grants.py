"""Decisions of people about what a peer may do: asked for once, remembered, and taken back.

`GrantStore` keeps approvals and denials by key, in memory and in records. What a key stands for,
and who is asked, is the owner's: a scope of MCPL, a permission or a confirmation of MGP.
"""

from __future__ import annotations

__all__ = ("Decided", "GrantStore", "StoredDecisions")

import logging
import math
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import Generic, NamedTuple, TypeVar

import anyio

from kinwire.managers.concurrency import InFlight
from kinwire.managers.durable_map import DurableMap, RecordCodec
from kinwire.storage.clock import Clock
from kinwire.storage.errors import StorageClosedError, StorageDamagedError, StorageError
from kinwire.storage.records import Change, Records
from kinwire.support.backoff import Backoff
from kinwire.support.sanitize import sanitize_for_log

A = TypeVar("A")

logger = logging.getLogger("kinwire.managers")

_BACKOFF = Backoff()


@dataclass(frozen=True, slots=True)
class Decided(Generic[A]):
    """What was decided, and for how long it is remembered."""

    approved: bool
    answer: A
    """What the owner keeps of it, such as a reason."""
    lasts: float = math.inf
    """In seconds; 0 for this once."""


class StoredDecisions(NamedTuple, Generic[A]):
    """Where decisions of one kind are stored, and how."""

    prefix: str
    codec: RecordCodec[str, A]


class GrantStore(Generic[A]):
    """Approvals and denials by key; a denial counts more than an approval.

    `limit` is the most of each in memory and records: for one more the oldest is removed, so that
    many denials push no approval out. `clock` must never go back: an expired decision stays so.
    """

    def __init__(
        self,
        records: Records | None,
        *,
        approvals: StoredDecisions[A],
        denials: StoredDecisions[A],
        limit: int,
        clock: Clock,
    ) -> None:
        self._records = records
        self._approvals = DurableMap(
            records, approvals.prefix, approvals.codec, limit=limit, clock=clock
        )
        self._denials = DurableMap(records, denials.prefix, denials.codec, limit=limit, clock=clock)
        self._maps = {approvals.prefix: self._approvals, denials.prefix: self._denials}
        self._questions = InFlight[str, Decided[A]]()
        self._taken_back = 0  # how often
        self._news = anyio.Event()

    def __len__(self) -> int:
        return len(self._approvals) + len(self._denials)

    def remembered(self, key: str) -> Decided[A] | None:
        """Return what was decided about a key and still holds."""
        for approved, decisions in ((False, self._denials), (True, self._approvals)):
            answer = decisions.get(key)
            if answer is not None:
                return Decided(approved, answer)
        return None

    def items(self, prefix: str = "") -> list[tuple[str, Decided[A]]]:
        """Return the decisions in memory whose key begins with `prefix`, denials first."""
        denied = [(key, Decided(False, one)) for key, one in self._denials.items(prefix)]
        return denied + [
            (key, Decided(True, one))
            for key, one in self._approvals.items(prefix)
            if key not in self._denials
        ]

    async def load(self, prefix: str = "") -> None:
        """Take decisions of earlier processes into memory.

        Raises:
            StorageError: the store failed, or a record cannot be read.
        """
        for decisions in self._maps.values():
            await decisions.load(prefix)

    def leave(self, prefix: str = "") -> None:
        """Remove decisions from memory; records stay."""
        for decisions in self._maps.values():
            decisions.forget(prefix)

    async def keep(self, key: str, decision: Decided[A]) -> None:
        """Remember a decision in place of an earlier one, if it lasts.

        The new one is written first. If a crash or an error leaves both, the denial counts.

        Raises:
            StorageError: the store failed.
        """
        if not decision.lasts > 0:  # also if it is NaN
            return
        kept, other = self._approvals, self._denials
        if not decision.approved:
            kept, other = other, kept
        await kept.put(key, decision.answer, ttl=decision.lasts)
        if key in other:
            await other.delete(key)
        self.report()

    async def take_back(self, prefix: str, *, denials: bool = True) -> None:
        """Remove the approvals whose key begins with `prefix`, and with `denials` these as well.

        An answer to a question that is under way is not remembered.

        Raises:
            StorageError: the store failed.
        """
        self._taken_back += 1
        await self._approvals.delete_all(prefix)
        if denials:
            await self._denials.delete_all(prefix)
        self.report()

    async def decide(self, key: str, ask: Callable[[], Awaitable[Decided[A]]]) -> Decided[A]:
        """Return what is remembered, or what `ask` returns; equal questions share one call of it.

        Raises:
            Exception: what `ask` raised.
            StorageError: the decision could not be stored.
        """
        while True:
            known = self.remembered(key)
            if known is not None:
                return known
            shared = key in self._questions
            decision = await self._questions.run(key, partial(self._question, key, ask))
            if not shared or not decision.approved:
                return decision
            # An approval for one time is for the one who asked: the next one asks again.

    @property
    def news(self) -> anyio.Event:
        """What is set the next time that something is decided or taken back, here or elsewhere.

        Get it before looking, to miss nothing.
        """
        return self._news

    def report(self) -> None:
        """Set `news`: also for the owner, when what it makes of decisions has changed."""
        self._news.set()
        self._news = anyio.Event()

    async def wait(self, key: str) -> Decided[A]:
        """Return what is decided about a key, as soon as something is."""
        while (known := self.remembered(key)) is None:
            await self._news.wait()
        return known

    async def follow(self, prefix: str = "", *, ready: Callable[[], object] = bool) -> None:
        """Take the decisions of other processes into memory as they are stored.

        `prefix` is what all records of both kinds begin with. It returns when the store is closed,
        or immediately without records. A store that is away is tried again; what it has approved
        does not hold until then, since others may take it back. `ready` is called each time that
        the watch is open, or could not be opened: what is loaded after that is not missed when it
        changes.
        """
        failures = 0
        while self._records is not None:
            try:
                async with self._records.watch(prefix) as changes:
                    ready()
                    async for change in changes:
                        failures = 0
                        self._take(change)
            except StorageClosedError:
                return
            except StorageError as error:
                logger.warning("decisions of others are not seen: %s", sanitize_for_log(error))
                self._approvals.forget_stored()
                self.report()
            ready()
            failures += 1
            await anyio.sleep(_BACKOFF.delay(failures, jitter=0.5))

    async def _question(self, key: str, ask: Callable[[], Awaitable[Decided[A]]]) -> Decided[A]:
        """Return what `ask` returns; remember it, if it lasts."""
        before = self._taken_back
        decision = await ask()
        if before == self._taken_back:
            await self.keep(key, decision)
        if before != self._taken_back:  # it was taken back while it was stored
            await self._approvals.delete(key)
            await self._denials.delete(key)
        return decision

    def _take(self, change: Change) -> None:
        for prefix, decisions in self._maps.items():
            if change.key.startswith(prefix):
                try:
                    decisions.take(change)
                except StorageDamagedError as error:
                    logger.error("a decision cannot be read: %s", sanitize_for_log(error))
                self.report()
