"""A server that speaks MCPL, as its host sees it: its offer, its feature sets (MCPL 5, 6)."""

from __future__ import annotations

__all__ = ("HostServices", "ServerPeer")

import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import anyio

from kinwire.managers.durable_map import DurableMap
from kinwire.mcp.extension import Next
from kinwire.mcpl.host.audit import Audit
from kinwire.mcpl.host.moderation import Moderator
from kinwire.mcpl.host.scoped_calls import ScopedCalls
from kinwire.mcpl.host.scopes import ScopeGuard
from kinwire.mcpl.host.server_channels import OpenedChannels, ServerChannels
from kinwire.mcpl.host.server_scopes import ServerScopes
from kinwire.mcpl.host.state import ServerState, StatefulCalls, States
from kinwire.mcpl.host.tool_sets import ToolSets
from kinwire.mcpl.rules.feature_sets import FeatureSets
from kinwire.mcpl.rules.injections import Dropped
from kinwire.mcpl.rules.items import with_valid_injections
from kinwire.mcpl.rules.names import checked_pattern, matches
from kinwire.mcpl.rules.offers import (
    MAY_BE_DECLARED,
    MOST_SETS,
    PeerOffer,
    may_be_declared,
    with_known_uses,
)
from kinwire.mcpl.rules.open_hooks import OpenHooks
from kinwire.mcpl.rules.restrictions import Restrictions
from kinwire.mcpl.rules.tags import (
    BEFORE_INFERENCE,
    after_allowed,
    before_allowed,
)
from kinwire.mcpl.rules.uses import HOOKS, NAMED_SET_USE, SET_REQUESTS, hook_refusal
from kinwire.rpc.errors import InvalidResponseError, RpcError
from kinwire.rpc.request import Request
from kinwire.rpc.session import Session
from kinwire_protocols import mcp
from kinwire_protocols.base import JsonObject
from kinwire_protocols.mcp.methods import NOTIFICATIONS_INITIALIZED
from kinwire_protocols.mcpl.methods import (
    CONTEXT_AFTER_INFERENCE,
    CONTEXT_BEFORE_INFERENCE,
    FEATURE_SETS_CHANGED,
    FEATURE_SETS_UPDATE,
    INFERENCE_REQUEST,
    STATE_ROLLBACK,
)
from kinwire_protocols.mcpl.models import (
    AfterInferenceParams,
    AfterInferenceResult,
    BeforeInferenceParams,
    BeforeInferenceResult,
    FeatureSet,
    FeatureSetsChangedParams,
    FeatureSetsUpdateParams,
    Scope,
    ScopeElevateParams,
    ScopeElevateResult,
)
from kinwire_protocols.peer import Method

logger = logging.getLogger("kinwire.mcpl")


@dataclass(frozen=True, slots=True)
class HostServices:
    """What all servers of one host share."""

    guard: ScopeGuard
    states: States
    audit: Audit
    moderator: Moderator
    opened: OpenedChannels
    restrictions: DurableMap[str, Restrictions]
    connected: Callable[[str], ServerPeer | None]
    """Returns the server with a key that is connected now."""


