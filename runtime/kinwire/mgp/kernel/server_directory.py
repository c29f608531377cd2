"""The answer to `mgp/discovery/list`: the servers that a kernel knows (MGP 0.2.0 section 15.2).

Some are connected here, some run under other kernels that share the records, and some are only
configured or registered. Who asks sees what it may use.
"""

from __future__ import annotations

__all__ = ("KnownServers", "ServerDirectory", "entry_of")

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final

import anyio
from pydantic import ValidationError

from kinwire.managers.leases import LeaseHolder, Leases
from kinwire.mgp.kernel.access import AccessManager
from kinwire.mgp.kernel.access_options import AccessPrincipal
from kinwire.mgp.kernel.guarded_server import GuardedServer
from kinwire.mgp.rules.discovery import ListedServer, fits, registered_entry
from kinwire.mgp.rules.registration import Registration
from kinwire.rpc.errors import KinwireError
from kinwire_protocols.base import RpcError, from_wire
from kinwire_protocols.mgp.models import (
    DiscoveredServer,
    DiscoveryFilter,
    ServerProfile,
    ServerState,
)

_LISTED = 2.0  # seconds that a server gets to list its tools
_FORGOTTEN = 3.0  # times that a lease lasts: a note that old is of a kernel that is gone


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownServers:
    """Where a kernel finds its servers."""

    connected: Callable[[], Iterable[GuardedServer]]
    states: Callable[[], Mapping[str, ServerState]]
    """Those of supervised servers, by id."""
    configured: Callable[[], Mapping[str, str]]
    """The trust of configured servers, by id."""


class ServerDirectory:
    """Lists the servers of a kernel."""

    def __init__(self, known: KnownServers, access: AccessManager, leases: Leases | None) -> None:
        self._known = known
        self._access = access
        self._leases = leases
        self.profiles: Final[dict[str, ServerProfile]] = {}
        """What the configuration says of servers that are not connected."""

    async def find(
        self,
        wanted: DiscoveryFilter | None,
        registered: Iterable[Registration],
        by: AccessPrincipal,
    ) -> list[DiscoveredServer]:
        """Return the servers that fit a filter, sorted by id, as `by` may see them.

        Raises:
            StorageError: the records cannot be read.
        """
        found = self._configured()
        own = {one.id: one for one in registered}
        found |= {
            id: ListedServer(registered_entry(one), one.permissions) for id, one in own.items()
        }
        states = self._known.states()
        for id, state in states.items():
            shown = found[id].entry.model_copy(update={"status": state})
            found[id] = found[id]._replace(entry=shown)
        for holder in await self._held():
            entry = _noted(holder, self._leases)
            if entry is not None:
                before = found.get(entry.id)
                found[entry.id] = ListedServer(entry, before.permissions if before else ())
        connected = {one.id: one for one in self._known.connected()}
        await _list_tools(connected.values())
        for id, server in connected.items():
            entry = entry_of(server, states.get(id, "connected"))
            needs = () if server.offer is None else server.offer.permissions_required or ()
            found[id] = ListedServer(entry, needs)
        visible = await self._visible(found, connected, own, by)
        return [visible[id].entry for id in sorted(visible) if fits(visible[id], wanted)]

    def _configured(self) -> dict[str, ListedServer]:
        """Return what is known of servers before they are connected (MGP 15.3)."""
        trusts = {**dict.fromkeys(self._known.states(), None), **self._known.configured()}
        trusts.update(
            (id, one.trust_level) for id, one in self.profiles.items() if id not in trusts
        )
        found: dict[str, ListedServer] = {}
        for id, trust in trusts.items():
            profile = self.profiles.get(id) or ServerProfile()
            entry = DiscoveredServer(
                id=id,
                status="registered",
                extensions=list(profile.extensions or ()),
                trust_level=trust or profile.trust_level or "standard",
            )
            found[id] = ListedServer(entry, profile.permissions_required or ())
        return found

    async def _held(self) -> list[LeaseHolder]:
        return [] if self._leases is None else await self._leases.look_all()

    async def _visible(
        self,
        found: dict[str, ListedServer],
        connected: Mapping[str, GuardedServer],
        registered: Mapping[str, Registration],
        by: AccessPrincipal,
    ) -> dict[str, ListedServer]:
        """Return what a caller may see.

        An agent sees all servers, with the tools that it may use. A sandboxed server sees itself
        and what it has registered.
        """
        if by.kind == "agent":
            return {
                id: await self._for_agent(listed, connected.get(id), by.id)
                for id, listed in found.items()
            }
        asking = connected.get(by.id) if by.kind == "server" else None
        if by.kind == "operator" or (asking is not None and asking.trust != "sandboxed"):
            return found
        own = {one.id for one in registered.values() if (one.by_kind, one.by) == (by.kind, by.id)}
        return {id: listed for id, listed in found.items() if id == by.id or id in own}

    async def _for_agent(
        self, listed: ListedServer, server: GuardedServer | None, agent: str
    ) -> ListedServer:
        entry = listed.entry
        if not entry.tools:
            return listed
        names: frozenset[str] = frozenset()
        if server is not None:
            names = await self._access.allowed(agent, server, entry.tools)
        shown = [name for name in entry.tools if name in names]
        return listed._replace(entry=entry.model_copy(update={"tools": shown}))


def entry_of(server: GuardedServer, state: ServerState) -> DiscoveredServer:
    """Return the entry of a connected server."""
    offer = server.offer
    return DiscoveredServer(
        id=server.id,
        status=state,
        mgp_version=None if offer is None else offer.version,
        extensions=[] if offer is None else list(offer.extensions),
        tools=list(server.tools),
        trust_level=server.trust,
    )


def _noted(holder: LeaseHolder, leases: Leases | None) -> DiscoveredServer | None:
    """Return the entry that another kernel has published with its lease."""
    if leases is None or holder.holder == leases.holder or holder.note is None:
        return None
    if time.time() - holder.renewed_at > _FORGOTTEN * leases.lasts:
        return None
    try:
        return from_wire(DiscoveredServer, holder.note)
    except ValidationError:
        return None


async def _list_tools(servers: Iterable[GuardedServer]) -> None:
    """Fetch the tools of servers that have not listed them yet."""
    async with anyio.create_task_group() as tasks:
        for server in servers:
            if server.tool_list is not None and not server.tools:
                tasks.start_soon(_fetch, server)


async def _fetch(server: GuardedServer) -> None:
    with anyio.move_on_after(_LISTED):
        try:
            assert server.tool_list is not None
            await server.tool_list.find("")
        except (KinwireError, RpcError):
            return  # it is listed without tools
