"""The audit trail of a kernel (MGP 6): one event for each call, decision and server.

An event is logged by the logger `kinwire.mgp.audit`, appended to a chain in a `Log`, and sent to
the servers that negotiated `audit`. `rules/audit_events.py` makes the events.
"""

from __future__ import annotations

__all__ = ("AuditLog", "AuditOptions", "kernel_event")

import logging
from collections.abc import Callable
from dataclasses import dataclass, fields
from uuid import UUID

import anyio

from kinwire.managers.chained_log import ChainedLog
from kinwire.managers.limits import TokenBucket
from kinwire.mgp.kernel.audit_forwarder import AuditForwarder
from kinwire.mgp.kernel.guarded_server import GuardedServer
from kinwire.mgp.kernel.tracing import new_trace_id
from kinwire.mgp.rules.audit_events import (
    AUDIT_DAMAGED,
    EventTypeError,
    SecurityEvent,
    line_of,
    reported,
)
from kinwire.storage.clock import Clock
from kinwire.storage.log import Log
from kinwire.support.arguments import FLAG, RATE, ArgumentCheck, count_from, having
from kinwire.support.background import background
from kinwire_protocols.base import JsonObject
from kinwire_protocols.mgp.models import AuditNotificationParams, AuditOutcome

logger = logging.getLogger("kinwire.mgp.audit")
_warnings = logging.getLogger("kinwire.mgp")

_MOST_WAITED = 5.0  # seconds to write one event, while something waits for it
_OPTIONS = ArgumentCheck(
    "AuditOptions",
    'AuditOptions(log=await store.log("mgp-audit"))',
    {
        "log": having(
            ("append_after", "read"), "a log of a store", 'await store.log("mgp-audit")'
        ).or_none
    },
    buffered=FLAG,
    buffer=count_from(1),
    server_events=RATE,
    queue=count_from(1),
)