class ServerPeer:
    """One connection of a host to a server of MCPL. Get it from `McplHost.of(connection)`.

    `id` is its name for logs, `key` the identity that data is kept under. `scopes` has the lists
    and answers (`set`, `reset`, `revoke`), `channels` what the host does with its channels (`open`,
    `close`, `publish`, `send`, `listed`, `reopen`), and `session` sends other messages.
    """

    _has_zoneless_times = False

    def __init__(
        self, session: Session, offer: PeerOffer, sets: FeatureSets, services: HostServices
    ) -> None:
        guard, audit = services.guard, services.audit
        self.session = session
        self.id: Final = session.peer_id
        """What the host calls the server in logs: `server_id`, else what it calls itself."""
        self.key: Final = session.identity.key
        """What is stored and remembered of the server is kept under this key.

        It is a digest of `server_id`, else of the command line or the URL that the host connects
        to. A server of which neither is known has a random key for each connection.
        """
        self.offer = offer
        """What the server offers apart from methods."""
        self._sets = sets
        self._services = services
        self.scopes = ServerScopes(
            session.peer_id, session.identity, sets, guard, self._store_and_send, self._later_scopes
        )
        """Where the server may act."""
        self._configured = anyio.Event()
        self._open_hooks = OpenHooks()
        session.intercept_outbound(self._begin, NOTIFICATIONS_INITIALIZED)
        session.intercept_outbound(self._check_before, CONTEXT_BEFORE_INFERENCE)
        session.intercept_outbound(self._check_after, CONTEXT_AFTER_INFERENCE)
        session.intercept_inbound(self._changed, FEATURE_SETS_CHANGED)
        for row in SET_REQUESTS:
            session.guard(row, self._admit)
        for row in (*HOOKS, STATE_ROLLBACK):
            session.guard(row, self._must_be_enabled, outbound=True)
        tools = ToolSets(session)
        ScopedCalls(session, sets, tools, guard.policy.scope_of, self.scopes, audit)
        self.channels = ServerChannels(
            session, sets, self.scopes, services.moderator, services.opened
        )
        """The channels of the server."""
        self._states = StatefulCalls(session, sets, tools, services.states)

    @property
    def server_id(self) -> str | None:
        """The `server_id` that `Host.connect` was given: what policies by server go by."""
        return self.session.identity.server_id

    @property
    def configured(self) -> bool:
        """Whether the server knows which sets are enabled."""
        return self._configured.is_set()

    def note_missing_zone(self) -> None:
        """Log, once for a connection, that times without a zone are read as UTC."""
        if not self._has_zoneless_times:
            logger.warning("%s: times without a zone are read as UTC", self.id)
        self._has_zoneless_times = True

    async def wait_configured(self) -> None:
        """Return when the server knows which sets are enabled."""
        await self._configured.wait()

    @property
    def feature_sets(self) -> Mapping[str, FeatureSet]:
        """The sets that the server declares, by name."""
        return self._sets.declared

    @property
    def enabled(self) -> list[str]:
        """The names of the enabled sets, sorted."""
        return self._sets.enabled

    async def enable(self, *patterns: str) -> None:
        """Enable feature sets, and notify the server: `"memory.*"`, `"*"` or a name.

        It ends what `disable` did, for later connections too. Sets that the host's policy does not
        enable are on for this connection only, and those that it forbids stay off. A pattern that
        matches no set is logged; it counts for sets that the server declares later.

        Raises:
            ValueError: a pattern is invalid.
            StorageError: it is in force, but what `disable` did returns with the next connection.
            ConnectionClosedError: the connection has ended; it is in force for the next one. If
                there is a next one already, it is enabled there.
        """
        later = self._later()
        if later is not None:
            await later.enable(*patterns)
            return
        self._sets.override(enabled=self._checked(patterns))
        await self._store_and_send()

    async def disable(self, *patterns: str) -> None:
        """Disable feature sets, and notify the server; from now on they have no effect.

        They stay off if the server declares them again, in later connections to the server, and
        with records after a restart, whatever the host's policy enables, until `enable` or `reset`.

        Raises:
            ValueError: a pattern is invalid.
            StorageError: they are off, but only for this connection: it is not stored.
            ConnectionClosedError: the connection has ended; they are off in the next one. If
                there is a next one already, they are disabled there.
        """
        later = self._later()
        if later is not None:
            await later.disable(*patterns)
            return
        self._sets.override(disabled=self._checked(patterns))
        await self._store_and_send()

    @property
    def restrictions(self) -> Restrictions:
        """What `enable`, `disable` and `scopes.set` have changed, also in earlier connections."""
        return Restrictions(self._sets.overridden, self.scopes.changed)

    async def reset(self) -> None:
        """Return to the host's policy: forget all `restrictions`, and notify the server.

        Raises:
            StorageError: the policy is in force, but the restrictions return with the next
                connection.
            ConnectionClosedError: the connection has ended; the policy is in force for the next.
        """
        later = self._later()
        if later is not None:
            await later.reset()
            return
        self._sets.restore({})
        await self.scopes.reset()

    async def restore(self) -> None:
        """Put the restrictions of earlier connections in force. The host calls this.

        Raises:
            StorageError: they could not be read.
        """
        found = await self._services.restrictions.find(self.key) or Restrictions()
        self._sets.restore(found.switched)
        self.scopes.restore(found.lists)
        off, lists = self._sets.withheld(), sorted(found.lists)
        if off or lists:
            text = "%s: earlier restrictions are in force: sets disabled: %s; lists changed: %s"
            logger.warning(text, self.id, ", ".join(off) or "-", ", ".join(lists) or "-")

    def participates(self, use: str) -> bool:
        """Return whether an enabled set uses this hook, and the server offers it."""
        row = CONTEXT_BEFORE_INFERENCE if use == BEFORE_INFERENCE else CONTEXT_AFTER_INFERENCE
        return self.session.denial_reason(row) is None and any(
            use in self.feature_sets[name].uses for name in self.enabled
        )

    async def elevate(
        self, feature_set: str, label: str, payload: JsonObject | None = None
    ) -> ScopeElevateResult:
        """Return the answer that the server gets if it requests to act in this scope.

        What `Scopes.ask` approves here is remembered, so the server need not request it.

        Raises:
            FeatureSetNotEnabledError, UnknownFeatureSetError: the set is off, or not declared.

        Source: MCPL 7.6.
        """
        refusal = self._sets.refusal(feature_set)
        if refusal is not None:
            raise refusal
        scope = Scope(label=label, payload=payload)
        params = ScopeElevateParams(feature_set=feature_set, scope=scope)
        return await self.scopes.elevate(params)

    async def state(self, feature_set: str) -> ServerState:
        """Return the checkpoints of a feature set.

        Raises:
            CapabilityNotNegotiatedError: the set does not declare `rollback`, or the host keeps
                no checkpoints to return to.
        """
        return await self._states.of(feature_set)

    def _checked(self, patterns: Sequence[str]) -> list[str]:
        checked = [checked_pattern(pattern) for pattern in patterns]
        for pattern in checked:
            if not any(matches(pattern, name) for name in self.feature_sets):
                text = "%s: %r names none of its feature_sets, but counts for any that come later"
                logger.warning(text, self.id, pattern)
        return checked

    async def _store_and_send(self) -> None:
        try:
            await self._store()
            later = self._services.connected(self.key)
            if later is not None and later is not self:  # it may have read what was stored before
                await later.follow()
        finally:  # a store that fails must not keep the server from knowing
            await self._update()

    async def follow(self) -> None:
        """Obey what an earlier connection to the server has changed."""
        await self.restore()
        if self.configured:
            await self._update()

    def _later(self) -> ServerPeer | None:
        """Return the connection that has taken the place of this one."""
        found = self._services.connected(self.key)
        return None if found is None or found is self or not found.configured else found

    def _later_scopes(self) -> ServerScopes | None:
        later = self._later()
        return None if later is None else later.scopes

    async def _store(self) -> None:
        if self.session.identity.transient:  # no later connection could find it
            return
        restrictions = self.restrictions
        if restrictions:
            await self._services.restrictions.put(self.key, restrictions)
        else:
            await self._services.restrictions.delete(self.key)

    async def _update(self) -> None:
        # All sets each time, and by name: some servers do not know patterns, or do not remember
        # the last update.
        params = FeatureSetsUpdateParams(
            enabled=self._sets.enabled,
            disabled=self._sets.disabled,
            scopes=self.scopes.rules or None,
        )
        await self.session.notify(FEATURE_SETS_UPDATE, params)

    async def _begin(
        self,
        params: mcp.NotificationParams,
        method: Method[mcp.NotificationParams, None],
        go_on: Next[mcp.NotificationParams, None],
    ) -> None:
        await go_on(params)
        await self._update()
        self._configured.set()

    def _admit(self, params: Any, request: Request) -> Awaitable[None] | None:
        if not self._configured.is_set():  # before that, a request cannot be judged
            return self._admit_later(params, request)
        refusal: RpcError | None = None
        if request.method is INFERENCE_REQUEST:
            refusal = self._open_hooks.refusal(params.conversation_id)
        if refusal is None:
            refusal = self._sets.refusal(params.feature_set, NAMED_SET_USE[request.method.name])
        if refusal is not None:
            logger.info("%s: refused %s: %s", self.id, request.method.name, refusal)
            raise refusal
        return None

    async def _admit_later(self, params: Any, request: Request) -> None:
        await self.wait_configured()
        self._admit(params, request)

    async def _changed(
        self,
        params: FeatureSetsChangedParams,
        request: Request,
        go_on: Next[FeatureSetsChangedParams, None],
    ) -> None:
        # Revoking the approvals of a set searches all approvals: only for sets that are declared.
        removed = [one for one in dict.fromkeys(params.removed or []) if one in self.feature_sets]
        came = list((params.added or {}).items())
        added = {
            name: with_known_uses(one)
            for name, one in came[:MOST_SETS]
            if may_be_declared(name, one)
        }
        if len(added) < len(came):
            logger.warning("%s: left out feature sets that cannot be: %s", self.id, MAY_BE_DECLARED)
        self._sets.change(added=added, removed=removed)
        for name in removed:
            await self.scopes.removed(name)
        await go_on(params)
        self._sets.obey_policy_for(added)
        if added:
            await self._update()

    def _must_be_enabled(self, params: Any, method: Method[Any, Any]) -> None:
        refusal: RpcError | None = hook_refusal(method.name, self._sets)
        if method is STATE_ROLLBACK:
            refusal = self._sets.refusal(params.feature_set)
        if refusal is not None:
            raise refusal

    async def _check_before(
        self,
        params: BeforeInferenceParams,
        method: Method[BeforeInferenceParams, BeforeInferenceResult],
        go_on: Next[BeforeInferenceParams, BeforeInferenceResult],
    ) -> BeforeInferenceResult:
        with self._open_hooks.waiting(params.conversation_id):
            answer = await go_on(params)
        answer, wrong = with_valid_injections(answer)
        reply, refused = before_allowed(answer, self._sets)
        refused += wrong
        dropped = [Dropped(None, f"left out {problem}", late=False) for problem in refused]
        await self._services.audit.dropped(self.id, params.inference_id, dropped)
        return reply

    async def _check_after(
        self,
        params: AfterInferenceParams,
        method: Method[AfterInferenceParams, AfterInferenceResult],
        go_on: Next[AfterInferenceParams, Any],
    ) -> Any:
        with self._open_hooks.waiting(params.conversation_id):
            answer = await go_on(params)
        if answer is None:  # it was a notification
            return None
        reply, refused = after_allowed(answer, self._sets)
        if refused:  # to ignore the change could show what must not be shown
            raise InvalidResponseError(f"{method.name}#/{refused[0]}")
        return reply
