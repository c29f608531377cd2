"""What a client knows of a server through all its connections to it."""

from __future__ import annotations

__all__ = ("ServerMemory",)

from typing import Final

from kinwire.mcpe.client.arrived import ArrivedEvents
from kinwire.mcpe.client.subscription import EventSubscription
from kinwire.rpc.errors import ConnectionClosedError
from kinwire.rpc.session import Session
from kinwire.support.bounded import LruDict

_REMEMBERED: Final = 10_000  # deliveries
_LONGEST_TOKEN: Final = 512  # characters
_LONGEST_DELIVERY: Final = 1024  # characters of the ids of a subscription and a delivery


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
        self.ended = 0
        """How many connections have ended."""
        self._deliveries = LruDict[tuple[str, str], bool](_REMEMBERED)

    def remember(self, token: str | None) -> bool:
        """Take a token that a server has given, and return whether it is a new one."""
        if token is None or len(token) > _LONGEST_TOKEN or token == self.token:
            return False
        self.token = token
        return True

    def is_repeated(self, arrived: ArrivedEvents) -> bool:
        """Return whether a delivery to a subscription has come before, and remember it."""
        if arrived.delivery_id is None:
            return False
        delivery = (arrived.subscription_id, arrived.delivery_id)
        if delivery in self._deliveries:
            return True
        if sum(map(len, delivery)) <= _LONGEST_DELIVERY:
            self._deliveries.put(delivery, True)
        return False

    def claim(self, reader: EventSubscription) -> None:
        """Have a reader read its subscription; the loop of one that has read it so far ends."""
        before = self.readers.get(reader.id)
        if before is not None and before is not reader:
            before.end()
        self.readers[reader.id] = reader

    def leave(self, reader: EventSubscription) -> None:
        """Have a reader read no more, unless another one has taken its place."""
        if self.readers.get(reader.id) is reader:
            del self.readers[reader.id]

    def fail(self, error: ConnectionClosedError) -> None:
        """End all readers with an error."""
        for reader in self.readers.values():
            reader.fail(error)
        self.readers.clear()
