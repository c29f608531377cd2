"""What a change does to those who stay behind: levels, victims, and the table that decides.

A message goes one of four ways. Who wrote it and who reads it follows from that, so a rule says
only what it does to writers and readers, and this table says who that is.
"""

from __future__ import annotations

__all__ = (
    "OLD_RECEIVERS",
    "OLD_SENDERS",
    "Category",
    "Effect",
    "Flow",
    "Level",
    "Victim",
    "Way",
    "judge",
)

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum, IntEnum
from typing import NamedTuple

Category = Enum("Category", "WIRE BINDINGS DOCS")
"""What notices: peers, programs that use the bindings, readers of the reference."""


class Level(IntEnum):
    """How much a change matters."""

    SAFE = 0
    WARNING = 1
    """Somebody may notice: once what is new is used, or because a value is no longer heeded."""
    BREAKING = 2
    """What worked between old peers fails between an old and a new one."""


class Way(Enum):
    """How a message goes. Each has one who writes and one who reads."""

    REQUEST = "params of a request: the sender writes, the receiver reads"
    RESULT = "a result or the data of an error: the receiver writes, the sender reads"
    EVENT = "params of a notification: the sender writes, the receivers read"
    STORED = "a file or stored object: written once, read later"


class Effect(Enum):
    """What a change does to the two ends of a message."""

    NARROWS = "new readers refuse what old writers write"
    MISSES = "new writers leave out what old readers need"
    RELAXES = "new writers may leave out what old readers need"
    WIDENS = "new writers may write what old readers do not know"
    BREAKS = "neither reads what the other writes"
    GONE = "what old peers use is not there any more"
    STOPS = "programs written for the old bindings stop, or a type checker refuses them"
    LOSES = "a value that was used is ignored now"
    WARNS = "peers may behave in another way"
    SAFE = "old peers do not notice"


OLD_SENDERS = "old senders"
OLD_RECEIVERS = "old receivers"
EXHAUSTIVE = "exhaustive readers"
OLD_FILES = "old files"
OLD_PROGRAMS = "old programs"

_BREAKING, _WARNING = Level.BREAKING, Level.WARNING
_BOTH = (OLD_SENDERS, OLD_RECEIVERS)

VERDICTS: dict[tuple[Effect, Way], tuple[Level, tuple[str, ...]]] = {
    (Effect.NARROWS, Way.REQUEST): (_BREAKING, (OLD_SENDERS,)),
    (Effect.NARROWS, Way.RESULT): (_BREAKING, (OLD_RECEIVERS,)),
    (Effect.NARROWS, Way.EVENT): (_BREAKING, (OLD_SENDERS,)),
    (Effect.NARROWS, Way.STORED): (_BREAKING, (OLD_FILES,)),
    (Effect.MISSES, Way.REQUEST): (_BREAKING, (OLD_RECEIVERS,)),
    (Effect.MISSES, Way.RESULT): (_BREAKING, (OLD_SENDERS,)),
    (Effect.MISSES, Way.EVENT): (_BREAKING, (OLD_RECEIVERS,)),
    (Effect.MISSES, Way.STORED): (_BREAKING, (OLD_PROGRAMS,)),
    # A sender need not use what is new in a request; what comes back it cannot choose.
    (Effect.RELAXES, Way.REQUEST): (_WARNING, (OLD_RECEIVERS,)),
    (Effect.RELAXES, Way.RESULT): (_BREAKING, (OLD_SENDERS,)),
    (Effect.RELAXES, Way.EVENT): (_BREAKING, (OLD_RECEIVERS,)),
    (Effect.RELAXES, Way.STORED): (_WARNING, (OLD_PROGRAMS,)),
    (Effect.WIDENS, Way.REQUEST): (_WARNING, (OLD_RECEIVERS,)),
    (Effect.WIDENS, Way.RESULT): (_BREAKING, (EXHAUSTIVE,)),
    (Effect.WIDENS, Way.EVENT): (_BREAKING, (EXHAUSTIVE,)),
    (Effect.WIDENS, Way.STORED): (_WARNING, (OLD_PROGRAMS,)),
    (Effect.BREAKS, Way.REQUEST): (_BREAKING, _BOTH),
    (Effect.BREAKS, Way.RESULT): (_BREAKING, _BOTH),
    (Effect.BREAKS, Way.EVENT): (_BREAKING, _BOTH),
    (Effect.BREAKS, Way.STORED): (_BREAKING, (OLD_FILES, OLD_PROGRAMS)),
    (Effect.GONE, Way.REQUEST): (_BREAKING, (OLD_SENDERS,)),
    (Effect.GONE, Way.RESULT): (_BREAKING, (OLD_SENDERS,)),
    (Effect.GONE, Way.EVENT): (_BREAKING, (OLD_RECEIVERS,)),
    (Effect.GONE, Way.STORED): (_BREAKING, (OLD_FILES,)),
}
"""What an effect means on each way; the others are the same on all, or warnings."""


@dataclass(frozen=True, slots=True, order=True)
class Flow:
    """One way on which a type is sent."""

    label: str
    """`tools/call params`, for people."""
    way: Way
    sender: str
    """Who sends the method, in the protocol's own word."""
    receiver: str

    def role(self, group: str) -> str:
        """Return which end a group of victims is on this way; empty for files."""
        if group == EXHAUSTIVE:
            return self.sender if self.way is Way.RESULT else self.receiver
        return {OLD_SENDERS: self.sender, OLD_RECEIVERS: self.receiver}.get(group, "")


class Victim(NamedTuple):
    """A group of those who break, and which ends they are."""

    group: str
    roles: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.group} ({', '.join(self.roles)})" if self.roles else self.group


def judge(effect: Effect, flows: Iterable[Flow]) -> tuple[Level, tuple[Victim, ...]]:
    """Return the worst that `effect` does on any of the ways, and to whom on all of them."""
    if effect is Effect.SAFE:
        return Level.SAFE, ()
    if effect is Effect.STOPS:
        return Level.BREAKING, (Victim(OLD_PROGRAMS, ()),)
    level, groups = Level.WARNING, dict[str, set[str]]()
    for flow in flows:
        found, victims = VERDICTS.get((effect, flow.way), (Level.WARNING, ()))
        level = max(level, found)
        for group in victims:
            groups.setdefault(group, set()).add(flow.role(group))
    return level, tuple(
        Victim(group, tuple(sorted(roles - {""}))) for group, roles in sorted(groups.items())
    )
