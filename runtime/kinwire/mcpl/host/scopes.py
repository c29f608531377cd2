"""Who may act in which scope: lists, then what was approved, then the one who is asked (MCPL 7).

`rules/scopes.py` judges labels, `rules/approvals.py` keeps approvals; here are the questions, the
deadline and the copy that outlives the process. Whatever goes wrong denies.
"""

from __future__ import annotations

__all__ = ("Ask", "Enrich", "ScopeAnswer", "ScopeGuard", "ScopeOf", "ScopeRequest", "Scopes")

import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace

import anyio

from kinwire.mcpl.rules.approvals import Approval, Approvals, approval_key
from kinwire.mcpl.rules.scopes import ScopeLists
from kinwire.storage.clock import Clock
from kinwire.storage.records import Records
from kinwire.support.json_values import same
from kinwire.support.validation import LONGEST, checked_life, checked_seconds, expect_type
from kinwire_protocols.base import JsonObject
from kinwire_protocols.mcpl.models import Scope, ScopeRules

logger = logging.getLogger("kinwire.mcpl")

_PLACE = "approval/"


@dataclass(frozen=True, slots=True)
class ScopeRequest:
    """A scope that somebody wants to act in."""

    server: str
    """What the host calls the server."""
    feature_set: str
    label: str
    payload: JsonObject | None = None
    tool: str | None = None
    """The tool that the host is about to call; None if the server asks."""


@dataclass(frozen=True, slots=True)
class ScopeAnswer:
    """Whether it may."""

    approved: bool
    payload: JsonObject | None = None
    """What the server gets instead of its own payload; None for its own."""
    reason: str | None = None
    """Why not, for the server and for logs."""
    lasts: float | None = None
    """Seconds for which the approval holds; None for `Scopes.approval_life`, 0 for this once."""


Ask = Callable[[ScopeRequest], Awaitable["ScopeAnswer | bool"]]
"""Has a person or a rule decide."""

Enrich = Callable[[ScopeRequest], Awaitable[JsonObject | None]]
"""Returns the payload with what the host knows, such as a channel's id; None for no change."""

ScopeOf = Callable[[str, JsonObject], tuple[str, str, JsonObject | None] | None]
"""Takes a tool and its arguments; returns feature set, label and payload, None if it knows none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scopes:
    """How a host judges scopes; `McplHost(scopes=...)` takes one. Times are in seconds.

    `lists` are white and black by feature set. What neither has is asked of `ask`, which has
    `ask_timeout`; without one the answer is no. `scope_of` finds the scope of a tool call in its
    arguments; a call of a scoped tool for which it finds none is asked about each time anew.
    `approval_life` is for how long an approval holds: 0 for that once, infinity for ever.

    Raises:
        ValueError: a list has what is no pattern, or a time is none.
    """

    lists: Mapping[str, ScopeRules] | None = None
    scope_of: ScopeOf | None = None
    ask: Ask | None = None
    ask_timeout: float = 60.0
    enrich: Enrich | None = None
    approval_life: float = 3600.0

    def __post_init__(self) -> None:
        checked_seconds("Scopes.ask_timeout", self.ask_timeout)
        checked_life("Scopes.approval_life", self.approval_life)
        for rules in (self.lists or {}).values():
            ScopeLists(rules)  # a bad pattern is told here, not when the first server comes


class ScopeGuard:
    """The judge of one host, for all its servers."""

    def __init__(self, policy: Scopes, records: Records | None, clock: Clock) -> None:
        self.policy = policy
        self._records = records
        self._clock = clock  # never goes back
        self._approvals = Approvals()
        self._taken_back = 0  # how often

    async def load(self, server: str) -> None:
        """Take up what was approved before this process began."""
        if self._records is None:
            return
        async for record in self._records.scan(_PLACE + approval_key(server)):
            until = record.expires_at or 0.0
            key = record.key.removeprefix(_PLACE)
            self._approvals.keep(key, Approval(until, record.value["payload"]))

    async def judge(self, request: ScopeRequest, lists: ScopeLists | None) -> ScopeAnswer:
        """Return whether the scope may be acted in.

        `lists` is None where no label is known. Then no approval of another time counts, nor does
        this one count another time: a server could have asked for it under the name of the tool.
        """
        if lists is None:
            return await self._asked(request)
        outcome, why = lists.judge(request.label)
        if outcome == "deny":
            return ScopeAnswer(False, reason=why)
        if outcome == "approve":
            return await self._enriched(request)
        key = self._key(request)
        kept = self._approvals.find(key, now=self._clock())
        if kept is not None:
            return ScopeAnswer(True, request.payload if kept.payload is None else kept.payload)
        before = self._taken_back
        answer = await self._asked(request)
        if answer.approved and before == self._taken_back:  # else it holds for this once
            await self._keep(key, request, answer)
        return answer

    async def forget(self, server: str, feature_set: str | None = None) -> None:
        """Take back what was approved to a server, or to one of its feature sets."""
        self._taken_back += 1
        for key in self._approvals.forget(approval_key(server, feature_set)):
            await self._delete(key)

    async def _asked(self, request: ScopeRequest) -> ScopeAnswer:
        if self.policy.ask is None:
            return ScopeAnswer(False, reason="neither list has it, and nobody can be asked")
        try:
            with anyio.fail_after(self.policy.ask_timeout):
                said = await self.policy.ask(request)
            answer = ScopeAnswer(said) if isinstance(said, bool) else said
            answer = expect_type("Scopes.ask", answer, ScopeAnswer)
        except TimeoutError:
            return ScopeAnswer(False, reason="nobody answered in time")
        except Exception:
            logger.exception("%s: asking for a scope failed", request.server)
            return ScopeAnswer(False, reason="asking failed")
        if not answer.approved:
            return replace(answer, reason=answer.reason or "it was denied when asked")
        if answer.payload is not None:
            return answer
        enriched = await self._enriched(request)
        return replace(enriched, lasts=answer.lasts)

    async def _enriched(self, request: ScopeRequest) -> ScopeAnswer:
        if self.policy.enrich is None:
            return ScopeAnswer(True, request.payload)
        try:
            with anyio.fail_after(self.policy.ask_timeout):
                payload = await self.policy.enrich(request)
        except Exception:
            logger.exception("%s: a scope could not be resolved", request.server)
            return ScopeAnswer(False, reason="it could not be resolved")
        return ScopeAnswer(True, request.payload if payload is None else payload)

    async def _keep(self, key: str, request: ScopeRequest, answer: ScopeAnswer) -> None:
        lasts = self.policy.approval_life if answer.lasts is None else answer.lasts
        if not lasts > 0:  # NaN as well, which no time is ever after
            return
        # The request brings its own again, and may be as long as a message.
        added = None if same(answer.payload, request.payload) else answer.payload
        approval = Approval(self._clock() + lasts, added)
        for gone in self._approvals.keep(key, approval):
            await self._delete(gone)
        if self._records is None:
            return
        value, most = {"payload": added}, min(lasts, LONGEST)
        try:
            await self._records.put(_PLACE + key, value, expires_in=most)
        except Exception:
            self._approvals.forget(key)  # whoever asks is told of a failure, not of an approval
            raise

    async def _delete(self, key: str) -> None:
        if self._records is not None:
            await self._records.delete(_PLACE + key)

    def _key(self, request: ScopeRequest) -> str:
        scope = Scope(label=request.label, payload=request.payload)
        return approval_key(request.server, request.feature_set, scope)
