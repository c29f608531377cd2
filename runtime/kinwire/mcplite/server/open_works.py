"""The work that this process does for promises: how it begins, is stored, and ends."""

from __future__ import annotations

__all__ = ("OpenWorks",)

from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial

import anyio

from kinwire.managers.limits import ConcurrencyLimit
from kinwire.managers.tool_outcomes import ToolError
from kinwire.mcplite.rules.limits import LiteLimits
from kinwire.mcplite.rules.promises import PromiseRecord, begun_promise
from kinwire.mcplite.server.key_claims import KeyClaims
from kinwire.mcplite.server.promise_records import PromiseRecords, RepeatedCall
from kinwire.mcplite.server.signs import WorkerSigns
from kinwire.mcplite.server.source import ToolRun
from kinwire.mcplite.server.work import OpenWork, Perform
from kinwire.mcplite.server.work_ends import WorkEnds, work_lost
from kinwire.storage.errors import StorageError
from kinwire.support.background import start_detached

_LAST_WRITES = 2.0  # seconds, for all together, when a server closes


class OpenWorks:
    """The work of this process, by the names of its promises."""

    def __init__(
        self,
        store: PromiseRecords,
        limits: LiteLimits,
        *,
        is_shared: bool,
        sleep: Callable[[float], Awaitable[None]],
    ) -> None:
        self._store, self._limits = store, limits
        self._is_shared = is_shared
        self.open: dict[str, OpenWork] = {}
        """What is not over, or not stored yet."""
        self.claims = KeyClaims(store, limits, sleep=sleep)
        self._running: set[OpenWork] = set()
        self._ends = WorkEnds(store, limits, is_shared=is_shared, sleep=sleep)
        self._owners = ConcurrencyLimit[str](limits.open_promises_per_caller)
        self._signs = WorkerSigns(
            store.records,
            limits,
            has_work=lambda: bool(self._running),
            cancel=self._cancel_here,
            sleep=sleep,
        )

    def begin(self, run: ToolRun, perform: Perform, owner: str) -> OpenWork:
        """Begin work that nobody has a promise for.

        Raises:
            ToolError: there is too much of it.
        """
        work = self._admitted(run, owner)
        start_detached(partial(self._work, work, perform))
        return work

    async def claim(
        self,
        run: ToolRun,
        perform: Perform,
        owner: str,
        name: str,
        key: str,
        call: RepeatedCall,
    ) -> OpenWork | None:
        """Begin work that is stored first; None if another call with the same key was faster.

        Raises:
            ToolError: there is too much work.
            StorageError: it cannot be stored; nothing has begun.
        """
        work = self._admitted(run, owner)
        work.key = key
        is_first = False
        try:
            is_first = await self.claims.claim(key, name, call, partial(self.record, work, name))
        finally:
            if not is_first:
                self._leave(work)
        if not is_first:
            return None
        start_detached(partial(self._work, work, perform))
        return work

    async def record(self, work: OpenWork, name: str) -> None:
        """Store work as a promise.

        Raises:
            StorageError: it cannot be stored.
        """
        if self._is_shared:
            await self._signs.begin()
        record = begun_promise(
            work.owner,
            self._signs.worker,
            now=self._store.now(),
            estimated=work.estimated,
            limits=self._limits,
        )
        revision = await self._store.write(name, record, 0)
        assert revision is not None, "256 random bits were drawn before"
        work.name, work.record, work.revision = name, record, revision
        self.open[name] = work

    async def lost(self, name: str, record: PromiseRecord) -> PromiseRecord | None:
        """Return what to store for a promise that nobody works on any more; None if somebody does.

        Raises:
            StorageError: the records cannot be read.
        """
        if name in self.open:
            return None
        if record.worker != self._signs.worker and not await self._signs.is_gone(record.worker):
            return None
        return self._ends.lost(record)

    def store_is_away(self) -> None:
        """Wait for new signs of life: no process can write one now."""
        self._signs.forget()

    async def stored(self, work: OpenWork, seconds: float) -> None:
        """Wait until the end of work is stored, at most that many seconds."""
        with anyio.move_on_after(seconds):
            await work.stored.wait()

    async def cancel(self, name: str, worker: str) -> None:
        """Stop the work of a promise, in whatever process it is."""
        if name in self.open:
            self._cancel_here(name)
        elif worker != self._signs.worker:
            await self._signs.ask_to_cancel(worker, name)

    def fetched(self, name: str) -> None:
        """Note that a client has the result: one in memory is not kept for long."""
        self._ends.fetched(name)

    async def close(self, grace: float) -> None:
        """End all work: what takes longer than `grace` seconds has failed."""
        with anyio.move_on_after(grace):
            for work in list(self._running):
                await work.stored.wait()
        for work in list(self._running):
            work.end_with(work_lost())
        with anyio.move_on_after(_LAST_WRITES):
            for work in list(self._running):
                await work.stored.wait()
        if self._is_shared:
            await self._signs.end()

    def _admitted(self, run: ToolRun, owner: str) -> OpenWork:
        has_room = len(self._running) < self._limits.open_promises
        if not has_room or not self._owners.enter(owner):
            raise ToolError("There are too many open promises.", code="TOO_MANY_PROMISES")
        limits = self._limits
        work = OpenWork(run, owner, limits.token_life, limits.result_size)
        work.tell_estimate = partial(self._tell_estimate, work)
        self._running.add(work)
        return work

    async def _tell_estimate(self, work: OpenWork) -> None:
        """Store how long work takes whose promise was given before the tool said so."""
        async with work.turn:
            if work.record is None or work.estimated is None:
                return
            later = replace(work.record, estimate=self._store.now() + work.estimated)
            with suppress(StorageError):  # it is only a hint: the work goes on
                revision = await self._store.write(work.name, later, work.revision)
                if revision is not None:
                    work.record, work.revision = later, revision

    def _leave(self, work: OpenWork) -> None:
        self._running.discard(work)
        self.open.pop(work.name, None)
        self._owners.leave(work.owner)
        work.stored.set()

    async def _work(self, work: OpenWork, perform: Perform) -> None:
        """Do work to its end, and store what came of it; it raises nothing."""
        try:
            await work.perform(perform)
            async with work.turn:
                if work.record is not None:
                    await self._ends.store(work, work.record)
        finally:
            self._leave(work)

    def _cancel_here(self, name: str) -> None:
        work = self.open.get(name)
        if work is not None:
            work.cancel()
