"""Permissions of servers: what holds, the check of each call, and the operator's part (MGP 3).

`rules/permissions.py` says what holds at a moment, `permission_questions.py` asks, and
`permission_exchange.py` has the messages.
"""

from __future__ import annotations

__all__ = ("PermissionManager",)

import logging
import math
from collections.abc import Awaitable, Sequence
from functools import partial

import anyio

from kinwire.managers.while_open import must_stay_open, while_open
from kinwire.mgp.kernel.audit import AuditLog
from kinwire.mgp.kernel.call import GuardedCall
from kinwire.mgp.kernel.callers import operator_now
from kinwire.mgp.kernel.guarded_server import GuardedServer
from kinwire.mgp.kernel.pending import PendingPermission
from kinwire.mgp.kernel.permission_exchange import ANSWER, PermissionExchange
from kinwire.mgp.kernel.permission_options import POLICY_KIND, PermissionQuestion, Permissions
from kinwire.mgp.kernel.permission_questions import (
    PermissionQuestions,
    permission_event,
    policy_event,
)
from kinwire.mgp.kernel.permission_refusals import lacks, too_many
from kinwire.mgp.kernel.permission_store import PermissionStore
from kinwire.mgp.rules.permissions import (
    MOST_PERMISSIONS,
    PermissionDecision,
    PermissionState,
    allowed_by,
    checked_permissions,
    expanded,
    judge,
    name_problem,
    risk_of,
)
from kinwire.rpc.errors import ConnectionClosedError
from kinwire.storage.clock import Clock
from kinwire.storage.errors import StorageError
from kinwire.storage.records import Records
from kinwire.support.arguments import SECONDS, TEXT, TEXTS, ArgumentCheck
from kinwire.support.background import background
from kinwire.support.sanitize import sanitize_for_log
from kinwire_protocols.base import RpcError
from kinwire_protocols.mgp.errors import PermissionDeniedError
from kinwire_protocols.mgp.models import GrantValue, PermissionPolicy

logger = logging.getLogger("kinwire.mgp")

_SET_POLICY = ArgumentCheck(
    "PermissionManager", 'kernel.permissions.policy = "deny_all"', {"policy": POLICY_KIND}
)
_DECIDE = ArgumentCheck(
    "kernel.permissions",
    'await kernel.permissions.approve("files", "shell.execute")',
    {"server": TEXT, "permissions": TEXTS},
    lasts=SECONDS.or_none,
    reason=TEXT.or_none,
)


