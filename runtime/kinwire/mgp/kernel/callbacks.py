"""Questions of servers while their tools run: asked, answered once, and remembered (MGP 13.4).

`rules/callbacks.py` says which answers fit. A question comes as a notification, whose handler has a
task of its own, so a person who thinks about it holds nothing up but the call that asks.
"""

from __future__ import annotations

__all__ = ("CALLBACK_ANSWERED", "CallbackManager", "Callbacks")

import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, fields
from typing import Any, Final, NamedTuple

from kinwire.managers.ask import Answer, Failed, Late, ask
from kinwire.managers.limits import ConcurrencyLimit
from kinwire.mcp.context import Context
from kinwire.mcp.handlers import ExtensionHandlers
from kinwire.mgp.kernel.audit import AuditLog, kernel_event
from kinwire.mgp.kernel.guarded_server import GuardedServer
from kinwire.mgp.kernel.open_calls import OpenCall
from kinwire.mgp.rules.callbacks import (
    CallbackQuestion,
    CallbackRecord,
    CallbackState,
    Known,
    declined,
    response_for,
)
from kinwire.mgp.rules.durations import in_seconds
from kinwire.rpc.errors import KinwireError
from kinwire.rpc.session import Session
from kinwire.storage.clock import Clock
from kinwire.support.arguments import COUNT, FUNCTION, SECONDS, ArgumentCheck
from kinwire.support.json_values import short_digest
from kinwire.support.sanitize import sanitize_for_log
from kinwire_protocols.base import RpcError
from kinwire_protocols.mgp.methods import MGP_CALLBACK_RESPOND, NOTIFICATIONS_MGP_CALLBACK_REQUEST
from kinwire_protocols.mgp.models import (
    CallbackRequestNotificationParams,
    CallbackRespondParams,
)
from kinwire_protocols.mgp.tables import CALLBACK_TIMEOUT_MS, CALLBACK_TYPES

logger = logging.getLogger("kinwire.mgp")

CALLBACK_ANSWERED: Final = "io.kinwire.callback_answered"
"""A server has asked something; the event says what came of it, and never what was answered."""
_MOST_OPEN = 100  # questions of one server
_LONGEST_ID = 256  # characters; ids are remembered for minutes
_SILENT: Final = object()
"""In place of a response that is not sent."""

Prolong = Callable[[Session, int, float], None]
AnswerCallback = Callable[[CallbackQuestion], Awaitable[Any]]
"""Asks a person or a rule: returns True or False for a confirmation, one of the options for a
selection, any JSON value for input; None if nobody answers."""

