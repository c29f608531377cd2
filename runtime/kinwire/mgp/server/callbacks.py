"""Questions of a server's functions to the one who uses the kernel (MGP 13.4).

`context.py` has what functions call. A question is a notification, and the answer a request: the
function waits in between, and nothing else does.
"""

from __future__ import annotations

__all__ = ("QuestionManager", "Questions")

import time
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any
from uuid import uuid4

import anyio

from kinwire.mcp.handlers import ExtensionHandlers
from kinwire.mgp.errors import refusal
from kinwire.mgp.rules.callbacks import (
    CHOICES,
    CallbackRecord,
    CallbackState,
    Known,
    approves,
    response_problem,
)
from kinwire.mgp.server.kernel_peer import KernelPeer
from kinwire.rpc.errors import CapabilityNotNegotiatedError
from kinwire.rpc.request import Request
from kinwire.rpc.session import Session
from kinwire.storage.clock import Clock
from kinwire.support.arguments import COUNT, FLAG, SECONDS, ArgumentCheck
from kinwire.support.json_values import short_digest
from kinwire_protocols.mcp.models import EmptyResult
from kinwire_protocols.mgp.errors import (
    InvalidToolArgsError,
    ResourceExhaustedError,
    TimedOutError,
)
from kinwire_protocols.mgp.methods import MGP_CALLBACK_RESPOND, NOTIFICATIONS_MGP_CALLBACK_REQUEST
from kinwire_protocols.mgp.models import (
    CallbackRequestNotificationParams,
    CallbackRespondParams,
    CallbackType,
)
from kinwire_protocols.mgp.tables import CALLBACK_TIMEOUT_MS


@dataclass(frozen=True, slots=True, kw_only=True)
class Questions:
    """What holds for the questions of a server: `MgpServer(questions=Questions(...))`.

    An answer is waited for `timeout` seconds, where the question says nothing else. One request may
    ask `most` questions that want an answer. `confirm_default` is the answer to a confirmation if
    the client cannot be asked; with None that is an error.

    Raises:
        ValueError: `timeout` or `most` is out of range.
    """

    timeout: float = CALLBACK_TIMEOUT_MS / 1000
    most: int = 10
    confirm_default: bool | None = None

    def __post_init__(self) -> None:
        _QUESTIONS.check(**{one.name: getattr(self, one.name) for one in fields(self)})


_QUESTIONS = ArgumentCheck(
    "Questions", "Questions()", {}, timeout=SECONDS, most=COUNT, confirm_default=FLAG.or_none
)


