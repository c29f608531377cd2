"""An audit server: a kernel forwards every event to it, and it can be searched (MGP 6.1).

It keeps events in memory. One of yours would append them to a `Log` of a store.
"""

from __future__ import annotations

__all__ = ("Archive", "guarded", "server")

from collections import deque

from kinwire import Server
from kinwire.mgp import MgpServer
from kinwire_protocols.mgp import AuditNotificationParams, ToolSecurity

_MOST = 10_000  # events; the oldest are forgotten


class Archive:
    """The events, and the tools that look at them."""

    def __init__(self, server: Server, guarded: MgpServer) -> None:
        self._events = deque[AuditNotificationParams](maxlen=_MOST)
        guarded.on.notifications_mgp_audit(self.keep)
        security = ToolSecurity(risk_level="safe", validator="none")
        server.tool(guarded.tool(security=security)(self.search_events))

    async def keep(self, params: AuditNotificationParams) -> None:
        """Keep an event."""
        self._events.append(params)

    async def search_events(self, event_type: str = "", agent: str = "", limit: int = 100) -> str:
        """Return the newest events of a type and an agent, one a line."""
        found = [
            one
            for one in self._events
            if event_type in ("", one.event_type) and agent in ("", one.actor.id)
        ]
        return "\n".join(map(_line, found[-limit:])) or "No event."


def _line(event: AuditNotificationParams) -> str:
    target = event.target
    parts = () if target is None else (target.server_id, target.tool_name)
    place = "/".join(part for part in parts if part)
    return f"{event.event_type} {event.result} by {event.actor.id} {place}".rstrip()


guarded = MgpServer()  # the handler of the notification offers `audit`
server = Server("archive", "1.0", extensions=[guarded])
Archive(server, guarded)

if __name__ == "__main__":
    server.run()
