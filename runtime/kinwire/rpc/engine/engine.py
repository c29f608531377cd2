"""The rules of one connection, without I/O and clock: what an arriving frame means, how it is
answered, and what leaves. A driver implements `EngineIO`; `inbound.py` and `outbound.py` have the
two directions, `outbox.py` has the frames that wait to leave.

Cancellation and progress act here, by the notifications that the `RpcProfile` names; every other
method is its handler's business.
"""

from __future__ import annotations

__all__ = ("Engine",)

import logging
from collections.abc import Mapping

from kinwire.rpc.codec import FrameError, decode, encoded_notification, is_object, same_id, too_long
from kinwire.rpc.engine.inbound import InboundCalls, NewRequest
from kinwire.rpc.engine.io import ENDED, EngineIO, Timer
from kinwire.rpc.engine.outbound import OutboundCalls
from kinwire.rpc.engine.outbox import FrameOutbox, ignore_rest
from kinwire.rpc.error_table import ErrorTable
from kinwire.rpc.errors import ConnectionClosedError
from kinwire.rpc.limits import Counts, Limits
from kinwire.rpc.profile import RpcProfile
from kinwire.rpc.request import Request
from kinwire.rpc.routes import Route
from kinwire_protocols.base import JsonObject

logger = logging.getLogger("kinwire.session")

_SHOWN = 200  # bytes of an unreadable frame in the log
_UNREADABLE = "skipped an unreadable frame: %r (%s)"
_NOISE = (
    "ignored output on stdout that is not JSON-RPC: %r (%s). The server has to write logs to stderr"
)


