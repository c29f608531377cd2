"""A client to which subscriptions belong, through all its sessions."""

from __future__ import annotations

__all__ = ("EventClient",)

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class EventClient:
    """A client as hooks see it.

    It is its principal if the listener authenticates clients, else the one that has a recovery
    token. The `clientId` of its subscriptions is `id`; no message chooses it.
    """

    id: str
    principal: object = None
    """What `authenticate` has returned for it; None without."""
