"""Tools that an agent writes itself because no server has them: the status `creating` (MGP 16.6).

It is off unless `ToolDiscovery.allow_creating` says so. Then an agent that holds `code_execution`,
under the policy `auto_approve`, may register one server for a request that found nothing. The
server passes all that `mgp/discovery/register` demands, its code the code safety framework, and
runs sandboxed; what falls away is the approval of an operator.
"""

from __future__ import annotations

__all__ = ("ToolCreation", "ToolGap")

from dataclasses import dataclass
from typing import Final, NamedTuple

from kinwire.mgp.kernel.access import AccessManager
from kinwire.mgp.kernel.access_options import AccessPrincipal
from kinwire.mgp.kernel.guarded_server import GuardedServer
from kinwire.mgp.kernel.permissions import PermissionManager
from kinwire.mgp.kernel.tool_index import ToolIndexManager
from kinwire.mgp.rules.access import AccessGrant, AccessSubject
from kinwire.mgp.rules.permissions import expanded
from kinwire.storage.clock import Clock
from kinwire.support.bounded import LruDict

_CODE: Final = "code_execution"
_APPROVER: Final = AccessPrincipal("operator", "policy:auto_approve")
_MOST_OPEN = 1000
_LASTS = 3600.0  # seconds in which a tool has to be registered


class ToolGap(NamedTuple):
    """What a caller lacks: the same request for the same task is answered by what was made."""

    caller: AccessPrincipal
    task: str
    """Its `task_trace_id`; empty without one."""
    wanted: frozenset[str]
    """The capabilities, or the text that says what is needed."""


@dataclass(slots=True)
class _Gap:
    """A request that found nothing."""

    until: float
    is_taken: bool = False
    """Whether a server is being registered for it."""
    server: str | None = None
    """What was registered for it."""


class ToolCreation:
    """Which agents may register which server without an operator."""

    def __init__(
        self,
        index: ToolIndexManager,
        permissions: PermissionManager,
        access: AccessManager,
        clock: Clock,
        *,
        is_allowed: bool,
    ) -> None:
        self._index = index
        self._permissions = permissions
        self._access = access
        self._clock = clock
        self._is_allowed = is_allowed
        self._gaps = LruDict[ToolGap, _Gap](_MOST_OPEN)

    async def begin(self, gap: ToolGap) -> bool:
        """Let a caller write the tool that a task lacks; return False if it may not."""
        if not (self._is_allowed and self._permissions.policy == "auto_approve"):
            return False
        if not await self._holds_code(gap.caller):
            return False
        self._gaps.put(gap, _Gap(self._clock() + _LASTS))
        return True

    def server_for(self, gap: ToolGap) -> str | None:
        """Return the id of the server that was registered for a gap; None without one."""
        found = self._gaps.get(gap)
        return None if found is None else found.server

    def approver_of(self, by: AccessPrincipal) -> AccessPrincipal | None:
        """Return who approves what a caller registers now; None leaves it to an operator."""
        gap = self._latest(by, is_taken=False)
        if gap is None or self._permissions.policy != "auto_approve":
            return None
        gap.is_taken = True
        return _APPROVER

    async def added(self, server: str, by: AccessPrincipal) -> None:
        """Note that a server which was approved so is registered, and let its maker use it.

        Raises:
            StorageError: the entry of access cannot be written.
        """
        gap = self._latest(by, is_taken=True)
        if gap is not None:
            gap.server = server
        subject = AccessSubject(by.id, server, None)
        why = "created for a task that lacked a tool"
        grant = AccessGrant(subject, "allow", _APPROVER.id, self._clock(), None, why)
        await self._access.put(grant, _APPROVER)

    def _latest(self, by: AccessPrincipal, *, is_taken: bool) -> _Gap | None:
        """Return the gap of a caller that waits for a server and was asked about last."""
        now = self._clock()
        gaps = (self._gaps.peek(key) for key in reversed([*self._gaps]) if key.caller == by)
        waiting = (gap for gap in gaps if gap and gap.server is None and gap.until > now)
        return next((gap for gap in waiting if gap.is_taken is is_taken), None)

    async def _holds_code(self, caller: AccessPrincipal) -> bool:
        """Return whether a caller may run code: itself, or by a tool that it may call."""
        own = self._index.server(caller.id) if caller.kind == "server" else None
        if own is not None and own.offer is not None:
            required = expanded(own.offer.permissions_required or ())
            if _CODE in required and self._is_approved(own):
                return True
        sights = await self._index.sights(caller)
        return any(
            sights.shows(tool) and self._is_approved(self._index.server(tool.server_id))
            for tool in self._index.tools()
            if _CODE in expanded(tool.security.get("permissions_required", ()))
        )

    def _is_approved(self, server: GuardedServer | None) -> bool:
        return server is not None and self._permissions.standing(server, (_CODE,)) == "approved"
