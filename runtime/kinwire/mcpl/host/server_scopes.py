"""The scopes of one server at its host: which it may act in, and how that is changed (MCPL 7)."""

from __future__ import annotations

__all__ = ("ServerScopes",)

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import replace
from math import inf

from kinwire.mcpl.host.scopes import ScopeAnswer, ScopeGuard, checked_lists, reason_of
from kinwire.mcpl.rules.channels import OBSERVE, sees
from kinwire.mcpl.rules.feature_sets import FeatureSets
from kinwire.mcpl.rules.scopes import ScopeLists, ScopeRequest, rules_for
from kinwire.mcpl.rules.uses import channel_refusal
from kinwire.rpc.identity import PeerIdentity
from kinwire.support.validation import checked_strings
from kinwire_protocols.base import JsonObject
from kinwire_protocols.mcpl.errors import (
    ChannelNotPermittedError,
    FeatureSetNotEnabledError,
    UnknownFeatureSetError,
)
from kinwire_protocols.mcpl.models import ScopeElevateParams, ScopeElevateResult, ScopeRules

_NO_LISTS = ScopeLists(ScopeRules())


class ServerScopes:
    """The scopes of one server. Get it from `ServerPeer.scopes`."""

    def __init__(
        self,
        server: str,
        identity: PeerIdentity,
        sets: FeatureSets,
        guard: ScopeGuard,
        changed: Callable[[], Awaitable[None]],
        later: Callable[[], ServerScopes | None],
    ) -> None:
        self._server = server
        self._identity = identity
        self._sets = sets
        self._guard = guard
        self._store_and_send = changed
        self._later = later  # those of the connection that has taken the place of this one
        self._changed: dict[str, ScopeLists] = {}  # by feature set: what `set` has replaced
        self._in_force: dict[str, ScopeLists | None] = {}  # by declared set, filled when needed

    @property
    def rules(self) -> dict[str, ScopeRules]:
        """The lists of the feature sets that the server declares."""
        found = {name: self._lists_of(name) for name in self._sets.declared}
        return {name: lists.rules for name, lists in found.items() if lists is not None}

    @property
    def changed(self) -> dict[str, ScopeRules]:
        """The lists of `set`, by feature set."""
        return {name: lists.rules for name, lists in self._changed.items()}

    async def set(
        self, feature_set: str, *, whitelist: Iterable[str] = (), blacklist: Iterable[str] = ()
    ) -> None:
        """Replace the lists of a feature set, and send them to the server.

        They stay in the place of `Scopes.lists` for later connections to the server too, and with
        records after a restart, until `reset`. Approvals that were given by `ask` stay, unless the
        new blacklist denies them.

        Raises:
            ValueError: a pattern is invalid, one of the blacklist denies less than it shows
                (`**secret**`), or there are too many.
            TypeError: a list is a single string.
            StorageError: the lists are in force, but only for this connection: they are not stored.
            ConnectionClosedError: the connection has ended; they are in force for the next one.
        """
        later = self._later()
        if later is not None:
            await later.set(feature_set, whitelist=whitelist, blacklist=blacklist)
            return
        rules = ScopeRules(
            whitelist=list(checked_strings("whitelist", whitelist)),
            blacklist=list(checked_strings("blacklist", blacklist)),
        )
        self._changed[feature_set] = checked_lists(feature_set, rules)
        self._in_force.pop(feature_set, None)
        await self._store_and_send()

    async def reset(self, feature_set: str | None = None) -> None:
        """Return to the lists of `Scopes.lists`, for one set or for all, and send them.

        Raises:
            StorageError, ConnectionClosedError: as for `set`.
        """
        later = self._later()
        if later is not None:
            await later.reset(feature_set)
            return
        for name in [one for one in self._changed if feature_set in (None, one)]:
            del self._changed[name]
        self._in_force.clear()
        await self._store_and_send()

    def restore(self, lists: Mapping[str, ScopeRules]) -> None:
        """Put what `set` has replaced before, without sending it."""
        self._changed = {name: ScopeLists(rules) for name, rules in lists.items()}
        self._in_force.clear()

    async def revoke(self, feature_set: str | None = None) -> None:
        """Forget what `ask` answered for the server, or for one of its sets: it is asked again.

        Raises:
            StorageError: the answers could not be removed from the store; they hold as before.
        """
        await self._guard.forget(self._identity.key, feature_set)

    async def removed(self, feature_set: str) -> None:
        """Forget the approvals of a set that the server no longer declares.

        Denials stay: else a server could repeat its questions by declaring the set again.
        """
        self._in_force.pop(feature_set, None)  # a server may declare new ones for ever
        await self._guard.forget(self._identity.key, feature_set, denials=False)

    async def elevate(self, params: ScopeElevateParams) -> ScopeElevateResult:
        """Answer a server that requests to act in a scope."""
        name, scope = params.feature_set, params.scope
        if not self._sets.declared[name].scoped:
            return ScopeElevateResult(approved=False, reason=f"{name} does not declare scopes")
        answer = await self.decide(self.request(name, scope.label, scope.payload))
        if answer.approved:
            return ScopeElevateResult(approved=True, payload=answer.payload)
        return ScopeElevateResult(approved=False, reason=answer.reason)

    def request(
        self,
        feature_set: str,
        label: str,
        payload: JsonObject | None = None,
        tool: str | None = None,
    ) -> ScopeRequest:
        """Return the question whether the server may act in a scope, for `decide`."""
        key = self._identity.key
        return ScopeRequest(self._server, feature_set, label, payload, tool, server_key=key)

    async def decide(self, request: ScopeRequest, *, labelled: bool = True) -> ScopeAnswer:
        """Return whether the request is approved. If it is not `labelled`, `ask` is always called.

        Raises:
            FeatureSetNotEnabledError, UnknownFeatureSetError: the set is off, or was removed.
        """
        self._must_be_on(request.feature_set)
        lists = self._lists_of(request.feature_set) or _NO_LISTS
        answer = await self._guard.judge(request, lists if labelled else None)
        self._must_be_on(request.feature_set)  # it may have changed while somebody was asked
        now = self._lists_of(request.feature_set) or _NO_LISTS
        if answer.approved and labelled and now is not lists:
            outcome, why = now.judge(request.label)
            if outcome == "deny":
                return replace(answer, approved=False, reason=why)
        return answer

    async def set_for(self, use: str, channel_id: str) -> tuple[str | None, str | None]:
        """Return an enabled set with this use that may act on the channel, or None and the reason.

        Source: MCPL 14.1, 14.5.
        """
        return await self.first_of(self._sets.with_use(use) or (), use, channel_id)

    async def first_of(
        self, names: tuple[str, ...], use: str, channel_id: str
    ) -> tuple[str | None, str | None]:
        """Return which of the enabled sets `names` may act on the channel, or None and the reason.

        Source: MCPL 14.1, 14.5.
        """
        reason = f"no feature set that is on uses {use} there"
        for name in names:
            declared = self._sets.declared.get(name)  # it may have gone while another was asked
            if declared is None or (use == OBSERVE and not sees(name, channel_id)):
                continue
            has_lists = self._in_force[name] if name in self._in_force else self._lists_of(name)
            if not declared.scoped and has_lists is None:
                return name, None
            try:
                answer = await self.decide(self.request(name, channel_id))
            except (FeatureSetNotEnabledError, UnknownFeatureSetError):  # switched off while asked
                continue
            if answer.approved:
                return name, None
            reason = reason_of(answer)
        return None, reason

    def _lists_of(self, feature_set: str) -> ScopeLists | None:
        if feature_set not in self._in_force:
            self._in_force[feature_set] = self._compiled(feature_set)
        return self._in_force[feature_set]

    def _compiled(self, feature_set: str) -> ScopeLists | None:
        changed = self._changed.get(feature_set)
        if changed is not None:
            return changed
        rules = rules_for(self._guard.lists, self._identity.server_id, feature_set)
        return None if rules is None else ScopeLists(rules, limit=inf)

    def denial(self, feature_set: str, label: str) -> str | None:
        """Return which pattern of a set's blacklist denies `label`, as a clause, or None."""
        lists = self._lists_of(feature_set)
        return None if lists is None else lists.denial(label)

    def channel_refusal(self, use: str, channel_id: str) -> ChannelNotPermittedError | None:
        """Return the error for a channel that no enabled set with this use may act on, or None.

        Nobody is asked: only sets that are off and blacklists refuse here.
        """
        return channel_refusal(use, channel_id, self._sets, self._lists_of)

    def _must_be_on(self, feature_set: str) -> None:
        refusal = self._sets.refusal(feature_set)
        if refusal is not None:
            raise refusal
