"""Registered servers in records, each changed by compare-and-set; processes can share them."""

from __future__ import annotations

__all__ = ("PREFIX", "RegistryStore", "key_of", "readable", "taken")

import logging
from collections.abc import Iterable

from kinwire.mgp.rules.registration import Registration
from kinwire.storage.errors import StorageDamagedError
from kinwire.storage.records import Change, Record, Records
from kinwire.support.json_values import short_digest
from kinwire.support.sanitize import sanitize_for_log

logger = logging.getLogger("kinwire.mgp")

PREFIX = "registry/server/"


class RegistryStore:
    """The registered servers. Ids that differ only in capitals are one id."""

    def __init__(self, records: Records) -> None:
        self.records = records

    async def get(self, id: str) -> tuple[Registration, int] | None:
        """Return a server and the revision of its record; None if it is not registered.

        Raises:
            StorageError: the records cannot be read.
        """
        record = await self.records.get(key_of(id))
        return None if record is None else (_read(record), record.revision)

    async def all(self) -> list[Registration]:
        """Return the servers, the oldest first; a record that cannot be read is logged.

        Raises:
            StorageError: the records cannot be read.
        """
        found = [record async for record in self.records.scan(PREFIX)]
        return sorted(readable(found), key=lambda one: (one.at, one.id))

    async def put(self, registration: Registration, revision: int) -> None:
        """Store a server in place of the record of that revision, 0 for none.

        Raises:
            ConflictError: another process has changed it.
            StorageError: the records cannot be written.
        """
        value = registration.to_json()
        await self.records.put(key_of(registration.id), value, revision=revision)

    async def remove(self, id: str, revision: int) -> None:
        """Remove a server.

        Raises:
            ConflictError: another process has changed it.
            StorageError: the records cannot be written.
        """
        await self.records.delete(key_of(id), revision=revision)


def taken(change: Change) -> tuple[str, Registration | None]:
    """Return the key of a changed record, and the server; None if it is gone or not readable."""
    found = [] if change.record is None else readable([change.record])
    return change.key, found[0] if found else None


def readable(records: Iterable[Record]) -> list[Registration]:
    """Return the servers in records; what cannot be read is logged."""
    found: list[Registration] = []
    for record in records:
        try:
            found.append(_read(record))
        except StorageDamagedError as error:
            logger.error("a registered server cannot be read: %s", sanitize_for_log(error))
    return found


def key_of(id: str) -> str:
    """Return the key of the record of a server."""
    return PREFIX + short_digest(id.casefold())


def _read(record: Record) -> Registration:
    """Return the server in a record.

    Raises:
        StorageDamagedError: it cannot be read, or is another server.
    """
    try:
        found = Registration.from_json(record.value)
        if record.key != key_of(found.id):
            raise ValueError(f"the server {found.id}")
    except (KeyError, TypeError, ValueError) as error:
        raise StorageDamagedError.of_record(
            record.key,
            error,
            expected="a registered server",
            hint="Delete the record, and register the server again.",
        ) from error
    return found
