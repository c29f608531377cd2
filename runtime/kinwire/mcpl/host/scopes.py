"""Who may act in which scope: the lists, then approvals, then the one who is asked (MCPL 7).

`rules/scopes.py` matches labels and keeps approvals; this module asks, with a deadline, and stores
approvals in records. If anything fails, the scope is denied.
"""

from __future__ import annotations

__all__ = (
    "Ask",
    "Enrich",
    "ScopeAnswer",
    "ScopeGuard",
    "ScopeOf",
    "Scopes",
    "checked_lists",
    "reason_of",
)

import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, fields, replace
from functools import partial

from kinwire.managers.ask import Answer, Late, ask
from kinwire.managers.durable_map import text_codec
from kinwire.managers.grants import Decided, GrantStore, StoredDecisions
from kinwire.mcpl.rules.blacklists import check_blacklist
from kinwire.mcpl.rules.names import ServerPattern
from kinwire.mcpl.rules.scopes import (
    MOST_APPROVALS,
    ScopeLists,
    ScopeRequest,
    approval_key,
)
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
from kinwire.support.validation import is_number
from kinwire_protocols.base import JsonObject
from kinwire_protocols.mcpl.models import (
    Scope,
    ScopeRules,
)

logger = logging.getLogger("kinwire.mcpl")


@dataclass(frozen=True, slots=True)
class ScopeAnswer:
    """The answer to a `ScopeRequest`."""

    approved: bool
    payload: JsonObject | None = None
    """What the server gets instead of its own payload; None for its own."""
    reason: str | None = None
    """Why it was denied, for the server and for logs."""
    lasts: float | None = None
    """Seconds for which the answer holds, 0 for this once; None for `Scopes.approval_life` or
    `Scopes.denial_life`."""

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
    approval holds for `approval_life`: 0 for one call only, infinity for ever. A denial holds for
    `denial_life`; no answer in time is not a denial. Equal requests that come while `ask` runs
    share its answer.

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
    denial_life: float = 300.0

    def __post_init__(self) -> None:
        _SCOPES.check(**{one.name: getattr(self, one.name) for one in fields(self)})
        for name, rules in (self.lists or {}).items():  # not when the first server connects
            ServerPattern.read(name)
            checked_lists(name, rules)


_APPROVALS = text_codec(
    lambda answer: {"payload": answer.payload},
    lambda stored: ScopeAnswer(True, stored["payload"]),
)
_DENIALS = text_codec(
    lambda answer: {"reason": reason_of(answer)},
    lambda stored: ScopeAnswer(False, reason=str(stored["reason"])),
)
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
    denial_life=LIFE,
)
_SCOPE_ANSWER = ArgumentCheck(
    "ScopeAnswer",
    "ScopeAnswer(True)",
    {"approved": FLAG},
    payload=OBJECT.or_none,
    reason=TEXT.or_none,
    lasts=ValueKind("seconds", "3600.0", is_number, error=ValueError).or_none,
)


def checked_lists(feature_set: str, rules: ScopeRules) -> ScopeLists:
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
        self._grants = GrantStore(
            records,
            approvals=StoredDecisions("approval/", _APPROVALS),
            denials=StoredDecisions("denial/", _DENIALS),
            limit=MOST_APPROVALS,
            clock=clock,
        )

    async def load(self, server_key: str) -> None:
        """Load the answers that were given before this process started."""
        await self._grants.load(approval_key(server_key))

    def leave(self, server_key: str) -> None:
        """Remove what is remembered of a server from memory."""
        self._grants.leave(approval_key(server_key))

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
        decision = await self._grants.decide(self._key(request), partial(self._question, request))
        answer = decision.answer
        if answer.approved and answer.payload is None:
            return replace(answer, payload=request.payload)
        return answer

    async def forget(
        self, server_key: str, feature_set: str | None = None, *, denials: bool = True
    ) -> None:
        """Remove the approvals of a server, or of one of its feature sets; the denials too."""
        await self._grants.take_back(approval_key(server_key, feature_set), denials=denials)

    async def _question(self, request: ScopeRequest) -> Decided[ScopeAnswer]:
        """Return the answer of the one who is asked, as it is remembered."""
        answer = await self._asked(request)
        life = self.policy.approval_life if answer.approved else self.policy.denial_life
        lasts = life if answer.lasts is None else answer.lasts
        # The server's own payload comes again with the next request; it may be very long.
        own = same(answer.payload, request.payload)
        return Decided(answer.approved, replace(answer, payload=None) if own else answer, lasts)

    async def _asked(self, request: ScopeRequest) -> ScopeAnswer:
        if self.policy.ask is None:
            return _undecided("neither list has it, and nobody can be asked")
        asked = await ask(
            self.policy.ask,
            request,
            name="Scopes.ask",
            timeout=self.policy.ask_timeout,
            expects=ScopeAnswer | bool,
        )
        if isinstance(asked, Late):
            return _undecided("nobody answered in time")
        if not isinstance(asked, Answer):
            logger.error("%s: asking for a scope failed", request.server, exc_info=asked.error)
            return _undecided("asking failed")
        answer = asked.value
        if isinstance(answer, bool):
            answer = ScopeAnswer(answer)
        if not answer.approved:
            return replace(answer, reason=answer.reason or "it was denied when asked")
        if answer.payload is not None:
            return answer
        enriched = await self._enriched(request)
        return replace(enriched, lasts=answer.lasts if enriched.approved else 0.0)

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

    def _key(self, request: ScopeRequest) -> str:
        scope = Scope(label=request.label, payload=request.payload)
        return approval_key(request.server_key, request.feature_set, scope)


def reason_of(denied: ScopeAnswer) -> str:
    """Return why it was denied; each denial that a `ScopeGuard` returns says so."""
    assert denied.reason is not None
    return denied.reason


def _undecided(reason: str) -> ScopeAnswer:
    """Return the denial of a request that nobody has decided: it is not remembered."""
    return ScopeAnswer(False, reason=reason, lasts=0.0)
