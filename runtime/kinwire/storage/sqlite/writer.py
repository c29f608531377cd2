"""The one thread that writes. What waits at the same time is committed together.

While one batch is on its way to the disk the next one fills, so the busier the store, the more
writes share the wait. A batch begins one turn of the event loop after its first job: what woke up
together is together again, and the loop is not busy while the thread needs the interpreter, which
it gives away at every statement and would have to wait for. A job that fails leaves its neighbours
alone.
"""

from __future__ import annotations

__all__ = ("SqliteWriter",)

import asyncio
import sqlite3
from collections import deque
from collections.abc import Callable, Generator
from contextlib import suppress
from functools import partial
from queue import SimpleQueue
from threading import Thread
from time import monotonic
from typing import Any, Protocol, TypeVar, cast

import anyio

from kinwire.storage.clock import Clock
from kinwire.storage.errors import StorageError
from kinwire.storage.sqlite.failures import FAILURES, is_busy, typed
from kinwire.storage.sqlite.files import SqliteFile
from kinwire.storage.sqlite.transaction import Transaction, sweep
from kinwire.storage.store import OpenGuard
from kinwire.storage.subscription import WriteSignal

T = TypeVar("T")
Work = Callable[[Transaction], T]

_TOGETHER = 1000  # jobs in one transaction
_SWEEP_EVERY = 1.0  # seconds


class _Job:
    __slots__ = ("deadline", "done", "durable", "error", "result", "work")

    def __init__(self, work: Work[Any], durable: bool, deadline: float, done: Waiter) -> None:
        self.work, self.durable, self.deadline, self.done = work, durable, deadline, done
        self.result: Any = None
        self.error: Exception | None = None


