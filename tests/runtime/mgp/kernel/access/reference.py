"""Access control in as few lines as there can be, for comparison."""

from __future__ import annotations

__all__ = ("Reference",)

from math import inf


class Reference:
    """Entries by agent, server and tool; a later one takes the place of the earlier."""

    def __init__(self) -> None:
        self.entries: dict[tuple[str, str, str | None], tuple[str, float]] = {}

    def grant(
        self, agent: str, server: str, tool: str | None, permission: str, ends: float = inf
    ) -> None:
        self.entries[agent, server, tool] = permission, ends

    def revoke(self, agent: str, server: str, tool: str | None, now: float) -> bool:
        return self.entries.pop((agent, server, tool), ("", -inf))[1] > now

    def decide(
        self, agent: str, server: str, tool: str, default: str, now: float
    ) -> tuple[str, str]:
        for level, source in ((tool, "tool_grant"), (None, "server_grant")):
            permission, ends = self.entries.get((agent, server, level), ("", -inf))
            if ends > now:
                return permission, source
        return {"opt-in": "deny", "opt-out": "allow"}[default], "default_policy"
