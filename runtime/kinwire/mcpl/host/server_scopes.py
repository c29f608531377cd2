"""The scopes of one server: its lists, and leave to act where they leave it open (MCPL 7)."""

from __future__ import annotations

__all__ = ("ServerScopes",)

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import replace

from kinwire.mcpl.host.scopes import ScopeAnswer, ScopeGuard, ScopeRequest
from kinwire.mcpl.rules.feature_sets import FeatureSets
from kinwire.mcpl.rules.scopes import ScopeLists
from kinwire.support.validation import checked_strings
from kinwire_protocols.mcpl.models import ScopeElevateParams, ScopeElevateResult, ScopeRules

_NO_LISTS = ScopeLists(ScopeRules())


class ServerScopes:
    """What a host lets one server do where. Get it from `ServerPeer.scopes`."""

    def __init__(
        self,
        server: str,
        sets: FeatureSets,
        guard: ScopeGuard,
        update: Callable[[], Awaitable[None]],
    ) -> None:
        self._server = server
        self._sets = sets
        self._guard = guard
        self._update = update
        told = guard.policy.lists or {}
        self._lists = {name: ScopeLists(rules) for name, rules in told.items()}

    @property
    def rules(self) -> dict[str, ScopeRules]:
        """The lists of the feature sets that the server declares."""
        return {
            name: lists.rules for name, lists in self._lists.items() if name in self._sets.declared
        }

    async def set(
        self, feature_set: str, *, whitelist: Iterable[str] = (), blacklist: Iterable[str] = ()
    ) -> None:
        """Put these lists in the place of those of a feature set, and tell the server.

        What was approved when somebody was asked stays, as far as the new blacklist lets it.

        Raises:
            ValueError: a pattern is none, or there are too many.
            TypeError: patterns are one string.
            ConnectionClosedError: the connection has ended.
        """
        rules = ScopeRules(
            whitelist=list(checked_strings("whitelist", whitelist)),
            blacklist=list(checked_strings("blacklist", blacklist)),
        )
        self._lists[feature_set] = ScopeLists(rules)
        await self._update()

    async def revoke(self, feature_set: str | None = None) -> None:
        """Take back what was approved to the server when somebody was asked, or to one set."""
        await self._guard.forget(self._server, feature_set)

    async def elevate(self, params: ScopeElevateParams) -> ScopeElevateResult:
        """Answer a server that asks for leave to act in a scope."""
        name, scope = params.feature_set, params.scope
        if not self._sets.declared[name].scoped:
            return ScopeElevateResult(approved=False, reason=f"{name} does not declare scopes")
        answer = await self.leave(ScopeRequest(self._server, name, scope.label, scope.payload))
        if answer.approved:
            return ScopeElevateResult(approved=True, payload=answer.payload)
        return ScopeElevateResult(approved=False, reason=answer.reason)

    async def leave(self, request: ScopeRequest, *, labelled: bool = True) -> ScopeAnswer:
        """Return whether a scope may be acted in. Without a label that is known it is asked.

        Raises:
            FeatureSetNotEnabledError, UnknownFeatureSetError: the set is off, or has gone.
        """
        self._must_be_on(request.feature_set)
        lists = self._lists.get(request.feature_set, _NO_LISTS)
        answer = await self._guard.judge(request, lists if labelled else None)
        self._must_be_on(request.feature_set)  # asking takes time, in which much can change
        now = self._lists.get(request.feature_set, _NO_LISTS)
        if answer.approved and labelled and now is not lists:
            outcome, why = now.judge(request.label)
            if outcome == "deny":
                return replace(answer, approved=False, reason=why)
        return answer

    def _must_be_on(self, feature_set: str) -> None:
        refusal = self._sets.refusal(feature_set)
        if refusal is not None:
            raise refusal
