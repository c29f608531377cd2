"""Leases: which of several processes does a piece of work, by compare-and-set over records.

A holder renews its lease by writing it again. Another process takes it when it has seen the same
revision for as long as a lease lasts, by its own clock that only measures how much time goes by. So
wall clocks do not matter, nor whether they differ or jump: only that a second takes about as long
everywhere. A holder counts from before it sends a write, and stops earlier than others may begin.
"""

from __future__ import annotations

__all__ = ("Lease", "LeaseHolder", "LeaseLostError", "Leases", "elapsed")

import json
import logging
import sys
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Final
from uuid import uuid4

import anyio

from kinwire.managers.lease_rules import RENEWED_AFTER, LeaseTerm, LeaseView
from kinwire.rpc.codec import is_object
from kinwire.storage.clock import Clock
from kinwire.storage.errors import (
    ConflictError,
    StorageDamagedError,
    StorageError,
    StorageUnavailableError,
)
from kinwire.storage.records import Record, Records
from kinwire.support.arguments import SECONDS, TEXT, ArgumentCheck
from kinwire.support.background import background
from kinwire.support.errors import KinwireError
from kinwire.support.json_values import short_digest
from kinwire.support.sanitize import sanitize_for_log

logger = logging.getLogger("kinwire.managers")

_TRIED_AGAIN = 1 / 12  # the part of the time after which a renewal that failed is tried again
_NOTE_SIZE = 256 * 1024  # characters of JSON: a store that refuses the note would end the lease
_LOOKED_AFTER = 1 / 5  # the part of the time after which those who wait look again

_LEASES = ArgumentCheck(
    "Leases", 'Leases(records, holder="kernel-1")', {"holder": TEXT, "lasts": SECONDS}
)


def elapsed() -> float:
    """Return seconds of a clock that never goes back, and counts while the machine is asleep."""
    if sys.platform == "linux":
        return time.clock_gettime(time.CLOCK_BOOTTIME)
    return time.monotonic()


class LeaseLostError(KinwireError):
    """A lease could not be renewed in time, so another process may have it now."""


@dataclass(frozen=True, slots=True)
class LeaseHolder:
    """Who has a lease, as the records say."""

    name: str
    """What the lease is for."""
    holder: str
    fence: int
    """See `Lease.fence`."""
    renewed_at: float
    """When by the holder's wall clock, in seconds since 1970: only to be shown."""
    note: Any = None
    """What the holder has published with it."""


@dataclass(slots=True)
class _Held:
    """What a process knows of a lease that it has."""

    name: str
    token: str
    """By which it knows its own records."""
    fence: int
    revision: int
    term: LeaseTerm
    note: Callable[[], Any]
    news: anyio.Event = field(default_factory=anyio.Event)


class Lease:
    """A lease that this process has. Get it from `Leases.hold`."""

    def __init__(self, held: _Held, clock: Clock) -> None:
        self._held, self._clock = held, clock

    @property
    def name(self) -> str:
        """What it is for."""
        return self._held.name

    @property
    def fence(self) -> int:
        """A number that is higher than that of every earlier holder.

        What is written for the holder's work can keep it, and refuse a lower one: then a holder
        that was stopped and woke up late does no harm.
        """
        return self._held.fence

    @property
    def is_held(self) -> bool:
        """Whether no other process can have it now. Ask before something that only one may do."""
        return self.left > 0

    @property
    def left(self) -> float:
        """How many seconds it is held without another renewal."""
        return self._held.term.left(self._clock())

    def refresh(self) -> None:
        """Renew it soon, because what `note` returns has changed."""
        self._held.news.set()


