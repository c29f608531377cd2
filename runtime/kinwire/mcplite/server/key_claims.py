"""Claims of idempotency keys: what a claim leaves that fails midway is removed."""

from __future__ import annotations

__all__ = ("KeyClaims",)

import logging
from collections.abc import Awaitable, Callable
from functools import partial
from typing import NamedTuple

import anyio

from kinwire.mcplite.rules.limits import LiteLimits
from kinwire.mcplite.server.promise_records import PromiseRecords, RepeatedCall
from kinwire.storage.errors import StorageError, StorageUnavailableError
from kinwire.support.background import start_detached
from kinwire.support.backoff import Backoff
from kinwire.support.sanitize import sanitize_for_log

logger = logging.getLogger("kinwire.mcplite")

_BACKOFF = Backoff(first=0.5, longest=5.0)


class _Remnant(NamedTuple):
    """What a claim that failed may have stored."""

    name: str
    """The name of the promise."""
    call: RepeatedCall


class KeyClaims:
    """Claims the keys of calls of this process.

    A write that fails may have taken place. Without its removal, the key would stand for work that
    never began, and the answer to a repetition of the call would be that this work is lost.
    """

    def __init__(
        self,
        store: PromiseRecords,
        limits: LiteLimits,
        *,
        sleep: Callable[[float], Awaitable[None]],
    ) -> None:
        self._store, self._limits, self._sleep = store, limits, sleep
        self._remnants: dict[str, _Remnant] = {}
        self._turn = anyio.Lock()

    async def claim(
        self,
        key: str,
        name: str,
        call: RepeatedCall,
        write_promise: Callable[[], Awaitable[None]],
    ) -> bool:
        """Store a promise and the key that stands for it; False if another call has the key.

        Raises:
            StorageError: it cannot be stored.
        """
        try:
            await write_promise()
            is_first = await self._store.claim(key, call, self._limits.token_life)
            if not is_first:
                await self._store.remove(name)
        except BaseException:
            if len(self._remnants) < self._limits.open_promises:
                self._remnants[key] = _Remnant(name, call)
                start_detached(partial(self._clear, key))
            raise
        return is_first

    async def clear(self, key: str) -> None:
        """Remove what a claim of this process has left for the key, if there is anything.

        Raises:
            StorageError: the records cannot be used.
        """
        if key not in self._remnants:
            return
        async with self._turn:  # else the second of two would remove a later claim
            remnant = self._remnants.get(key)
            if remnant is None:
                return
            has_key = await self._store.repeated(key) == remnant.call
            await self._store.remove(remnant.name, key if has_key else None)
            del self._remnants[key]

    async def _clear(self, key: str) -> None:
        """Remove it, once the store can be used."""
        failures = 0
        until = self._store.now() + self._limits.token_life
        while key in self._remnants and self._store.now() < until:
            failures += 1
            await self._sleep(_BACKOFF.delay(failures, jitter=0.5))
            try:
                await self.clear(key)
            except StorageUnavailableError:
                continue
            except StorageError as error:
                logger.error("a key cannot be removed: %s", sanitize_for_log(error))
                break
        self._remnants.pop(key, None)
