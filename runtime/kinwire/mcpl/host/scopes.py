"""Who may act in which scope: the lists, then approvals, then the one who is asked (MCPL 7).

`rules/scopes.py` matches labels and keeps approvals; this module asks, with a deadline, and stores
approvals in records. If anything fails, the scope is denied.
"""

from __future__ import annotations

__all__ = ("Ask", "Enrich", "ScopeAnswer", "ScopeGuard", "ScopeOf", "Scopes", "ServerScopes")

import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, fields, replace
from math import inf

from kinwire.managers.ask import Answer, Late, ask
from kinwire.managers.durable_map import DurableMap, text_codec
from kinwire.mcpl.rules.blacklists import check_blacklist
from kinwire.mcpl.rules.channels import OBSERVE, sees
from kinwire.mcpl.rules.feature_sets import FeatureSets
from kinwire.mcpl.rules.names import ServerPattern
from kinwire.mcpl.rules.offers import MOST_SETS
from kinwire.mcpl.rules.scopes import (
    MOST_APPROVALS,
    Approval,
    ScopeLists,
    ScopeRequest,
    approval_key,
    rules_for,
)
from kinwire.mcpl.rules.uses import channel_refusal
from kinwire.rpc.identity import PeerIdentity
from kinwire.storage.clock import Clock
from kinwire.storage.records import Records
from kinwire.support.arguments import (
    FLAG,
    FUNCTION,
    LIFE,
    OBJECT,
    PLAIN_FUNCTION,
    SECONDS,
    TEXT,
    ArgumentCheck,
    ValueKind,
    instance_of,
    table_of,
)
from kinwire.support.json_values import same
from kinwire.support.validation import checked_strings, is_number
from kinwire_protocols.base import JsonObject
from kinwire_protocols.mcpl.errors import (
    ChannelNotPermittedError,
    FeatureSetNotEnabledError,
    UnknownFeatureSetError,
)
from kinwire_protocols.mcpl.models import (
    Scope,
    ScopeElevateParams,
    ScopeElevateResult,
    ScopeRules,
)

logger = logging.getLogger("kinwire.mcpl")

_STORED = text_codec(
    lambda approval: {"payload": approval.payload}, lambda stored: Approval(stored["payload"])
)
_NO_LISTS = ScopeLists(ScopeRules())


@dataclass(frozen=True, slots=True)
class ScopeAnswer:
    """The answer to a `ScopeRequest`."""

    approved: bool
    payload: JsonObject | None = None
    """What the server gets instead of its own payload; None for its own."""
    reason: str | None = None
    """Why it was denied, for the server and for logs."""
    lasts: float | None = None
    """Seconds for which the approval holds; None for `Scopes.approval_life`, 0 for this once."""

    def __post_init__(self) -> None:
        _SCOPE_ANSWER.check(
            approved=self.approved, payload=self.payload, reason=self.reason, lasts=self.lasts
        )


Ask = Callable[[ScopeRequest], Awaitable["ScopeAnswer | bool"]]
"""Asks a person or a rule to decide."""

Enrich = Callable[[ScopeRequest], Awaitable[JsonObject | None]]
"""Returns the payload with what the host knows, such as a channel's id; None for no change."""

