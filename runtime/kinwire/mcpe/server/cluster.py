"""One process of a cluster whose processes serve the same subscriptions (MCPE 8, 12.2).

Every event goes through the log, and every process sends it to the clients that it serves. A
process has one lease; another one that gets it, since the process has ended, takes its clients.
"""

from __future__ import annotations

__all__ = ("ClusterNode",)

import logging
from collections.abc import Awaitable, Callable
from contextvars import Context
from functools import partial
from typing import Final
from uuid import uuid4

import anyio
from anyio.abc import TaskGroup

from kinwire.managers.leases import LeaseLostError, Leases
from kinwire.mcpe.server.arrivals import ArrivingEvents
from kinwire.mcpe.server.board import SubscriptionBoard
from kinwire.mcpe.server.clients import ClientTable
from kinwire.mcpe.server.fan_out import EventFanOut
from kinwire.mcpe.server.homes import HOMES, ClientHomes
from kinwire.mcpe.server.kept import KeptSubscriptions, SharedWrites
from kinwire.mcpe.server.options import EventCluster
from kinwire.storage.errors import StorageClosedError, StorageError, StorageUnavailableError
from kinwire.storage.log import Log
from kinwire.storage.records import Change, Records
from kinwire.support.background import background, start_detached

logger = logging.getLogger("kinwire.mcpe")

_NODES: Final = "mcpe/nodes/"
_AGAIN: Final = 1.0  # seconds
_STARTS_WITHIN: Final = 30.0  # seconds


class ClusterNode:
    """What one process does in addition to serving clients; it begins with the first of them."""

    def __init__(
        self,
        options: EventCluster,
        records: Records,
        log: Log,
        kept: KeptSubscriptions,
        clients: ClientTable,
        board: SubscriptionBoard,
        fan_out: EventFanOut,
    ) -> None:
        """Prepare, and have the board and the others work together with other processes."""
        self.name: Final = uuid4().hex
        self._records = records
        self._leases = Leases(records, holder=self.name, prefix=_NODES, lasts=options.lease)
        self._arrivals = ArrivingEvents(log, fan_out.arrived)
        self.homes = ClientHomes(
            *(self.name, records, kept, clients, board, self._arrivals, self.start)
        )
        kept.shared = SharedWrites(self._refused, self._arrivals.caught_up)
        board.homes = self.homes
        fan_out.is_shared = True
        self._ready: _Ready | None = None
        self._waited_for: set[str] = set()

    async def start(self) -> None:
        """Take part in the cluster, if this process does not yet.

        Raises:
            StorageError: the store failed; the next call tries again.
        """
        ready = self._ready
        if ready is None:
            ready = self._ready = _Ready()
            Context().run(start_detached, partial(self._run, ready))
        if not ready.is_set():
            await ready.wait()

    async def leave(self) -> None:
        """Let other processes have the clients of this one as soon as they see it."""
        ready = self._ready
        if ready is not None:
            ready.scope.cancel()
            await ready.is_over.wait()

    async def _run(self, ready: _Ready) -> None:
        works = (
            partial(self._hold, ready),
            partial(self._watch, ready),
            partial(self._arrivals.run, ready.is_following),
        )
        try:
            with ready.scope:
                async with anyio.create_task_group() as tasks:
                    for work in works:
                        tasks.start_soon(_again_and_again, work)
        finally:  # also when the event loop ends, after which another one may use the server
            self._ready = None
            ready.is_over.set()

    async def _hold(self, ready: _Ready) -> None:
        """Have the lease of this process, by which others see that it has not ended."""
        try:
            async with self._leases.hold(self.name):
                ready.is_held.set()
                await anyio.sleep_forever()
        except LeaseLostError:
            logger.warning("other processes may take the clients of this one")

    async def _watch(self, ready: _Ready) -> None:
        async with background() as tasks, self._records.watch(HOMES) as changes:
            ready.is_watching.set()
            async for change in changes:
                self._see(change, tasks)

    def _see(self, change: Change, tasks: TaskGroup) -> None:
        step = self.homes.see(change)
        if step is not None:
            tasks.start_soon(_until_done, step)
        node = self.homes.node_at(change.key)
        if node is not None and node not in self._waited_for:
            self._waited_for.add(node)
            tasks.start_soon(_until_done, partial(self._adopt_from, node, tasks))

    async def _adopt_from(self, node: str, tasks: TaskGroup) -> None:
        """Wait until a process ends, and serve its clients that nobody has taken.

        One that has not ended, but could not renew its lease, gets time to have it again: it takes
        its clients back.
        """
        try:
            while self.homes.of(node):
                async with self._leases.hold(node):
                    for client_id in self.homes.of(node):
                        if not await _done(partial(self.homes.adopt, client_id, node)):
                            tasks.start_soon(_until_done, partial(self.homes.check, client_id))
                await anyio.sleep(max(self._leases.lasts, 2 * _AGAIN))
        finally:
            self._waited_for.discard(node)

    def _refused(self, client_id: str) -> None:
        self.homes.doubt(client_id)
        work = partial(_until_done, partial(self.homes.check, client_id))
        Context().run(start_detached, work)


class _Ready:
    """Whether a process has its lease, sees the others, and gets the events; and how it ends."""

    def __init__(self) -> None:
        self.is_held = anyio.Event()
        self.is_watching = anyio.Event()
        self.is_following = anyio.Event()
        self.scope = anyio.CancelScope()
        self.is_over = anyio.Event()

    def is_set(self) -> bool:
        """Return whether all of it is so."""
        return all(one.is_set() for one in self._all())

    async def wait(self) -> None:
        """Wait until all of it is so.

        Raises:
            StorageUnavailableError: it takes too long.
        """
        with anyio.move_on_after(_STARTS_WITHIN):
            for one in self._all():
                await one.wait()
            return
        raise StorageUnavailableError(
            "cluster of events",
            expected=f"a lease within {_STARTS_WITHIN:g} seconds",
            got="none",
            hint="Look whether the store works; the next call tries again.",
        )

    def _all(self) -> tuple[anyio.Event, ...]:
        return self.is_held, self.is_watching, self.is_following


async def _again_and_again(work: Callable[[], Awaitable[object]]) -> None:
    """Do what goes on for ever, also when it fails, until the store is closed."""
    while True:
        if await _done(work) is None:
            return
        await anyio.sleep(_AGAIN)


async def _until_done(work: Callable[[], Awaitable[object]]) -> None:
    """Do something, and again if it fails, unless the store is closed."""
    while True:
        if await _done(work) is not False:
            return
        await anyio.sleep(_AGAIN)


async def _done(work: Callable[[], Awaitable[object]]) -> bool | None:
    """Do something; return whether it was done, None if the store is closed."""
    try:
        await work()
    except StorageClosedError:
        return None
    except (StorageError, LeaseLostError) as error:
        logger.error("the cluster of events: %s", error)
        return False
    except Exception:
        logger.exception("the cluster of events")
        return False
    return True
