"""How much of everything one connection may use, and what it counted."""

from __future__ import annotations

__all__ = ("Counts", "Limits")

import logging
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING

from kinwire.support.arguments import COUNT, TIME, ArgumentCheck
from kinwire.support.sanitize import sanitize_for_log

if TYPE_CHECKING:
    from kinwire_protocols.lenient import LenientReading
    from kinwire_protocols.problems import Problem

logger = logging.getLogger("kinwire.session")


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Bounds of one session. Sizes are in bytes, times in seconds."""

    request_timeout: float | None = 60.0
    """How long a call waits for its answer or the next progress report; None waits for ever."""

    frame_size: int = 4 * 1024 * 1024
    """The largest frame that is read; a longer one is skipped and answered with an error."""

    in_flight: int = 1000
    """Messages of the peer handled in parallel: more requests are refused, never queued."""

    unsent: int = 1024 * 1024
    """Bytes that may wait to leave before callers wait too, until a quarter is left. No further
    handler begins once a frame of the largest size waits in addition, and reading pauses once two
    do, or while a quarter of `in_flight` handlers wait to begin. It resumes at this many bytes."""

    stall: float = 30.0
    """How long a full outbox may stand still before the connection is given up."""

    errors_per_second: int = 100
    """Answers to unreadable frames; further ones are counted only."""

    unreadable_in_a_row: int = 1000
    """Unreadable frames without a good one between them that end the session."""

    drain: float = 1.0
    """What running handlers get to finish once the peer has ended its side."""

    stop: float = 0.5
    """What cancelled handlers get to clean up when the session closes."""

    def __post_init__(self) -> None:
        _LIMITS.check(**{one.name: getattr(self, one.name) for one in fields(self)})


_LEVELS = {"debug": logging.DEBUG, "warning": logging.WARNING}

_LIMITS = ArgumentCheck(
    "Limits",
    "Limits()",
    {},
    request_timeout=TIME.or_none,
    frame_size=COUNT,
    in_flight=COUNT,
    unsent=COUNT,
    stall=TIME,
    errors_per_second=COUNT,
    unreadable_in_a_row=COUNT,
    drain=TIME,
    stop=TIME,
)


@dataclass(slots=True)
class Counts:
    """What a session did not answer or pass on, and what it read leniently."""

    unreadable: int = 0
    """Frames that were not JSON-RPC messages."""

    unanswered: int = 0
    """Unreadable frames beyond the rate at which they are answered."""

    late_replies: int = 0
    """Responses that no call waits for (any more)."""

    dropped_notifications: int = 0
    """Notifications that came while `Limits.in_flight` handlers were running."""

    lenient: dict[str, str] = field(default_factory=dict[str, str])
    """The first place of each lenient reading, by the name of its row in
    `kinwire_protocols.lenient.READINGS`."""

    def noticed(self, reading: LenientReading, where: str, problem: Problem) -> None:
        """Log a lenient reading, the first of its row on this connection only."""
        if reading.name not in self.lenient:
            self.lenient[reading.name] = found = sanitize_for_log(f"{where}#{problem}")
            logger.log(_LEVELS[reading.logged], "read leniently (%s): %s", reading.name, found)
