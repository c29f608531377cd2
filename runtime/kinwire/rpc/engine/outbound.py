"""The requests of this side: ids, deadlines, progress, and the one answer of each."""

from __future__ import annotations

__all__ = ("OutboundCalls",)

import json
import logging
from typing import Any

from pydantic import ValidationError

from kinwire.rpc.calls import Outbound
from kinwire.rpc.codec import encode, encoded_notification, is_object
from kinwire.rpc.engine.io import EngineIO, Timer
from kinwire.rpc.engine.outbox import FrameOutbox
from kinwire.rpc.engine.streamed import StreamedCalls
from kinwire.rpc.error_table import ErrorTable, error_from_json
from kinwire.rpc.errors import ConnectionClosedError, InvalidResponseError, RequestTimeoutError
from kinwire.rpc.limits import Counts
from kinwire.rpc.profile import RpcProfile
from kinwire.support.functions import call_back
from kinwire_protocols.base import JsonObject
from kinwire_protocols.peer import NoParams
from kinwire_protocols.problems import Problem

logger = logging.getLogger("kinwire.session")


class OutboundCalls:
    """What this side has asked and the peer has not answered yet."""

    def __init__(
        self,
        io: EngineIO,
        timer: Timer,
        outbox: FrameOutbox,
        counts: Counts,
        known: ErrorTable,
        profile: RpcProfile,
    ) -> None:
        self.io = io
        self._timer = timer
        self._outbox = outbox
        self._counts = counts
        self._known = known
        self._profile = profile
        self._last_id = 0
        self._pending: dict[int, Outbound] = {}
        self.streamed: StreamedCalls | None = None
        """The calls that are answered in parts, once there was one."""
        self.closed: ConnectionClosedError | None = None

    def request(self, call: Outbound, params: JsonObject) -> None:
        """Queue the request; `params` is this call's own copy.

        Raises:
            ConnectionClosedError: nothing can be answered any more.
            UnsendableError: JSON cannot hold the params; nothing is pending.
        """
        if self.closed is not None:
            raise self.closed.again()
        self._last_id += 1
        call.id = identifier = self._last_id
        if call.on_progress is not None:
            self._ask_for_progress(params, identifier)
        message: JsonObject = {"jsonrpc": "2.0", "id": identifier, "method": call.name}
        if params or self._sends_empty_params(call):
            message["params"] = params
        call.data = encode(message)
        self._pending[identifier] = call
        if self.streamed:
            self.streamed.changed()
        if call.timeout is not None:  # in place, as is what follows an answer: every call pays
            call.deadline = deadline = self.io.now() + call.timeout
            if deadline < self._timer.at:
                self._timer.schedule(deadline)
        self._outbox.add(call.data, call)

    def in_parts(self) -> StreamedCalls:
        """Return the calls that are answered in parts."""
        if self.streamed is None:
            self.streamed = StreamedCalls(self.io, self._pending)
        return self.streamed

    def _sends_empty_params(self, call: Outbound) -> bool:
        own, method = self._profile.protocol, call.method
        if own is None or method is None or method.params is NoParams:
            return False
        return method.protocol != own

    def abandon(self, call: Outbound, reason: str = "The caller gave up.") -> None:
        """Forget a call that nobody waits for; the peer hears of it if it has the request."""
        if self._pending.pop(call.id, None) is None:
            return
        self._over(call)
        rule = self._profile.cancellation
        if call.sent and rule is not None and call.name != self._profile.opening:
            params: JsonObject = {rule.id_field: call.id, rule.reason_field: reason}
            frame = encoded_notification(rule.method, params, cancels=call.id)
            self._outbox.add(frame.data, frame)

    def answered(self, message: JsonObject) -> None:
        """Settle the call that a response belongs to; drop a response that belongs to none."""
        identifier = message.get("id")  # True and 1.0 would find the entry of 1
        call = self._pending.pop(identifier, None) if type(identifier) is int else None
        if call is None:
            self._answered_otherwise(identifier)
            return
        call.over = True  # in place, too
        if self.streamed:
            self.streamed.changed()
        if "error" not in message and message.get("jsonrpc") == "2.0":
            self.io.settle(call, message["result"], None)
            return
        message = self._without_null(call.name, message)
        fault = _fault(message)
        if fault is None and "result" in message:
            self.io.settle(call, message["result"], None)
        elif fault is not None:
            self.io.settle(call, None, InvalidResponseError(f"{call.name}: {fault}"))
        else:
            error = error_from_json(message["error"], call.method, self._known)
            self.io.settle(call, None, error)

    def _answered_otherwise(self, identifier: object) -> None:
        """Fail the call that a response means by an id of another JSON type, or drop it."""
        pending = next((one for one in self._pending if _means(identifier, one)), None)
        why = f"its id is {json.dumps(identifier)}, expected {pending}" if pending else ""
        if not self.unusable(pending, why):
            self._counts.late_replies += 1
            logger.debug("dropped a response that no call waits for")

    def _without_null(self, name: str, message: JsonObject) -> JsonObject:
        """Return a response without its null result or error, if it has the other one."""
        if message.get("jsonrpc") != "2.0" or not {"result", "error"} <= message.keys():
            return message
        from kinwire_protocols.lenient import NULL_ERROR, NULL_RESULT  # few processes need it

        for reading, null, other in (
            (NULL_ERROR, "error", "result"),
            (NULL_RESULT, "result", "error"),
        ):
            if message[null] is None and is_object(message[other]):
                self._counts.noticed(reading, name, Problem(f"/{null}", "nothing", "null"))
                return {key: value for key, value in message.items() if key != null}
        return message

    def unusable(self, identifier: object, why: str) -> bool:
        """Fail the call that an unreadable answer names; say whether there is one."""
        call = self._pending.pop(identifier, None) if type(identifier) is int else None
        if call is None:
            return False
        self._over(call)
        text = f"{call.name}: the answer cannot be read: {why}."
        self.io.settle(call, None, InvalidResponseError(text))
        return True

    @property
    def pending(self) -> int:
        """How many requests are still to be answered."""
        return len(self._pending)

    def waits(self, identifier: int) -> bool:
        """Return whether the request of this id is still to be answered."""
        return identifier in self._pending

    def prolong(self, identifier: object, seconds: float) -> None:
        """Give a call `seconds` and then its whole timeout again; see `Session.prolong`."""
        call = self._pending.get(identifier) if type(identifier) is int else None
        if call is not None and call.timeout is not None:
            later = self.io.now() + seconds + call.timeout
            call.deadline = max(call.deadline, later)  # the timer looks again

    def fail(self, identifier: int, error: Exception) -> None:
        """Fail the call of this id, if it still waits."""
        call = self._pending.pop(identifier, None)
        if call is not None:
            self._over(call)
            self.io.settle(call, None, error)

    def progressed(self, params: JsonObject, *, by_token: bool = True) -> None:
        """Pass a progress report on and give its call another whole timeout.

        One that came otherwise than by the token is for calls without reports by it: a peer that
        has both ways says the same in both.
        """
        rule = self._profile.progress
        token = None if rule is None else params.get(rule.token_field)
        call = self._pending.get(token) if type(token) is int else None
        if rule is None or call is None or call.on_progress is None:
            return
        if call.reported and not by_token:
            return
        try:
            report = rule.method.decode_params(params)
        except ValidationError:
            logger.debug("dropped an invalid progress report")
            return
        call.reported = by_token
        if call.timeout is not None:
            call.deadline = self.io.now() + call.timeout  # later than the timer
        call_back(call.on_progress, report, logger, f"on_progress function of a {call.name} call")

    def expire(self, now: float) -> None:
        """Fail the calls whose time is over."""
        for call in [call for call in self._pending.values() if call.deadline <= now]:
            timeout = call.timeout or 0.0
            self.abandon(call, f"No answer within {timeout:g} s.")
            self.io.settle(call, None, self._timeout_error(call.name, timeout))
        for call in self._pending.values():
            self._timer.schedule(call.deadline)

    def _over(self, call: Outbound) -> None:
        call.over = True
        if self.streamed:
            self.streamed.changed()

    def _ask_for_progress(self, params: JsonObject, token: int) -> None:
        rule, field = self._profile.progress, self._profile.meta_field
        if rule is not None:
            params[field] = {**(params.get(field) or {}), rule.token_field: token}

    def _timeout_error(self, method: str, timeout: float) -> RequestTimeoutError:
        opens = method == self._profile.opening
        return RequestTimeoutError(method, timeout, self._profile.opening_hint if opens else None)

    def close(self, why: ConnectionClosedError) -> None:
        """Fail every call now, and each later one."""
        self.closed = why
        pending = list(self._pending.values())
        if pending:
            self._pending.clear()
        for call in pending:
            call.over = True
            self.io.settle(call, None, why.again())


def _means(given: object, identifier: int) -> bool:
    """Return whether an id stands for another one: 1.0, true and "1" for 1."""
    return given == identifier or given == str(identifier)


def _fault(message: JsonObject) -> str | None:
    """Return what is wrong with a response, None if nothing is."""
    if message.get("jsonrpc") != "2.0":
        return 'jsonrpc: expected "2.0"'
    if "error" not in message:
        return None
    if "result" in message:
        return "a response has a result or an error, got both"
    error: Any = message["error"]
    if not is_object(error):
        return "error: expected an object"
    if type(error.get("code")) is not int:
        return "error/code: expected an integer"
    if type(error.get("message")) is not str:
        return "error/message: expected a string"
    return None
