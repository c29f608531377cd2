"""What a client knows of a server through all its connections to it."""

from __future__ import annotations

__all__ = ("ServerMemory",)

from typing import Final

from kinwire.mcpe.client.subscription import EventSubscription
from kinwire.rpc.errors import ConnectionClosedError
from kinwire.rpc.session import Session
from kinwire.support.bounded import LruDict

_REMEMBERED: Final = 10_000  # deliveries
_LONGEST_TOKEN: Final = 512  # characters


class ServerMemory:
    """The recovery token of this client, its readers, and which deliveries have come."""

    def __init__(self) -> None:
        self.token: str | None = None
        self.readers: dict[str, EventSubscription] = {}
        """By the id of their subscription."""
        self.made: dict[str, None] = {}
        """The ids of the subscriptions that were made, by this program or by a model."""
        self.session: Session | None = None
        """The open connection."""
        self._deliveries = LruDict[str, bool](_REMEMBERED)

    def remember(self, token: str | None) -> bool:
        """Take a token that a server has given, and return whether it is a new one."""
        if token is None or len(token) > _LONGEST_TOKEN or token == self.token:
            return False
        self.token = token
        return True

    def is_repeated(self, delivery_id: str | None) -> bool:
        """Return whether a delivery has come before, and remember that it has come."""
        if delivery_id is None:
            return False
        if delivery_id in self._deliveries:
            return True
        self._deliveries.put(delivery_id, True)
        return False

    def fail(self, error: ConnectionClosedError) -> None:
        """End all readers with an error."""
        for reader in self.readers.values():
            reader.fail(error)
        self.readers.clear()
