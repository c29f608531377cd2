"""The requests and notifications of the peer: which handler, in what order, and the one answer."""

from __future__ import annotations

__all__ = ("AlsoProgress", "InboundCalls", "NewRequest")

import logging
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from math import isfinite

from pydantic import ValidationError

from kinwire.rpc.codec import (
    EncodedObject,
    Id,
    OutgoingFrame,
    encode,
    encoded_notification,
    encoded_reply,
    is_id,
    kind_of,
)
from kinwire.rpc.engine.io import EngineIO
from kinwire.rpc.engine.outbox import FrameOutbox
from kinwire.rpc.error_table import internal_error
from kinwire.rpc.errors import RpcError, UnsendableError
from kinwire.rpc.limits import Counts
from kinwire.rpc.profile import RpcProfile
from kinwire.rpc.request import Request
from kinwire.rpc.routes import AtOnce, Route
from kinwire.support.sanitize import enumerated, sanitize_for_log
from kinwire_protocols.base import JsonObject, Message, error_to_wire, to_wire
from kinwire_protocols.jsonrpc.errors import (
    InvalidParamsError,
    InvalidRequestError,
    MethodNotFoundError,
)
from kinwire_protocols.problems import Problem, problems

logger = logging.getLogger("kinwire.session")

AlsoProgress = Callable[
    [Request, float, float | None, str | None, float | None], OutgoingFrame | None
]
"""Takes a request, its progress and the total, a message, and the milliseconds that remain.

It returns another notification to send, None for none.
"""

NewRequest = Callable[[Id | None, Route, Message, JsonObject], Request]

_BUSY = -32000  # in the range that JSON-RPC leaves to servers
_ANSWERED_BY = {"client": "server", "server": "client"}  # by the sender of the request


