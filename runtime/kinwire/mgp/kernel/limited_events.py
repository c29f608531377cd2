"""Audit events of refusals, which a caller can cause at will: each caller has a limit."""

from __future__ import annotations

__all__ = ("LimitedEvents", "RecordEvent")

from collections.abc import Awaitable, Callable

from kinwire.managers.limits import EventLimits
from kinwire.mgp.kernel.access_options import AccessPrincipal
from kinwire.mgp.rules.audit_events import SecurityEvent
from kinwire.storage.clock import Clock

_EVENTS = 20.0  # of one caller that are written a second
_MOST_CALLERS = 1000

RecordEvent = Callable[[SecurityEvent], Awaitable[object]]
"""Writes an audit event."""


class LimitedEvents:
    """Writes events, unless their caller fills the log; the next one says how many are missing."""

    def __init__(self, record: RecordEvent, clock: Clock) -> None:
        self._record = record
        self._clock = clock
        self._limits = EventLimits[AccessPrincipal](_MOST_CALLERS, per_second=_EVENTS)

    async def write(self, event: SecurityEvent, caller: AccessPrincipal) -> None:
        """Write an event that a caller has caused."""
        dropped = self._limits.take(caller, now=self._clock())
        if dropped:
            event.details["dropped_before"] = dropped
        if dropped is not None:
            await self._record(event)