ShowCallback = Callable[[CallbackQuestion], Awaitable[None]]
"""Shows a person a message of a server, which wants no answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Callbacks:
    """Who answers what servers ask while a tool runs: `MgpKernel(callbacks=Callbacks(answer=...))`.

    `answer` has the time that the server gives, at most `timeout` seconds. The call that asks does
    not run out of time while it waits. `show` gets messages that want no answer; without it they
    are logged. One call may ask `most` questions. Without `answer`, or if it returns None, fails or
    is too late, a confirmation is refused; for other questions the server learns that nobody
    answers.

    Raises:
        ValueError: `timeout` or `most` is out of range.
    """

    answer: AnswerCallback | None = None
    show: ShowCallback | None = None
    timeout: float = 60.0
    most: int = 10

    def __post_init__(self) -> None:
        _CALLBACKS.check(**{one.name: getattr(self, one.name) for one in fields(self)})


_CALLBACKS = ArgumentCheck(
    "Callbacks",
    "Callbacks()",
    {},
    answer=FUNCTION.or_none,
    show=FUNCTION.or_none,
    timeout=SECONDS,
    most=COUNT,
)


class _Asked(NamedTuple):
    """One question of a server."""

    server: GuardedServer
    name: str
    """The `callback_id`."""
    question: CallbackQuestion
    server_waits: float
    """How long the server waits, in seconds."""
    opened: OpenCall | None
    """The call that it belongs to; None if that is over, or was never made."""

    @property
    def refusal(self) -> Any:
        """What is sent if nobody answers; nothing for a type that is not known."""
        question = self.question
        known = question.type in CALLBACK_TYPES
        return declined(question.type, question.options) if known else _SILENT


class CallbackManager:
    """Answers the questions of all servers of one kernel."""

    def __init__(self, options: Callbacks, audit: AuditLog, clock: Clock, prolong: Prolong) -> None:
        """`prolong` gives a call of a session more seconds, while a person thinks."""
        self._options = options
        self._audit = audit
        self._clock = clock
        self._prolong = prolong
        self._servers: dict[Session, tuple[GuardedServer, CallbackRecord]] = {}
        self._open = ConcurrencyLimit[GuardedServer](_MOST_OPEN)

    def serve(self, handlers: ExtensionHandlers) -> None:
        """Take the questions of servers."""
        handlers.add_default(NOTIFICATIONS_MGP_CALLBACK_REQUEST, self._take)

    def join(self, server: GuardedServer) -> None:
        """Prepare for the questions of a server: each connection has its own."""
        self._servers[server.session] = server, CallbackRecord()

    async def negotiate(self, server: GuardedServer) -> None:
        """Nothing comes before the first call."""

    def left(self, server: GuardedServer) -> None:
        """Forget the questions of a server whose session is over."""
        del self._servers[server.session]

    async def _take(self, params: CallbackRequestNotificationParams, context: Context) -> None:
        """Answer a question; one that comes again gets the answer that it has got."""
        server, record = self._servers[context.session]
        if len(params.callback_id) > _LONGEST_ID:
            logger.warning("%s: the id of a question is too long, so it is dropped", server.id)
            return
        asked = self._read(server, params)
        if params.type == "notification":
            await self._show(asked.question)
            return
        digest = short_digest(params.type, params.message, params.options, params.request_id)
        known = record.find(asked.name, now=self._clock())
        if known is not None:
            await _repeat(asked, known, digest)
        elif asked.opened is None or record.count(asked.opened) >= self._options.most:
            why = "belongs to no open call" if asked.opened is None else "is one too many"
            logger.warning("%s: a question %s, so nobody is asked", server.id, why)
            await _respond(asked, asked.refusal)
        else:
            known = record.add(asked.name, asked.opened, digest, now=self._clock())
            try:
                await self._answer(asked, asked.opened, known)
            finally:
                known.end()

    async def _answer(self, asked: _Asked, opened: OpenCall, known: Known) -> None:
        outcome, response = await self._ask(asked, opened)
        self._note(asked, opened, outcome)
        if response is not _SILENT:
            known.answered(response)
        await _respond(asked, response)

    async def _ask(self, asked: _Asked, opened: OpenCall) -> tuple[str, Any]:
        """Return what came of a question, and what is sent for it."""
        if self._options.answer is None:
            return "declined", asked.refusal
        if not self._open.enter(asked.server):
            logger.warning("%s: too many questions wait for an answer", asked.server.id)
            return "declined", asked.refusal
        try:
            self._prolong(asked.server.session, opened.ids[-1], asked.question.timeout)
            with opened.must_stay_open():
                answer = await ask(
                    self._options.answer,
                    asked.question,
                    name="Callbacks.answer",
                    timeout=asked.question.timeout,
                    expects=object,
                )
                return _outcome(asked, answer)
        finally:
            self._open.leave(asked.server)
        return "over", _SILENT  # the call has ended

    async def _show(self, shown: CallbackQuestion) -> None:
        if self._options.show is None:
            logger.info("%s: %s", shown.server, sanitize_for_log(shown.message))
            return
        outcome = await ask(
            self._options.show,
            shown,
            name="Callbacks.show",
            timeout=self._options.timeout,
            expects=object,
        )
        if isinstance(outcome, Failed):
            logger.error("%s: a message was not shown", shown.server, exc_info=outcome.error)

    def _read(self, server: GuardedServer, params: CallbackRequestNotificationParams) -> _Asked:
        most, given = self._options.timeout, params.timeout_ms
        waits = in_seconds(CALLBACK_TIMEOUT_MS if given is None else given)
        opened = server.open_calls.find(params.request_id)
        question = CallbackQuestion(
            server.id,
            None if opened is None else opened.agent,
            None if opened is None else opened.tool_name,
            params.type,
            params.message,
            tuple(params.options or ()),
            min(most, waits),
        )
        return _Asked(server, params.callback_id, question, waits, opened)

    def _note(self, asked: _Asked, opened: OpenCall, outcome: str) -> None:
        self._audit.note(
            kernel_event(
                CALLBACK_ANSWERED,
                asked.server.id,
                "SUCCESS" if outcome == "answered" else "FAILURE",
                {"type": asked.question.type, "outcome": outcome, "agent": opened.agent},
                tool=opened.tool_name,
                trace_id=opened.trace_id,
            )
        )


def _outcome(asked: _Asked, answer: Answer[Any] | Late | Failed) -> tuple[str, Any]:
    question, where = asked.question, asked.server.id
    if isinstance(answer, Late):
        # Where its own time is over the server has to give up itself: that ends the tool with 3003.
        return "late", asked.refusal if asked.server_waits > question.timeout else _SILENT
    if isinstance(answer, Failed):
        logger.error("%s: Callbacks.answer failed", where, exc_info=answer.error)
        return "failed", asked.refusal
    if answer.value is None:
        return "declined", asked.refusal
    try:
        return "answered", response_for(question.type, question.options, answer.value)
    except ValueError as problem:
        logger.error("%s: Callbacks.answer returned what does not fit: %s", where, problem)
        return "failed", asked.refusal


async def _repeat(asked: _Asked, known: Known, digest: str) -> None:
    """Answer a question again, if it is the same one and has an answer."""
    if known.question != digest:
        text = "%s: another question came under the same callback_id, and is not answered"
        logger.warning(text, asked.server.id)
    elif known.state is CallbackState.ANSWERED:
        await _respond(asked, known.answer)


async def _respond(asked: _Asked, response: Any) -> None:
    """Send an answer; what the server says about it changes nothing."""
    if response is _SILENT:
        return
    params = CallbackRespondParams(callback_id=asked.name, response=response)
    try:
        await asked.server.session.call(MGP_CALLBACK_RESPOND, params)
    except (RpcError, KinwireError) as error:
        text = "%s: the answer to a question was not taken: %s"
        logger.info(text, asked.server.id, sanitize_for_log(error))
