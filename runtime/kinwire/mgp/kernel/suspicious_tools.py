"""Reports suspicious definitions of tools: each has a warning and an audit event."""

from __future__ import annotations

__all__ = ("TOOL_SUSPICIOUS", "SuspiciousTools")

import logging
from collections.abc import Iterable
from typing import Final

from kinwire.mgp.kernel.audit import AuditLog
from kinwire.mgp.kernel.guarded_server import GuardedServer
from kinwire.mgp.kernel.tracing import new_trace_id
from kinwire.mgp.rules.audit_events import SecurityEvent
from kinwire.mgp.rules.tools import KnownTool
from kinwire.support.bounded import LruDict
from kinwire.support.sanitize import sanitize_for_log

logger = logging.getLogger("kinwire.mgp")

TOOL_SUSPICIOUS: Final = "io.kinwire.tool_suspicious"

_MOST_KEPT = 10_000


class SuspiciousTools:
    """Remembers what was reported, for all servers of a kernel."""

    def __init__(self, audit: AuditLog) -> None:
        self._audit = audit
        self._reported = LruDict[tuple[str, str], None](_MOST_KEPT)

    def report(self, server: GuardedServer, tools: Iterable[KnownTool]) -> None:
        """Report those of a server's tools that have flags and were not reported yet."""
        for tool in tools:
            key = server.id, tool.digest
            if tool.flags and key not in self._reported:
                self._reported.put(key, None)
                self._report(server, tool)

    def _report(self, server: GuardedServer, tool: KnownTool) -> None:
        said = sanitize_for_log(f"{tool.name!r:.60}: {'; '.join(tool.flags)}")
        logger.warning("%s: the definition of a tool is suspicious: %s", server.id, said)
        details = {"flags": list(tool.flags), "risk_level": tool.risk}
        event = SecurityEvent(
            TOOL_SUSPICIOUS,
            "kernel",
            "kernel",
            server.id,
            tool.name,
            "SUCCESS",
            details,
            new_trace_id(),
        )
        self._audit.note(event)
