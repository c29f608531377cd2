"""Several servers in one program that share a store, as the processes of a cluster do."""

from __future__ import annotations

__all__ = ("CutRecords", "Node", "cluster")

from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
from anyio.abc import TaskGroup

from kinwire.mcpe import EventCluster, EventTerms, McpeServer
from kinwire.storage import Change, Entry, Log, Record, Records, StorageUnavailableError, open_store
from kinwire.support.background import background
from tests.runtime.mcpe.fixtures_server import START
from tests.runtime.mcpe.raw_client import RawClient
from tests.runtime.mcpe.server.test_away import Bench


class CutRecords:
    """Records that a node can be cut off from, as if it stood still."""

    def __init__(self, records: Records) -> None:
        self._records = records
        self.cut = False
        """Whether nothing can be read or written."""
        self.blind = False
        """Whether the watch reports nothing more."""
        self.before_put: Callable[[str, Any], Awaitable[None]] | None = None
        """What happens before a record is written; it may cut the node off."""

    async def get(self, key: str) -> Record | None:
        self._must_be_there()
        return await self._records.get(key)

    async def put(
        self, key: str, value: Any, *, revision: int | None = None, expires_in: float | None = None
    ) -> int:
        if self.before_put is not None:
            await self.before_put(key, value)
        self._must_be_there()
        return await self._records.put(key, value, revision=revision, expires_in=expires_in)

    async def delete(self, key: str, *, revision: int | None = None) -> bool:
        self._must_be_there()
        return await self._records.delete(key, revision=revision)

    async def scan(self, prefix: str = "") -> AsyncIterator[Record]:
        self._must_be_there()
        async for record in self._records.scan(prefix):
            yield record

    @asynccontextmanager
    async def watch(self, prefix: str = "") -> AsyncGenerator[AsyncIterator[Change]]:
        self._must_be_there()
        async with self._records.watch(prefix) as changes:
            yield self._seen(changes)

    async def _seen(self, changes: AsyncIterator[Change]) -> AsyncIterator[Change]:
        async for change in changes:
            if self.cut or self.blind:
                await anyio.sleep_forever()
            yield change

    def _must_be_there(self) -> None:
        if self.cut:
            raise StorageUnavailableError("records", expected="a", got="b", hint="c")


class HookedLog:
    """A log of which a test sees when it is read."""

    def __init__(self, log: Log) -> None:
        self._log = log
        self.append = log.append
        self.append_after = log.append_after
        self.bounds = log.bounds
        self.after_read: Callable[[], Awaitable[None]] | None = None
        """What happens when something was read, once."""
        self.is_open = anyio.Event()
        """Until it is set, followers get nothing."""
        self.is_open.set()

    async def read(self, subjects: str = ">", *, after: int = 0, limit: int = 1000) -> list[Entry]:
        found = await self._log.read(subjects, after=after, limit=limit)
        hook, self.after_read = self.after_read, None
        if hook is not None:
            await hook()
        return found

    @asynccontextmanager
    async def follow(
        self, subjects: str = ">", *, after: int = 0
    ) -> AsyncGenerator[AsyncIterator[Entry]]:
        async with self._log.follow(subjects, after=after) as entries:
            yield self._held_back(entries)

    async def _held_back(self, entries: AsyncIterator[Entry]) -> AsyncIterator[Entry]:
        async for entry in entries:
            await self.is_open.wait()
            yield entry


class Node(Bench):
    """One server of the cluster."""

    def __init__(
        self, events: McpeServer, records: CutRecords, log: HookedLog, tasks: TaskGroup
    ) -> None:
        super().__init__(events, tasks)
        self.records = records
        self.log = log


class Cluster:
    """Nodes with one clock."""

    def __init__(self, nodes: list[Node]) -> None:
        self.nodes = nodes
        self.now = START

    async def to(self, now: float, *clients: RawClient) -> None:
        """Put the clock of all nodes, and wait until what is due then was done."""
        self.now = now
        for node in self.nodes:
            node.events.look_at_clock()
        for raw in clients:
            await raw.settle()


@asynccontextmanager
async def cluster(
    count: int = 2, *, lease: float = 60, terms: EventTerms | None = None
) -> AsyncGenerator[Cluster]:
    """Serve by several servers, of which each has a lease of that many seconds."""
    async with open_store("memory:") as store, background() as tasks:
        found = Cluster([])
        for _ in range(count):
            records = CutRecords(await store.records("mcpe"))
            log = HookedLog(await store.log("mcpe"))
            events = McpeServer(
                records=records,
                log=log,
                cluster=EventCluster(lease=lease),
                clock=lambda: found.now,
                terms=terms,
            )
            found.nodes.append(Node(events, records, log, tasks))
        yield found
        for node in found.nodes:
            await node.events.leave_cluster()
        tasks.cancel_scope.cancel()
