"""The signs of life of the processes that work on promises, and the notes between them.

A process that works on promises writes its record again and again. `rules/silence.py` says when
another process believes that it is gone. The record is kept as long as a promise, so that an outage
of the store, however long, does not look like the end of a process: a missing record means that the
process has removed it.
"""

from __future__ import annotations

__all__ = ("WorkerSigns",)

import logging
from collections.abc import Awaitable, Callable
from functools import partial
from uuid import uuid4

import anyio

from kinwire.managers.lease_rules import RENEWED_AFTER
from kinwire.managers.leases import elapsed
from kinwire.mcplite.rules.limits import LiteLimits
from kinwire.mcplite.rules.silence import WorkerSilence
from kinwire.storage.clock import Clock
from kinwire.storage.errors import StorageError
from kinwire.storage.records import Records
from kinwire.support.background import background, start_detached
from kinwire.support.bounded import LruDict
from kinwire.support.sanitize import sanitize_for_log

logger = logging.getLogger("kinwire.mcplite")

_KNOWN = 1000  # other processes
_TRIED_AGAIN = 1 / 12  # the part of a lease after which a sign that failed is written again
_NOTE_LIFE = 3600.0  # seconds


class WorkerSigns:
    """Says that this process lives while it has work, and which others do."""

    def __init__(
        self,
        records: Records,
        limits: LiteLimits,
        *,
        has_work: Callable[[], bool],
        cancel: Callable[[str], None],
        clock: Clock = elapsed,
        sleep: Callable[[float], Awaitable[None]] = anyio.sleep,
    ) -> None:
        """Prepare; `cancel` takes the name of a promise of this process that is to be cancelled."""
        self.worker = uuid4().hex
        self._records, self._lasts = records, limits.worker_lease
        self._kept = limits.token_life + limits.worker_lease
        self._has_work, self._cancel = has_work, cancel
        self._clock, self._sleep = clock, sleep
        self._silences = LruDict[str, WorkerSilence](_KNOWN)
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
        silence = self._silences.get(worker)
        if silence is None:
            silence = WorkerSilence(self._lasts)
            self._silences.put(worker, silence)
        return silence.is_proof(record.revision, self._clock())

    def forget(self) -> None:
        """Wait for new signs of all: while the store is away, no process can write its own."""
        self._silences.clear()

    async def ask_to_cancel(self, worker: str, name: str) -> None:
        """Have another process cancel the work of a promise; without the note it only ends later.

        The promise is cancelled already, so a store that is unavailable now is logged.
        """
        note = f"{_notes_for(worker)}{name}"
        await self._try(partial(self._records.put, note, True, expires_in=_NOTE_LIFE))

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
                part = RENEWED_AFTER
                while self._has_work():
                    await self._sleep(self._lasts * part)
                    part = RENEWED_AFTER if await self._try(self._sign) else _TRIED_AGAIN
                self._beats = False  # what begins from now on has signs of its own
                tasks.cancel_scope.cancel()
        finally:
            self._beats = False

    async def _sign(self) -> None:
        await self._records.put(_sign_of(self.worker), True, expires_in=self._kept)

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

    async def _try(self, act: Callable[[], Awaitable[object]]) -> bool:
        """Return whether the store did it; if not, say so in the log."""
        try:
            await act()
        except StorageError as error:
            self.forget()
            logger.warning("the store of promises is unavailable: %s", sanitize_for_log(error))
            return False
        return True


def _sign_of(worker: str) -> str:
    return f"worker/{worker}"


def _notes_for(worker: str) -> str:
    return f"cancel/{worker}/"
