"""The audit event of a call that a server's state refuses (MGP 0.2.0, 6.4): it reaches no guard."""

from __future__ import annotations

__all__ = ("refused_call",)

from kinwire.mgp.kernel.callers import agent_now
from kinwire.mgp.kernel.tracing import new_trace_id
from kinwire.mgp.rules.audit_events import SecurityEvent
from kinwire_protocols.base import JsonObject, RpcError


def refused_call(server: str, tool: object, refusal: RpcError) -> SecurityEvent:
    """Return the event; `tool` is what the call names, which may be anything."""
    details: JsonObject = {"reason": "state", "error": refusal.name, "code": refusal.code}
    name = tool[:200] if isinstance(tool, str) else None
    return SecurityEvent(
        "TOOL_BLOCKED", "agent", agent_now(), server, name, "BLOCKED", details, new_trace_id()
    )
