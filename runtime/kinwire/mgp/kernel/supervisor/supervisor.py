"""Keeps the servers of a kernel alive: `async with kernel.supervise(host, specs) as supervisor`."""

from __future__ import annotations

__all__ = ("SupervisingKernel", "Supervisor")

import logging
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from types import TracebackType
from typing import Final, Self

import anyio
from anyio.abc import TaskGroup

from kinwire.mcp.host import Host
from kinwire.mgp.kernel.audit import AuditLog
from kinwire.mgp.kernel.guarded_server import GuardedServer
from kinwire.mgp.kernel.lifecycle import LifecycleManager
from kinwire.mgp.kernel.supervisor.actor import ServerActor
from kinwire.mgp.kernel.supervisor.changed_servers import ChangedServers
from kinwire.mgp.kernel.supervisor.group_memory import must_be_readable
from kinwire.mgp.kernel.supervisor.kept_histories import KeptHistories
from kinwire.mgp.kernel.supervisor.launch import launch
from kinwire.mgp.kernel.supervisor.leased import SupervisedRegistry, run_leased
from kinwire.mgp.kernel.supervisor.orders import Order, OrderKind
from kinwire.mgp.kernel.supervisor.reports import Reports
from kinwire.mgp.kernel.supervisor.services import SupervisorServices
from kinwire.mgp.kernel.supervisor.status import ServerStatus
from kinwire.mgp.kernel.supervisor.supervised import SupervisedServer
from kinwire.mgp.rules.lifecycle import StateChange
from kinwire.mgp.rules.server_spec import ServerSpec
from kinwire.rpc.errors import SessionStateError
from kinwire.rpc.session import Session
from kinwire.storage.clock import Clock
from kinwire.storage.records import Records
from kinwire.support.arguments import FLAG, TEXT, ArgumentCheck, instance_of, list_of, one_of
from kinwire.support.background import movable_background
from kinwire_protocols.mgp.models import ShutdownReason
from kinwire_protocols.mgp.tables import SHUTDOWN_REASONS
from kinwire_protocols.nearest import nearest

logger = logging.getLogger("kinwire.mgp.supervisor")

