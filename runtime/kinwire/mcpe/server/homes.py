"""The clients that this process of a cluster serves, and how others take them over."""

from __future__ import annotations

__all__ = ("HOMES", "ClientHomes")

from collections.abc import Awaitable, Callable, Coroutine
from functools import partial
from typing import Any

import anyio

from kinwire.managers.concurrency import KeyedLock
from kinwire.mcpe.rules.homes import Home, HomeStep, next_step
from kinwire.mcpe.server.arrivals import ArrivingEvents
from kinwire.mcpe.server.board import SubscriptionBoard
from kinwire.mcpe.server.clients import ClientTable
from kinwire.mcpe.server.kept import KeptSubscriptions
from kinwire.mcpe.server.served import ServedSubscription
from kinwire.storage.errors import ConflictError, StorageDamagedError, StorageError
from kinwire.storage.records import Change, Record, Records
from kinwire.support.json_values import short_digest

HOMES = "mcpe/homes/"
"""What the keys of their records begin with."""

_ATTEMPTS = 3  # to write a subscription while other processes take its client


class ClientHomes:
    """Takes clients, and lets them go.

    The operations of one client take turns.
    """

    def __init__(
        self,
        node: str,
        records: Records,
        kept: KeptSubscriptions,
        clients: ClientTable,
        board: SubscriptionBoard,
        arrivals: ArrivingEvents,
        start: Callable[[], Awaitable[None]],
    ) -> None:
        """Prepare to serve clients under the name `node`; `start` is that of `HomePort`."""
        self.node = node
        self._records = records
        self._kept = kept
        self._clients = clients
        self._board = board
        self._arrivals = arrivals
        self._start = start
        self._served: dict[str, int] = {}  # the revision of each client's home
        self._ids: dict[str, str] = {}  # of those clients, by the key of the record
        self._doubted: set[str] = set()  # those that another process seems to serve
        self._elsewhere: dict[str, Home] = {}  # by the key of their record
        self._turns = KeyedLock[str]()

    async def start(self) -> None:
        """Take part in the cluster, if this process does not yet."""
        await self._start()

    def node_at(self, key: str) -> str | None:
        """Return which other process serves the client with that record; None for none."""
        home = self._elsewhere.get(key)
        return None if home is None else home.node

    def of(self, node: str) -> list[str]:
        """Return the clients that another process serves, as far as it is known here."""
        return [home.client_id for home in self._elsewhere.values() if home.node == node]

    async def bring(self, client_id: str) -> None:
        """Serve a client here, if it has subscriptions.

        Raises:
            StorageError: the store failed.
        """
        if client_id in self._doubted:
            await self.check(client_id)
        if client_id not in self._served or client_id in self._turns:  # it is being read
            await self._bring(client_id, new=False)

    async def put(self, served: ServedSubscription) -> None:
        """Write a new subscription, whose client is served here from now on.

        Raises:
            StorageError: it cannot be written; it does not exist then.
            ConflictError: other processes take the client again and again.
        """
        for left in reversed(range(_ATTEMPTS)):
            await self._bring(served.client.id, new=True)
            await self._kept.put(served)
            try:
                await self._confirm(served.client.id)
                return
            except StorageError as error:
                await self._kept.withdraw(served)
                if not left or not isinstance(error, ConflictError):
                    raise
                await self.check(served.client.id)

    async def adopt(self, client_id: str, node: str) -> None:
        """Serve a client of another process that has ended, if nobody else does.

        Raises:
            StorageError: the store failed.
        """
        async with self._turns.of(client_id):
            record = await self._records.get(_key(client_id))
            if record is not None and home_in(record).node == node:
                await self._try_to_take(client_id, record.revision, away=True)
            if self.node_at(_key(client_id)) == node:
                del self._elsewhere[_key(client_id)]

    def doubt(self, client_id: str) -> None:
        """Have the next call of a client `check` it first."""
        self._doubted.add(client_id)

    async def check(self, client_id: str) -> None:
        """Read a client's subscriptions again if it is served here, or let it go.

        That is what is to be done if another process wrote one of them, or if they were not read.

        Raises:
            StorageError: the store failed.
        """
        async with self._turns.of(client_id):
            self._doubted.discard(client_id)
            await self._read_again(client_id)

    async def away(self, client_id: str) -> None:
        """Say that a client is not connected here, so that a process to which it is takes it.

        Raises:
            StorageError: the store failed.
        """
        async with self._turns.of(client_id):
            revision, client = self._served.get(client_id), self._clients.get(client_id)
            if revision is None or (client is not None and client.sessions):
                return
            try:
                await self._write(client_id, revision, away=True)
            except ConflictError:  # of another process, or of a write whose answer was lost
                await self._read_again(client_id)

    async def release(self, client_id: str) -> None:
        """Forget the home of a client that has no subscriptions and no session.

        Raises:
            StorageError: the store failed.
        """
        async with self._turns.of(client_id):
            client = self._clients.get(client_id)
            if client is not None and (client.served or client.sessions):
                return
            await self._remove(client_id)

    def see(self, change: Change) -> Callable[[], Coroutine[Any, Any, None]] | None:
        """Look at a home that has changed; return what is to be done then, None for nothing.

        Raises:
            StorageDamagedError: the record cannot be read.
        """
        home = None if change.record is None else home_in(change.record)
        before = self._elsewhere.pop(change.key, None)
        if home is not None and home.node != self.node:
            self._elsewhere[change.key] = home
        about = home or before
        client_id = self._ids.get(change.key) if about is None else about.client_id
        if client_id is None:
            return None
        served, client = self._served.get(client_id), self._clients.get(client_id)
        step = next_step(
            home,
            node=self.node,
            is_served=served is not None and served < change.revision,
            is_connected=client is not None and client.home is not None,
        )
        if step is None:
            return None
        return partial(self._take_step, step, client_id, change.revision)

    async def _bring(self, client_id: str, *, new: bool) -> None:
        async with self._turns.of(client_id):
            while client_id not in self._served:
                record = await self._records.get(_key(client_id))
                if record is None and not new:
                    return
                await self._try_to_take(client_id, 0 if record is None else record.revision)

    async def _read_again(self, client_id: str) -> None:
        record = await self._records.get(_key(client_id))
        home = None if record is None else home_in(record)
        self._let_go(client_id)
        if record is not None and home is not None and home.node == self.node:
            await self._try_to_take(client_id, record.revision, away=home.away)

    async def _confirm(self, client_id: str) -> None:
        """Check that this process serves a client.

        Raises:
            ConflictError: another one does.
            StorageError: the store failed.
        """
        record = await self._records.get(_key(client_id))
        if record is None or home_in(record).node != self.node:
            found = 0 if record is None else record.revision
            raise ConflictError(_key(client_id), self._served.get(client_id, 0), found)

    async def _take_step(self, step: HomeStep, client_id: str, revision: int) -> None:
        async with self._turns.of(client_id):
            if self._served.get(client_id, revision) < revision:
                self._let_go(client_id)
        if step != "leave":
            await self.bring(client_id)

    async def _try_to_take(self, client_id: str, revision: int, *, away: bool = False) -> None:
        """Serve a client whose home is at this revision; not if it has changed."""
        with anyio.CancelScope(shield=True):
            try:
                await self._write(client_id, revision, away=away)
            except ConflictError:
                return
            try:
                await self._load(client_id)
            except BaseException:
                self._let_go(client_id)
                raise
            client = self._clients.get(client_id)
            if revision and (client is None or not (client.served or client.sessions)):
                await self._remove(client_id)  # it has nothing left

    async def _load(self, client_id: str) -> None:
        found = await self._kept.take(client_id)
        made = {one.message.id: self._board.restored(one) for one in found}
        before = self._arrivals.position
        await self._kept.fill(made, until=before)
        async with self._arrivals.held() as now:
            await self._kept.fill(made, after=before, until=now)
            self._board.take_in(made.values())

    async def _write(self, client_id: str, revision: int, *, away: bool) -> None:
        value = {"client": client_id, "node": self.node, "away": away}
        key = _key(client_id)
        self._served[client_id] = await self._records.put(key, value, revision=revision)
        self._ids[key] = client_id

    async def _remove(self, client_id: str) -> None:
        revision = self._served.pop(client_id, None)
        self._ids.pop(_key(client_id), None)
        if revision is None:
            return
        try:
            await self._records.delete(_key(client_id), revision=revision)
        except ConflictError:
            self._board.let_go(client_id)

    def _let_go(self, client_id: str) -> None:
        self._served.pop(client_id, None)
        self._ids.pop(_key(client_id), None)
        self._board.let_go(client_id)


def home_in(record: Record) -> Home:
    """Return the home that a record has.

    Raises:
        StorageDamagedError: it is not one.
    """
    value: Any = record.value
    try:
        return Home(value["client"], value["node"], value["away"])
    except (KeyError, TypeError) as error:
        raise StorageDamagedError.of_record(
            record.key,
            error,
            expected="the home of a client of MCPE",
            hint="Delete the record; the next call of the client writes it again.",
        ) from error


def _key(client_id: str) -> str:
    return HOMES + short_digest(client_id)