class Leases:
    """The leases of one process in records that several processes share.

    `holder` is what the process calls itself. A lease `lasts` that many seconds without renewal: if
    its holder is killed, that is how long others wait, and up to a fifth of it more. All processes
    must use the same number. `clock` returns the time as `elapsed` does, `wall` the time in seconds
    since 1970, and `sleep` waits for that many seconds.
    """

    def __init__(
        self,
        records: Records,
        *,
        holder: str,
        prefix: str = "lease/",
        lasts: float = 15.0,
        clock: Clock = elapsed,
        wall: Clock = time.time,
        sleep: Callable[[float], Awaitable[None]] = anyio.sleep,
    ) -> None:
        """Prepare; nothing is read or written.

        Raises:
            TypeError, ValueError: `holder` or `lasts` is not of its type, or out of range.
        """
        _LEASES.check(holder=holder, lasts=lasts)
        self._records, self._prefix = records, prefix
        self.holder: Final = holder
        self.lasts: Final = lasts
        self._clock, self._wall, self._sleep = clock, wall, sleep

    @asynccontextmanager
    async def hold(
        self,
        name: str,
        *,
        waiting: Callable[[], Coroutine[Any, Any, None]] | None = None,
        note: Callable[[], Any] = lambda: None,
    ) -> AsyncGenerator[Lease]:
        """Wait for the lease, and have it for the block: `async with leases.hold("files"):`.

        If it cannot be renewed in time, the block is cancelled. It has a third of `lasts` to end;
        then another process may begin. At the end of the block others may take it immediately.
        `waiting` runs while it waits, and is cancelled then. `note` returns a JSON value that
        `look` shows in any process, None if it has more than 256 KiB; it is called for each renewal
        (`Lease.refresh`).

        Raises:
            LeaseLostError: the block was cancelled.
            StorageError: the records cannot be used; while they are away, it waits.
        """
        async with background() as tasks:
            if waiting is not None:
                tasks.start_soon(waiting)
            held = await self._taken(name, note)
            tasks.cancel_scope.cancel()
        try:
            with anyio.CancelScope() as scope:
                async with background() as tasks:
                    tasks.start_soon(self._keep, held, scope)
                    yield Lease(held, self._clock)
                    tasks.cancel_scope.cancel()
        finally:
            await self._release(held)
        if scope.cancelled_caught:
            raise LeaseLostError(f"The lease of {sanitize_for_log(name)!r} could not be renewed.")

    async def look(self, name: str) -> LeaseHolder | None:
        """Return who has a lease, or has had it and did not give it back; None for nobody.

        Raises:
            StorageError: the records cannot be read.
        """
        record = await self._records.get(self._key(name))
        return None if record is None else _holder_in(record)

    async def look_all(self) -> list[LeaseHolder]:
        """Return the same for all leases, in no order.

        Raises:
            StorageError: the records cannot be read.
        """
        return [_holder_in(record) async for record in self._records.scan(self._prefix)]

    async def _taken(self, name: str, note: Callable[[], Any]) -> _Held:
        view, token, complained = LeaseView(self.lasts), uuid4().hex, False
        while True:
            try:
                held = await self._attempt(name, token, note, view)
            except StorageUnavailableError as error:
                held = None
                if not complained:
                    logger.warning("a lease cannot be taken now: %s", sanitize_for_log(error))
                complained = True
            if held is not None:
                return held
            await self._sleep(self.lasts * _LOOKED_AFTER)

    async def _attempt(
        self, name: str, token: str, note: Callable[[], Any], view: LeaseView
    ) -> _Held | None:
        """Return the lease if it can be had now.

        The token shows in a record that an earlier attempt, whose answer was lost, has taken it.
        """
        key = self._key(name)
        record = await self._records.get(key)
        sent = self._clock()
        expected = view.expected(0 if record is None else record.revision, sent)
        if record is not None and _is_of(record, token):
            expected = record.revision
        if expected is None:
            return None
        try:
            value = self._value(name, token, None, note())
            revision = await self._records.put(key, value, revision=expected)
        except ConflictError:
            return None
        term = LeaseTerm(self.lasts, sent)
        if not term.left(self._clock()):
            return None  # the answer came too late to rely on it
        return _Held(name, token, revision, revision, term, note)

    async def _keep(self, held: _Held, scope: anyio.CancelScope) -> None:
        """Renew a lease again and again; cancel the scope when it is lost."""
        part = RENEWED_AFTER
        while left := held.term.left(self._clock()):
            await self._pause(held, min(self.lasts * part, left))
            with anyio.move_on_after(held.term.left(self._clock())):
                part = await self._renewed(held)
        logger.warning("the lease of %r is lost", sanitize_for_log(held.name))
        scope.cancel()

    async def _pause(self, held: _Held, seconds: float) -> None:
        """Wait, at most until the note has changed."""

        async def wake() -> None:
            await held.news.wait()
            held.news = anyio.Event()
            tasks.cancel_scope.cancel()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(wake)
            await self._sleep(seconds)
            tasks.cancel_scope.cancel()

    async def _renewed(self, held: _Held) -> float:
        """Write a lease again; return after which part of its time that is to be done next."""
        sent, key = self._clock(), self._key(held.name)
        try:
            value = self._value(held.name, held.token, held.fence, held.note())
            held.revision = await self._records.put(key, value, revision=held.revision)
        except ConflictError:
            return await self._found_again(held)
        except StorageError as error:
            logger.warning("a lease is not renewed yet: %s", sanitize_for_log(error))
            return _TRIED_AGAIN
        held.term.renew(sent)
        return RENEWED_AFTER

    async def _found_again(self, held: _Held) -> float:
        """Look whether a write whose answer was lost has moved the record; end the lease if not."""
        try:
            record = await self._records.get(self._key(held.name))
        except StorageError:
            return _TRIED_AGAIN
        if record is not None and _is_of(record, held.token):
            held.revision = record.revision
        else:
            held.term.end()
        return 0.0

    async def _release(self, held: _Held) -> None:
        """Let others have it immediately; if that fails, they wait."""
        with anyio.move_on_after(self.lasts * RENEWED_AFTER, shield=True):
            try:
                while not await self._released(held):
                    pass  # a renewal that was cancelled was written after all
            except StorageError as error:
                logger.warning("a lease is not given back: %s", sanitize_for_log(error))

    async def _released(self, held: _Held) -> bool:
        """Remove the record of a lease; return whether it is not there any more."""
        record = await self._records.get(self._key(held.name))
        if record is None or not _is_of(record, held.token):
            return True
        try:
            await self._records.delete(record.key, revision=record.revision)
        except ConflictError:
            return False
        return True

    def _value(self, name: str, token: str, fence: int | None, note: Any) -> dict[str, Any]:
        return {
            "name": name,
            "holder": self.holder,
            "token": token,
            "fence": fence,
            "at": self._wall(),
            "note": note if len(json.dumps(note)) <= _NOTE_SIZE else None,
        }

    def _key(self, name: str) -> str:
        return self._prefix + short_digest(name)


def _is_of(record: Record, token: str) -> bool:
    return is_object(record.value) and record.value.get("token") == token


def _holder_in(record: Record) -> LeaseHolder:
    """Return who a record says has the lease.

    Raises:
        StorageDamagedError: it is not the record of a lease.
    """
    try:
        stored: dict[str, Any] = record.value
        fence = stored["fence"] or record.revision  # the first write does not know its revision
        at = stored["at"]
        return LeaseHolder(stored["name"], stored["holder"], fence, at, stored["note"])
    except (KeyError, TypeError) as error:
        raise StorageDamagedError.of_record(
            record.key,
            error,
            expected="a lease",
            hint="Delete the record; the next process that waits takes the lease.",
        ) from error
