"""Permissions that wait for an operator: in memory, and where other processes can see them."""

from __future__ import annotations

__all__ = ("MOST_PENDING", "PENDING", "PENDING_LIFE", "PendingPermission", "PendingPermissions")

from dataclasses import asdict, dataclass
from typing import Any

from kinwire.managers.durable_map import DurableMap, text_codec
from kinwire.storage.clock import Clock
from kinwire.storage.records import Records
from kinwire_protocols.base import JsonObject

PENDING = "pending/"
"""What the keys of their records begin with."""
PENDING_LIFE = 300.0
"""For how many seconds a permission waits; then it has to be asked for again."""
MOST_PENDING = 100
"""How many permissions of one server may wait: one that asks for many holds up no other."""


@dataclass(frozen=True, slots=True)
class PendingPermission:
    """A permission of a server that an operator has to decide."""

    server: str
    permission: str
    since: float
    """In seconds since 1970."""
    agent: str | None = None
    """The agent whose call needs it; None if the server asked for it while it connected."""
    tool: str | None = None
    """The tool that is called; None as for `agent`."""


class PendingPermissions:
    """The permissions of one kernel that wait, by the keys of their decisions."""

    def __init__(self, records: Records | None, clock: Clock) -> None:
        self._waiting = DurableMap(
            records,
            PENDING,
            text_codec(_written, _read),
            limit=None,
            ttl=PENDING_LIFE,
            clock=clock,
        )

    async def add(self, key: str, waiting: PendingPermission) -> bool:
        """Let a permission wait; return False if too many of its server do.

        Raises:
            StorageError: the store failed.
        """
        if key in self._waiting:
            return True
        of_server = f"{key.rpartition('/')[0]}/"
        if len(self._waiting.items(of_server)) >= MOST_PENDING:
            return False
        await self._waiting.put(key, waiting)
        return True

    async def remove(self, key: str) -> None:
        """Remove what was decided.

        Raises:
            StorageError: the store failed.
        """
        await self._waiting.delete(key)

    async def load(self) -> None:
        """Take what waits in other processes into memory.

        Raises:
            StorageError: the store failed.
        """
        await self._waiting.load()

    def forget(self, prefix: str) -> None:
        """Remove from memory what waits below a prefix; records expire by themselves."""
        self._waiting.forget(prefix)

    @property
    def items(self) -> list[tuple[str, PendingPermission]]:
        """What waits, the oldest first."""
        return self._waiting.items()


def _written(waiting: PendingPermission) -> JsonObject:
    return asdict(waiting)


def _read(stored: Any) -> PendingPermission:
    agent, tool = stored.get("agent"), stored.get("tool")
    return PendingPermission(
        str(stored["server"]),
        str(stored["permission"]),
        float(stored["since"]),
        None if agent is None else str(agent),
        None if tool is None else str(tool),
    )
