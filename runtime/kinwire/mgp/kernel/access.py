"""Access control of a kernel: which agent may use which tool of which server (MGP 5)."""

from __future__ import annotations

__all__ = ("AccessExplanation", "AccessManager")

import logging
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass
from shlex import quote

from pydantic import MISSING

from kinwire.mgp.errors import refusal
from kinwire.mgp.kernel.access_options import (
    GRANT,
    LIST,
    QUERY,
    REVOKE,
    AccessPrincipal,
)
from kinwire.mgp.kernel.access_store import AccessStore
from kinwire.mgp.kernel.call import GuardedCall
from kinwire.mgp.kernel.callers import operator_now
from kinwire.mgp.kernel.guarded_server import GuardedServer
from kinwire.mgp.kernel.limited_events import RecordEvent
from kinwire.mgp.kernel.tracing import new_trace_id
from kinwire.mgp.rules.access import (
    AccessDecision,
    AccessGrant,
    AccessStep,
    AccessSubject,
    AgentAccess,
)
from kinwire.mgp.rules.access_results import entry_of, query_result
from kinwire.mgp.rules.audit_events import SecurityEvent
from kinwire.storage.clock import Clock
from kinwire.storage.errors import StorageError
from kinwire.storage.memory import MemoryRecords
from kinwire.storage.records import Records
from kinwire.storage.store import OpenGuard
from kinwire_protocols.mgp.errors import AccessDeniedError
from kinwire_protocols.mgp.models import (
    AccessEntry,
    AccessPermission,
    AccessQueryResult,
    AccessRevokeResult,
    AuditEventType,
    DefaultPolicy,
)

logger = logging.getLogger("kinwire.mgp")


@dataclass(frozen=True, slots=True)
class AccessExplanation:
    """A decision, and what each level of the order said (MGP 5.2)."""

    subject: AccessSubject
    decision: AccessDecision
    steps: list[AccessStep]
    """The highest level first. The first step that has a permission decided."""


