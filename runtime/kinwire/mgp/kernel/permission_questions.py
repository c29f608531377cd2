"""Questions to the operator about permissions: asked once, answered here or elsewhere."""

from __future__ import annotations

__all__ = ("PermissionQuestions", "permission_event", "policy_event")

import logging
import math
from collections.abc import Awaitable, Callable
from functools import partial

from kinwire.managers.ask import Answer, Failed, ask
from kinwire.managers.grants import Decided
from kinwire.managers.open_questions import OpenQuestions
from kinwire.mgp.kernel.audit import AuditLog, kernel_event
from kinwire.mgp.kernel.pending import PendingPermission
from kinwire.mgp.kernel.permission_options import (
    AskPermission,
    PermissionAnswer,
    PermissionQuestion,
    Permissions,
)
from kinwire.mgp.kernel.permission_refusals import asks_itself
from kinwire.mgp.kernel.permission_store import PermissionStore
from kinwire.mgp.kernel.tracing import new_trace_id
from kinwire.mgp.rules.audit_events import SecurityEvent
from kinwire.mgp.rules.permissions import PermissionDecision, PermissionState
from kinwire.storage.clock import Clock
from kinwire.support.background import background
from kinwire.support.timestamps import timestamp_of

logger = logging.getLogger("kinwire.mgp")

_SHOWN = 200  # characters of the name of a tool

_Answered = Decided[PermissionDecision]


class PermissionQuestions:
    """Asks about permissions, and keeps what is decided."""

    def __init__(
        self,
        options: Permissions,
        store: PermissionStore,
        audit: AuditLog,
        clock: Clock,
    ) -> None:
        self._options = options
        self._store = store
        self._audit = audit
        self._clock = clock
        self.open = OpenQuestions[str]()
        """What people are being asked; the owner adds questions of other kinds."""

    async def ask(self, key: str, question: PermissionQuestion) -> bool:
        """Return whether the operator approves, at least this once.

        If there is no function to ask, the permission waits for a decision from elsewhere: a call
        waits with it, if other processes can decide, and a server that connects does not.

        Raises:
            PermissionDeniedError: the function that asks for it needs it, and would wait for
                itself.
        """
        with self.open.waited_for(key) as may_wait:
            if not may_wait:
                raise asks_itself(question.server, question.permission)
            return await self._ask(key, question)

    async def _ask(self, key: str, question: PermissionQuestion) -> bool:
        tool = None if question.tool is None else question.tool[:_SHOWN]
        waiting = PendingPermission(
            question.server, question.permission, self._clock(), question.agent, tool
        )
        if not await self._store.pending.add(key, waiting):
            logger.warning("%s: too many permissions wait for an operator", question.server)
            return False
        waits = self._store.is_shared and question.tool is not None
        if self._options.ask is None and not waits:
            return False
        decided = await self._store.grants.decide(key, partial(self._question, key, question))
        if decided.answer.value != "deferred":
            await self._store.pending.remove(key)
        return decided.approved

    async def _question(self, key: str, question: PermissionQuestion) -> _Answered:
        """Return what the operator answers, or what was decided elsewhere at the same time."""
        if self._options.ask is None:
            return await self._decided_elsewhere(key)
        answers: list[_Answered] = []

        async def first(answer: Callable[[], Awaitable[_Answered]]) -> None:
            answers.append(await answer())
            tasks.cancel_scope.cancel()

        async with background() as tasks:
            tasks.start_soon(first, partial(self._decided_elsewhere, key))
            tasks.start_soon(first, partial(self._answer, key, question, self._options.ask))
        return answers[0]

    async def _decided_elsewhere(self, key: str) -> _Answered:
        """Return what a method or another process decides; it is stored already."""
        decided = await self._store.grants.wait(key)
        return Decided(decided.approved, decided.answer, 0.0)

    async def _answer(
        self, key: str, question: PermissionQuestion, function: AskPermission
    ) -> _Answered:
        with self.open.asked(key):
            asked = await ask(
                function,
                question,
                name="Permissions.ask",
                timeout=None,
                expects=PermissionAnswer | bool,
            )
        if not isinstance(asked, Answer):
            error = asked.error if isinstance(asked, Failed) else None
            logger.error("%s: asking for a permission failed", question.server, exc_info=error)
            return self._as_decided(question, PermissionAnswer("deferred"))
        answer = asked.value
        if isinstance(answer, bool):
            answer = PermissionAnswer("approved" if answer else "denied")
        decided = self._as_decided(question, answer)
        if answer.decision != "deferred":
            await self._audit.record(permission_event(decided.answer))
        return decided

    def _as_decided(self, question: PermissionQuestion, answer: PermissionAnswer) -> _Answered:
        lasts, now = self._lasts(answer), self._clock()
        decision = PermissionDecision(
            question.server,
            question.permission,
            answer.decision,
            answer.by,
            now,
            None if lasts == math.inf else now + lasts,
            answer.reason,
        )
        return Decided(decision.approved, decision, lasts)

    def _lasts(self, answer: PermissionAnswer) -> float:
        if answer.decision == "deferred":
            return 0.0
        if answer.lasts is not None:
            return answer.lasts
        return self._options.lasts if answer.decision == "approved" else math.inf


def permission_event(decision: PermissionDecision) -> SecurityEvent:
    """Return the audit event of an operator's decision (MGP 6.4)."""
    kind = "REVOKED" if decision.revoked else "GRANTED" if decision.approved else "DENIED"
    ends = None if decision.expires_at is None else timestamp_of(decision.expires_at)
    details = {"permission": decision.permission, "expires_at": ends}
    if decision.reason is not None:
        details["reason"] = decision.reason
    return SecurityEvent(
        f"PERMISSION_{kind}",
        "operator",
        decision.by,
        decision.server,
        None,
        "SUCCESS",
        details,
        new_trace_id(),
    )


def policy_event(server: str, permission: str, state: PermissionState) -> SecurityEvent:
    """Return the audit event of a permission that was decided without a person."""
    approved = state.value == "approved"
    return kernel_event(
        "PERMISSION_GRANTED" if approved else "PERMISSION_DENIED",
        server,
        "SUCCESS" if approved else "BLOCKED",
        {"permission": permission, "decided_by": state.source},
    )
