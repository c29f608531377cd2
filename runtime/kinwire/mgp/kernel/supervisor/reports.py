"""What the audit log and the log of the program say of supervised servers (MGP 0.2.0, 6, 11.5)."""

from __future__ import annotations

__all__ = ("SERVER_STATE", "Reports")

import logging
from typing import Final

from kinwire.mgp.kernel.audit import AuditLog, kernel_event
from kinwire.mgp.kernel.callers import agent_now
from kinwire.mgp.kernel.tracing import new_trace_id
from kinwire.mgp.rules.audit_events import SecurityEvent
from kinwire.mgp.rules.lifecycle import StateChange
from kinwire.mgp.rules.server_life import LIMIT_EXCEEDED
from kinwire.mgp.rules.server_spec import ServerSpec
from kinwire_protocols.base import JsonObject, RpcError

logger = logging.getLogger("kinwire.mgp.supervisor")

SERVER_STATE: Final = "io.kinwire.server_state"
"""A server went from one state to another."""


class Reports:
    """Writes about the servers of one supervisor."""

    def __init__(self, audit: AuditLog) -> None:
        self._audit = audit

    def changed(self, change: StateChange) -> None:
        """Write that a server went from one state to another."""
        words = change.server, change.previous, change.new, change.reason or "started"
        logger.info("%s: %s -> %s (%s)", *words)
        details = {
            "previous_state": change.previous,
            "new_state": change.new,
            "reason": change.reason,
        }
        self._audit.note(kernel_event(SERVER_STATE, change.server, details=details))

    async def given_up(self, spec: ServerSpec) -> None:
        """Write that a server had more restarts than its window has room for."""
        rules = spec.restart
        plural = "" if rules.max_restarts == 1 else "s"
        text = "%s: given up after %d restart%s in %g s"
        logger.error(text, spec.id, rules.max_restarts, plural, rules.window)
        details = {
            "reason": LIMIT_EXCEEDED,
            "max_restarts": rules.max_restarts,
            "restart_window_secs": rules.window,
        }
        event = kernel_event("SERVER_DISCONNECTED", spec.id, "FAILURE", details)
        await self._audit.record(event)

    def refused(self, server: str, tool: object, refusal: RpcError) -> None:
        """Write that a call was refused by the state of its server: it has reached no guard.

        `tool` is what the call names, which may be anything.
        """
        details: JsonObject = {"reason": "state", "error": refusal.name, "code": refusal.code}
        name = tool[:200] if isinstance(tool, str) else None
        agent, trace_id = agent_now(), new_trace_id()
        self._audit.note(
            SecurityEvent(
                "TOOL_BLOCKED", "agent", agent, server, name, "BLOCKED", details, trace_id
            )
        )