class QuestionManager:
    """The questions to all kernels of one server."""

    def __init__(self, options: Questions, clock: Clock = time.monotonic) -> None:
        self._options = options
        self._clock = clock
        self._kernels: dict[Session, _KernelQuestions] = {}

    def serve(self, handlers: ExtensionHandlers) -> None:
        """Take the answers of kernels, also if as many requests wait for one as a session takes."""
        handlers.add_ahead(MGP_CALLBACK_RESPOND, self._answered)

    def join(self, peer: KernelPeer) -> None:
        """Prepare for questions to a kernel."""
        self._kernels[peer.session] = _KernelQuestions()

    def left(self, peer: KernelPeer) -> None:
        """Forget the questions to a kernel whose session is over."""
        del self._kernels[peer.session]

    async def confirm(self, request: Request, message: str, timeout: float | None) -> bool:
        """Ask for a yes or no; see `MgpContext.confirm`."""
        default = self._options.confirm_default
        if default is not None and _denial(request.session) is not None:
            return default
        return approves(await self.ask(request, "confirmation", message, CHOICES, timeout))

    async def choose(
        self,
        request: Request,
        kind: CallbackType,
        message: str,
        options: Sequence[str],
        timeout: float | None,
    ) -> Any:
        """Ask for more input, or for one of the options; see `MgpContext`."""
        response = await self.ask(request, kind, message, options, timeout)
        if response is None:
            raise refusal(TimedOutError, "Nobody answers the question.", retryable=False)
        return response

    async def ask(
        self,
        request: Request,
        kind: CallbackType,
        message: str,
        options: Sequence[str],
        timeout: float | None,
    ) -> Any:
        """Ask, and return the answer; None if the kernel says that nobody answers.

        Raises:
            CapabilityNotNegotiatedError: the client cannot be asked.
            ResourceExhaustedError: the request has asked too many questions.
            TimedOutError: no answer came in time.
            ConnectionClosedError: the connection has ended.
        """
        asked = self._asked_by(request)
        seconds = self._options.timeout if timeout is None else timeout
        question = CallbackRequestNotificationParams(
            callback_id=uuid4().hex,
            request_id=request.id,
            type=kind,
            message=message,
            options=list(options) or None,
            timeout_ms=round(seconds * 1000),
        )
        known = asked.record.add(question.callback_id, request, "", now=self._clock())
        waiting = asked.waiting[question.callback_id] = _Waiting(known, kind, options)
        try:
            await request.session.notify(NOTIFICATIONS_MGP_CALLBACK_REQUEST, question)
            with anyio.move_on_after(seconds):
                await waiting.answered.wait()
                return waiting.response
        finally:
            asked.waiting.pop(question.callback_id, None)
            known.end()
        raise refusal(TimedOutError, f"Nobody answered within {seconds:g} s.", retryable=False)

    def _asked_by(self, request: Request) -> _KernelQuestions:
        """Return the questions to the kernel of a request that may ask one more."""
        denial = _denial(request.session)
        if denial is not None:
            row = NOTIFICATIONS_MGP_CALLBACK_REQUEST
            raise CapabilityNotNegotiatedError(row.name, row.gate, denial)
        asked = self._kernels[request.session]
        if asked.record.count(request) >= self._options.most:
            text = f"One request may ask {self._options.most} questions."
            raise refusal(ResourceExhaustedError, text, retryable=False)
        return asked

    async def notify(self, request: Request, message: str) -> bool:
        """Show a message; see `MgpContext.notify`."""
        shown = CallbackRequestNotificationParams(
            callback_id=uuid4().hex, request_id=request.id, type="notification", message=message
        )
        return await request.session.notify_if_negotiated(NOTIFICATIONS_MGP_CALLBACK_REQUEST, shown)

    def _answered(self, params: CallbackRespondParams, request: Request) -> EmptyResult:
        """Take the first answer to a question that is open.

        Raises:
            InvalidToolArgsError: the question is unknown to this connection, or over, or has
                another answer; or the answer does not fit it.
        """
        asked, name = self._kernels[request.session], params.callback_id
        known = asked.record.find(name, now=self._clock())
        waiting = asked.waiting.get(name)
        digest = short_digest(params.response)
        if waiting is None:
            if known is None or not known.repeats(digest):
                raise refusal(InvalidToolArgsError, _why_late(name, known))
            return EmptyResult()
        problem = response_problem(waiting.kind, waiting.options, params.response)
        if problem is not None:
            raise refusal(InvalidToolArgsError, f"mgp/callback/respond#/response: {problem}")
        waiting.known.answered(digest)
        del asked.waiting[name]
        waiting.response = params.response
        waiting.answered.set()
        return EmptyResult()


class _KernelQuestions:
    """The questions to one kernel."""

    def __init__(self) -> None:
        self.record = CallbackRecord()
        self.waiting: dict[str, _Waiting] = {}


class _Waiting:
    """A question without an answer."""

    def __init__(self, known: Known, kind: CallbackType, options: Sequence[str]) -> None:
        self.known = known
        self.kind = kind
        self.options = options
        self.answered = anyio.Event()
        self.response: Any = None


def _denial(session: Session) -> str | None:
    """Return why the client cannot be asked, as a clause; None if it can."""
    return session.denial_reason(NOTIFICATIONS_MGP_CALLBACK_REQUEST)


def _why_late(name: str, known: Known | None) -> str:
    if known is None:
        return f"mgp/callback/respond: no question {name!r:.60} was asked on this connection."
    answered = "has another answer" if known.state is CallbackState.ANSWERED else "is over"
    return f"mgp/callback/respond: the question {name!r:.60} {answered}."
