"""Which servers have changed, for tables: each reader gets a server once, however often it did."""

from __future__ import annotations

__all__ = ("ChangedServers",)

from collections.abc import AsyncIterator, Generator
from contextlib import contextmanager

from kinwire.mcp.conflating_queue import ConflatingQueue


class ChangedServers:
    """The readers of one supervisor's changes."""

    def __init__(self) -> None:
        self._readers = set[ConflatingQueue[str]]()

    def put(self, server: str) -> None:
        """Tell every reader that a server has changed."""
        for reader in self._readers:
            reader.put(server)

    @contextmanager
    def read(self) -> Generator[AsyncIterator[str]]:
        """Yield the ids of servers that change from now on."""
        reader = ConflatingQueue[str](_add)
        self._readers.add(reader)
        try:
            yield reader
        finally:
            self._readers.discard(reader)

    def close(self) -> None:
        """End the reading after what has changed so far."""
        for reader in self._readers:
            reader.close()


def _add(pending: dict[str, None], server: str) -> None:
    pending[server] = None
