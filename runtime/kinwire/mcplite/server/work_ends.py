"""The end of work behind a promise: its result, or its failure, is stored."""

from __future__ import annotations

__all__ = ("WorkEnds", "work_lost")

import logging
from collections.abc import Awaitable, Callable
from functools import partial

from kinwire.managers.tool_outcomes import ToolError
from kinwire.mcplite.rules.limits import LiteLimits
from kinwire.mcplite.rules.promises import PromiseRecord, cancelled, finished_promise
from kinwire.mcplite.rules.results import failure_body, finished
from kinwire.mcplite.server.kept_results import KeptResult, KeptResults
from kinwire.mcplite.server.promise_records import PromiseRecords
from kinwire.mcplite.server.work import OpenWork
from kinwire.rpc.codec import encode
from kinwire.rpc.errors import RpcError, UnsendableError
from kinwire.storage.errors import StorageError, StorageUnavailableError
from kinwire.support.backoff import Backoff
from kinwire.support.sanitize import sanitize_for_log
from kinwire_protocols.base import JsonObject
from kinwire_protocols.jsonrpc.errors import InvalidParamsError
from kinwire_protocols.mcplite.errors import ToolNotFoundError

logger = logging.getLogger("kinwire.mcplite")

_BACKOFF = Backoff(first=0.5, longest=30.0)
_NOT_RUN = (ToolNotFoundError, InvalidParamsError)


class WorkEnds:
    """Stores what came of the work of this process."""

    def __init__(
        self,
        store: PromiseRecords,
        limits: LiteLimits,
        *,
        is_shared: bool,
        sleep: Callable[[float], Awaitable[None]],
    ) -> None:
        self._store, self._limits, self._sleep = store, limits, sleep
        self._is_shared = is_shared
        self._kept = KeptResults(limits)  # in memory only

    async def store(self, work: OpenWork, record: PromiseRecord) -> None:
        """Store what came of work: until it succeeds, or until its promise has expired."""
        if isinstance(work.outcome, _NOT_RUN) and work.key is not None:
            await self._try(partial(self._store.remove, work.name, work.key), record)
            return
        ended = await self._end(work, record)
        if not self._is_shared:
            await self._keep_in_memory(work, ended)

    async def _keep_in_memory(self, work: OpenWork, ended: PromiseRecord | None) -> None:
        result = None if ended is None else ended.result
        size = 0 if result is None else len(encode(result))
        self._kept.add(work.name, KeptResult(work.owner, work.key, size))
        if result is None:
            self._kept.fetched(work.name)
        for name, kept in self._kept.excess():
            await self._store.remove(name, kept.key)

    async def _end(self, work: OpenWork, record: PromiseRecord) -> PromiseRecord | None:
        """Store the end of work, and return it; None if it has come to another one before."""
        if work.outcome is None:
            ended = cancelled(record)
        else:
            ended = self._finished(record, self._storable(work.outcome), lost=work.is_lost)
        if ended is None or await self._try(partial(self._write_end, work, ended), record):
            return ended
        failed = self._finished(record, _not_stored())
        assert failed is not None
        await self._try(partial(self._write_end, work, failed), record)
        return failed

    async def _write_end(self, work: OpenWork, ended: PromiseRecord) -> None:
        """Store the end of work, unless it has come to another one before."""
        revision = work.revision
        while await self._store.write(work.name, ended, revision) is None:
            found = await self._store.find(work.name)
            if found is None or found[0].state != "pending":
                return
            revision = found[1]  # the estimate was written, though nobody could say so

    def _storable(self, outcome: JsonObject | RpcError) -> JsonObject:
        """Return the result of work, or the failure if it is too large or no JSON."""
        result = _error_body(outcome) if isinstance(outcome, RpcError) else outcome
        most = self._limits.result_size
        try:
            size = len(encode(result))
        except UnsendableError as error:
            logger.error("a result cannot be stored: %s", sanitize_for_log(error))
            return _not_stored()
        if size <= most:
            return result
        return failure_body(ToolError(f"The result is larger than {most} bytes.", code="TOO_LARGE"))

    def _finished(
        self, record: PromiseRecord, result: JsonObject, *, lost: bool = False
    ) -> PromiseRecord | None:
        return finished_promise(record, self._whole(result, record), lost=lost)

    def _whole(self, result: JsonObject, record: PromiseRecord) -> JsonObject:
        """Return a result with its whole `_meta`, so that it is the same each time."""
        now = self._store.now()
        took = max(0.0, now - record.begun_at)
        return finished(result, now=now, took=took, version=None, asked={})

    async def _try(self, write: Callable[[], Awaitable[object]], record: PromiseRecord) -> bool:
        """Write until it succeeds, or until the promise has expired; False if it never will."""
        failures = 0
        while self._store.now() < record.expires_at:
            try:
                await write()
            except StorageUnavailableError as error:
                failures += 1
                logger.warning("a result is not stored yet: %s", sanitize_for_log(error))
            except StorageError as error:
                logger.error("a result cannot be stored: %s", sanitize_for_log(error))
                return False
            else:
                return True
            await self._sleep(_BACKOFF.delay(failures, jitter=0.5))
        return True

    def fetched(self, name: str) -> None:
        """Note that a client has the result: one in memory is not kept for long."""
        self._kept.fetched(name)

    def lost(self, record: PromiseRecord) -> PromiseRecord | None:
        """Return the record of a promise that nobody works on; None if it has ended before."""
        return self._finished(record, work_lost(), lost=True)


def _error_body(error: RpcError) -> JsonObject:
    """Return the failure for work that was promised, and ended by an error of the protocol."""
    code = "INVALID_PARAMS" if isinstance(error, InvalidParamsError) else "INTERNAL_ERROR"
    return failure_body(ToolError(error.message, code=code, data=error.data))


def work_lost() -> JsonObject:
    """Return the failure of work that nobody could finish."""
    return failure_body(ToolError("The process that worked on it has ended.", code="WORK_LOST"))


def _not_stored() -> JsonObject:
    error = ToolError(
        "It has ended, but its result cannot be stored. The log of the server says why.",
        code="NOT_STORED",
    )
    return failure_body(error)
