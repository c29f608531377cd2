"""Confirmation of calls: a person decides about each, before the server sees it (MGP 4.4).

`KnownTool.confirm` says which tools it is about, and `KnownTool.changed` which need it once.
"""

from __future__ import annotations

__all__ = ("Confirm", "ConfirmationAnswer", "ConfirmationManager", "Confirmations")

import logging
from collections.abc import Awaitable, Callable
from copy import deepcopy
from dataclasses import dataclass, fields
from typing import Any, Final

from kinwire.managers.ask import Answer, Failed, Late, ask
from kinwire.managers.durable_map import RecordCodec, text_codec
from kinwire.managers.followed_grants import FollowedGrants
from kinwire.managers.grants import Decided, GrantStore, StoredDecisions
from kinwire.managers.limits import ConcurrencyLimit
from kinwire.managers.while_open import must_stay_open
from kinwire.mgp.errors import refusal
from kinwire.mgp.kernel.audit import AuditLog
from kinwire.mgp.kernel.call import GuardedCall
from kinwire.mgp.kernel.callers import OPERATOR, operator_now
from kinwire.mgp.kernel.guarded_server import GuardedServer
from kinwire.mgp.kernel.permissions import PermissionManager
from kinwire.mgp.kernel.tracing import new_trace_id
from kinwire.mgp.rules.audit_events import SecurityEvent
from kinwire.mgp.rules.confirmations import ConfirmationRequest, StandingAnswer, standing_key
from kinwire.storage.clock import Clock
from kinwire.storage.records import Records
from kinwire.support.arguments import FLAG, FUNCTION, SECONDS, TEXT, ArgumentCheck
from kinwire.support.bounded import LruDict
from kinwire.support.sanitize import sanitize_for_log
from kinwire_protocols.mgp.errors import PermissionDeniedError
from kinwire_protocols.mgp.models import AuditEventType

_NOBODY: Final = (
    "nobody can be asked. An operator can allow it: in a file, tools.NAME.confirm = false in the "
    "policy of the server; in a program, Confirmations(confirm=...) or "
    "kernel.confirmations.allow(agent, server, tool)"
)
logger = logging.getLogger("kinwire.mgp")

_STORED = "confirmation/"
_MOST_STANDING = 10_000
_MOST_ASKED = 100  # calls of one agent that wait for a person


@dataclass(frozen=True, slots=True)
class ConfirmationAnswer:
    """A person's answer to a `ConfirmationRequest`."""

    approved: bool
    always: bool = False
    """Whether it holds for all calls of this tool by this agent, until the definition changes."""
    by: str = OPERATOR
    """Who answered."""

    def __post_init__(self) -> None:
        _ANSWER.check(approved=self.approved, always=self.always, by=self.by)