class InboundCalls:
    """What the peer has asked and this side works on."""

    def __init__(
        self,
        io: EngineIO,
        outbox: FrameOutbox,
        counts: Counts,
        routes: Mapping[str, Route],
        profile: RpcProfile,
        limit: int,
        new: NewRequest,
    ) -> None:
        self.io = io
        self._outbox = outbox
        self._counts = counts
        self.routes = routes
        """What serves each method; may be replaced."""
        self._profile = profile
        self._limit = limit
        self.new = new
        # Requests by id, notifications by themselves.
        self.under_way: dict[Id | Request, Request] = {}
        self._barrier: Request | None = None  # a serial one under way: later ones wait
        self._held: deque[Request] = deque()
        self.also_progress: AlsoProgress | None = None
        """Reports progress in another way, whether or not the peer asked for reports."""
        self.in_reply_to: int | None = None
        """The id of the request of this side in whose reply comes what arrives now."""
        self.silent = False  # nothing is answered and nothing new begins

    def requested(self, message: JsonObject) -> None:
        """Begin work on a request, or answer why not."""
        identifier: Id = message["id"]
        try:
            route = self._admission(identifier, message["method"])
            params = _params(route, message, self._counts)
        except Exception as error:  # also a validator of the user's own row
            self._answer_failure(identifier, message["method"], error)
            return
        work = self.new(identifier, route, params, message)
        work.in_reply_to = self.in_reply_to
        self.under_way[identifier] = work
        if route.at_once is not None and (route.ahead or self._is_free(work)):
            self._answer_at_once(route.at_once, work)
        elif self._barrier is None and not route.method.serial:
            self.io.start(work)
        else:
            self._dispatch(work)

    def notified(self, message: JsonObject) -> None:
        """Begin work on a notification; one that is unknown or of a wrong shape is ignored."""
        route = self.routes.get(message["method"])
        if route is None or route.method.kind == "request":
            return
        if route.at_once is None and self._too_many():
            return
        try:
            params = _params(route, message, self._counts)
        except Exception as error:
            logger.info("ignored a notification: %s", error)
            return
        work = self.new(None, route, params, message)
        work.in_reply_to = self.in_reply_to
        if route.at_once is not None and self._done_at_once(route, route.at_once, work):
            return
        self.under_way[work] = work
        self._dispatch(work)

    def cancelled(self, params: JsonObject) -> None:
        """Stop the request that the peer takes back; the handshake cannot be."""
        rule = self._profile.cancellation
        identifier = None if rule is None else params.get(rule.id_field)
        work = self.under_way.get(identifier) if is_id(identifier) else None
        if work is None:
            self._cancelled_unknown(identifier)
            return
        if work.cancelled or work.method.name == self._profile.opening:
            return
        work.cancelled = True
        if work in self._held:
            self._held.remove(work)
            self._end(work)
        else:
            self.io.stop(work)

    def finish(self, work: Request, result: object) -> None:
        """End the work and answer with what its handler returned."""
        if not self._end(work):
            return
        if type(result) is not dict:
            if not isinstance(result, Message):
                self._finish_otherwise(work, result)
                return
            result = to_wire(result)
        message: dict[str, object] = {"jsonrpc": "2.0", "id": work.id, "result": result}
        try:
            frame = encode(message)
        except UnsendableError as error:
            self._answer_failure(work.id, work.method.name, error)
        else:
            self._outbox.add(frame)

    def _answer_any(self, work: Request, result: object) -> None:
        message = {"jsonrpc": "2.0", "id": work.id, "result": to_wire(result)}
        try:
            frame = encode(message)
        except UnsendableError as error:
            self._answer_failure(work.id, work.method.name, error)
        else:
            self._outbox.add(frame)

    def _finish_otherwise(self, work: Request, result: object) -> None:
        if isinstance(result, EncodedObject):
            self._outbox.add(encoded_reply(work.id, result))
            return
        if not isinstance(work.method.result, type):  # neither an object: a text, a list, null
            self._answer_any(work, result)
            return
        wrong = TypeError(f"expected a result model or a dict, got {type(result).__name__}")
        self._answer_failure(work.id, work.method.name, wrong)

    def fail(self, work: Request, error: BaseException) -> None:
        """End the work and answer with the error: as it is, or as a fault without details.

        One that was interrupted is answered with what there is of its result.
        """
        if work.interruption is not None:
            self.finish(work, work.interruption())
        elif self._end(work):
            self._answer_failure(work.id, work.method.name, error)
        elif work.id is None and not self.silent:
            self._log_failure(work.method.name, error)  # nobody is answered

    def progress(
        self,
        work: Request,
        progress: float,
        total: float | None,
        message: str | None,
        remaining_ms: float | None = None,
    ) -> None:
        """Report progress if the peer asked for it, the value has risen, and no answer is out."""
        rule, token = self._profile.progress, work.progress_token
        risen = isfinite(progress) and (work.reported is None or progress > work.reported)
        if not risen or work.ended or work.cancelled or self.silent:
            return
        total = total if total is not None and isfinite(total) else None
        if token is not None and rule is not None:
            params: JsonObject = {rule.token_field: token, "progress": progress}
            if total is not None:
                params["total"] = total
            if message is not None:
                params["message"] = message
            frame = encoded_notification(rule.method.name, params)
            work.reported = progress
            self._outbox.add(frame.data, frame)
        if self.also_progress is not None:
            work.reported = progress
            other = self.also_progress(work, progress, total, message, remaining_ms)
            if other is not None:
                self._outbox.add(other.data, other)

    def answer_error(self, identifier: Id | None, error: RpcError) -> None:
        """Send an error response; one that JSON cannot hold is a fault of this side."""
        try:
            frame = encode({"jsonrpc": "2.0", "id": identifier, "error": error_to_wire(error)})
        except UnsendableError as unsendable:
            body = error_to_wire(internal_error("an error response", unsendable))
            frame = encode({"jsonrpc": "2.0", "id": identifier, "error": body})
        self._outbox.add(frame, OutgoingFrame(frame, "error"))

    def close(self, keep: Request | None) -> None:
        """Cancel what runs, but not `keep`, and answer nothing any more."""
        self.silent = True
        while self._held:
            self._end(self._held.popleft())
        for work in list(self.under_way.values()):
            if work is not keep:
                self.io.stop(work)

    def _cancelled_unknown(self, identifier: object) -> None:
        """Take note of a cancellation of a request that is not under way: it came too late."""

    def _admission(self, identifier: Id, name: str) -> Route:
        if identifier in self.under_way:
            raise InvalidRequestError("Invalid Request: the id belongs to a request in flight")
        route = self.routes.get(name)
        if route is None or route.method.kind == "notification":
            raise MethodNotFoundError(f"Method not found: {name:.60}")
        if len(self.under_way) >= self._limit and not route.ahead:
            raise RpcError(f"Busy: {self._limit} requests are in flight", code=_BUSY)
        return route

    def _too_many(self) -> bool:
        if len(self.under_way) < self._limit:
            return False
        self._counts.dropped_notifications += 1
        return True

    def _is_free(self, work: Request) -> bool:
        """Say whether nothing stands before a message, and no interceptors around it.

        An answer that cannot leave would only be held.
        """
        if self._barrier is not None or (self._outbox.crowded_by_answers and work.id is not None):
            return False
        return work.session.inbound[work.method.name] is None

    def _answer_at_once(self, act: AtOnce, work: Request) -> None:
        try:
            result = act(work.params, work)
        except Exception as error:
            self.fail(work, error)
        else:
            self.finish(work, result)

    def _done_at_once(self, route: Route, act: AtOnce, work: Request) -> bool:
        """Act on a notification if it is its turn; say whether that was all."""
        if route.ahead or self._is_free(work):
            handler = act(work.params, work)
            if handler is None:
                return True
            work.handler = handler
        return self._too_many()

    def _dispatch(self, work: Request) -> None:
        if self._barrier is not None:
            self._held.append(work)
            return
        if work.method.serial:
            self._barrier = work
        self.io.start(work)

    def _end(self, work: Request) -> bool:
        """Forget the work; say whether it still has to be answered."""
        if work.ended:
            return False
        work.ended = True
        del self.under_way[work if work.id is None else work.id]
        if work is self._barrier:
            self._barrier = None
            while self._held and self._barrier is None:
                self._dispatch(self._held.popleft())
        return work.id is not None and not work.cancelled and not self.silent

    def _answer_failure(self, identifier: Id | None, where: str, error: BaseException) -> None:
        if not isinstance(error, RpcError):
            error = internal_error(where, error, self._own_side(where))
        self.answer_error(identifier, error)

    def _log_failure(self, name: str, error: BaseException) -> None:
        if isinstance(error, RpcError):
            logger.info("refused a notification, %s: %s", name, sanitize_for_log(error))
        else:
            internal_error(name, error)

    def _own_side(self, name: str) -> str:
        route = self.routes.get(name)
        return "peer" if route is None else _ANSWERED_BY.get(route.method.sender, "peer")


