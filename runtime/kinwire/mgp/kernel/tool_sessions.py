"""All sessions of tools of a kernel: who has which.

A session belongs to an agent, to a connected server or to a client of a gateway. Who holds the
object has the session, and nothing in a message names one (MGP 0.2.0 section 16.7).
"""

from __future__ import annotations

__all__ = ("ContextBudgetError", "ToolSessions")

import logging
from collections.abc import Iterable
from weakref import WeakKeyDictionary, WeakSet

from kinwire.mgp.kernel.access_options import AccessPrincipal
from kinwire.mgp.kernel.callers import Agent
from kinwire.mgp.kernel.guarded_server import GuardedServer
from kinwire.mgp.kernel.tool_discovery_options import EVERY_AGENT, ToolDiscovery
from kinwire.mgp.kernel.tool_session import SessionParts, ToolSession, ToolSource
from kinwire.mgp.rules.token_counts import context_text, counted, estimated_tokens
from kinwire.mgp.rules.tool_cache import DEFAULT_BUDGET, ToolKey
from kinwire.mgp.rules.tool_index.entry import IndexedTool
from kinwire.mgp.rules.tool_names import SEPARATOR, public_name
from kinwire.rpc.errors import KinwireError
from kinwire.support.bounded import LruDict
from kinwire.support.json_values import text
from kinwire_protocols.base import JsonObject
from kinwire_protocols.nearest import nearest

logger = logging.getLogger("kinwire.mgp")

_MOST_SIZES = 10_000  # of definitions whose tokens are remembered


class ContextBudgetError(KinwireError):
    """The pinned tools of an agent take more tokens than the budget has for them."""


class ToolSessions:
    """The sessions of a kernel. Get it from `MgpKernel.tool_sessions`."""

    def __init__(self, options: ToolDiscovery, source: ToolSource) -> None:
        self._pinned = options.pinned
        self._count = options.count_tokens
        budget = options.budget or DEFAULT_BUDGET
        self._parts = SessionParts(source, budget, self._size_of)
        self._sizes = LruDict[tuple[ToolKey, str], int](_MOST_SIZES)
        self._open = WeakSet[ToolSession]()
        self._of_servers = WeakKeyDictionary[GuardedServer, ToolSession]()

    def open(self, agent: str | Agent) -> ToolSession:
        """Return a new session of an agent.

        Pinned tools that the budget has no room for are left out; see `check`.
        """
        agent = agent if isinstance(agent, Agent) else Agent(agent)
        pinned = (*self._pinned.get(EVERY_AGENT, ()), *self._pinned.get(agent.id, ()))
        return self._made(AccessPrincipal("agent", agent.id), pinned, agent)

    def of(self, server: GuardedServer) -> ToolSession:
        """Return the session of a connected server, which ends with the connection."""
        session = self._of_servers.get(server)
        if session is None:
            pinned = self._pinned.get(EVERY_AGENT, ())
            session = self._made(AccessPrincipal("server", server.id), pinned)
            self._of_servers[server] = session
        return session

    async def check(self) -> None:
        """Raise if the pinned tools of an agent have no room, once their servers are connected.

        Pinned tools that no connected server has are named in the log.

        Raises:
            ContextBudgetError: they take more than the budget has for pinned tools.
        """
        if not any(self._pinned.values()):
            return
        source = self._parts.source
        await source.ready()
        for agent, pinned in self._pinned.items():
            self.must_have_room(self.open(agent))
            for server_id, name in pinned:
                if source.get(server_id, name) is None:
                    hint = _meant(server_id, name, source.tools())
                    what = "no connected server %r has the pinned %r%s"
                    logger.warning(what, server_id, name, hint)

    def must_have_room(self, session: ToolSession) -> None:
        """Raise if pinned tools of a session are left out.

        Raises:
            ContextBudgetError: the budget has no room for them.
        """
        if not session.too_large:
            return
        budget = self._parts.budget
        names = ", ".join(sorted(public_name(*key) for key in session.too_large))
        agent = session.caller.id
        every = "tools that are pinned for all agents"
        whose = every if agent == EVERY_AGENT else f"{agent}: its pinned tools"
        raise ContextBudgetError(
            f"{whose} need more than the "
            f"{min(budget.pinned_reserve, budget.max_tokens)} tokens that the context budget has "
            f"for them; no room for {names}. Pin fewer tools, or raise pinned_reserve."
        )

    def follow(self, server_id: str) -> None:
        """Take over that the tools of a server have changed in the index, in all sessions."""
        for session in tuple(self._open):
            if session.concerns(server_id):
                session.follow()

    def count(self, definition: JsonObject) -> int:
        """Return how many tokens an entry of an answer takes; an estimate if the counter fails."""
        return self._counted(text(definition))

    def _made(
        self, caller: AccessPrincipal, pinned: Iterable[ToolKey], agent: Agent | None = None
    ) -> ToolSession:
        session = ToolSession(caller, self._parts, pinned, agent)
        self._open.add(session)
        session.follow()
        return session

    def _size_of(self, tool: IndexedTool) -> int:
        key = tool.key, tool.digest
        found = self._sizes.get(key)
        if found is None:
            found = self._counted(context_text(tool.definition, public_name(*key[0])))
            self._sizes.put(key, found)
        return found

    def _counted(self, written: str) -> int:
        try:
            return counted(written, self._count)
        except Exception:
            logger.exception("the counter of tokens failed; they are estimated")
            return estimated_tokens(written)


def _meant(server_id: str, name: str, tools: Iterable[IndexedTool]) -> str:
    """Return a question for the name that was probably meant, empty if no tool has one like it."""
    known = [tool.name for tool in tools if tool.server_id == server_id]
    near = nearest(name, known) or nearest(name.rpartition(SEPARATOR)[2], known)
    return f". Did you mean {near!r:.60}?" if near else ""
