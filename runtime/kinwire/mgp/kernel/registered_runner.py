"""Keeps approved servers of the registry alive in a supervisor, as the records say at each moment.

What other kernels approve and take out is seen here too. Just before it starts, a server is judged
again: the records may come from a kernel with other rules.
"""

from __future__ import annotations

__all__ = ("RegisteredRunner",)

import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

import anyio
from anyio import to_thread
from anyio.abc import TaskGroup

from kinwire.managers.concurrency import KeyedLock
from kinwire.mgp.kernel.registered_copies import ScriptCopies, remove_left_copies
from kinwire.mgp.kernel.registered_scripts import ScriptFolder
from kinwire.mgp.kernel.registry_store import PREFIX, RegistryStore, key_of, taken
from kinwire.mgp.kernel.supervisor.supervisor import Supervisor
from kinwire.mgp.rules.registered_command import script_index
from kinwire.mgp.rules.registration import (
    Registration,
    RegistrationRefusedError,
    checked_profile,
    checked_url,
)
from kinwire.mgp.rules.server_spec import ServerSpec
from kinwire.storage.errors import StorageClosedError, StorageError
from kinwire.support.background import background
from kinwire.support.backoff import Backoff
from kinwire.support.sanitize import sanitize_for_log
from kinwire_protocols.mgp.models import ServerProfile

logger = logging.getLogger("kinwire.mgp")

_BACKOFF = Backoff()


@dataclass(slots=True)
class _Run:
    """What this kernel runs, by the key of its record."""

    wanted: dict[str, Registration] = field(default_factory=dict[str, Registration])
    running: dict[str, Registration] = field(default_factory=dict[str, Registration])
    turns: KeyedLock[str] = field(default_factory=KeyedLock[str])


class RegisteredRunner:
    """Runs the approved servers of one registry in one supervisor."""

    def __init__(
        self,
        supervisor: Supervisor,
        store: RegistryStore,
        scripts: ScriptFolder,
        seen: Callable[[str, Registration | None], object],
        *,
        leased: bool,
    ) -> None:
        """`seen` gets what stands under a key now. With `leased` one kernel runs a program."""
        self._seen = seen
        self._supervisor = supervisor
        self._store = store
        self._scripts = scripts
        self._leased = leased
        self._copies = ScriptCopies()
        self._run = _Run()

    async def run(self) -> None:
        """Follow the records until cancelled, or until the store is closed."""
        failures = 0
        try:
            async with background() as tasks:
                tasks.start_soon(to_thread.run_sync, remove_left_copies)
                while True:
                    try:
                        await self._follow(tasks)
                    except StorageClosedError:
                        return
                    except StorageError as error:
                        text = "registered servers of others are not seen: %s"
                        logger.warning(text, sanitize_for_log(error))
                    failures += 1
                    await anyio.sleep(_BACKOFF.delay(min(failures, 5), jitter=0.5))
        finally:
            self._copies.close()

    async def settle(self, id: str) -> None:
        """Return when a server that was taken out is gone."""
        key = key_of(id)
        self._run.wanted.pop(key, None)
        await self._settle(key)

    async def _follow(self, tasks: TaskGroup) -> None:
        async with self._store.records.watch(PREFIX) as changes:
            there = {key_of(one.id): one for one in await self._store.all()}
            for key in self._run.running.keys() - there.keys():
                self._want(tasks, key, None)
            for key, one in there.items():
                self._want(tasks, key, one)
            async for change in changes:
                self._want(tasks, *taken(change))

    def _want(self, tasks: TaskGroup, key: str, found: Registration | None) -> None:
        self._seen(key, found)
        if found is not None and found.is_approved:
            self._run.wanted[key] = found
        else:
            self._run.wanted.pop(key, None)
        tasks.start_soon(self._settle, key)

    async def _settle(self, key: str) -> None:
        """Make a server be as it is wanted now; others do not wait for it."""
        async with self._run.turns.of(key):
            wanted, running = self._run.wanted.get(key), self._run.running.get(key)
            same = wanted and running and wanted.digest == running.digest
            if running is not None and not same:
                del self._run.running[key]
                await self._supervisor.remove(running.id)
            if wanted is not None and not same and await self._start(wanted):
                self._run.running[key] = wanted

    async def _start(self, wanted: Registration) -> bool:
        try:
            spec = await to_thread.run_sync(partial(self._spec_of, wanted))
            await anyio.lowlevel.checkpoint_if_cancelled()  # a thread is waited for in any case
            await self._supervisor.add(spec, registered=True)
        except (RegistrationRefusedError, ValueError, OSError) as error:
            logger.error("%s: it does not run: %s", wanted.id, sanitize_for_log(error))
            return False
        return True

    def _spec_of(self, wanted: Registration) -> ServerSpec:
        """Return how a server runs.

        Raises:
            RegistrationRefusedError: it may not run by the rules of this kernel.
            OSError: its script could not be written.
        """
        checked_profile(ServerProfile(permissions_required=list(wanted.permissions)))
        if wanted.url is not None:
            return ServerSpec(wanted.id, url=checked_url(wanted.url), public_only=True)
        assert wanted.command is not None  # it has one of both
        violations = self._scripts.violations(wanted.script or "")
        if violations or script_index(wanted.command, wanted.args) != wanted.script_at:
            raise RegistrationRefusedError(f"its script is not allowed: {violations[:1]}")
        command, args = self._copies.command_of(wanted)
        cwd = str(self._scripts.folder)
        return ServerSpec(wanted.id, command=command, args=args, cwd=cwd, leased=self._leased)