class Engine:
    """Both directions of one connection.

    `new` makes the object that stands for an arrived request. `peer_may_emit_noise` says that the
    peer may write text that is not JSON-RPC, such as a greeting: then only frames that name a
    request are answered. Otherwise both sides could answer each other's errors for ever.
    """

    outbox_class = FrameOutbox
    inbound_class = InboundCalls

    def __init__(
        self,
        io: EngineIO,
        *,
        routes: Mapping[str, Route],
        profile: RpcProfile,
        limits: Limits,
        known: ErrorTable,
        new: NewRequest,
        peer_may_emit_noise: bool = False,
    ) -> None:
        self._io = io
        self._limits = limits
        self._peer_may_emit_noise = peer_may_emit_noise
        self._cancellation = profile.cancellation
        self._progressed = profile.progress and profile.progress.method.name
        self.counts = Counts()
        self._timer = timer = Timer(io)
        self.outbox = self.outbox_class(io, timer, limits)
        self.take = self.outbox.take
        self.take_frames = self.outbox.take_frames
        self.outbound = OutboundCalls(io, timer, self.outbox, self.counts, known, profile)
        self.inbound = self.inbound_class(
            io, self.outbox, self.counts, routes, profile, limits.in_flight, new
        )
        self.finish = self.inbound.finish
        self.fail = self.inbound.fail
        self._unreadable_in_a_row = 0
        self._second = 0.0  # when the current second of error answers began
        self._errors = 0

    @property
    def closed(self) -> ConnectionClosedError | None:
        """Why nothing can be called any more."""
        return self.outbound.closed

    def feed(self, frame: bytes, reply_to: int | None = None) -> None:
        """Act on a frame that arrived. Never raises, whatever it holds.

        `reply_to` is the request in whose reply it came, where requests have replies of their own:
        then it answers that one or none.
        """
        try:
            message = decode(frame)
        except FrameError as refused:
            if frame.strip():  # a blank line is neither a message nor a mistake
                self._refuse(refused if reply_to is None else _about(refused, reply_to), frame)
            return
        self._unreadable_in_a_row = 0
        if self.inbound.silent:
            return
        if "method" not in message:
            if reply_to is None or same_id(message.get("id"), reply_to):
                self.outbound.answered(message)
            else:
                self.counts.late_replies += 1
                logger.warning("dropped a response that came in the reply to another request")
        elif reply_to is not None:
            self._said_in_reply(message, reply_to)
        elif "id" in message:
            self.inbound.requested(message)
        else:
            self._notified(message["method"], message)

    def _said_in_reply(self, message: JsonObject, reply_to: int) -> None:
        """Act on a request or notification that came in the reply to a request of this side."""
        self.inbound.in_reply_to = reply_to
        try:
            if "id" in message:
                self.inbound.requested(message)
            else:
                self._notified(message["method"], message)
        finally:
            self.inbound.in_reply_to = None

    def overlong(self, ends: bytes) -> None:
        """Answer a frame that was longer than `Limits.frame_size` and of which this is left."""
        self._refuse(too_long(ends, self._limits.frame_size), ends)

    def notify(self, name: str, params: JsonObject) -> None:
        """Queue a notification.

        Raises:
            ConnectionClosedError: nothing can leave any more.
            UnsendableError: JSON cannot hold the params.
        """
        if self.closed is not None and self.inbound.silent:
            raise self.closed.again()
        frame = encoded_notification(name, params, cancels=self._cancelled_id(name, params))
        self.outbox.add(frame.data, frame)

    def expire(self) -> None:
        """Act on what is overdue, and schedule the next deadline."""
        now = self._io.now()
        self._timer.fired()
        self.outbound.expire(now)
        self.outbox.expire(now)

    def no_more(self, why: ConnectionClosedError) -> None:
        """Nothing arrives any more: own calls fail, the peer's may still be answered."""
        if self.closed is None:
            self.outbox.hindrances += 1
            self.outbound.close(why)

    def close(self, why: ConnectionClosedError, keep: Request | None = None) -> None:
        """End both directions; the handler `keep` runs on, without an answer."""
        self.no_more(why)
        self.inbound.close(keep)

    def release(self) -> None:
        """Let go of the driver and the session: a reference cycle costs the garbage collector."""
        self._io = self._timer.io = ENDED
        self.outbox.io = self.outbound.io = self.inbound.io = ENDED
        self.outbox.write, self.outbox.keep = None, ignore_rest
        if self.outbound.streamed is not None:
            self.outbound.streamed.io = ENDED
        del self.inbound.new  # nothing arrives any more

    def _cancelled_id(self, name: str, params: JsonObject) -> int | None:
        """Return the id of the request that a notification takes back, None if it takes none."""
        rule = self._cancellation
        identifier = params.get(rule.id_field) if rule and name == rule.method else None
        return identifier if type(identifier) is int else None

    def _notified(self, method: str, message: JsonObject) -> None:
        params = message.get("params")
        if is_object(params):
            if self._cancellation and method == self._cancellation.method:
                self.inbound.cancelled(params)
            elif method == self._progressed:
                self.outbound.progressed(params)
        self.inbound.notified(message)

    def _refuse(self, refused: FrameError, frame: bytes) -> None:
        self.counts.unreadable += 1
        self._unreadable_in_a_row += 1
        if self._unreadable_in_a_row >= self._limits.unreadable_in_a_row:
            count = self._unreadable_in_a_row
            self._io.end(ConnectionClosedError(f"{count} unreadable frames came in a row."))
            return
        if refused.meant != "request" and self.outbound.unusable(refused.id, refused.why):
            return
        if not self._within_rate():
            self.counts.unanswered += 1
            return
        noise = self._peer_may_emit_noise and refused.id is None
        logger.warning(_NOISE if noise else _UNREADABLE, frame[:_SHOWN], refused.error.message)
        if refused.meant != "response" and not noise:
            self.inbound.answer_error(refused.id, refused.error)

    def _within_rate(self) -> bool:
        now = self._io.now()
        if now - self._second >= 1.0:
            self._second, self._errors = now, 0
        self._errors += 1
        return self._errors <= self._limits.errors_per_second


def _about(refused: FrameError, reply_to: int) -> FrameError:
    """Return the refusal of what came in the reply to a request: it is the call's, if anybody's."""
    if refused.meant == "request":
        return refused
    return FrameError(refused.error, reply_to, "response")
