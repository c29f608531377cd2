"""Records that keep nothing of a peer that only its connection names."""

from __future__ import annotations

__all__ = ("PeerRecords",)

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from typing import Any

from kinwire.rpc.identity import is_transient
from kinwire.storage.records import Change, Record, Records


class PeerRecords:
    """The records of a host, whose keys have the key of a peer as one of their parts.

    What is put under a transient key (`PeerIdentity.transient`) is not written: no later connection
    could find it. Everything else goes to `inner` as it is.
    """

    def __init__(self, inner: Records) -> None:
        self._inner = inner

    async def get(self, key: str) -> Record | None:
        """See `Records.get`."""
        return await self._inner.get(key)

    async def put(
        self,
        key: str,
        value: Any,
        *,
        revision: int | None = None,
        expires_in: float | None = None,
    ) -> int:
        """See `Records.put`. A record that is not written has the revision 0."""
        if any(map(is_transient, key.split("/"))):
            return 0
        return await self._inner.put(key, value, revision=revision, expires_in=expires_in)

    async def delete(self, key: str, *, revision: int | None = None) -> bool:
        """See `Records.delete`."""
        return await self._inner.delete(key, revision=revision)

    def scan(self, prefix: str = "") -> AsyncIterator[Record]:
        """See `Records.scan`."""
        return self._inner.scan(prefix)

    def watch(self, prefix: str = "") -> AbstractAsyncContextManager[AsyncIterator[Change]]:
        """See `Records.watch`."""
        return self._inner.watch(prefix)
