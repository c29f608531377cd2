"""The index of the tools of all connected servers, kept as they come, change and go (MGP 16.4).

Nothing is listed for it before it is used: then the kernel lists the tools of every server, and
again within a second of each change.
"""

from __future__ import annotations

__all__ = ("SightOf", "ToolIndexManager")

import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import Final, NamedTuple, TypeAlias

import anyio

from kinwire.managers.turns import in_turns
from kinwire.managers.while_open import while_open
from kinwire.mgp.kernel.access_options import AccessPrincipal
from kinwire.mgp.kernel.guarded_server import GuardedServer
from kinwire.mgp.kernel.tool_discovery_options import ToolDiscovery
from kinwire.mgp.kernel.tool_list import ToolList
from kinwire.mgp.kernel.tool_search import ToolSearch
from kinwire.mgp.kernel.tool_sight import ToolSight, ToolSights
from kinwire.mgp.rules.tool_index.definitions import kept_of
from kinwire.mgp.rules.tool_index.entry import IndexedTool, Labels
from kinwire.mgp.rules.tool_index.labels import indexed_tool
from kinwire.mgp.rules.tools import KnownTool
from kinwire.rpc.errors import KinwireError
from kinwire_protocols.base import RpcError

logger = logging.getLogger("kinwire.mgp")

_MOST_TOOLS = 100_000  # of all servers
_AT_ONCE = 100  # tools that are worked on before other tasks have a turn
_SERVERS_AT_ONCE = 4  # whose tools are judged for an agent
_PAUSE = 0.2  # seconds between two readings of one list
_RETRY = 10.0  # seconds after a reading that failed
_PATIENCE = 5.0  # seconds that a search waits for servers that have not listed their tools yet
_LONG = 60.0  # seconds that it waits for those that are in the middle of it

SightOf = Callable[[str, GuardedServer], Awaitable[ToolSight]]
"""Returns what an agent may see of a server."""


class _KeptTool(NamedTuple):
    known: KnownTool
    indexed: IndexedTool | None
    """None for one that is too large."""


_KeptTools: TypeAlias = Mapping[str, _KeptTool]


class _Followed:
    """A server, and what the index has of its list."""

    def __init__(self, server: GuardedServer, tools: ToolList) -> None:
        self.server: Final = server
        self.tools: Final = tools
        self.is_running = False
        self.changed = anyio.Event()
        self.listed = anyio.Event()
        self.entries = dict[str, _KeptTool]()

    def differs(self, entries: dict[str, _KeptTool]) -> bool:
        """Return whether these are not the entries that the index has."""
        return len(self.entries) != len(entries) or bool(_new_in(entries, self.entries))