ScopeOf = Callable[[str, JsonObject], tuple[str, str, JsonObject | None] | None]
"""Takes a tool and its arguments; returns feature set, label and payload, or None if unknown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scopes:
    """How a host judges scopes; `McplHost(scopes=...)` takes one. Times are in seconds.

    `lists` are the white and black lists, by feature set or pattern: `PATTERN` for all servers, or
    `SERVER/PATTERN` for the server with that `server_id`. Of the entries that match a set all
    blacklists apply, and the whitelist of the most specific one. A label in neither list is passed
    to `ask`, which has `ask_timeout`; without `ask` it is denied. `scope_of` finds the scope of a
    tool call in its arguments. If it finds none for a scoped tool, each call is asked about. An
    approval holds for `approval_life`: 0 for one call only, infinity for ever.

    Raises:
        ValueError: a list has an invalid pattern, a blacklist has one that denies less than it
            shows (`**secret**`), or a time is out of range.
    """

    lists: Mapping[str, ScopeRules] | None = None
    scope_of: ScopeOf | None = None
    ask: Ask | None = None
    ask_timeout: float = 60.0
    enrich: Enrich | None = None
    approval_life: float = 3600.0

    def __post_init__(self) -> None:
        _SCOPES.check(**{one.name: getattr(self, one.name) for one in fields(self)})
        for name, rules in (self.lists or {}).items():  # not when the first server connects
            ServerPattern.read(name)
            _checked(name, rules)


_SCOPES = ArgumentCheck(
    "Scopes",
    "Scopes()",
    {},
    lists=table_of(
        instance_of(ScopeRules, "ScopeRules", 'ScopeRules(whitelist=["work/*"])'),
        "a dictionary of ScopeRules",
        '"notes.edit"',
    ).or_none,
    scope_of=PLAIN_FUNCTION.or_none,
    ask=FUNCTION.or_none,
    ask_timeout=SECONDS,
    enrich=FUNCTION.or_none,
    approval_life=LIFE,
)
_SCOPE_ANSWER = ArgumentCheck(
    "ScopeAnswer",
    "ScopeAnswer(True)",
    {"approved": FLAG},
    payload=OBJECT.or_none,
    reason=TEXT.or_none,
    lasts=ValueKind("seconds", "3600.0", is_number, error=ValueError).or_none,
)


def _checked(feature_set: str, rules: ScopeRules) -> ScopeLists:
    """Return the compiled lists.

    Raises:
        ValueError: a pattern is invalid, or one of the blacklist denies less than it shows.
    """
    check_blacklist(feature_set, rules.blacklist or ())
    return ScopeLists(rules)


class ScopeGuard:
    """Judges the scopes of all servers of one host."""

    def __init__(self, policy: Scopes, records: Records | None, clock: Clock) -> None:
        self.policy = policy
        lists = policy.lists or {}
        self.lists = [(ServerPattern.read(name), rules) for name, rules in lists.items()]
        self._approvals = DurableMap(
            records, "approval/", _STORED, limit=MOST_APPROVALS, clock=clock
        )
        self._taken_back = 0  # how often

    async def load(self, server_key: str) -> None:
        """Load what was approved before this process started."""
        await self._approvals.load(approval_key(server_key))

    async def judge(self, request: ScopeRequest, lists: ScopeLists | None) -> ScopeAnswer:
        """Return whether the request is approved.

        `lists` is None if no label is known. Then no earlier approval counts, and this one does not
        count later: a server could have asked for it under the name of the tool.
        """
        if lists is None:
            return await self._asked(request)
        outcome, why = lists.judge(request.label)
        if outcome == "deny":
            return ScopeAnswer(False, reason=why)
        if outcome == "approve":
            return await self._enriched(request)
        key = self._key(request)
        kept = self._approvals.get(key)
        if kept is not None:
            return ScopeAnswer(True, request.payload if kept.payload is None else kept.payload)
        before = self._taken_back
        answer = await self._asked(request)
        if answer.approved and before == self._taken_back:  # else it holds only once
            await self._keep(key, request, answer)
            if before != self._taken_back:  # while it was stored
                await self._approvals.delete(key)
        return answer

    async def forget(self, server_key: str, feature_set: str | None = None) -> None:
        """Remove the approvals of a server, or of one of its feature sets."""
        self._taken_back += 1
        await self._approvals.delete_all(approval_key(server_key, feature_set))

    async def _asked(self, request: ScopeRequest) -> ScopeAnswer:
        if self.policy.ask is None:
            return ScopeAnswer(False, reason="neither list has it, and nobody can be asked")
        asked = await ask(
            self.policy.ask,
            request,
            name="Scopes.ask",
            timeout=self.policy.ask_timeout,
            expects=ScopeAnswer | bool,
        )
        if isinstance(asked, Late):
            return ScopeAnswer(False, reason="nobody answered in time")
        if not isinstance(asked, Answer):
            logger.error("%s: asking for a scope failed", request.server, exc_info=asked.error)
            return ScopeAnswer(False, reason="asking failed")
        answer = asked.value
        if isinstance(answer, bool):
            answer = ScopeAnswer(answer)
        if not answer.approved:
            return replace(answer, reason=answer.reason or "it was denied when asked")
        if answer.payload is not None:
            return answer
        enriched = await self._enriched(request)
        return replace(enriched, lasts=answer.lasts)

    async def _enriched(self, request: ScopeRequest) -> ScopeAnswer:
        if self.policy.enrich is None:
            return ScopeAnswer(True, request.payload)
        found = await ask(
            self.policy.enrich,
            request,
            name="Scopes.enrich",
            timeout=self.policy.ask_timeout,
            expects=dict | None,
        )
        if isinstance(found, Answer):
            return ScopeAnswer(True, request.payload if found.value is None else found.value)
        if isinstance(found, Late):
            logger.warning("%s: a scope was not resolved in time", request.server)
            return ScopeAnswer(False, reason="it was not resolved in time")
        logger.error("%s: a scope could not be resolved", request.server, exc_info=found.error)
        return ScopeAnswer(False, reason="it could not be resolved")

    async def _keep(self, key: str, request: ScopeRequest, answer: ScopeAnswer) -> None:
        lasts = self.policy.approval_life if answer.lasts is None else answer.lasts
        if not lasts > 0:  # also if it is NaN
            return
        # The server's own payload comes again with the next request; it may be very long.
        added = None if same(answer.payload, request.payload) else answer.payload
        await self._approvals.put(key, Approval(added), ttl=lasts)

    def _key(self, request: ScopeRequest) -> str:
        scope = Scope(label=request.label, payload=request.payload)
        return approval_key(request.server_key, request.feature_set, scope)


class ServerScopes:
    """The scopes of one server. Get it from `ServerPeer.scopes`."""

    def __init__(
        self,
        server: str,
        identity: PeerIdentity,
        sets: FeatureSets,
        guard: ScopeGuard,
        update: Callable[[], Awaitable[None]],
    ) -> None:
        self._server = server
        self._identity = identity
        self._sets = sets
        self._guard = guard
        self._update = update
        self._changed: dict[str, ScopeLists] = {}  # by feature set: what `set` has replaced
        self._in_force: dict[str, ScopeLists | None] = {}  # by declared set, filled when needed

    @property
    def rules(self) -> dict[str, ScopeRules]:
        """The lists of the feature sets that the server declares."""
        found = {name: self._lists_of(name) for name in self._sets.declared}
        return {name: lists.rules for name, lists in found.items() if lists is not None}

    async def set(
        self, feature_set: str, *, whitelist: Iterable[str] = (), blacklist: Iterable[str] = ()
    ) -> None:
        """Replace the lists of a feature set, and send them to the server.

        Approvals that were given by `ask` stay, unless the new blacklist denies them.

        Raises:
            ValueError: a pattern is invalid, one of the blacklist denies less than it shows
                (`**secret**`), or there are too many.
            TypeError: a list is a single string.
            ConnectionClosedError: the connection has ended.
        """
        rules = ScopeRules(
            whitelist=list(checked_strings("whitelist", whitelist)),
            blacklist=list(checked_strings("blacklist", blacklist)),
        )
        self._changed[feature_set] = _checked(feature_set, rules)
        self._in_force.pop(feature_set, None)
        await self._update()

    async def revoke(self, feature_set: str | None = None) -> None:
        """Remove the approvals that `ask` gave to the server, or to one of its sets."""
        await self._guard.forget(self._identity.key, feature_set)

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
        reason = f"no feature set that is on uses {use} there"
        for name in self._sets.with_use(use) or ():
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
            reason = answer.reason or "it was denied"
        return None, reason

    def _lists_of(self, feature_set: str) -> ScopeLists | None:
        if feature_set not in self._in_force:
            if len(self._in_force) >= MOST_SETS:  # a server may declare new ones for ever
                self._in_force.clear()
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
