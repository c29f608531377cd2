"""Where the decisions of operators are kept: by the server's identity and the permission."""

from __future__ import annotations

__all__ = ("PermissionStore",)

from typing import Any

from kinwire.managers.durable_map import RecordCodec, text_codec
from kinwire.managers.followed_grants import FollowedGrants
from kinwire.managers.grants import Decided, GrantStore, StoredDecisions
from kinwire.mgp.kernel.guarded_server import UNNAMED, GuardedServer
from kinwire.mgp.kernel.pending import PendingPermissions
from kinwire.mgp.rules.permissions import PermissionDecision
from kinwire.rpc.identity import PeerIdentity
from kinwire.storage.clock import Clock
from kinwire.storage.records import Records
from kinwire_protocols.mgp.models import GrantValue

_STORED = "permission/"
_MOST = 10_000  # decisions of each kind


class PermissionStore:
    """The decisions about permissions of one kernel, and the permissions that wait for one.

    While it follows the records, memory has what other processes decide within a second.
    """

    def __init__(self, records: Records | None, clock: Clock) -> None:
        self.grants = GrantStore(
            records,
            approvals=StoredDecisions(f"{_STORED}approved/", _codec("approved")),
            denials=StoredDecisions(f"{_STORED}denied/", _codec("denied")),
            limit=_MOST,
            clock=clock,
        )
        self.pending = PendingPermissions(records, clock)
        self.is_shared = records is not None
        """Whether other processes can decide."""
        self._followed = FollowedGrants(self.grants, _STORED, is_shared=self.is_shared)

    def follow(self) -> None:
        """See `FollowedGrants.follow`."""
        self._followed.follow()

    def unfollow(self) -> None:
        """See `FollowedGrants.unfollow`."""
        self._followed.unfollow()

    def leave(self, server: GuardedServer) -> None:
        """Remove what is remembered of a server from memory, unless memory is all there is."""
        self.pending.forget(server.prefix)
        if server.transient or self.is_shared:
            self.grants.leave(server.prefix)

    async def load(self, server: GuardedServer) -> None:
        """Take the decisions about a server into memory.

        Raises:
            StorageError: the store failed, or a record cannot be read.
        """
        await self._followed.load(server.prefix)

    async def load_all(self) -> None:
        """Take everything into memory.

        Raises:
            StorageError: as for `load`.
        """
        await self.grants.load()
        await self.pending.load()

    def prefix_named(self, server: str) -> str:
        """Return what the keys of a server begin with that is not connected.

        Raises:
            ValueError: it has no `server_id`, and nothing in memory is about it.
        """
        known = [(key, one.answer.server) for key, one in self.grants.items()]
        known += [(key, one.server) for key, one in self.pending.items]
        found = next((key for key, name in known if name == server), None)
        if found is not None:
            return f"{found.rpartition('/')[0]}/"
        if server.startswith(UNNAMED):
            raise ValueError(
                f"server: expected a server_id, or the name of a server that waits, got "
                f"{server!r:.60}. Connect it with server_id=..."
            )
        return f"{PeerIdentity.of(None, server).key}/"

    async def keep(self, prefix: str, decision: PermissionDecision, lasts: float) -> None:
        """Store a decision, in place of an earlier one about the same permission.

        Raises:
            StorageError: as for `load`.
        """
        key = prefix + decision.permission
        await self.grants.load(key)  # the earlier one has to be removed
        await self.grants.keep(key, Decided(decision.approved, decision, lasts))
        await self.pending.remove(key)

    def remembered(self, server: GuardedServer, permission: str) -> PermissionDecision | None:
        """Return the operator's decision that holds; None without one in memory."""
        decided = self.grants.remembered(server.prefix + permission)
        return None if decided is None else decided.answer


def _codec(value: GrantValue) -> RecordCodec[str, PermissionDecision]:
    def read(stored: Any) -> PermissionDecision:
        return PermissionDecision.from_json(stored, value=value)

    return text_codec(PermissionDecision.to_json, read)
