"""The registry of a kernel: which servers there are, and those registered at run time (MGP 15).

What agents and servers register is sandboxed and waits for an operator. With records, kernels that
share them have one registry.
"""

from __future__ import annotations

__all__ = ("RegistryManager",)

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final, Protocol

import anyio

from kinwire.managers.leases import Leases
from kinwire.mgp.kernel.access import AccessManager
from kinwire.mgp.kernel.access_options import AccessPrincipal, acts_as_operator
from kinwire.mgp.kernel.audit import AuditLog
from kinwire.mgp.kernel.callers import operator_now
from kinwire.mgp.kernel.guarded_server import GuardedServer
from kinwire.mgp.kernel.limited_events import LimitedEvents
from kinwire.mgp.kernel.registered_runner import RegisteredRunner
from kinwire.mgp.kernel.registered_scripts import ScriptFolder, sandbox_rules
from kinwire.mgp.kernel.registration_desk import RegistrationDesk
from kinwire.mgp.kernel.registry_options import (
    ADVERTISE,
    APPROVE,
    DEREGISTER,
    LIST_SERVERS,
    REGISTER,
    Registrations,
)
from kinwire.mgp.kernel.registry_store import RegistryStore, key_of
from kinwire.mgp.kernel.server_directory import KnownServers, ServerDirectory, entry_of
from kinwire.mgp.kernel.server_rights import ServerRights
from kinwire.mgp.kernel.supervisor.supervisor import Supervisor
from kinwire.mgp.kernel.tracing import new_trace_id
from kinwire.mgp.rules.audit_events import OWN_TYPES, SecurityEvent
from kinwire.mgp.rules.discovery import registered_entry
from kinwire.mgp.rules.registration import Registration, RegistrationApproval
from kinwire.mgp.rules.server_policy import ServerPolicy
from kinwire.storage.clock import Clock
from kinwire.storage.errors import ConflictError
from kinwire.storage.memory import MemoryRecords
from kinwire.storage.records import Records
from kinwire.storage.store import OpenGuard
from kinwire.support.background import start_detached
from kinwire_protocols.base import JsonObject, RpcError, to_wire
from kinwire_protocols.mgp.models import (
    DiscoveredServer,
    DiscoveryFilter,
    DiscoveryRegisterParams,
    ServerProfile,
    ServerState,
)

logger = logging.getLogger("kinwire.mgp")

SERVER_REGISTERED: Final = f"{OWN_TYPES}server_registered"
SERVER_APPROVED: Final = f"{OWN_TYPES}server_approved"
SERVER_DEREGISTERED: Final = f"{OWN_TYPES}server_deregistered"

_RegistrationList = list[Registration]
_Entries = list[DiscoveredServer]

SANDBOX: Final = ServerPolicy(trust="sandboxed", access="opt-in")
"""What holds for every server that was registered at run time, whatever else is configured."""


class CreatedServers(Protocol):
    """Decides about servers that agents write themselves, in the place of an operator."""

    def approver_of(self, by: AccessPrincipal) -> AccessPrincipal | None:
        """Return who approves what a caller registers now; None leaves it to an operator."""
        ...

    async def added(self, server: str, by: AccessPrincipal) -> None:
        """Note that a server which was approved so is registered."""
        ...