Confirm = Callable[[ConfirmationRequest], Awaitable["ConfirmationAnswer | bool"]]
"""Asks a person about one call; True lets it through."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Confirmations:
    """Who confirms calls: `MgpKernel(confirmations=Confirmations(confirm=...))`.

    `confirm` has `timeout` seconds; a call without an answer is refused. Without `confirm` a call
    that needs it is refused, unless a standing answer lets it through. An explicit permission is
    enough then as well (MGP 4.4): the operator or the configuration has approved all that the tool
    requires, and neither the server nor the configuration demands a confirmation of this tool.

    Raises:
        ValueError: `timeout` is out of range.
    """

    confirm: Confirm | None = None
    timeout: float = 60.0

    def __post_init__(self) -> None:
        _CONFIRMATIONS.check(**{one.name: getattr(self, one.name) for one in fields(self)})


_ANSWER = ArgumentCheck(
    "ConfirmationAnswer", "ConfirmationAnswer(True)", {"approved": FLAG}, always=FLAG, by=TEXT
)
_CONFIRMATIONS = ArgumentCheck(
    "Confirmations", "Confirmations()", {}, confirm=FUNCTION.or_none, timeout=SECONDS
)
_ALLOW = ArgumentCheck(
    "kernel.confirmations.allow",
    'await kernel.confirmations.allow("agent.helper", "files", "remove")',
    {"agent": TEXT, "server": TEXT, "tool": TEXT},
)
_FORGET = ArgumentCheck(
    "kernel.confirmations.forget",
    'await kernel.confirmations.forget("files")',
    {"server": TEXT},
    agent=TEXT.or_none,
    tool=TEXT.or_none,
)


class ConfirmationManager:
    """Confirms the calls of one kernel. Get it from `MgpKernel.confirmations`."""

    def __init__(
        self,
        options: Confirmations,
        permissions: PermissionManager,
        records: Records | None,
        audit: AuditLog,
        clock: Clock,
    ) -> None:
        self._options = options
        self._permissions = permissions
        self._audit = audit
        self._clock = clock
        self._servers: list[GuardedServer] = []
        self._asked = ConcurrencyLimit[str](_MOST_ASKED)
        self._is_stored = records is not None
        self._grants = GrantStore(
            records,
            approvals=StoredDecisions(f"{_STORED}approved/", _codec(approved=True)),
            denials=StoredDecisions(f"{_STORED}denied/", _codec(approved=False)),
            limit=_MOST_STANDING,
            clock=clock,
        )
        self._accepted = LruDict[str, None](_MOST_STANDING)  # changed definitions
        self._followed = FollowedGrants(self._grants, _STORED, is_shared=self._is_stored)

    @property
    def standing(self) -> list[StandingAnswer]:
        """The answers that hold for all calls of a tool by an agent, of connected servers."""
        return [decided.answer for _, decided in self._grants.items()]

    async def allow(self, agent: str, server: str, tool: str) -> None:
        """Let all calls of a tool by an agent through, until the tool's definition changes.

        The server, named by its `server_id`, has to be connected; its tools are listed, if they
        were not.

        Raises:
            ValueError: there is no such server or tool.
            RpcError, ConnectionClosedError, RequestTimeoutError: its tools could not be listed.
            StorageError: it could not be stored.
        """
        _ALLOW.check(agent=agent, server=server, tool=tool)
        found = self._connected(server)
        listed = None if found is None else found.tool_list
        known = None if listed is None else await listed.find(tool)
        if found is None or known is None:
            raise ValueError(
                f"allow: expected a tool that was listed, got {server!r:.60}, {tool!r:.60}. "
                "Connect the server before, and name one of its tools."
            )
        by, now = operator_now(), self._clock()
        answer = StandingAnswer(agent, server, tool, known.digest, True, by, now)
        await self._stand(found, answer)

    async def forget(
        self, server: str, *, agent: str | None = None, tool: str | None = None
    ) -> None:
        """Ask again about the calls to a server: all, or those of one agent or tool.

        The server is connected, or what is stored was loaded (`load`). A kernel that runs on the
        same records asks again as well.

        Raises:
            StorageError: the store failed.
        """
        _FORGET.check(server=server, agent=agent, tool=tool)
        for key, decided in self._grants.items():
            one = decided.answer
            if one.server == server and agent in (None, one.agent) and tool in (None, one.tool):
                await self._grants.take_back(key)
                await self._audit.record(_event("PERMISSION_REVOKED", one, operator_now()))

    async def load(self) -> None:
        """Take what is stored of all servers into memory, for a program without connections.

        Raises:
            StorageError: the store failed.
        """
        await self._grants.load()

    def join(self, server: GuardedServer) -> None:
        """Prepare for a server that connects."""
        self._servers.append(server)
        self._followed.follow()

    async def negotiate(self, server: GuardedServer) -> None:
        """Load the standing answers about a server.

        Raises:
            StorageError: the store failed, or a record cannot be read.
        """
        await self._followed.load(server.prefix)

    def left(self, server: GuardedServer) -> None:
        """Forget a server whose session is over; what is stored of it stays in the records."""
        self._servers.remove(server)
        if server.transient or self._is_stored:
            self._grants.leave(server.prefix)
        if not self._servers:
            self._followed.unfollow()

    async def check(self, call: GuardedCall) -> None:
        """Ask about a call whose tool needs a confirmation.

        Raises:
            PermissionDeniedError: it was denied, or nobody answered in time, or nobody can be
                asked; `details.reason` says which.
        """
        tool = call.tool
        key = call.server.prefix + standing_key(call.agent, tool.name, tool.digest)
        known = self._grants.remembered(key)
        if known is None and (self._is_permitted(call) or self._is_accepted(call, key)):
            return
        if known is None:
            answer = await self._ask_once(call, key)
            if answer.always:
                await self._stand(call.server, _standing(call, answer, self._clock()))
            approved = answer.approved
            if approved and tool.changed:
                self._accepted.put(key, None)
        else:
            approved = known.approved
        if not approved:
            raise _refused(call, "confirmation_denied", "it was denied")

    def _is_permitted(self, call: GuardedCall) -> bool:
        """Return whether an explicit permission takes the place of a confirmation."""
        tool = call.tool
        if self._options.confirm is not None or tool.policy.confirm or tool.demands_confirmation:
            return False
        return not tool.changed and self._permissions.is_explicit(call)

    def _is_accepted(self, call: GuardedCall, key: str) -> bool:
        """Return whether a tool that needs no confirmation was accepted after it had changed.

        Where nobody can be asked it is as a new tool is.
        """
        nobody = self._options.confirm is None
        return not call.tool.confirm and (nobody or key in self._accepted)

    async def _ask_once(self, call: GuardedCall, key: str) -> ConfirmationAnswer:
        """Ask about a call, unless the function that asks about it makes it."""
        questions = self._permissions.open_questions
        with questions.waited_for(key) as may_wait:
            if not may_wait:
                why = "the function that asks about it (Confirmations.confirm) makes the call"
                raise _refused(call, "confirmation_impossible", why)
            with questions.asked(key):
                return await self._ask(call)

    async def _ask(self, call: GuardedCall) -> ConfirmationAnswer:
        if self._options.confirm is None:
            raise _refused(call, "confirmation_impossible", _NOBODY)
        if not self._asked.enter(call.agent):
            raise _refused(call, "confirmation_impossible", "too many calls wait for an answer")
        try:
            async with must_stay_open(call.server.session):
                asked = await ask(
                    self._options.confirm,
                    _request(call),
                    name="Confirmations.confirm",
                    timeout=self._options.timeout,
                    expects=ConfirmationAnswer | bool,
                )
        finally:
            self._asked.leave(call.agent)
        if isinstance(asked, Answer):
            answer = asked.value
            return ConfirmationAnswer(answer) if isinstance(answer, bool) else answer
        raise self._unanswered(call, asked)

    def _unanswered(self, call: GuardedCall, asked: Late | Failed) -> PermissionDeniedError:
        if isinstance(asked, Late):
            why = f"nobody answered within {self._options.timeout:g} s"
            return _refused(call, "confirmation_timeout", why)
        logger.error("%s: asking about a call failed", call.server.id, exc_info=asked.error)
        return _refused(call, "confirmation_failed", "asking failed")

    async def _stand(self, server: GuardedServer, answer: StandingAnswer) -> None:
        name = standing_key(answer.agent, answer.tool, answer.definition)
        await self._grants.keep(server.prefix + name, Decided(answer.approved, answer))
        kind: AuditEventType = "PERMISSION_GRANTED" if answer.approved else "PERMISSION_DENIED"
        await self._audit.record(_event(kind, answer, answer.by))

    def _connected(self, server: str) -> GuardedServer | None:
        return next((one for one in self._servers if one.id == server), None)


def _request(call: GuardedCall) -> ConfirmationRequest:
    return ConfirmationRequest(
        call.agent,
        call.server.id,
        call.tool.name,
        deepcopy(call.arguments),
        call.tool.risk,
        call.tool.digest,
    )


def _standing(call: GuardedCall, answer: ConfirmationAnswer, now: float) -> StandingAnswer:
    return StandingAnswer(
        call.agent,
        call.server.id,
        call.tool.name,
        call.tool.digest,
        answer.approved,
        answer.by,
        now,
    )


def _refused(call: GuardedCall, reason: str, why: str) -> PermissionDeniedError:
    text = f"{call.server.id}: {call.tool.name:.60} needs a confirmation, and {why}"
    details = {"reason": reason, "server_id": call.server.id, "risk_level": call.tool.risk}
    return refusal(PermissionDeniedError, f"{sanitize_for_log(text)}.", details=details)


def _event(kind: AuditEventType, answer: StandingAnswer, by: str) -> SecurityEvent:
    details = {"confirmation": "always", "agent": answer.agent, "definition": answer.definition}
    return SecurityEvent(
        kind, "operator", by, answer.server, answer.tool, "SUCCESS", details, new_trace_id()
    )


def _codec(*, approved: bool) -> RecordCodec[str, StandingAnswer]:
    def read(stored: Any) -> StandingAnswer:
        return StandingAnswer.from_json(stored, approved=approved)

    return text_codec(StandingAnswer.to_json, read)
