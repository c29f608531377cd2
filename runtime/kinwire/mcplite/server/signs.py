"""The signs of life of the processes that work on promises, and the notes between them.

A process that works on promises writes its record again and again. Another process believes that it
is gone when it has seen the same revision for as long as a lease lasts, by a clock of its own.
"""

from __future__ import annotations

__all__ = ("WorkerSigns",)

import logging
from collections.abc import Awaitable, Callable
from uuid import uuid4

import anyio

from kinwire.managers.lease_rules import RENEWED_AFTER, LeaseView
from kinwire.managers.leases import elapsed
from kinwire.storage.clock import Clock
from kinwire.storage.errors import StorageError
from kinwire.storage.records import Records
from kinwire.support.background import background, start_detached
from kinwire.support.bounded import LruDict
from kinwire.support.sanitize import sanitize_for_log

logger = logging.getLogger("kinwire.mcplite")

_KNOWN = 1000  # other processes
_KEPT = 20  # leases after which the store forgets a process
_NOTE_LIFE = 3600.0  # seconds


class WorkerSigns:
    """Says that this process lives while it has work, and which others do."""

    def __init__(
        self,
        records: Records,
        *,
        lasts: float,
        has_work: Callable[[], bool],
        cancel: Callable[[str], None],
        clock: Clock = elapsed,
        sleep: Callable[[float], Awaitable[None]] = anyio.sleep,
    ) -> None:
        """Prepare; `cancel` takes the name of a promise of this process that is to be cancelled."""
        self.worker = uuid4().hex
        self._records, self._lasts = records, lasts
        self._has_work, self._cancel = has_work, cancel
        self._clock, self._sleep = clock, sleep
        self._views = LruDict[str, LeaseView](_KNOWN)
        self._beats = False

    async def begin(self) -> None:
        """Give signs of life from now on, while there is work.

        Raises:
            StorageError: the first one could not be written.
        """
        if not self._beats:
            await self._sign()
            if not self._beats:  # else another task has begun it
                self._beats = True
                start_detached(self._beat)

    async def is_gone(self, worker: str) -> bool:
        """Return whether another process no longer works on its promises.

        Raises:
            StorageError: the records cannot be read.
        """
        record = await self._records.get(_sign_of(worker))
        if record is None:
            return True
        view = self._views.get(worker)
        if view is None:
            view = LeaseView(self._lasts)
            self._views.put(worker, view)
        return view.expected(record.revision, self._clock()) is not None

    def forget(self) -> None:
        """Wait for new signs of all: while the store is away, no process can write its own."""
        self._views.clear()

    async def ask_to_cancel(self, worker: str, name: str) -> None:
        """Have another process cancel the work of a promise.

        Raises:
            StorageError: the records cannot be written.
        """
        await self._records.put(f"{_notes_for(worker)}{name}", True, expires_in=_NOTE_LIFE)

    async def end(self) -> None:
        """Say that this process has no more work."""
        if self._beats:
            try:
                await self._records.delete(_sign_of(self.worker))
            except StorageError as error:
                logger.warning("a sign of life was not removed: %s", sanitize_for_log(error))

    async def _beat(self) -> None:
        try:
            async with background() as tasks:
                tasks.start_soon(self._read_notes)
                while self._has_work():
                    await self._sleep(self._lasts * RENEWED_AFTER)
                    await self._try(self._sign)
                self._beats = False  # what begins from now on has signs of its own
                tasks.cancel_scope.cancel()
        finally:
            self._beats = False

    async def _sign(self) -> None:
        name = _sign_of(self.worker)
        await self._records.put(name, True, expires_in=self._lasts * _KEPT)

    async def _read_notes(self) -> None:
        while True:
            await self._try(self._read)
            await self._sleep(self._lasts * RENEWED_AFTER)

    async def _read(self) -> None:
        prefix = _notes_for(self.worker)
        async with self._records.watch(prefix) as changes:
            async for change in changes:
                if change.record is not None:
                    self._cancel(change.key.removeprefix(prefix))
                    await self._records.delete(change.key)

    async def _try(self, act: Callable[[], Awaitable[object]]) -> None:
        try:
            await act()
        except StorageError as error:
            self.forget()
            logger.warning("the records of promises are away: %s", sanitize_for_log(error))


def _sign_of(worker: str) -> str:
    return f"worker/{worker}"


def _notes_for(worker: str) -> str:
    return f"cancel/{worker}/"