class RegistryManager:
    """The servers of a kernel that were registered at run time: `kernel.registry`.

    `register`, `approve` and `deregister` act as the operator. What is registered and approved runs
    in the kernel's supervisor.
    """

    def __init__(  # noqa: PLR0913 - what it connects
        self,
        options: Registrations,
        records: Records | None,
        clock: Clock,
        audit: AuditLog,
        rights: ServerRights,
        access: AccessManager,
        *,
        connected: Callable[[], Sequence[GuardedServer]],
        configured: Callable[[], Mapping[str, str]],
    ) -> None:
        """`configured` returns the trust of configured servers by id. `clock` never goes back."""
        self._options = options
        self._is_shared = records is not None
        kept = MemoryRecords("mgp", OpenGuard("memory"), clock) if records is None else records
        self._store = RegistryStore(kept)
        self._clock, self._audit, self._rights = clock, audit, rights
        self._connected, self._configured = connected, configured
        self._known: dict[str, Registration] = {}  # by key of their records: what was seen here
        self.created: CreatedServers | None = None
        """What decides about servers that agents write themselves."""
        self._supervisors: list[Supervisor] = []
        self._runner: RegisteredRunner | None = None
        self._scripts = ScriptFolder(options.folder, sandbox_rules(options.imports))
        taken, refused = self._is_taken, LimitedEvents(audit.record, clock)
        self._desk = RegistrationDesk(self._scripts, taken, refused, clock)
        self.leases: Final = None if records is None else _leases(records, options)
        """Which kernel runs a server; None without records that others could share."""
        known = KnownServers(connected=connected, states=self.states, configured=configured)
        self._directory = ServerDirectory(known, access, self.leases)

    # -- for operators --

    async def list(self, wanted: DiscoveryFilter | None = None) -> _Entries:
        """Return the servers that the kernel knows, sorted by id, as `mgp/discovery/list` does.

        Every field of `wanted` that is given must fit (MGP 0.2.0 section 15.2).

        Raises:
            StorageError: the records cannot be read.
        """
        LIST_SERVERS.check(wanted=wanted)
        return await self.listed(wanted, AccessPrincipal("operator", operator_now()))

    def advertise(self, profiles: Mapping[str, ServerProfile]) -> None:
        """Say what configured servers support before they are connected, by id (MGP 15.3).

        It takes the place of what was said before, so a server that is left out is forgotten.
        """
        ADVERTISE.check(profiles=profiles)
        self._directory.profiles.clear()
        self._directory.profiles.update(profiles)

    async def all(self) -> _RegistrationList:
        """Return the servers that were registered at run time, the oldest first.

        Raises:
            StorageError: the records cannot be read.
        """
        found = await self._store.all()
        for one in found:
            self._see(key_of(one.id), one)
        return found

    async def waiting(self) -> _RegistrationList:
        """Return those that no operator has approved yet, with their scripts.

        Raises:
            StorageError: the records cannot be read.
        """
        return [one for one in await self.all() if not one.is_approved]

    async def register(
        self,
        id: str,
        *,
        command: str | None = None,
        args: Iterable[str] = (),
        url: str | None = None,
        profile: ServerProfile | None = None,
        justification: str | None = None,
    ) -> DiscoveredServer:
        """Register a server as the operator, who approves it by that. It is sandboxed, too.

        Raises:
            RpcError: it is refused, as `mgp/discovery/register` would be.
            StorageError: it could not be stored.
        """
        words = [*args]
        given = {"command": command, "args": words, "url": url, "profile": profile}
        REGISTER.check(id=id, justification=justification, **given)
        params = DiscoveryRegisterParams(
            id=id, command=command, args=words, url=url, mgp=profile, justification=justification
        )
        return await self.take(params, AccessPrincipal("operator", operator_now()))

    async def approve(self, id: str, digest: str) -> Registration:
        """Let a server run. `digest` is that of the `Registration` which the operator has seen.

        Raises:
            ValueError: there is no such server, or it is another one by now.
            StorageError: it could not be stored.
        """
        APPROVE.check(id=id, digest=digest)
        found = await self._store.get(id)
        if found is None or found[0].digest != digest:
            raise ValueError(
                f"approve: expected a server that waits, got {id!r:.60} with another digest. Look "
                "at what it would run now."
            )
        return await self._approve(*found, operator_now())

    async def deregister(self, id: str, *, reason: str | None = None) -> bool:
        """Take a server out: it is shut down, and all rights under its id end.

        Returns whether there was one. Servers that are configured stay.

        Raises:
            StorageError: it could not be removed.
        """
        DEREGISTER.check(id=id, reason=reason)
        return await self.remove(id, reason, AccessPrincipal("operator", operator_now()))

    # -- for the kernel --

    async def run(self, supervisor: Supervisor) -> None:
        """Keep what was registered and approved alive in a supervisor, until cancelled.

        Of several supervisors the first one has these servers.
        """
        self._supervisors.append(supervisor)
        try:
            if self._runner is None:
                self._runner = RegisteredRunner(
                    supervisor, self._store, self._scripts, self._see, leased=self._is_shared
                )
                await self._runner.run()
            await anyio.sleep_forever()
        except Exception:  # a mistake of ours: the other servers go on
            logger.exception("registered servers are not supervised any more")
        finally:
            self._supervisors.remove(supervisor)
            self._runner = None if not self._supervisors else self._runner

    def note_of(self, id: str) -> JsonObject:
        """Return what other kernels show of a server that runs under this one."""
        state = self.states().get(id, "disconnected")
        found = [one for one in self._connected() if one.id == id]
        if state == "connected" and found:
            return to_wire(entry_of(found[0], state))
        return {"id": id, "status": state}

    def policy_of(self, id: str) -> ServerPolicy | None:
        """Return what holds for a server that was registered at run time; None for others."""
        return SANDBOX if key_of(id) in self._known else None

    async def listed(self, wanted: DiscoveryFilter | None, by: AccessPrincipal) -> _Entries:
        """Return the servers that fit, as `by` may see them.

        Raises:
            StorageError: the records cannot be read.
        """
        return await self._directory.find(wanted, await self.all(), by)

    async def take(self, params: DiscoveryRegisterParams, by: AccessPrincipal) -> DiscoveredServer:
        """Register what a caller asks for, and return its entry (MGP 15.4).

        Raises:
            RpcError: it is refused.
            StorageError: it could not be stored.
        """
        if by.kind == "server" and self.policy_of(by.id) is not None:
            what = f"{by.id} was registered at run time: it cannot register others"
            raise await self._desk.refuse_caller(params.id, by, what)
        wanted, known = await self._desk.read(params, by), await self.all()
        same = [one for one in known if one.id.casefold() == wanted.id.casefold()]
        if not same:
            await self._desk.admit(wanted, known, by)
        wanted = await self._desk.with_script(wanted, by)
        if same and same[0].is_same_as(wanted):
            return registered_entry(same[0])
        if same:
            raise await self._desk.taken(wanted.id, by)
        await self._add(wanted, by)
        return registered_entry(wanted)

    async def remove(self, id: str, reason: str | None, by: AccessPrincipal) -> bool:
        """Take a server out for the caller that has registered it, or for an operator.

        Raises:
            PermissionDeniedError: it is another caller.
            StorageError: it could not be removed.
        """
        found = await self._store.get(id)
        if found is None:
            return False
        known, revision = found
        if not (self._is_operator(by) or (known.by_kind, known.by) == (by.kind, by.id)):
            what = "Only who has registered a server, or an operator, can take it out"
            raise await self._desk.refuse_caller(id, by, what)
        await self._store.remove(id, revision)
        await self._report(SERVER_DEREGISTERED, known, by, {"reason": reason})
        await self._rights.end(known.id)
        if self._runner is not None and (by.kind, by.id) != ("server", known.id):
            await self._runner.settle(known.id)
        return True

    async def _add(self, new: Registration, by: AccessPrincipal) -> None:
        approver = by if self._is_operator(by) else self._created_by(by)
        if approver is not None:
            approval = RegistrationApproval(new.digest, approver.id, self._clock())
            new = replace(new, approval=approval)
        try:
            await self._store.put(new, 0)
        except ConflictError:
            raise await self._desk.taken(new.id, by) from None
        self._see(key_of(new.id), new)
        await self._report(SERVER_REGISTERED, new, by)
        if approver is not None:
            await self._report(SERVER_APPROVED, new, approver)
            if approver is not by and self.created is not None:
                await self.created.added(new.id, by)
        elif self._options.ask is not None:
            start_detached(lambda: self._ask(new))

    async def _ask(self, new: Registration) -> None:
        """Let a person decide about a server."""
        assert self._options.ask is not None
        try:
            approved = await self._options.ask(new)
            if approved is True:
                await self.approve(new.id, new.digest)
            else:
                await self.deregister(new.id, reason="denied")
        except (Exception, RpcError):
            logger.exception("%s: nobody could decide about it; it waits", new.id)

    async def _approve(self, found: Registration, revision: int, by: str) -> Registration:
        approval = RegistrationApproval(found.digest, by, self._clock())
        approved = replace(found, approval=approval)
        await self._store.put(approved, revision)
        await self._report(SERVER_APPROVED, approved, AccessPrincipal("operator", by))
        return approved

    def _created_by(self, by: AccessPrincipal) -> AccessPrincipal | None:
        return None if self.created is None else self.created.approver_of(by)

    def _is_operator(self, by: AccessPrincipal) -> bool:
        return acts_as_operator(by, self._options.is_operator)

    async def _is_taken(self, id: str) -> bool:
        taken = {*self._configured(), *self.states(), *self._directory.profiles}
        for server in self._connected():
            declared = None if server.offer is None else server.offer.server_id
            taken |= {server.id, declared or server.id}
        return id.casefold() in map(str.casefold, taken) or await self._rights.exist(id)

    def _see(self, key: str, found: Registration | None) -> None:
        """Know whether a server was registered at run time."""
        if found is None:
            self._known.pop(key, None)
        else:
            self._known[key] = found

    def states(self) -> dict[str, ServerState]:
        """Return the states of supervised servers, by id."""
        statuses = (one for supervisor in self._supervisors for one in supervisor.statuses)
        return {one.id: one.state for one in statuses}

    async def _report(
        self,
        kind: str,
        about: Registration,
        by: AccessPrincipal,
        more: JsonObject | None = None,
    ) -> None:
        details: JsonObject = {"digest": about.digest, "registered_by": about.by, **(more or {})}
        await self._audit.record(
            SecurityEvent(kind, by.kind, by.id, about.id, None, "SUCCESS", details, new_trace_id())
        )


def _leases(records: Records, options: Registrations) -> Leases:
    assert options.name is not None  # it has one of its own
    return Leases(records, holder=options.name, prefix="lease/server/", lasts=options.lease)