class PermissionManager:
    """The permissions of all servers of one kernel. Get it from `MgpKernel.permissions`."""

    def __init__(
        self, options: Permissions, records: Records | None, audit: AuditLog, clock: Clock
    ) -> None:
        self._options = options
        self._policy: PermissionPolicy = options.policy
        self._audit = audit
        self._clock = clock
        self._store = PermissionStore(records, clock)
        self._questions = PermissionQuestions(options, self._store, audit, clock)
        self.open_questions = self._questions.open
        self._wanted = set[str]()  # permissions that operators are being asked for
        self._exchanges: dict[GuardedServer, PermissionExchange] = {}

    # -- for the operator --

    @property
    def policy(self) -> PermissionPolicy:
        """The policy of servers that have no policy of their own; a new one counts immediately."""
        return self._policy

    @policy.setter
    def policy(self, policy: PermissionPolicy) -> None:
        _SET_POLICY.check(policy=policy)
        self._policy = policy
        self._store.grants.report()

    @property
    def decisions(self) -> list[PermissionDecision]:
        """What operators decided about connected servers and still holds, denials first."""
        return [decided.answer for _, decided in self._store.grants.items()]

    @property
    def pending(self) -> list[PendingPermission]:
        """The permissions that wait for a decision, the oldest first."""
        return [waiting for _, waiting in self._store.pending.items]

    async def approve(self, server: str, *permissions: str, lasts: float | None = None) -> None:
        """Approve permissions of the server with this `server_id`. A family stands for all of it.

        Calls that wait for them go on. `lasts` is in seconds, None for ever. The name of the
        operator is that of `MgpKernel.acting_as_operator`.

        Raises:
            ValueError: the name of a permission is not valid, or `server` is the kernel's name for
                one without `server_id` of which nothing is known.
            StorageError: it could not be stored.
        """
        _DECIDE.check(server=server, permissions=permissions, lasts=lasts)
        life = math.inf if lasts is None else lasts
        ends = None if lasts is None else self._clock() + lasts
        for name in checked_permissions("approve", permissions):
            by, now = operator_now(), self._clock()
            decision = PermissionDecision(server, name, "approved", by, now, ends)
            await self._keep(decision, life)

    async def deny(self, server: str, *permissions: str, reason: str | None = None) -> None:
        """Deny permissions of a server until an operator approves them, whatever the policy says.

        Raises:
            ValueError, StorageError: as for `approve`.
        """
        await self._deny("deny", server, permissions, reason)

    async def revoke(self, server: str, *permissions: str, reason: str | None = None) -> None:
        """Take permissions back: the next call that needs one is refused, also after a restart.

        Raises:
            ValueError, StorageError: as for `approve`.
        """
        await self._deny("revoke", server, permissions, reason)

    async def load(self) -> None:
        """Take what is stored of all servers into memory, for a program without connections.

        Raises:
            StorageError: the store failed.
        """
        await self._store.load_all()

    # -- for the kernel --

    def join(self, server: GuardedServer) -> None:
        """Prepare for a server that connects."""
        self._exchanges[server] = PermissionExchange(server, self._clock)
        self._store.follow()

    def left(self, server: GuardedServer) -> None:
        """Forget a server whose session is over; what is stored of it stays in the records."""
        del self._exchanges[server]
        self._store.leave(server)
        if not self._exchanges:
            self._store.unfollow()

    async def negotiate(self, server: GuardedServer) -> None:
        """Decide about what a server requires, between its `initialize` result and `initialized`.

        Raises:
            PermissionDeniedError: the server needs all of it (`ServerPolicy.needs_all`) and lacks
                some, or it requires too much.
            StorageError: what was decided earlier cannot be read.
        """
        await self._store.load(server)
        exchange = self._exchanges.get(server)
        if exchange is None or not exchange.permissions or "security" not in server.extensions:
            return
        if len(exchange.permissions) > MOST_PERMISSIONS:
            raise too_many(server.id, "it requires")
        await self._settle(server, exchange)
        for name, state in self._states(server).items():
            if state.source not in ("nobody", "operator"):
                await self._audit.record(policy_event(server.id, name, state))
        self._must_have_all(server)
        inform = partial(self._keep_informed, server, exchange)
        server.session.start_soon(partial(while_open, server.session, inform))

    def check(self, call: GuardedCall) -> Awaitable[None] | None:
        """Refuse a call whose tool needs a permission that its server does not have (error 1000).

        What it returns waits for the operator's decision, where somebody may decide.
        """
        if len(call.tool.permissions) > MOST_PERMISSIONS:
            raise too_many(call.server.id, f"{call.tool.name:.60} needs")
        needed = expanded(call.tool.permissions)
        if all(self._holds(call, one) for one in needed):
            return None
        return self._obtain(call, needed)

    def state(self, server: GuardedServer, permission: str) -> PermissionState:
        """Return what holds for one permission of a server now."""
        if name_problem(permission) is not None:
            return PermissionState("denied", "name")
        exchange = self._exchanges.get(server)
        if exchange is None:  # its session is over
            return PermissionState("denied", "policy")
        state = judge(
            self._policy_of(server),
            self._store.remembered(server, permission),
            configured=permission in exchange.configured,
        )
        return exchange.narrow(permission, state)

    def standing(self, server: GuardedServer, permissions: Sequence[str]) -> GrantValue:
        """Return what holds for several permissions together: the worst of them."""
        if len(permissions) > MOST_PERMISSIONS:
            return "denied"
        values = {self.state(server, one).value for one in expanded(permissions)}
        if "denied" in values:
            return "denied"
        return "deferred" if "deferred" in values else "approved"

    def ask_for(
        self, server: GuardedServer, permissions: Sequence[str], agent: str, tool: str
    ) -> None:
        """Ask the operator for what a tool lacks, in the background, for an agent that wants it."""
        for permission in expanded(permissions):
            key = server.prefix + permission
            is_open = self.state(server, permission).value == "deferred"
            if is_open and key not in self._wanted:
                self._wanted.add(key)
                server.session.start_soon(partial(self._want, server, permission, agent, tool))

    async def _want(self, server: GuardedServer, permission: str, agent: str, tool: str) -> None:
        try:
            await self._ask(server, permission, agent, tool)
        except (RpcError, StorageError) as error:
            logger.warning("%s: a permission could not be asked for: %s", server.id, error)
        finally:
            self._wanted.discard(server.prefix + permission)

    def is_explicit(self, call: GuardedCall) -> bool:
        """Return whether a tool requires permissions, and a person has approved each of them."""
        states = [self.state(call.server, one) for one in expanded(call.tool.permissions)]
        sources = {one.source for one in states if one.value == "approved"}
        return (
            bool(states)
            and sources <= {"configuration", "operator"}
            and all(one.value == "approved" for one in states)
        )

    # -- a server that connects --

    async def _settle(self, server: GuardedServer, exchange: PermissionExchange) -> None:
        """Have the operator decide what is undecided, and let the server know."""
        states = self._states(server)
        undecided = tuple(name for name, state in states.items() if state.source == "nobody")
        if not undecided:
            await self._inform(server, exchange)
            return
        async with background() as tasks:
            await tasks.start(exchange.request, undecided, self._policy_of(server))
            with anyio.move_on_after(self._options.start_timeout):
                for permission in undecided:
                    await self._ask(server, permission)
            await self._inform(server, exchange)
            tasks.cancel_scope.deadline = anyio.current_time() + ANSWER

    async def _inform(self, server: GuardedServer, exchange: PermissionExchange) -> None:
        """Deliver what holds for the permissions that the server requires."""
        states = self._states(server)
        decisions = (self._store.remembered(server, name) for name in states)
        people = (one.by for one in decisions if one is not None)
        await exchange.respond(states, next(people, f"policy:{self._policy_of(server)}"))

    async def _keep_informed(self, server: GuardedServer, exchange: PermissionExchange) -> None:
        """Deliver what changes while the server is connected, also what expires."""
        try:
            while True:
                news = self._store.grants.news
                await self._inform(server, exchange)
                with anyio.move_on_after(self._next_expiry(server)):
                    await news.wait()
        except ConnectionClosedError:
            return

    def _next_expiry(self, server: GuardedServer) -> float | None:
        states = self._states(server).values()
        ends = [one.expires_at for one in states if one.expires_at is not None]
        return max(0.0, min(ends) - self._clock()) if ends else None

    def _must_have_all(self, server: GuardedServer) -> None:
        states = self._states(server)
        lacking = [name for name, state in states.items() if state.value != "approved"]
        if lacking and server.policy.needs_all:
            raise self._lacks(server, lacking[0], "it is not connected, because it requires")
        waiting = sanitize_for_log(", ".join(name for name in lacking if _waits(states[name])))
        if waiting:
            logger.warning("%s: permissions wait for an operator: %s", server.id, waiting)

    def _states(self, server: GuardedServer) -> dict[str, PermissionState]:
        exchange = self._exchanges.get(server)
        names = () if exchange is None else exchange.permissions
        return {name: self.state(server, name) for name in names}

    def _policy_of(self, server: GuardedServer) -> PermissionPolicy:
        return server.policy.approval or self._policy

    # -- a call --

    async def _obtain(self, call: GuardedCall, needed: Sequence[str]) -> None:
        """Wait for the operator to approve what a call lacks."""
        self._must_have(call, needed, "deferred")
        with anyio.move_on_after(self._options.timeout):
            async with must_stay_open(call.server.session):
                for permission in needed:
                    is_open = self.state(call.server, permission).value == "deferred"
                    is_open = is_open and permission not in call.approved_once
                    if is_open and await self._ask(
                        call.server, permission, call.agent, call.tool.name
                    ):
                        call.approved_once.add(permission)
        self._must_have(call, needed, "deferred")
        self._must_have(call, [one for one in needed if one not in call.approved_once], "approved")

    def _holds(self, call: GuardedCall, permission: str) -> bool:
        """Return whether a call has a permission: for this call, an approval outlasts its end."""
        value = self.state(call.server, permission).value
        return value == "approved" or (value == "deferred" and permission in call.approved_once)

    def _must_have(self, call: GuardedCall, names: Sequence[str], least: GrantValue) -> None:
        """Refuse a call that lacks one of `names`: one that is undecided is also `deferred`."""
        for name in names:
            if self.state(call.server, name).value not in ("approved", least):
                raise self._lacks(call.server, name, f"{call.tool.name} needs")

    async def _ask(
        self,
        server: GuardedServer,
        permission: str,
        agent: str | None = None,
        tool: str | None = None,
    ) -> bool:
        """Return whether the operator approves, at least this once."""
        question = PermissionQuestion(
            server.id,
            permission,
            risk_of(permission),
            allowed_by(permission),
            agent,
            tool,
        )
        key = server.prefix + permission
        return await self._questions.ask(key, question)

    def _lacks(self, server: GuardedServer, permission: str, what: str) -> PermissionDeniedError:
        state = self.state(server, permission)
        return lacks(server.id, permission, state, self._policy_of(server), what)

    # -- what is stored --

    async def _deny(
        self, how: str, server: str, permissions: Sequence[str], reason: str | None
    ) -> None:
        _DECIDE.check(server=server, permissions=permissions, reason=reason)
        revoked = how == "revoke"
        for name in checked_permissions(how, permissions):
            by, now = operator_now(), self._clock()
            await self._keep(
                PermissionDecision(server, name, "denied", by, now, None, reason, revoked)
            )

    async def _keep(self, decision: PermissionDecision, lasts: float = math.inf) -> None:
        connected = (one for one in self._exchanges if one.id == decision.server)
        found = next(connected, None)
        prefix = self._store.prefix_named(decision.server) if found is None else found.prefix
        await self._store.keep(prefix, decision, lasts)
        await self._audit.record(permission_event(decision))


def _waits(state: PermissionState) -> bool:
    return state.value == "deferred"
