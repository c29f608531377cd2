"""A store, what it holds, and which engine a URL means."""

from __future__ import annotations

__all__ = ("Kind", "OpenGuard", "Store", "StoreEntry", "entry_from", "open_store", "options_text")

import json
import time
from contextlib import AbstractAsyncContextManager
from dataclasses import asdict, dataclass
from typing import Literal, Protocol

from kinwire.storage.clock import Clock, forward
from kinwire.storage.errors import StorageClosedError
from kinwire.storage.inputs import checked_seconds, decoded, unreadable
from kinwire.storage.log import Log, Retention
from kinwire.storage.records import Records
from kinwire.storage.store_url import parsed

Kind = Literal["log", "records"]

_LONGEST = 3600.0  # seconds that a call may wait


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreEntry:
    """What a store holds under one name."""

    kind: Kind
    name: str
    durable: bool
    retention: Retention | None = None
    """For logs."""


class Store(Protocol):
    """An open store: named records and named logs. A name is 1 to 64 of a-z, 0-9, - and _.

    The options of the one who opened a name last hold for all.
    """

    async def records(self, name: str, *, durable: bool = True) -> Records:
        """Return the records called `name`; make them if they do not exist.

        `durable` is for what has been promised to somebody. A cache does without: a power cut may
        then cost the last writes, and writing is many times faster.
        """
        ...

    async def log(
        self, name: str, *, durable: bool = True, retention: Retention | None = None
    ) -> Log:
        """Return the log called `name`; make it if it does not exist. `durable` is as above.

        Without `retention` the log keeps the one that it was given last; a new one keeps all.
        """
        ...

    async def entries(self) -> list[StoreEntry]:
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
        StorageAddressError: immediately: the URL is not a valid store URL.
        StorageInputError: immediately: the timeout is not above 0 and at most an hour.
        StorageError: when the block is entered: the store cannot be used, and why.
    """
    address = parsed(url)
    checked_seconds(timeout, "timeout", "Leave it out for 10.", most=_LONGEST)
    now = forward(clock)
    if address.engine == "memory":
        from kinwire.storage.memory import open_memory

        return open_memory(now)
    if address.engine == "sqlite":
        from kinwire.storage.sqlite.opening import open_sqlite

        return open_sqlite(address.path, timeout, now)
    from kinwire.storage.nats.opening import open_nats

    return open_nats(address, timeout, now)


def options_text(entry: StoreEntry) -> str:
    """Return the options of `entry` as JSON, without kind and name."""
    retention = asdict(entry.retention or Retention()) if entry.kind == "log" else {}
    return json.dumps({"durable": entry.durable, **retention})


def entry_from(kind: Kind, name: str, text: str) -> StoreEntry:
    """Return the entry whose options `options_text` returned as `text`.

    Raises:
        StorageDamagedError: `text` is not valid.
    """
    place = f"options of {kind} {name!r}"
    options = decoded(text, place)
    try:
        durable: bool = options.pop("durable")
        retention = Retention(**options) if kind == "log" else None
    except (AttributeError, KeyError, TypeError) as error:
        raise unreadable(place, error) from None
    return StoreEntry(kind=kind, name=name, durable=durable, retention=retention)


class OpenGuard:
    """Whether a store is still open; the store shares it with its records and logs."""

    def __init__(self, place: str) -> None:
        self.place = place
        self._closed = False

    def ensure_open(self) -> None:
        """Raise if the store was closed.

        Raises:
            StorageClosedError: the store was closed.
        """
        if self._closed:
            raise StorageClosedError(self.place)

    def close(self) -> None:
        """Make every later `ensure_open` raise."""
        self._closed = True