class SqliteWriter:
    """Takes jobs on the event loop and does them in its thread."""

    def __init__(self, file: SqliteFile, guard: OpenGuard, timeout: float, now: Clock) -> None:
        self.signal = WriteSignal()
        self._file, self._guard, self._timeout, self._now = file, guard, timeout, now
        self._home = HomeLoop()
        self._waiting: deque[list[_Job]] = deque()
        self._asked = False  # for the hand-over of what waits
        self._busy = False
        self._batches: SimpleQueue[list[_Job] | None] = SimpleQueue()
        self._connection: sqlite3.Connection | None = None
        self._swept = 0.0
        self._sweeping = False
        self._thread = Thread(target=self._run, name="kinwire-sqlite", daemon=True)
        self._thread.start()

    async def write(self, work: Work[T], *, durable: bool) -> T:
        """Do `work` in a transaction; return what it returns once the transaction is committed.

        Raises:
            StorageError: it was not done. What `work` itself raises is raised here, and leaves
                the rest of the transaction alone.
        """
        job = self._give(work, durable)
        await job.done
        if job.error is not None:
            raise job.error
        return cast("T", job.result)

    def sweep_soon(self) -> None:
        """Have what has expired removed. Nobody waits for it, and it is asked for once."""
        if self._sweeping:
            return
        self._sweeping = True
        self._give(self._sweep, False)

    async def aclose(self) -> None:
        """Do what was given already, then end the thread."""
        self._guard.close()
        while self._waiting:
            self._batches.put(self._waiting.popleft())
        self._batches.put(None)
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(self._thread.join)

    def _give(self, work: Work[Any], durable: bool) -> _Job:
        self._guard.ensure_open()
        if not self._waiting or len(self._waiting[-1]) == _TOGETHER:
            self._waiting.append([])
            self._ask()
        job = _Job(work, durable, monotonic() + self._timeout, self._home.waiter())
        self._waiting[-1].append(job)
        return job

    def _ask(self) -> None:
        if not (self._asked or self._busy):
            self._asked = True
            self._home.later(self._hand_over)

    def _hand_over(self) -> None:
        self._asked = False
        if self._waiting:
            self._busy = True
            self._batches.put(self._waiting.popleft())

    def _tell(self, jobs: list[_Job]) -> None:
        self._busy = False
        for job in jobs:
            if not job.done.done():  # its task was cancelled
                job.done.set_result(None)
        self.signal.fire()
        if self._waiting:
            self._ask()

    # What follows runs in the thread.

    def _run(self) -> None:
        while (jobs := self._batches.get()) is not None:
            self._commit(jobs)
            with suppress(RuntimeError):  # the loop is over: nobody waits any more
                self._home.later(partial(self._tell, jobs))
        self._disconnect()

    def _commit(self, jobs: list[_Job]) -> None:
        """Do the jobs together; where that fails, each on its own."""
        waiting = jobs
        while waiting:
            try:
                self._transact(waiting)
                return
            except FAILURES as error:
                waiting = self._failed(waiting, error, committing=False)
            except _CommitError as error:
                waiting = self._failed(waiting, error.cause, committing=True)
            except Exception as error:  # whatever it is, nobody may wait for ever
                for job in waiting:
                    job.error = error
                return

    def _failed(self, jobs: list[_Job], error: Exception, *, committing: bool) -> list[_Job]:
        """Return the jobs that are worth another try; the others have their error."""
        failure = typed(error, self._file.path, committing=committing)
        if is_busy(error):
            now = monotonic()
            over = [job for job in jobs if job.deadline <= now]
            rest = [job for job in jobs if job.deadline > now]
        elif len(jobs) > 1 and not failure.outcome_unknown:
            over, rest = [], []
            for job in jobs:
                self._commit([job])
        else:
            over, rest = jobs, []
            self._disconnect()
        for job in over:
            job.error = failure
        return rest

    def _transact(self, jobs: list[_Job]) -> None:
        self._file.see_same()
        if self._connection is None:
            self._connection = self._file.connect()
        connection = self._connection
        durable = any(job.durable for job in jobs)
        wait = max(0.0, min(job.deadline for job in jobs) - monotonic())
        connection.execute(f"PRAGMA busy_timeout = {int(wait * 1000)}")
        connection.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
        connection.execute("BEGIN IMMEDIATE")
        try:
            transaction = Transaction(connection, self._now())
            for job in jobs:
                self._do(job, transaction)
            if monotonic() - self._swept > _SWEEP_EVERY:
                self._sweep(transaction)
            transaction.finish()
            self._end(connection)
        finally:
            if connection.in_transaction:
                connection.execute("ROLLBACK")

    @staticmethod
    def _do(job: _Job, transaction: Transaction) -> None:
        job.error = None
        try:
            job.result = job.work(transaction)
        except StorageError as error:
            job.error = error

    def _sweep(self, transaction: Transaction) -> None:
        self._sweeping = False
        self._swept = monotonic()
        sweep(transaction)

    @staticmethod
    def _end(connection: sqlite3.Connection) -> None:
        try:
            connection.execute("COMMIT")
        except sqlite3.Error as error:
            raise _CommitError(error) from error

    def _disconnect(self) -> None:
        """Close the connection; the next batch opens another one."""
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(sqlite3.Error):
                connection.close()


class _CommitError(Exception):
    """The end of a transaction failed, so it may or may not be in the file."""

    def __init__(self, cause: sqlite3.Error) -> None:
        super().__init__(cause)
        self.cause = cause


class Waiter(Protocol):
    """What one task awaits. Futures of asyncio are such, and cost half of what an event does."""

    def __await__(self) -> Generator[Any, Any, None]:
        """Wait until there is a result."""
        ...

    def done(self) -> bool:
        """Return whether there is a result, or nobody waits any more."""
        ...

    def set_result(self, result: None, /) -> None:
        """Let the task go on."""


class HomeLoop:
    """The event loop that runs where this is made."""

    def __init__(self) -> None:
        try:
            native = asyncio.current_task() is not None  # None below a trio guest of asyncio's loop
        except RuntimeError:
            native = False
        self.later: Callable[[Callable[[], None]], object]
        """Calls a function soon on the loop, from any thread; RuntimeError once that is over."""
        self.waiter: Callable[[], Waiter] = _Event
        """Makes one for a task of the loop."""
        if native:
            loop = asyncio.get_running_loop()
            self.later, self.waiter = loop.call_soon_threadsafe, loop.create_future
        else:
            from trio.lowlevel import current_trio_token

            self.later = current_trio_token().run_sync_soon


class _Event:
    def __init__(self) -> None:
        self._event = anyio.Event()
        self.done = self._event.is_set

    def __await__(self) -> Generator[Any, Any, None]:
        return self._event.wait().__await__()

    def set_result(self, result: None, /) -> None:
        self._event.set()