_SPEC = instance_of(ServerSpec, "a ServerSpec", 'ServerSpec("files", command="python")')
_REASON = one_of(*SHUTDOWN_REASONS)
_SUPERVISE = ArgumentCheck(
    "MgpKernel.supervise",
    "kernel.supervise(host, [spec])",
    {"host": instance_of(Host, "a Host", "host"), "specs": list_of(_SPEC, "several specs")},
)
_START = ArgumentCheck("Supervisor.start", 'await supervisor.start("files")', {"id": TEXT})
_STOP = ArgumentCheck(
    "Supervisor.stop", 'await supervisor.stop("files")', {"id": TEXT}, reason=_REASON
)
_RESTART = ArgumentCheck(
    "Supervisor.restart", 'await supervisor.restart("files")', {"id": TEXT}, reason=_REASON
)
_ADD = ArgumentCheck(
    "Supervisor.add", "await supervisor.add(spec)", {"spec": _SPEC}, start=FLAG, registered=FLAG
)
_REPLACE = ArgumentCheck(
    "Supervisor.replace",
    "await supervisor.replace(specs)",
    {"specs": list_of(_SPEC, "several specs")},
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SupervisingKernel:
    """What a supervisor needs of its kernel."""

    lifecycle: LifecycleManager
    audit: AuditLog
    clock: Clock
    records: Records | None
    guarded: Callable[[Session], GuardedServer | None]
    registry: SupervisedRegistry


class Supervisor:
    """Servers that are kept alive. `MgpKernel.supervise` makes it; it is an async context manager.

    Each server has a task of its own, so none waits for another. At the end of the block all
    servers are shut down (`kernel_shutdown`), and no process of theirs is left.
    """

    def __init__(self, kernel: SupervisingKernel, host: Host, specs: Iterable[ServerSpec]) -> None:
        _SUPERVISE.check(host=host, specs=specs)
        self.host: Final = host
        """The host that the servers are connected to."""
        self._specs = _by_id(specs)
        self._kernel = kernel
        self._actors: dict[str, ServerActor] = {}
        self._tasks: dict[str, anyio.CancelScope] = {}
        self._registered: set[str] = set()  # what was registered at run time
        self._group: TaskGroup | None = None
        self._replacing = anyio.Lock()  # each `replace` begins where the one before has ended
        self._changed = ChangedServers()
        self._services = SupervisorServices(
            launch=partial(launch, host),
            guarded=kernel.guarded,
            reports=Reports(kernel.audit),
            histories=KeptHistories(kernel.records),
            clock=kernel.clock,
            changed=self._state_changed,
            noticed=self._changed.put,
        )

    async def __aenter__(self) -> Self:
        """Begin to start all servers; nothing is waited for.

        Raises:
            ValueError: another supervisor of the kernel has a server of one of the ids.
        """
        self._background = movable_background()
        self._group = await self._background.__aenter__()
        try:
            for spec in self._specs.values():
                await self.add(spec)
            self._group.start_soon(self._kernel.registry.run, self)
        except BaseException:
            await self._end(drain=False)
            raise
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self._end(drain=kind is None)

    def __getitem__(self, id: str) -> SupervisedServer:
        """Return the server of this id.

        Raises:
            KeyError: there is no such server.
        """
        return SupervisedServer(self._actor(id))

    @property
    def servers(self) -> list[SupervisedServer]:
        """All servers, in the order in which they were added."""
        return [SupervisedServer(actor) for actor in self._actors.values()]

    @property
    def statuses(self) -> list[ServerStatus]:
        """What there is to say of all servers now, for a table."""
        return [server.status for server in self.servers]

    def changes(self) -> AbstractContextManager[AsyncIterator[str]]:
        """Watch all servers: `with supervisor.changes() as changes: async for id in changes`.

        Yields the id of a server whose status has changed, or which was added or removed. Several
        changes before the next iteration yield it once. The iteration ends with the supervisor.
        """
        return self._changed.read()

    async def start(self, id: str) -> None:
        """Start a server, and wait until it is connected or that attempt has failed.

        One that waits for its restart starts immediately; one that runs goes on. Its restarts are
        counted from the beginning.

        Raises:
            KeyError: there is no such server.
            SessionStateError: the supervisor has ended.
        """
        _START.check(id=id)
        await self._order(self._actor(id), "start", "operator_request")

    async def stop(self, id: str, *, reason: ShutdownReason = "operator_request") -> None:
        """Shut a server down, and wait until its processes are gone.

        It stays down until `start`; after `operator_request` also when the kernel begins again,
        if it has records. A second `stop` ends a server that drains immediately.

        Raises:
            KeyError: there is no such server.
            ValueError: the reason is not one of MGP 0.2.0 section 11.4.
            SessionStateError: the supervisor has ended.
        """
        _STOP.check(id=id, reason=reason)
        await self._order(self._actor(id), "stop", reason)

    async def restart(self, id: str, *, reason: ShutdownReason = "operator_request") -> None:
        """Shut a server down, start it, and wait as `start` does.

        Raises:
            KeyError: there is no such server.
            ValueError: the reason is not one of MGP 0.2.0 section 11.4.
            SessionStateError: the supervisor has ended.
        """
        _RESTART.check(id=id, reason=reason)
        await self._order(self._actor(id), "again", reason)

    async def stop_all(self, *, reason: ShutdownReason = "kernel_shutdown") -> None:
        """Shut all servers down at the same time, and wait until their processes are gone."""
        async with anyio.create_task_group() as tasks:
            for id in self._actors:
                tasks.start_soon(partial(self.stop, id, reason=reason))

    async def add(
        self, spec: ServerSpec, *, start: bool = True, registered: bool = False
    ) -> SupervisedServer:
        """Add a server, and begin to start it; `start=False` leaves it `registered`.

        With `registered` it belongs to the registry of the kernel, and `replace` leaves it alone.

        Raises:
            ImportError: the spec limits memory, and the extra `supervisor` is not installed.
            MemoryUnknownError: the spec limits memory, which cannot be read here.
            ValueError: there is a server of this id, here or in another supervisor of the kernel.
            SessionStateError: the supervisor is not open.
        """
        _ADD.check(spec=spec, start=start, registered=registered)
        _by_id([spec])
        group = self._open()
        actor = ServerActor(spec, self._services, start=start)
        self._kernel.lifecycle.watch(spec.id, actor)
        self._actors[spec.id] = actor
        if registered:
            self._registered.add(spec.id)
        self._tasks[spec.id] = anyio.CancelScope()
        group.start_soon(self._run, actor, self._tasks[spec.id])
        self._changed.put(spec.id)
        return SupervisedServer(actor)

    async def remove(self, id: str, *, reason: ShutdownReason = "configuration_change") -> None:
        """Shut a server down, and forget it with its restarts.

        Raises:
            KeyError: there is no such server.
        """
        _STOP.check(id=id, reason=reason)
        actor = self._actor(id)
        await self._order(actor, "stop", reason)
        if self._actors.get(id) is actor:  # another task may have removed it
            self._tasks.pop(id).cancel()
            del self._actors[id]
            self._registered.discard(id)
            self._kernel.lifecycle.forget(id)
            await self._services.histories.forget(id)
            self._changed.put(id)

    async def replace(self, specs: Iterable[ServerSpec]) -> None:
        """Go over to other specs: add, remove, and restart what they change.

        Servers whose spec is equal are left alone, and so is a process of which only the rules
        have changed: they hold from now on. The reason of all that ends is `configuration_change`.

        Raises:
            ValueError: two specs have one id, or one has that of a server that was registered at
                run time; nothing was changed.
            ImportError: a spec limits memory, and the extra `supervisor` is not installed; nothing
                was changed.
        """
        _REPLACE.check(specs=specs)
        wanted = _by_id(specs)
        for id in self._registered & wanted.keys():
            raise ValueError(
                f"specs: {id!r:.60} was registered at run time. Deregister it first, or use "
                "another id."
            )
        self._open()
        async with self._replacing:
            await self._go_over_to(wanted)

    async def _go_over_to(self, wanted: Mapping[str, ServerSpec]) -> None:
        async with anyio.create_task_group() as tasks:
            for id in self._actors.keys() - wanted.keys() - self._registered:
                tasks.start_soon(self.remove, id)
            for spec in wanted.values():
                actor = self._actors.get(spec.id)
                if actor is None:
                    await self.add(spec)
                elif actor.spec != spec:
                    tasks.start_soon(self._respec, actor, spec)

    async def _respec(self, actor: ServerActor, spec: ServerSpec) -> None:
        if actor.spec.leased != spec.leased:  # it runs in another way
            await self.remove(spec.id)
            await self.add(spec, start=not actor.stopped)
            return
        kind = actor.respec(spec)
        self._changed.put(spec.id)
        if kind is not None:
            await self._order(actor, kind, "configuration_change")

    async def _order(self, actor: ServerActor, kind: OrderKind, reason: str) -> None:
        self._open()
        order = Order(kind, reason)
        actor.orders.put(order)
        await order.done.wait()

    async def _run(self, actor: ServerActor, scope: anyio.CancelScope) -> None:
        try:
            with scope:
                if actor.spec.leased:
                    await run_leased(actor, self._kernel.registry)
                await actor.run()
        except Exception:  # a mistake of ours: the other servers go on
            logger.exception("%s: it is not supervised any more", actor.spec.id)
        finally:
            actor.close()

    async def _end(self, *, drain: bool) -> None:
        group = self._open()
        try:
            if drain:
                await self.stop_all()
        finally:
            self._group = None
            group.cancel_scope.cancel()
            self._changed.close()
            for id in self._actors:
                self._kernel.lifecycle.forget(id)
            await self._background.__aexit__(None, None, None)
            await self._kernel.audit.flush()  # the last changes of states

    def _state_changed(self, change: StateChange) -> None:
        """Tell readers, the server itself, and servers that are trusted with the others."""
        self._changed.put(change.server)
        for id, actor in self._actors.items():
            if actor.connection is not None:
                server = self._kernel.guarded(actor.connection.session)
                if server is not None and (id == change.server or server.trust == "trusted"):
                    actor.announcer.put(change)

    def _actor(self, id: str) -> ServerActor:
        found = self._actors.get(id)
        if found is None:
            near = nearest(id, list(self._actors))
            hint = f" Did you mean {near!r}?" if near else ""
            raise KeyError(f"No server {id!r:.60} is supervised.{hint}")
        return found

    def _open(self) -> TaskGroup:
        if self._group is None:
            raise SessionStateError(
                "The supervisor is not open. Write `async with kernel.supervise(host, specs)`."
            )
        return self._group


def _by_id(specs: Iterable[ServerSpec]) -> dict[str, ServerSpec]:
    """Return specs that can be followed, by their ids.

    Raises:
        ValueError: two have one id.
        ImportError: one limits memory, and the extra `supervisor` is not installed.
        MemoryUnknownError: one limits memory, which cannot be read here.
    """
    found: dict[str, ServerSpec] = {}
    for spec in specs:
        if spec.id in found:
            raise ValueError(f"specs: expected one for each id, got two for {spec.id!r:.60}")
        if spec.max_memory_bytes is not None:
            must_be_readable()
        found[spec.id] = spec
    return found
