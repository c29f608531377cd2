"""The requests and notifications of the peer: which handler, in what order, and the one answer."""

from __future__ import annotations

__all__ = ("InboundCalls", "NewInbound")

import logging
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from math import isfinite
from typing import Any

from pydantic import ValidationError

from kinwire.calls import Inbound, Route
from kinwire.errors import RpcError, UnsendableError
from kinwire.jsonrpc import Id, encode, is_id, is_object
from kinwire.limits import Counts
from kinwire.outbox import Outbox
from kinwire.ports import Ports
from kinwire.rpc_errors import error_to_json, internal_error
from kinwire_protocols.base import JsonObject, Message, to_wire
from kinwire_protocols.jsonrpc.errors import (
    InvalidParamsError,
    InvalidRequestError,
    MethodNotFoundError,
)
from kinwire_protocols.problems import Problem, problems

logger = logging.getLogger("kinwire.session")

NewInbound = Callable[[Id | None, Route, Message, JsonObject], Inbound]

_BUSY = -32000  # in the range that JSON-RPC leaves to servers


class InboundCalls:
    """What the peer has asked and this side works on."""

    def __init__(
        self,
        ports: Ports,
        outbox: Outbox,
        counts: Counts,
        routes: Mapping[str, Route],
        limit: int,
        new: NewInbound,
    ) -> None:
        self._ports = ports
        self._outbox = outbox
        self._counts = counts
        self._routes = routes
        self._limit = limit
        self._new = new
        self._requests: dict[Id, Inbound] = {}
        self._notifications: set[Inbound] = set()
        self._barrier: Inbound | None = None  # a serial one under way: later ones wait
        self._held: deque[Inbound] = deque()
        self.silent = False  # nothing is answered and nothing new begins

    def __iter__(self) -> Iterator[Inbound]:
        """Yield all that is under way."""
        yield from list(self._requests.values())
        yield from list(self._notifications)

    @property
    def idle(self) -> bool:
        """Whether no handler is under way."""
        return not self._requests and not self._notifications

    def requested(self, message: JsonObject) -> None:
        """Begin work on a request, or answer why not."""
        identifier: Id = message["id"]
        try:
            work = self._admitted(identifier, message)
        except Exception as error:  # also a validator of the user's own row
            self._answer_failure(identifier, message["method"], error)
            return
        self._requests[identifier] = work
        self._dispatch(work)

    def notified(self, message: JsonObject) -> None:
        """Begin work on a notification; one that is unknown or of a wrong shape is ignored."""
        route = self._routes.get(message["method"])
        if route is None or route.method.kind == "request":
            return
        if len(self._requests) + len(self._notifications) >= self._limit:
            self._counts.dropped_notifications += 1
            return
        try:
            params, raw = _params(route, message)
        except Exception as error:
            logger.info("ignored a notification: %s", error)
            return
        work = self._new(None, route, params, raw)
        self._notifications.add(work)
        self._dispatch(work)

    def cancelled(self, params: JsonObject) -> None:
        """Stop the request that the peer takes back; the handshake cannot be."""
        identifier = params.get("requestId")
        work = self._requests.get(identifier) if is_id(identifier) else None
        if work is None or work.cancelled or work.method.name == "initialize":
            return
        work.cancelled = True
        if work in self._held:
            self._held.remove(work)
            self._end(work)
        else:
            self._ports.stop(work)

    def finish(self, work: Inbound, result: object) -> None:
        """End the work and answer with what its handler returned."""
        if not self._end(work):
            return
        if isinstance(result, Message):
            result = to_wire(result)
        elif not is_object(result):
            wrong = TypeError(f"expected a result model or a dict, got {type(result).__name__}")
            self._answer_failure(work.id, work.method.name, wrong)
            return
        try:
            frame = encode({"jsonrpc": "2.0", "id": work.id, "result": result})
        except UnsendableError as error:
            self._answer_failure(work.id, work.method.name, error)
        else:
            self._outbox.add(frame)

    def fail(self, work: Inbound, error: BaseException) -> None:
        """End the work and answer with the error: as it is, or as a fault without details."""
        if self._end(work):
            self._answer_failure(work.id, work.method.name, error)
        elif work.id is None and not self.silent:
            logger.error("the handler of %s failed", work.method.name, exc_info=error)

    def progress(
        self, work: Inbound, progress: float, total: float | None, message: str | None
    ) -> None:
        """Report progress if the peer asked for it, the value has risen, and no answer is out."""
        token = work.progress_token
        risen = isfinite(progress) and (work.reported is None or progress > work.reported)
        if token is None or not risen or work.ended or work.cancelled or self.silent:
            return
        params: JsonObject = {"progressToken": token, "progress": progress}
        if total is not None and isfinite(total):
            params["total"] = total
        if message is not None:
            params["message"] = message
        frame = encode({"jsonrpc": "2.0", "method": "notifications/progress", "params": params})
        work.reported = progress
        self._outbox.add(frame)

    def answer_error(self, identifier: Id | None, error: RpcError) -> None:
        """Send an error response; one that JSON cannot hold is a fault of this side."""
        try:
            frame = encode({"jsonrpc": "2.0", "id": identifier, "error": error_to_json(error)})
        except UnsendableError as unsendable:
            body = error_to_json(internal_error("an error response", unsendable))
            frame = encode({"jsonrpc": "2.0", "id": identifier, "error": body})
        self._outbox.add(frame)

    def close(self, keep: Inbound | None) -> None:
        """Cancel what runs, but not `keep`, and answer nothing any more."""
        self.silent = True
        while self._held:
            self._end(self._held.popleft())
        for work in self:
            if work is not keep:
                self._ports.stop(work)

    def _admitted(self, identifier: Id, message: JsonObject) -> Inbound:
        if identifier in self._requests:
            raise InvalidRequestError("Invalid Request: the id belongs to a request in flight")
        route = self._routes.get(message["method"])
        if route is None or route.method.kind == "notification":
            raise MethodNotFoundError(f"Method not found: {message['method']}")
        if len(self._requests) + len(self._notifications) >= self._limit:
            raise RpcError(f"Busy: {self._limit} requests are in flight", code=_BUSY)
        params, raw = _params(route, message)
        return self._new(identifier, route, params, raw)

    def _dispatch(self, work: Inbound) -> None:
        if self._barrier is not None:
            self._held.append(work)
            return
        if work.method.serial:
            self._barrier = work
        self._ports.start(work)

    def _end(self, work: Inbound) -> bool:
        """Forget the work; say whether it still has to be answered."""
        if work.ended:
            return False
        work.ended = True
        if work.id is None:
            self._notifications.discard(work)
        else:
            del self._requests[work.id]
        if work is self._barrier:
            self._barrier = None
            while self._held and self._barrier is None:
                self._dispatch(self._held.popleft())
        return work.id is not None and not work.cancelled and not self.silent

    def _answer_failure(self, identifier: Id | None, where: str, error: BaseException) -> None:
        if not isinstance(error, RpcError):
            error = internal_error(where, error)
        self.answer_error(identifier, error)


def _params(route: Route, message: JsonObject) -> tuple[Message, JsonObject]:
    raw: Any = message.get("params", {})
    if is_object(raw):
        try:
            return route.method.decode_params(raw), raw
        except ValidationError as error:
            found = problems(error, raw)
    else:
        found = [Problem("", "an object", "null" if raw is None else type(raw).__name__)]
    raise InvalidParamsError(
        f"{route.method.name}#{found[0]}",
        data={"problems": [problem.to_json() for problem in found]},
    )
