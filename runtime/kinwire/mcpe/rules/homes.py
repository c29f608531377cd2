"""Which of several processes serves a client's subscriptions, and what follows from a change of it.

Each client with subscriptions has one home: the process that it has called last. A process that
takes a client raises the revision of the home, and that of each subscription, so what the one
before still writes is refused. So each time of a schedule is claimed once.
"""

from __future__ import annotations

__all__ = ("Home", "HomeStep", "next_step")

from dataclasses import dataclass
from typing import Literal

HomeStep = Literal["leave", "move", "take"]
"""Stop serving the client; stop, and take it again; or take it."""


@dataclass(frozen=True, slots=True)
class Home:
    """Where a client is served."""

    client_id: str
    node: str
    """The name of the process."""
    away: bool = False
    """Whether the client is not connected there, so that a process to which it is may take it."""


def next_step(
    home: Home | None, *, node: str, is_served: bool, is_connected: bool
) -> HomeStep | None:
    """Return what the process `node` does when a client's home has become another; None: nothing.

    `home` is None if the client has no subscriptions any more. `is_served` says whether this
    process has served the client so far, `is_connected` whether the client has a session with it.
    """
    if home is not None and home.node == node:
        return None
    wanted = home is not None and home.away and is_connected
    if is_served:
        return "move" if wanted else "leave"
    return "take" if wanted else None