def _params(route: Route, message: JsonObject, counts: Counts) -> Message:
    raw: JsonObject = message.get("params", {})
    if type(raw) is not dict or route.method.positions:
        if route.method.positions or not isinstance(route.method.params, type):
            return _in_another_form(route, message.get("params"), counts)
        return _without_params(route, raw, counts)
    try:
        params: Message = route.method.decode_params(raw, counts.noticed)
        return params
    except ValidationError as error:
        raise _invalid(route.method.name, problems(error, raw)) from None


def _in_another_form(route: Route, raw: object, counts: Counts) -> Message:
    """Return params that are an array on the wire.

    Raises:
        InvalidParamsError: they do not fit.
    """
    try:
        made: Message = route.method.decode_params(raw, counts.noticed)
    except ValidationError as error:
        raise _invalid(route.method.name, problems(error, raw)) from None
    return made


def _without_params(route: Route, given: object, counts: Counts) -> Message:
    """Return empty params where a peer sends null or an empty array for them.

    Raises:
        InvalidParamsError: the params are something else, or some are required.
    """
    from kinwire_protocols.lenient import ABSENT_PARAMS  # few processes need it

    name, problem = route.method.name, Problem("", "an object", kind_of(given))
    if given is None or given == []:
        with suppress(ValidationError):
            made: Message = route.method.decode_params({})
            counts.noticed(ABSENT_PARAMS, name, problem)
            return made
    raise _invalid(name, [problem])


def _invalid(name: str, found: list[Problem]) -> InvalidParamsError:
    return InvalidParamsError(
        f"{name}#{enumerated(found)}",
        data={"problems": [problem.to_json() for problem in found]},
    )
