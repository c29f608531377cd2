"""What a supervisor says of its servers, for tables."""

from __future__ import annotations

__all__ = ("ServerStatus",)

from dataclasses import dataclass

from kinwire.mgp.rules.health import ServerHealth
from kinwire_protocols.mgp.models import ServerState


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerStatus:
    """One supervised server at one moment."""

    id: str
    state: ServerState
    since: float
    """When it came into its state, in seconds since 1970."""
    restarts: int
    """How many times it was started again, of whatever reason, since the supervisor began."""
    health: ServerHealth | None
    """What its pings say; None while it is not connected, or before the first answer."""
    pid: int | None
    """The process id of a child that runs; None for a server of a URL."""
    restart_at: float | None
    """When it is started again, in seconds since 1970; None if it does not wait for that."""
    note: str
    """Why it is in its state, in one line that may have words of the server in it; or empty."""
