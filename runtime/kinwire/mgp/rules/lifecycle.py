"""The states of a server, and what leads from one to another (MGP 0.2.0 section 11.2).

The table itself is `SERVER_LIFECYCLE`, which is generated: nothing here knows a way of its own.
"""

from __future__ import annotations

__all__ = ("ServerEvent", "StateChange", "next_state", "refusal_in")

from dataclasses import dataclass
from typing import Literal

from kinwire.mgp.errors import refusal
from kinwire_protocols.base import RpcError
from kinwire_protocols.mgp import errors
from kinwire_protocols.mgp.models import ServerState
from kinwire_protocols.mgp.tables import SERVER_LIFECYCLE

ServerEvent = Literal["start", "ready", "fail", "shutdown", "drained", "restart", "stop"]
"""What leads from state to state."""


@dataclass(frozen=True, slots=True)
class StateChange:
    """A server went from one state to another."""

    server: str
    """The kernel's name for the server."""
    previous: ServerState
    new: ServerState
    reason: str | None
    """One of the reasons of MGP 0.2.0 section 11.4, or a few words; None if there is no other than
    that the server was started."""
    at: float
    """When, in seconds since 1970."""


def next_state(state: ServerState, event: ServerEvent) -> ServerState:
    """Return the state that an event leads to.

    Raises:
        ValueError: the table has no such way.
    """
    after = SERVER_LIFECYCLE.after(state, event)
    if after is None:
        raise ValueError(f"{event!r} leads nowhere from the state {state!r}")
    return after


def refusal_in(
    state: ServerState, server: str, *, retry_after: float | None = None
) -> RpcError | None:
    """Return the error of calls in a state: 2000, 2001 or 2002; None where calls are taken.

    `retry_after` is how long a restart still takes at least, in seconds.
    """
    if state == "connected":
        return None
    details = {"server_id": server, "state": state}
    if state == "draining":
        text = f"{server} is shutting down and takes no more calls."
        return refusal(errors.ServerDrainingError, text, details=details)
    if state == "restarting":
        text = f"{server} is restarting."
        return refusal(errors.ServerRestartingError, text, details=details, retry_after=retry_after)
    text = f"{server} is not ready: its state is {state!r}."
    soon = None if state == "connecting" else False
    return refusal(errors.ServerNotReadyError, text, details=details, retryable=soon)
