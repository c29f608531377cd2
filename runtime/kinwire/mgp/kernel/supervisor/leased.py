"""A server that runs under one of several kernels at a time: under the one that has its lease."""

from __future__ import annotations

__all__ = ("SupervisedRegistry", "run_leased")

import logging
from functools import partial
from typing import TYPE_CHECKING, Protocol

from kinwire.managers.leases import Lease, LeaseLostError, Leases
from kinwire.mgp.kernel.supervisor.actor import ServerActor
from kinwire.support.background import background
from kinwire_protocols.base import JsonObject

if TYPE_CHECKING:
    from kinwire.mgp.kernel.supervisor.supervisor import Supervisor

logger = logging.getLogger("kinwire.mgp.supervisor")


class SupervisedRegistry(Protocol):
    """What a supervisor needs of the registry of its kernel."""

    @property
    def leases(self) -> Leases | None:
        """Decide which kernel runs a server; None if this one shares no records."""
        ...

    def note_of(self, id: str) -> JsonObject:
        """Return what other kernels show of a server of this one."""
        ...

    async def run(self, supervisor: Supervisor) -> None:
        """Keep what was registered at run time alive in a supervisor, until cancelled."""
        ...


async def _refresh(actor: ServerActor, lease: Lease) -> None:
    """Tell other kernels of each change of a server's state."""
    while True:
        news = actor.news
        lease.refresh()
        await news.wait()


async def run_leased(actor: ServerActor, registry: SupervisedRegistry) -> None:
    """Run a server whenever this kernel has its lease, until cancelled."""
    leases, id = registry.leases, actor.spec.id
    if leases is None:
        await actor.run()
        return
    note = partial(registry.note_of, id)
    while True:
        try:
            async with (
                leases.hold(id, waiting=actor.stand_by, note=note) as lease,
                background() as tasks,
            ):
                actor.lease = lease
                tasks.start_soon(_refresh, actor, lease)
                await actor.run()
        except LeaseLostError:
            actor.lease = None
            logger.warning("%s: another kernel may run it now", id)
            actor.lost()
