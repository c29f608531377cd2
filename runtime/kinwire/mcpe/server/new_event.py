"""An event that is made in this program."""

from __future__ import annotations

__all__ = ("new_event",)

import time
import uuid
from collections.abc import Collection

from kinwire.support.arguments import OBJECT, TEXT, TEXTS, ArgumentCheck
from kinwire.support.timestamps import timestamp_of
from kinwire_protocols.base import JsonObject
from kinwire_protocols.mcpe.models import EventMetadata, MCPEvent

_NEW_EVENT = ArgumentCheck(
    "new_event",
    'new_event("github.push", {"branch": "main"})',
    {"type": TEXT, "data": OBJECT.or_none},
    priority=TEXT,
    tags=TEXTS,
    source_event_id=TEXT.or_none,
    timestamp=TEXT.or_none,
)


def new_event(
    type: str,
    data: JsonObject | None = None,
    *,
    priority: str = "normal",
    tags: Collection[str] = (),
    source_event_id: str | None = None,
    timestamp: str | None = None,
) -> MCPEvent:
    """Return an event with an id of its own, for `McpeServer.publish`, which checks it.

    `priority` is `low`, `normal`, `high` or `critical`. `source_event_id` is the id that the event
    has where it comes from: a second one with it is not published. `timestamp` is when it happened,
    as an RFC 3339 date-time; without it, that is now.

    Raises:
        TypeError: an argument is not of its type.

    Source: MCPE 2025-01-01 sections 4.1 and 4.2.
    """
    _NEW_EVENT.check(
        type=type,
        data=data,
        priority=priority,
        tags=tags,
        source_event_id=source_event_id,
        timestamp=timestamp,
    )
    metadata = EventMetadata(
        timestamp=timestamp_of(time.time()) if timestamp is None else timestamp,
        priority=priority,
        tags=list(tags) or None,
        source_event_id=source_event_id,
    )
    return MCPEvent(id=str(uuid.uuid4()), type=type, data=data or {}, metadata=metadata)