class ToolIndexManager:
    """The tools of all connected servers. Get it from `MgpKernel.tool_index`."""

    def __init__(self, options: ToolDiscovery, sight_of: SightOf) -> None:
        self.search: Final = ToolSearch(options.embedder)
        """Finds tools; this manager alone changes what is in it."""
        self.followers: Final = list[Callable[[str], None]]()
        """What is called with the id of a server whose tools have changed in the index."""
        self._configured = options.categories, options.keywords
        self._sight_of = sight_of
        self._followed = dict[GuardedServer, _Followed]()
        self._servers = dict[str, GuardedServer]()
        self._turn = anyio.Lock()
        self._is_used = options != ToolDiscovery()

    # -- for searches --

    def begin(self) -> None:
        """Follow the lists of all servers from now on, also before anything is searched."""
        self._is_used = True
        for followed in self._followed.values():
            self._follow(followed)

    async def ready(self) -> None:
        """Return when each connected server has listed its tools once.

        From the first call on, the lists of all servers are followed. One that has not begun to
        answer after 5 seconds, or is not done after 60 more, is not waited for.
        """
        self.begin()
        waiting = [one for one in self._followed.values() if not one.listed.is_set()]
        with anyio.move_on_after(_PATIENCE):
            await _listed(waiting)
        with anyio.move_on_after(_LONG):
            await _listed(one for one in waiting if one.tools.is_reading)

    def get(self, server_id: str, name: str) -> IndexedTool | None:
        """Return a tool as it is now; None if no connected server has it."""
        return self.search.index.get(server_id, name)

    def server(self, id: str) -> GuardedServer | None:
        """Return a connected server by the kernel's name; None if it is not connected."""
        return self._servers.get(id)

    def tools(self) -> Iterable[IndexedTool]:
        """Return the tools of all connected servers, as far as they were listed."""
        return self.search.index

    def tools_of(self, server_id: str) -> list[IndexedTool]:
        """Return the tools of a server; an empty list if it is not connected."""
        server = self._servers.get(server_id)
        return [] if server is None else _indexed(self._followed[server].entries.values())

    async def allowed(
        self, caller: AccessPrincipal, tools: Sequence[IndexedTool]
    ) -> Sequence[IndexedTool]:
        """Return those of some tools that a caller may call, in the same order."""
        sights = await self.sights(caller)
        return [tool for tool in tools if sights.shows(tool)]

    async def sights(self, caller: AccessPrincipal) -> ToolSights:
        """Return what an agent, or a server that asks, may see now.

        A server is judged as the agent of its name; a sandboxed one sees its own tools alone.
        """
        servers = [one for one in self._followed if self._may_see(caller, one)]
        sights = list[ToolSight]()
        async for one in in_turns(servers, _SERVERS_AT_ONCE):
            sights.append(sight := await self._sight_of(caller.id, one))
            assert sight.names is not None  # made here, as it may take long
        return ToolSights(sights, are_all=len(servers) == len(self._followed))

    def _may_see(self, caller: AccessPrincipal, server: GuardedServer) -> bool:
        if server.session.closed:  # its last handlers run; its tools can be called no longer
            return False
        if caller.kind != "server" or caller.id == server.id:
            return True
        asking = self.server(caller.id)
        return asking is not None and asking.trust != "sandboxed"

    # -- for the kernel --

    def join(self, server: GuardedServer) -> None:
        """Prepare for a server that connects."""
        tools = server.tool_list
        assert tools is not None  # the guard of tools comes before this manager
        self._followed[server] = followed = _Followed(server, tools)
        self._servers[server.id] = server
        for followers in (tools.on_listed, tools.on_changed):
            followers.append(lambda: followed.changed.set())

    async def negotiate(self, server: GuardedServer) -> None:
        """Begin to follow the list of a server."""
        if self._is_used:
            self._follow(self._followed[server])

    def left(self, server: GuardedServer) -> None:
        """Take the tools of a server that is gone out."""
        followed = self._followed.pop(server)
        if self._servers.get(server.id) is server:
            del self._servers[server.id]
        followed.listed.set()
        if followed.entries:
            self.search.remove(server.id)
            self._report(server.id)

    def _follow(self, followed: _Followed) -> None:
        if not followed.is_running:
            followed.is_running = True
            session = followed.server.session
            session.start_soon(partial(while_open, session, partial(self._keep, followed)))

    async def _keep(self, followed: _Followed) -> None:
        """Read the list of a server whenever it has changed, until the session ends."""
        while True:
            followed.changed = anyio.Event()
            began = anyio.current_time()
            is_listed = await _list(followed)
            await self._take(followed)
            followed.listed.set()
            pause = max(_PAUSE, anyio.current_time() - began)
            with anyio.move_on_after(None if is_listed else _RETRY):
                await followed.changed.wait()
            await anyio.sleep(max(0.0, began + pause - anyio.current_time()))

    async def _take(self, followed: _Followed) -> None:
        """Put what a server has listed into the index."""
        server = followed.server
        async with self._turn:  # the limit is one of all servers
            room = max(0, _MOST_TOOLS - len(self.search.index) + len(followed.entries))
            known = [*islice(server.tools.values(), room)]
            entries = dict[str, _KeptTool]()
            async for tool in in_turns(known, _AT_ONCE):
                entries[tool.name] = self._entry(followed, tool)
            if server in self._followed and followed.differs(entries):
                before, followed.entries = followed.entries, entries
                _note_cut(server, len(server.tools) - len(_indexed(entries.values())))
                await self._publish(server, before, entries)

    async def _publish(self, server: GuardedServer, before: _KeptTools, after: _KeptTools) -> None:
        """Exchange the tools of a server in the index: what has gone goes first."""
        id, new = server.id, _new_in(after, before)
        if len(new) > _AT_ONCE:
            kept = [one for name, one in before.items() if name in after]
            self.search.replace(id, _indexed(kept))
            for at in range(0, len(new), _AT_ONCE):
                self.search.extend(id, _indexed(new[at : at + _AT_ONCE]))
                await anyio.lowlevel.checkpoint()
                if server not in self._followed:  # it has gone, and its tools with it
                    return
        self.search.replace(id, _indexed(after.values()))
        self._report(id)

    def _entry(self, followed: _Followed, tool: KnownTool) -> _KeptTool:
        before = followed.entries.get(tool.name)
        if before is not None and before.known is tool:
            return before
        kept, id = kept_of(tool), followed.server.id
        if kept is None:
            return _KeptTool(tool, None)
        labels = (one.get((id, tool.name)) or one.get(id) or () for one in self._configured)
        configured = Labels(*map(tuple, labels))
        return _KeptTool(tool, indexed_tool(id, kept.definition, kept, configured))

    def _report(self, id: str) -> None:
        for follower in self.followers:
            follower(id)


def _new_in(after: _KeptTools, before: _KeptTools) -> list[_KeptTool]:
    return [one for name, one in after.items() if before.get(name) is not one]


def _indexed(several: Iterable[_KeptTool]) -> list[IndexedTool]:
    return [one.indexed for one in several if one.indexed is not None]


async def _listed(several: Iterable[_Followed]) -> None:
    for followed in several:
        await followed.listed.wait()


async def _list(followed: _Followed) -> bool:
    """Read the list of a server unless it is known; return False if that failed."""
    try:
        await followed.tools.refresh()
    except (KinwireError, RpcError) as error:
        logger.warning("%s: its tools could not be listed: %s", followed.server.id, error)
        return False
    return True


def _note_cut(server: GuardedServer, left_out: int) -> None:
    if left_out:
        text = "%s: %d tools are not in the index of tools: they are too large, or too many"
        logger.warning(text, server.id, left_out)
