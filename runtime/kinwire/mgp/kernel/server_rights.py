"""What operators have decided about a server, under its id: none of it may go to another server."""

from __future__ import annotations

__all__ = ("ServerRights",)

from kinwire.mgp.kernel.access import AccessManager
from kinwire.mgp.kernel.access_options import AccessPrincipal
from kinwire.mgp.kernel.confirmations import ConfirmationManager
from kinwire.mgp.kernel.permissions import PermissionManager
from kinwire.mgp.rules.access import AccessSubject
from kinwire_protocols.mgp.models import AccessEntry

_KERNEL = AccessPrincipal("operator", "kernel")


class ServerRights:
    """Access entries, permissions and standing confirmations by the id of a server."""

    def __init__(
        self,
        access: AccessManager,
        permissions: PermissionManager,
        confirmations: ConfirmationManager,
    ) -> None:
        self._access = access
        self._permissions = permissions
        self._confirmations = confirmations

    async def exist(self, id: str) -> bool:
        """Return whether an earlier server of this id has left something that a new one would get.

        Raises:
            StorageError: the records cannot be read.
        """
        if await self._access.list(server=id):
            return True
        await self._confirmations.load()
        standing = any(one.server == id for one in self._confirmations.standing)
        return standing or bool(await self._approved(id))

    async def end(self, id: str) -> None:
        """Take everything back.

        Raises:
            StorageError: the records cannot be written; what was not taken back holds.
        """
        for entry in await self._access.list(server=id):
            await self._access.remove(_subject(entry), _KERNEL)
        approved = await self._approved(id)
        if approved:
            await self._permissions.revoke(id, *approved, reason="The server was deregistered.")
        await self._confirmations.load()
        await self._confirmations.forget(id)

    async def _approved(self, id: str) -> list[str]:
        await self._permissions.load()
        return [
            one.permission
            for one in self._permissions.decisions
            if one.server == id and one.approved
        ]


def _subject(entry: AccessEntry) -> AccessSubject:
    tool = entry.tool_name if isinstance(entry.tool_name, str) else None
    return AccessSubject(entry.agent_id, entry.server_id, tool)
