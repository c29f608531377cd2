"""What the processes of a cluster look like to the subscriptions of one of them."""

from __future__ import annotations

__all__ = ("HomePort",)

from typing import Protocol

from kinwire.mcpe.server.served import ServedSubscription


class HomePort(Protocol):
    """Says which clients this process serves.

    Each raises a StorageError if the store fails.
    """

    async def start(self) -> None:
        """Take part in the cluster, if this process does not yet."""
        ...

    async def bring(self, client_id: str) -> None:
        """Serve a client here, if it has subscriptions."""
        ...

    async def put(self, served: ServedSubscription) -> None:
        """Write a new subscription, whose client is served here from now on."""
        ...

    async def away(self, client_id: str) -> None:
        """Say that a client is not connected here, so that a process to which it is takes it."""
        ...

    async def release(self, client_id: str) -> None:
        """Forget the home of a client that has no subscriptions and no session."""
        ...
