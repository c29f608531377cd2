"""MCP Events in both roles: a model subscribes to events by tools, and is notified of them.

Pass `McpeServer` to a server, `McpeClient` to a host. `rules/` decides for both; `server/` and
`client/` act. The messages are in `kinwire_protocols.mcpe`.
"""

from __future__ import annotations

__all__ = (
    "EventFeatures",
    "McpeClient",
    "McpeServer",
)

from typing import TYPE_CHECKING

from kinwire.support.lazy_names import lazy_names

if TYPE_CHECKING:
    from kinwire.mcpe.client.client import McpeClient
    from kinwire.mcpe.rules.features import EventFeatures
    from kinwire.mcpe.server.server import McpeServer

_HOMES = {
    "EventFeatures": "rules.features",
    "McpeClient": "client.client",
    "McpeServer": "server.server",
}

if not TYPE_CHECKING:
    __getattr__ = lazy_names(__name__, _HOMES)
