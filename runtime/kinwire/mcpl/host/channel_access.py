"""Which feature set that is on lets a server act on a channel (MCPL 14.1, 14.5)."""

from __future__ import annotations

__all__ = ("set_for",)

from typing import TYPE_CHECKING

from kinwire.mcpl.host.scopes import ScopeRequest
from kinwire.mcpl.rules.channels import OBSERVE, sees
from kinwire_protocols.mcpl.errors import FeatureSetNotEnabledError, UnknownFeatureSetError

if TYPE_CHECKING:
    from kinwire.mcpl.host.server_peer import ServerPeer


async def set_for(server: ServerPeer, use: str, channel_id: str) -> tuple[str | None, str | None]:
    """Return a set that is on, has this use and may act on the channel; or why there is none."""
    reason = f"no feature set that is on uses {use} there"
    for name in server.enabled:
        declared = server.feature_sets[name]
        if use not in declared.uses or (use == OBSERVE and not sees(name, channel_id)):
            continue
        if not declared.scoped and name not in server.scopes.rules:
            return name, None
        try:
            answer = await server.scopes.leave(ScopeRequest(server.id, name, channel_id))
        except (FeatureSetNotEnabledError, UnknownFeatureSetError):  # switched off while asked
            continue
        if answer.approved:
            return name, None
        reason = answer.reason or "it was denied"
    return None, reason
