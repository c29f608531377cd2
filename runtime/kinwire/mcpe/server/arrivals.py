"""The events of a cluster as they come to one of its processes: all of them, in the log's order."""

from __future__ import annotations

__all__ = ("ArrivingEvents",)

import logging
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager

import anyio

from kinwire.mcpe.server.kept import event_in
from kinwire.storage.errors import CursorLostError
from kinwire.storage.log import Entry, Log
from kinwire_protocols.base import JsonObject

logger = logging.getLogger("kinwire.mcpe")

Take = Callable[[JsonObject, int], Awaitable[None]]
"""Takes an event, and its sequence in the log."""


class ArrivingEvents:
    """Follows the log."""

    def __init__(self, log: Log, take: Take) -> None:
        self._log = log
        self._take = take
        self._lock = anyio.Lock(fast_acquire=True)
        self._moved = anyio.Event()
        self.position = 0
        """The sequence of the last entry that has come."""
        self._has_begun = False

    async def run(self, begun: anyio.Event) -> None:
        """Take the events that are published from now on, until cancelled; set `begun` first.

        Another call goes on where the one before has ended.

        Raises:
            StorageError: the store failed; run it again.
        """
        if not self._has_begun:
            _, self.position = await self._log.bounds()
            self._has_begun = True
        async with self._log.follow(after=self.position) as entries:
            begun.set()
            try:
                async for entry in entries:
                    await self._arrived(entry)
            except CursorLostError as error:
                logger.error("events were removed from the log too early: %s", error)
                self.position = error.first - 1

    async def caught_up(self) -> None:
        """Wait until everything has come that was published before this call.

        Raises:
            StorageError: the store failed.
        """
        _, newest = await self._log.bounds()
        while self.position < newest:
            await self._moved.wait()

    @asynccontextmanager
    async def held(self) -> AsyncGenerator[int]:
        """Let no event come while the block lasts; yield the sequence of the last one."""
        async with self._lock:
            yield self.position

    async def _arrived(self, entry: Entry) -> None:
        async with self._lock:
            event = event_in(entry)
            try:
                if event is not None:
                    await self._take(event, entry.sequence)
            except Exception:  # of a hook, or of an entry that another program wrote
                logger.exception("the event in entry %s of the log was passed over", entry.sequence)
            self.position = entry.sequence
            self._moved.set()
            self._moved = anyio.Event()
