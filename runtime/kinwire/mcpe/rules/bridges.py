"""Events that come from another protocol, or go on in one: values of one for the other.

An event can go on as a pushed event of MCP Live (`push/event`), and an event of a channel of MGP
can be published. The protocols' own classes send and read.
"""

from __future__ import annotations

__all__ = ("PushArguments", "event_priority", "push_arguments")

from typing import Final, TypedDict

from kinwire.rpc.codec import encode
from kinwire.support.arguments import ArgumentCheck, instance_of
from kinwire_protocols.base import JsonObject
from kinwire_protocols.mcpe.models import MCPEvent

_PRIORITIES: Final = {
    "debug": "low",
    "info": "normal",
    "notice": "normal",
    "warning": "high",
    "error": "high",
    "critical": "critical",
    "alert": "critical",
    "emergency": "critical",
}


_PUSH_ARGUMENTS = ArgumentCheck(
    "push_arguments",
    "push_arguments(event)",
    {"event": instance_of(MCPEvent, "an MCPEvent", 'new_event("github.push", {})')},
)


class PushArguments(TypedDict):
    """Arguments of `HostPeer.push`, after the feature set."""

    content: str
    event_id: str
    timestamp: str
    origin: JsonObject


def push_arguments(event: MCPEvent) -> PushArguments:
    """Return with which arguments an event is pushed: `host.push("x", **push_arguments(event))`.

    The content is the data as JSON, and `origin` has the type, the priority, and tags. The id stays
    the same, so a host takes an event once that is pushed twice.

    Raises:
        TypeError: it is not an `MCPEvent`.

    Source: MCPL 0.4.1 section 9.2.
    """
    _PUSH_ARGUMENTS.check(event=event)
    metadata = event.metadata
    origin: JsonObject = {"type": event.type, "priority": metadata.priority}
    if metadata.tags:
        origin["tags"] = list(metadata.tags)
    return PushArguments(
        content=encode(event.data).decode(),
        event_id=event.id,
        timestamp=metadata.timestamp,
        origin=origin,
    )


def event_priority(severity: str | None) -> str:
    """Return the priority of an event that has a severity, as events of MGP channels have.

    The severities are MCP's levels of logs; an absent one is `info`. One that is not known may be
    as severe as any, so it is `critical`.

    Source: MGP 0.2.0 section 13.3.
    """
    return _PRIORITIES.get("info" if severity is None else severity, "critical")
