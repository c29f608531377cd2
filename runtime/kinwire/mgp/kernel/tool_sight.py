"""Which tools an agent may see: lists and searches show a tool if some call of it may pass."""

from __future__ import annotations

__all__ = ("ToolSight", "ToolSights")

from collections.abc import Collection, Iterable
from functools import cached_property
from typing import Final

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

    @cached_property
    def names(self) -> Collection[str]:
        """The tools of the server that the agent may see."""
        server, tools = self.server, self.server.tools
        if self._access is None:
            return ()
        row, now = self._access
        if any(row.entries) or self._switches.some_off(server.id):  # some tools are judged apart
            return frozenset(name for name, tool in tools.items() if self.shows(tool))
        if not row.decide("", self._default, now).allowed:
            return ()
        hidden = self._policy.hidden(server)
        return tools.keys() - hidden if hidden else tools.keys()


class ToolSights:
    """What one agent may see of all servers, by its access at one moment."""

    def __init__(self, sights: Iterable[ToolSight], *, are_all: bool) -> None:
        """`are_all` is whether `sights` has every connected server."""
        self._sights = {one.server.id: one for one in sights}
        self._are_all = are_all
        self.names: Final = {id: one.names for id, one in self._sights.items()}
        """By server: the tools that the agent may see."""

    def shows(self, tool: IndexedTool) -> bool:
        """Return whether the agent may see a tool."""
        return tool.name in self.names.get(tool.server_id, ())

    def shows_all(self) -> bool:
        """Return whether the agent may see every tool there is."""
        sights = self._sights.values()
        return self._are_all and all(len(one.names) == len(one.server.tools) for one in sights)

    def count(self) -> int:
        """Return how many tools the agent may see."""
        return sum(map(len, self.names.values()))