class AccessManager:
    """The entries of a kernel: `kernel.access`. `grant` and `revoke` act as the operator.

    Each method reads and writes the records themselves, which other processes may share. A change
    that has returned is seen by every later decision, of whatever process. Without `records`, and
    for a server that only its connection names, entries are kept in memory.
    """

    def __init__(
        self,
        records: Records | None,
        clock: Clock,
        default_of: Callable[[str], DefaultPolicy],
        record: RecordEvent,
        *,
        is_transient: Callable[[str], bool] = lambda server: False,
    ) -> None:
        """Prepare. `clock` must never go back; the functions take the id of a server."""
        memory = AccessStore(MemoryRecords("mgp", OpenGuard("memory"), clock), clock)
        self._memory = memory
        self._store = memory if records is None else AccessStore(records, clock)
        self._clock = clock
        self._default_of = default_of
        self._is_transient = is_transient
        self._record = record

    def check(self, call: GuardedCall) -> Awaitable[None] | None:
        """Raise if the agent may not use the tool, now or when what it returns is awaited.

        Raises:
            AccessDeniedError: an entry or the default denies it, or the records cannot be read.
        """
        store = self._memory if call.server.transient else self._store
        try:
            found = store.at_hand(call.agent, call.server.id)
        except StorageError as error:
            raise _unreadable(call, error) from None
        if found is None:
            return self._check(call, store)
        row, now = found
        _must_be_allowed(call, row.decide(call.tool.name, default_for(call.server), now))
        return None

    async def _check(self, call: GuardedCall, store: AccessStore) -> None:
        try:
            row, now = await store.current(call.agent, call.server.id)
        except StorageError as error:
            raise _unreadable(call, error) from None
        _must_be_allowed(call, row.decide(call.tool.name, default_for(call.server), now))

    async def allowed(
        self, agent: str, server: GuardedServer, tools: Collection[str]
    ) -> frozenset[str]:
        """Return which of several tools an agent may use; an empty set if this is not readable."""
        found = await self.row(agent, server)
        if found is None:
            return frozenset()
        row, now = found
        default = default_for(server)
        return frozenset(tool for tool in tools if row.decide(tool, default, now).allowed)

    async def row(self, agent: str, server: GuardedServer) -> tuple[AgentAccess, float] | None:
        """Return the entries of an agent for a server, and the time; None if they are not readable.

        Nobody has access without them.
        """
        store = self._memory if server.transient else self._store
        try:
            found = store.at_hand(agent, server.id)
            return await store.current(agent, server.id) if found is None else found
        except StorageError as error:
            logger.error("%s: access entries cannot be read", server.id, exc_info=error)
            return None

    async def query(self, agent: str, server: str, tool: str) -> AccessQueryResult:
        """Return whether an agent may use a tool now, as `mgp/access/query` does (MGP 5.4).

        Raises:
            ValueError: a name is empty, too long or not printable.
            StorageError: the records cannot be read.
        """
        return query_result((await self.explain(agent, server, tool)).decision)

    async def explain(self, agent: str, server: str, tool: str) -> AccessExplanation:
        """Return the decision about a tool, with what each level of the order said.

        Raises:
            ValueError: a name is empty, too long or not printable.
            StorageError: the records cannot be read.
        """
        QUERY.check(agent=agent, server=server, tool=tool)
        row, now = await self._store_of(server).current(agent, server)
        default = self._default_of(server)
        return AccessExplanation(
            AccessSubject(agent, server, tool),
            row.decide(tool, default, now),
            row.steps(tool, default, now),
        )

    async def list(self, agent: str | None = None, server: str | None = None) -> list[AccessEntry]:
        """Return the entries that hold, of one agent or server or of all, sorted by name.

        Raises:
            ValueError: a name is empty, too long or not printable.
            StorageError: the records cannot be read.
        """
        LIST.check(agent=agent, server=server)
        found = {
            (grant.subject.server, grant.subject.agent, grant.subject.tool or ""): entry_of(grant)
            for store in dict.fromkeys((self._memory, self._store))
            async for grant in store.grants(agent, server)
        }
        return [found[key] for key in sorted(found)]

    async def grant(
        self,
        agent: str,
        server: str,
        permission: AccessPermission = "allow",
        *,
        tool: str | None = None,
        expires_in: float | None = None,
        justification: str | None = None,
    ) -> AccessEntry:
        """Allow or deny a tool, or all tools of a server, to an agent. Return the entry (MGP 5.4).

        It takes the place of the entry about the same agent and server, or agent and tool.
        `expires_in` is in seconds; None for an entry that stays.

        Raises:
            ValueError: a name is empty, too long or not printable, or there are already 1,000
                entries of the agent for the server.
            StorageError: the records cannot be written.
        """
        GRANT.check(
            agent=agent,
            server=server,
            permission=permission,
            tool=tool,
            expires_in=expires_in,
            justification=justification,
        )
        subject, now = AccessSubject(agent, server, tool), self._clock()
        ends = None if expires_in is None else now + expires_in
        by = _operator()
        new = AccessGrant(subject, permission, by.id, now, ends, justification)
        return await self.put(new, by)

    async def revoke(
        self, agent: str, server: str, *, tool: str | None = None
    ) -> AccessRevokeResult:
        """Remove the entry about a tool, or about the server. Return what it was (MGP 5.4).

        Raises:
            ValueError: a name is empty, too long or not printable.
            StorageError: the records cannot be written.
        """
        REVOKE.check(agent=agent, server=server, tool=tool)
        return await self.remove(AccessSubject(agent, server, tool), _operator())

    async def put(self, new: AccessGrant, by: AccessPrincipal) -> AccessEntry:
        """Store an entry that was checked, and write the audit event."""
        subject = new.subject
        store = self._store_of(subject.server)
        await store.change(subject.agent, subject.server, lambda row: row.with_grant(new))
        entry = entry_of(new)
        await self._report("ACCESS_GRANTED", by, entry)
        return entry

    async def remove(self, subject: AccessSubject, by: AccessPrincipal) -> AccessRevokeResult:
        """Remove an entry, and write the audit event if there was one."""
        tool, store = subject.tool, self._store_of(subject.server)
        before = await store.change(subject.agent, subject.server, lambda row: row.without(tool))
        gone = before.entries.get(tool)
        if gone is None:
            return AccessRevokeResult(revoked=False)
        entry = entry_of(gone)
        await self._report("ACCESS_REVOKED", by, entry)
        return AccessRevokeResult(revoked=True, entry=entry)

    def _store_of(self, server: str) -> AccessStore:
        return self._memory if self._is_transient(server) else self._store

    async def _report(self, event: AuditEventType, by: AccessPrincipal, entry: AccessEntry) -> None:
        details = {
            "agent_id": entry.agent_id,
            "entry_type": entry.entry_type,
            "permission": entry.permission,
            "expires_at": entry.expires_at,
            "justification": entry.justification,
        }
        tool = None if entry.tool_name is MISSING else entry.tool_name
        await self._record(
            SecurityEvent(
                event, by.kind, by.id, entry.server_id, tool, "SUCCESS", details, new_trace_id()
            )
        )


def _operator() -> AccessPrincipal:
    return AccessPrincipal("operator", operator_now())


def default_for(server: GuardedServer) -> DefaultPolicy:
    """Return what holds for a server without an entry (MGP 5.5)."""
    return server.policy.access or server.defaults.access


def _must_be_allowed(call: GuardedCall, decision: AccessDecision) -> None:
    """Raise if a decision denies a call.

    Raises:
        AccessDeniedError: it does.
    """
    if not decision.allowed:
        raise _denied(call.agent, call.server.id, call.tool.name, decision)


def _denied(agent: str, server: str, tool: str, decision: AccessDecision) -> AccessDeniedError:
    why = f"an entry ({decision.source}) denies it"
    if decision.entry is None:
        why = "the server's default policy is opt-in, and there is no entry that allows it"
    names = " ".join(map(quote, (agent, server, tool)))  # a server chose the name of its tool
    return refusal(
        AccessDeniedError,
        f"{agent} has no access to the tool {tool!r} of {server}: {why}. An operator can allow it: "
        f"kinwire access grant {names} --store URL",
        details={"reason": "access", "source": decision.source},
    )


def _unreadable(call: GuardedCall, error: StorageError) -> AccessDeniedError:
    logger.error("%s: access entries cannot be read", call.server.id, exc_info=error)
    return refusal(
        AccessDeniedError,
        f"{call.agent} has no access to the tool {call.tool.name!r} of {call.server.id}: the "
        "access entries cannot be read now. Check the store.",
        details={"reason": "access_store"},
    )
