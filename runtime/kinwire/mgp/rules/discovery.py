"""The entries of `mgp/discovery/list` (MGP 0.2.0 section 15.2)."""

from __future__ import annotations

__all__ = ("ListedServer", "fits", "registered_entry")

from collections.abc import Collection
from typing import NamedTuple

from kinwire.mgp.rules.permissions import expanded
from kinwire.mgp.rules.registration import Registration
from kinwire_protocols.mgp.models import DiscoveredServer, DiscoveryFilter


class ListedServer(NamedTuple):
    """An entry, and what filters need to know beyond it."""

    entry: DiscoveredServer
    permissions: Collection[str] = ()
    """What the server says that it needs."""


def registered_entry(registration: Registration) -> DiscoveredServer:
    """Return the entry of a server that was registered at run time and is not connected."""
    return DiscoveredServer(
        id=registration.id,
        status="registered",
        extensions=list(registration.extensions),
        trust_level="sandboxed",
    )


def fits(server: ListedServer, wanted: DiscoveryFilter | None) -> bool:
    """Return whether a server fits every field of a filter that is given.

    A family of permissions stands for all of it: a server that needs `network` fits a filter for
    `network.outbound`.
    """
    if wanted is None:
        return True
    if not set(server.entry.extensions or ()).issuperset(wanted.extensions or ()):
        return False
    if not set(expanded(server.permissions)).issuperset(expanded(wanted.permissions or ())):
        return False
    return wanted.status in (None, server.entry.status)