def kernel_event(
    kind: str,
    server_id: str | None,
    result: AuditOutcome = "SUCCESS",
    details: JsonObject | None = None,
    *,
    tool: str | None = None,
    trace_id: str | None = None,
) -> SecurityEvent:
    """Return an event about something that the kernel itself did or saw.

    Without `trace_id` it gets a new one.
    """
    trace_id = trace_id or new_trace_id()
    return SecurityEvent(kind, "kernel", "kernel", server_id, tool, result, details or {}, trace_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditOptions:
    """How events are kept: `MgpKernel(audit=AuditOptions(log=await store.log("mgp-audit")))`."""

    log: Log | None = None
    """Where events are appended; without it only the logger `kinwire.mgp.audit` has them."""
    buffered: bool = True
    """Whether a call of a tool that is not dangerous returns before its event is durable."""
    buffer: int = 10_000
    """How many events may wait to be written; calls wait for room, or are refused without it."""
    server_events: float = 10.0
    """How many events of one server are taken a second; others are dropped and counted."""
    queue: int = 1_000
    """How many events may wait for one audit server; then the oldest are dropped and counted."""

    def __post_init__(self) -> None:
        _OPTIONS.check(**{one.name: getattr(self, one.name) for one in fields(self)})


class AuditLog:
    """Writes the events of one kernel."""

    def __init__(self, options: AuditOptions, clock: Clock) -> None:
        self._options = options
        self._clock = clock
        self._chain: ChainedLog | None = None
        if options.log is not None:
            self._chain = ChainedLog(options.log, mark=_damage(clock()))
        self._forwarders: dict[GuardedServer, AuditForwarder] = {}
        self._reports: dict[GuardedServer, _Reports] = {}

    @property
    def buffered(self) -> bool:
        """Whether a call of a tool that is not dangerous returns before its event is durable."""
        return self._options.buffered

    @property
    def has_room(self) -> bool:
        """Whether another event may wait to be written; if not, calls wait for room."""
        return self._chain is None or self._chain.waiting < self._options.buffer

    async def make_room(self) -> bool:
        """Write what waits, and return whether another event may wait now; else refuse the call."""
        if self._chain is not None:
            with anyio.move_on_after(_MOST_WAITED):
                await self._chain.drain()
        return self.has_room

    async def flush(self) -> None:
        """Return when what was noted is written, or the log does not take it in time.

        A cancellation does not interrupt it.
        """
        if self._chain is not None:
            with anyio.move_on_after(_MOST_WAITED, shield=True):
                await self._chain.drain()

    async def record(self, event: SecurityEvent) -> bool:
        """Write an event, and return when it is durable; False if the log did not take it.

        A cancellation does not interrupt it.
        """
        params = event.params(self._clock())
        self._publish(params)
        if self._chain is None:
            return True
        with anyio.move_on_after(_MOST_WAITED, shield=True):
            try:
                if not self.has_room:
                    await self._chain.drain()
                if self.has_room:  # else the log hangs or fails: memory has an end
                    await self._chain.append(_subject("kernel", params), params)
                    return True
            except Exception as error:
                _warnings.debug("the audit log has failed", exc_info=error)
            _warnings.error("not in the audit log: %s", line_of(params))
            return False
        _warnings.error("the audit log did not answer within 5 s: %s", line_of(params))
        return False

    def note(self, event: SecurityEvent) -> None:
        """Write an event soon. If the log fails, it is kept and written with a later event."""
        self.note_later(event.event_type, lambda: event)

    def note_later(self, kind: str, make: Callable[[], SecurityEvent]) -> None:
        """Write an event of a type soon, as `note` does; `make` returns it, the same each time.

        It is made when it is written, with others: that takes less time than to make it now.
        """
        at = self._clock()
        if self._forwarders or logger.isEnabledFor(logging.INFO):
            params = make().params(at)
            self._publish(params)
            if self._chain is not None:
                self._chain.add(_subject("kernel", params), params)
        elif self._chain is not None:
            self._chain.add(f"mgp.kernel.{kind}", lambda: make().canonical(at))

    def take(self, server: GuardedServer, params: AuditNotificationParams) -> None:
        """Take an event that a server has sent, if it may send another one now (MGP 6.5)."""
        reports = self._reports.setdefault(server, _Reports(self._options.server_events))
        if not self.has_room or not reports.bucket.take(now=self._clock()):
            reports.drop(server, "too many events")
            return
        try:
            event = reported(params, server.id, self._clock(), reports.dropped)
        except EventTypeError as error:
            reports.drop(server, str(error))
            return
        reports.dropped = 0
        self._publish(event, not_to=server)
        if self._chain is not None:
            self._chain.add(_subject("server", event), event)

    async def attend(self, server: GuardedServer, gone: SecurityEvent) -> None:
        """Send events to a server that may have them; when it has left, write `gone`.

        They are for servers that negotiated `audit`, except for those that are sandboxed.

        It runs in a task of the server's session, and ends when the log has what was noted.
        """
        async with background() as tasks:
            if "audit" in server.extensions and server.trust != "sandboxed":
                forwarder = self._forwarders[server] = AuditForwarder(server, self._options.queue)
                tasks.start_soon(forwarder.run)
            try:
                await server.session.wait_closed()
            finally:
                self._forwarders.pop(server, None)
                self._reports.pop(server, None)
                await self.record(gone)
            tasks.cancel_scope.cancel()

    def _publish(self, params: JsonObject, *, not_to: GuardedServer | None = None) -> None:
        """Give an event to the logger and to the audit servers."""
        if logger.isEnabledFor(logging.INFO):
            logger.info("%s", line_of(params), extra={"event": params})
        for server, forwarder in self._forwarders.items():
            if server is not not_to:
                forwarder.put(params)


class _Reports:
    """What one server has reported."""

    def __init__(self, per_second: float) -> None:
        self.bucket = TokenBucket(per_second=per_second)
        self.dropped = 0

    def drop(self, server: GuardedServer, reason: str) -> None:
        if not self.dropped:
            _warnings.warning("%s: its audit events are dropped: %s", server.id, reason)
        self.dropped += 1


def _subject(source: str, params: JsonObject) -> str:
    return f"mgp.{source}.{params['event_type']}"


def _damage(at: float) -> tuple[str, JsonObject]:
    event = SecurityEvent(
        event_type=AUDIT_DAMAGED,
        actor_type="kernel",
        actor_id="kernel",
        server_id=None,
        tool_name=None,
        result="FAILURE",
        details={"reason": "the log ended with an entry that is not of its chain"},
        trace_id=str(UUID(int=0)),
    ).params(at)
    return _subject("kernel", event), event
