"""Reports definitions of tools that are suspicious, or have changed: a warning and an audit event.

A server may change all of its list at every turn: then most events of it are counted only.
"""

from __future__ import annotations

__all__ = ("TOOL_CHANGED", "TOOL_SUSPICIOUS", "SuspiciousTools")

import logging
from collections.abc import Iterable
from typing import Final

from kinwire.managers.limits import EventLimits
from kinwire.mgp.kernel.audit import AuditLog, kernel_event
from kinwire.mgp.kernel.guarded_server import GuardedServer
from kinwire.mgp.rules.tools import KnownTool
from kinwire.storage.clock import Clock
from kinwire.support.bounded import LruDict
from kinwire.support.sanitize import sanitize_for_log
from kinwire_protocols.base import JsonObject

logger = logging.getLogger("kinwire.mgp")

TOOL_CHANGED: Final = "io.kinwire.tool_changed"
TOOL_SUSPICIOUS: Final = "io.kinwire.tool_suspicious"

_MOST_KEPT = 10_000
_EVENTS = 20.0  # of one server that are written a second


class SuspiciousTools:
    """Remembers what was reported, for all servers of a kernel."""

    def __init__(self, audit: AuditLog, clock: Clock) -> None:
        self._audit = audit
        self._clock = clock
        self._limits = EventLimits[str](_MOST_KEPT, per_second=_EVENTS)
        self._reported = LruDict[tuple[str, str], None](_MOST_KEPT)

    def report(self, server: GuardedServer, tools: Iterable[KnownTool]) -> None:
        """Report those of a server's tools that have flags and were not reported yet."""
        for tool in tools:
            key = server.id, tool.digest
            if tool.flags and key not in self._reported:
                self._reported.put(key, None)
                self._report(server, tool)

    def changed(self, server: GuardedServer, before: str, after: KnownTool) -> None:
        """Report that the definition of a tool is another one now; `before` is the old digest."""
        text = f"the definition of the tool {after.name!r:.60} has changed"
        details = {"before": before, "after": after.digest, "risk_level": after.risk}
        self._write(server, TOOL_CHANGED, after, text, details)

    def _report(self, server: GuardedServer, tool: KnownTool) -> None:
        text = f"the definition of a tool is suspicious: {tool.name!r:.60}: {'; '.join(tool.flags)}"
        details = {"flags": list(tool.flags), "risk_level": tool.risk}
        self._write(server, TOOL_SUSPICIOUS, tool, text, details)

    def _write(
        self, server: GuardedServer, kind: str, tool: KnownTool, text: str, details: JsonObject
    ) -> None:
        dropped = self._limits.take(server.id, now=self._clock())
        if dropped is None:
            return
        logger.warning("%s: %s", server.id, sanitize_for_log(text))
        if dropped:
            details["dropped_before"] = dropped
        self._audit.note(kernel_event(kind, server.id, details=details, tool=tool.name))
