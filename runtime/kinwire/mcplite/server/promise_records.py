"""The records of promises: under the digests of their tokens and of idempotency keys."""

from __future__ import annotations

__all__ = ("PromiseRecords", "RepeatedCall")

import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

import anyio

from kinwire.mcplite.rules.promises import PromiseRecord
from kinwire.mcplite.server.result_pieces import ResultPieces
from kinwire.storage.clock import Clock, forward
from kinwire.storage.errors import ConflictError, StorageDamagedError, StorageError
from kinwire.storage.memory import MemoryRecords
from kinwire.storage.records import Records
from kinwire.storage.store import OpenGuard

_LEAST = 0.001  # seconds: a record that expires now is not valid


@dataclass(frozen=True, slots=True)
class RepeatedCall:
    """What is stored of a call with an idempotency key."""

    call: str
    """A digest of its tool and arguments."""
    nonce: str
    """What its token is made of, together with the key."""


class PromiseRecords:
    """Reads and writes what is known of promises."""

    def __init__(self, records: Records | None, clock: Clock = time.time) -> None:
        """Use `records`; without them what is stored is in memory."""
        self.now = forward(clock)
        """Returns the time in seconds since 1970."""
        guard = OpenGuard("promises in memory")
        own = MemoryRecords("promises", guard, self.now)
        self.records: Records = own
        self._delete: Callable[[str], Awaitable[object]] = own.forget
        if records is not None:
            self.records, self._delete = records, records.delete
        self._pieces = ResultPieces(self.records, whole=records is None)

    async def find(self, name: str) -> tuple[PromiseRecord, int] | None:
        """Return a promise with its revision; None if it is not known.

        Raises:
            StorageError: the records cannot be read.
        """
        record = await self.records.get(_promise(name))
        if record is None:
            return None
        promise: PromiseRecord = _read(record.key, record.value, PromiseRecord)
        if isinstance(promise.result, list):
            promise = replace(promise, result=await self._pieces.joined(promise.result))
        return promise, record.revision

    async def write(self, name: str, promise: PromiseRecord, revision: int) -> int | None:
        """Store a promise that was at `revision`, 0 for a new one, and return its new revision.

        It is None if another process has changed the promise.

        Raises:
            StorageError: the records cannot be written.
        """
        value = {one.name: getattr(promise, one.name) for one in fields(promise)}
        left = max(promise.expires_at - self.now(), _LEAST)
        pieces = self._pieces.of(name, promise.result)
        if pieces:
            value["result"] = [*pieces]  # their keys
        if not promise.is_redeemed:
            await self._pieces.write(pieces, left)
        try:
            written = await self.records.put(
                _promise(name), value, revision=revision, expires_in=left
            )
        except ConflictError:
            return None
        if promise.is_redeemed:
            with suppress(StorageError):  # they are there; now they expire earlier
                await self._pieces.write(pieces, left)
        return written

    async def remove(self, name: str, key: str | None = None) -> None:
        """Remove a promise, and the call with an idempotency key that it belongs to.

        Raises:
            StorageError: the records cannot be written.
        """
        await self._delete(_promise(name))
        if key is not None:
            await self._delete(_repeated(key))

    async def repeated(self, key: str) -> RepeatedCall | None:
        """Return the call with an idempotency key; None for the first one.

        Raises:
            StorageError: the records cannot be read.
        """
        record = await self.records.get(_repeated(key))
        return None if record is None else _read(record.key, record.value, RepeatedCall)

    async def claim(self, key: str, call: RepeatedCall, life: float) -> bool:
        """Store a call with an idempotency key, and return whether it is the first one.

        Raises:
            StorageError: the records cannot be written.
        """
        try:
            await self.records.put(_repeated(key), asdict(call), revision=0, expires_in=life)
        except ConflictError:
            return False
        return True

    async def wait(self, name: str, known: PromiseRecord, seconds: float) -> None:
        """Wait until a promise is no longer as it is known, at most that many seconds.

        Raises:
            StorageError: the records cannot be read.
        """
        before = asdict(known)
        with anyio.move_on_after(seconds):
            async with self.records.watch(_promise(name)) as changes:
                async for change in changes:
                    if change.record is None or change.record.value != before:
                        return


def _promise(name: str) -> str:
    return f"promise/{name}"


def _repeated(key: str) -> str:
    return f"key/{key}"


def _read(key: str, value: Any, kind: type[Any]) -> Any:
    try:
        return kind(**value)
    except TypeError as error:
        raise StorageDamagedError.of_record(
            key, error, expected="a promise", hint="Delete the record."
        ) from error
