"""The audit trail of a kernel (MGP 6): one event for each call and each decision."""

from __future__ import annotations

__all__ = ("AuditLog", "AuditOptions")

import logging
from dataclasses import dataclass

from kinwire.mgp.rules.audit_events import SecurityEvent
from kinwire.storage.clock import Clock
from kinwire.storage.log import Log
from kinwire.support.arguments import FLAG, RATE, ArgumentCheck, count_from, having

logger = logging.getLogger("kinwire.mgp.audit")

_OPTIONS = ArgumentCheck(
    "AuditOptions",
    "AuditOptions(log=...)",
    {},
    log=having(
        ("append_after", "read"), "a log of a store", 'await store.log("mgp-audit")'
    ).or_none,
    buffered=FLAG,
    buffer=count_from(1),
    server_events=RATE,
    queue=count_from(1),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditOptions:
    """Where audit events go: `MgpKernel(audit=AuditOptions(log=await store.log("mgp-audit")))`."""

    log: Log | None = None
    """Where events are written; without it they go to the logger `kinwire.mgp.audit` alone."""
    buffered: bool = True
    """Whether a call that is not dangerous returns before its event is durable."""
    buffer: int = 10_000
    """How many events may wait to be written; then calls are refused."""
    server_events: float = 10.0
    """How many events of one server are taken a second; the others are dropped and counted."""
    queue: int = 1_000
    """How many events may wait for one audit server; then the oldest are dropped and counted."""

    def __post_init__(self) -> None:
        _OPTIONS.check(
            log=self.log,
            buffered=self.buffered,
            buffer=self.buffer,
            server_events=self.server_events,
            queue=self.queue,
        )


class AuditLog:
    """Writes the events of one kernel."""

    def __init__(self, options: AuditOptions, clock: Clock) -> None:
        self._options = options
        self._clock = clock

    @property
    def has_room(self) -> bool:
        """Return whether another event may wait to be written; False refuses calls."""
        return True

    async def record(self, event: SecurityEvent) -> bool:
        """Write an event, and return when it is durable; False if the log did not take it."""
        logger.info("%s", event.event_type, extra={"event": event.params(self._clock())})
        return True

    def note(self, event: SecurityEvent) -> None:
        """Write an event soon: the caller does not wait."""
        logger.info("%s", event.event_type, extra={"event": event.params(self._clock())})
