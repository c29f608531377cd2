"""What an event must be to be published, and which source it comes from (MCPE 4.1 to 4.3).

Clients keep what servers send as it comes; these checks are for servers.
"""

from __future__ import annotations

__all__ = ("MOST_TAGS", "PRIORITIES", "TAG_SIZE", "event_problems", "source_of")

import re
from collections.abc import Iterator
from typing import Final, get_args

from kinwire.support.patterns.dotted import NAME_SIZE, is_dotted_name
from kinwire.support.timestamps import is_date_time
from kinwire_protocols.mcpe.models import EventMetadata, EventPriority, MCPEvent
from kinwire_protocols.problems import Problem, shown

MOST_TAGS: Final = 100
"""How many tags an event may have."""

TAG_SIZE: Final = 256
"""The longest tag, and the longest `sourceEventId`, in characters."""

PRIORITIES: Final[tuple[str, ...]] = get_args(EventPriority.__value__)
"""The priorities of events, least first."""

_UUID4 = re.compile(
    r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", re.IGNORECASE
)


def event_problems(event: MCPEvent) -> Iterator[Problem]:
    """Return why `event` cannot be published, with pointers into it.

    Source: MCPE 2025-01-01 sections 4.1 to 4.3.
    """
    return iter(()) if _is_plain(event) else _problems(event)


def _is_plain(event: MCPEvent) -> bool:
    """Return whether an event is right and has nothing that is seldom there, as most events."""
    metadata = event.metadata
    return (
        not metadata.tags
        and metadata.source_event_id is None
        and metadata.priority in PRIORITIES
        and _UUID4.fullmatch(event.id) is not None
        and is_dotted_name(event.type)
        and is_date_time(metadata.timestamp)
    )


def _problems(event: MCPEvent) -> Iterator[Problem]:
    if _UUID4.fullmatch(event.id) is None:
        yield Problem("/id", "a UUID of version 4", shown(event.id))
    if not is_dotted_name(event.type):
        expected = f"names with single dots between, at most {NAME_SIZE} characters, and no * in it"
        yield Problem("/type", expected, shown(event.type))
    yield from _metadata_problems(event.metadata)


def source_of(event_type: str) -> str:
    """Return the source of an event, within which its `sourceEventId` is unique: the first name."""
    return event_type.partition(".")[0]


def _metadata_problems(metadata: EventMetadata) -> Iterator[Problem]:
    if not is_date_time(metadata.timestamp):
        expected = "a date-time with a zone, as 2025-01-15T10:30:00Z"
        yield Problem("/metadata/timestamp", expected, shown(metadata.timestamp))
    if metadata.priority not in PRIORITIES:
        expected = f"one of {', '.join(PRIORITIES)}"
        yield Problem("/metadata/priority", expected, shown(metadata.priority))
    source_id = metadata.source_event_id
    if source_id is not None and not 0 < len(source_id) <= TAG_SIZE:
        expected = f"1 to {TAG_SIZE} characters"
        yield Problem("/metadata/sourceEventId", expected, shown(source_id))
    yield from _tag_problems(metadata.tags or [])


def _tag_problems(tags: list[str]) -> Iterator[Problem]:
    if len(tags) > MOST_TAGS:
        yield Problem("/metadata/tags", f"at most {MOST_TAGS} tags", f"{len(tags)}")
        return
    for index, tag in enumerate(tags):
        if not 0 < len(tag) <= TAG_SIZE:
            expected = f"1 to {TAG_SIZE} characters"
            yield Problem(f"/metadata/tags/{index}", expected, shown(tag))
