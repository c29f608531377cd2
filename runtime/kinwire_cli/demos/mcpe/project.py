"""A server with the events of a project: what its tools do is published (MCPE 4, 6)."""

from __future__ import annotations

__all__ = ("EVENT_TYPES", "ProjectTools", "server")

from kinwire import Server
from kinwire.mcpe import EventDeclaration, McpeServer, new_event

EVENT_TYPES = (
    EventDeclaration(
        "github.push",
        "Commits were pushed to a branch, which is also a tag.",
        data_schema={"type": "object", "required": ["branch", "message"]},
        example={"branch": "main", "message": "Fix the clock"},
    ),
    EventDeclaration(
        "github.issue.opened",
        "Somebody has opened an issue.",
        example={"title": "The clock is late"},
    ),
)


class ProjectTools:
    """The tools."""

    def __init__(self, server: Server, events: McpeServer) -> None:
        self._events = events
        for function in (self.push, self.open_issue):
            server.tool(function)

    async def push(self, branch: str, message: str) -> str:
        """Push a commit to a branch."""
        data = {"branch": branch, "message": message}
        found = await self._events.publish(new_event("github.push", data, tags=[branch]))
        return f"selected by {found.subscriptions}"

    async def open_issue(self, title: str, urgent: bool = False) -> str:
        """Open an issue."""
        priority = "critical" if urgent else "normal"
        event = new_event("github.issue.opened", {"title": title}, priority=priority)
        found = await self._events.publish(event)
        return f"selected by {found.subscriptions}"


events = McpeServer(EVENT_TYPES)
server = Server("project", "1.0", extensions=[events])
ProjectTools(server, events)

if __name__ == "__main__":
    server.run()
