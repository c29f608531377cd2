"""Which tools an agent may see: lists and searches show a tool if some call of it may pass."""

from __future__ import annotations

__all__ = ("ToolSight", "ToolSights")

from collections.abc import Iterable

from kinwire.mgp.kernel.access import default_for
from kinwire.mgp.kernel.guarded_server import GuardedServer
from kinwire.mgp.kernel.policy_guard import PolicyGuard
from kinwire.mgp.kernel.tool_switches import ToolSwitches
from kinwire.mgp.rules.access import AgentAccess
from kinwire.mgp.rules.tool_index.entry import IndexedTool
from kinwire.mgp.rules.tools import KnownTool
from kinwire_protocols.mgp.models import DefaultPolicy


class ToolSight:
    """What one agent may see of one server, by its access at one moment."""

    def __init__(
        self,
        server: GuardedServer,
        policy: PolicyGuard,
        switches: ToolSwitches,
        access: tuple[AgentAccess, float] | None,
    ) -> None:
        """`access` has the entries and the time; None, if they are not readable, shows nothing."""
        self.server = server
        self._policy = policy
        self._switches = switches
        self._access = access
        self._default: DefaultPolicy = default_for(server)

    def shows(self, tool: KnownTool) -> bool:
        """Return whether the agent may see a tool."""
        if self._access is None or not tool.policy.enabled:
            return False
        server, (row, now) = self.server, self._access
        return (
            row.decide(tool.name, self._default, now).allowed
            and not self._switches.is_off(server.id, tool.name)
            and self._policy.shows(server, tool)
        )

    def count(self) -> int:
        """Return how many tools of the server the agent may see."""
        server, tools = self.server, self.server.tools
        if self._access is None:
            return 0
        row, now = self._access
        if any(row.entries) or self._switches.some_off(server.id):  # some tools are judged apart
            return sum(map(self.shows, tools.values()))
        if not row.decide("", self._default, now).allowed:
            return 0
        return len(tools) - len(self._policy.hidden(server))


class ToolSights:
    """What one agent may see of all servers, by its access at one moment."""

    def __init__(self, sights: Iterable[ToolSight], *, are_all: bool) -> None:
        """`are_all` is whether `sights` has every connected server."""
        self._sights = {one.server.id: one for one in sights}
        self._are_all = are_all

    def shows(self, tool: IndexedTool) -> bool:
        """Return whether the agent may see a tool."""
        sight = self._sights.get(tool.server_id)
        known = None if sight is None else sight.server.tools.get(tool.name)
        return sight is not None and known is not None and sight.shows(known)

    def shows_all(self) -> bool:
        """Return whether the agent may see every tool there is."""
        sights = self._sights.values()
        return self._are_all and all(one.count() == len(one.server.tools) for one in sights)

    def count(self) -> int:
        """Return how many tools the agent may see."""
        return sum(sight.count() for sight in self._sights.values())
