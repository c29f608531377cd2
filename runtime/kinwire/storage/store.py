"""A store, and which engine a URL means."""

from __future__ import annotations

__all__ = ("Store", "open_store")

import time
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from kinwire.storage.address import parsed
from kinwire.storage.clock import Clock, forward
from kinwire.storage.holding import Holding
from kinwire.storage.inputs import checked_seconds
from kinwire.storage.log import Log, Retention
from kinwire.storage.records import Records

_LONGEST = 3600.0  # seconds that a call may wait


class Store(Protocol):
    """An open store: named records and named logs. A name is 1 to 64 of a-z, 0-9, - and _.

    The options of the one who opened a name last hold for all.
    """

    async def records(self, name: str, *, durable: bool = True) -> Records:
        """Return the records called `name`; they are made when there are none.

        `durable` is for what has been promised to somebody. A cache does without: a power cut may
        then cost the last writes, and writing is many times faster.
        """
        ...

    async def log(
        self, name: str, *, durable: bool = True, retention: Retention | None = None
    ) -> Log:
        """Return the log called `name`; it is made when there is none. `durable` as above.

        Without `retention` the log keeps the one that it was given last; a new one keeps all.
        """
        ...

    async def holdings(self) -> list[Holding]:
        """Return what the store holds, sorted by kind and name."""
        ...

    async def check(self) -> list[str]:
        """Read everything that could be damaged and return what is, a sentence each."""
        ...


def open_store(
    url: str, *, timeout: float = 10.0, clock: Clock = time.time
) -> AbstractAsyncContextManager[Store]:
    """Open the store that `url` names, and close it at the end of the block.

    `memory:` is gone with the process, `sqlite:///file.db` is a file (four slashes begin an
    absolute path), `nats://host:port` a NATS server with JetStream. `timeout` is how long, in
    seconds, a call waits for an engine that is locked or away before it fails with a
    StorageUnavailableError. `clock` is what records expire by.

    Raises:
        StorageAddressError: at once: the URL names no store that there could be.
        StorageInputError: at once: the timeout is not above 0 and at most an hour.
        StorageError: in the block's head: the store cannot be used, and why.
    """
    address = parsed(url)
    checked_seconds(timeout, "timeout", "Leave it out for 10.", most=_LONGEST)
    now = forward(clock)
    if address.engine == "memory":
        from kinwire.storage.memory.opening import open_memory

        return open_memory(now)
    if address.engine == "sqlite":
        from kinwire.storage.sqlite.opening import open_sqlite

        return open_sqlite(address.path, timeout, now)
    from kinwire.storage.nats.opening import open_nats

    return open_nats(address, timeout, now)
