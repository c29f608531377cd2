"""What a filter selects, and which filters a server takes (MCPE 3.2, 4.4, 5.2)."""

from __future__ import annotations

__all__ = ("CompiledFilter", "filter_problems")

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Self

from kinwire.mcpe.rules.events import TAG_SIZE
from kinwire.mcpe.rules.features import EventFeatures
from kinwire.support.patterns.dotted import (
    EVERY_NAME,
    NAME_SIZE,
    covers,
    is_dotted_pattern,
    without_covered,
)
from kinwire_protocols.mcpe.models import EventFilter
from kinwire_protocols.problems import Problem, shown


@dataclass(frozen=True, slots=True)
class CompiledFilter:
    """A filter that was checked, in the form in which it is matched and indexed.

    Two filters with the same meaning are equal as far as that is easy to see: order, repetitions,
    and patterns that another one covers make no difference.
    """

    patterns: tuple[str, ...]
    """Patterns of types, of which at most one matches a type; empty for every type."""
    tags: frozenset[str]
    """Tags, of which the event has one; empty for every event."""
    priorities: frozenset[str]
    """Priorities, of which the event has one; empty for every event."""

    @classmethod
    def of(cls, filter: EventFilter) -> Self:
        """Return the form of a filter in which `filter_problems` finds no problem.

        An empty list is read as an absent one.
        """
        patterns = without_covered(filter.event_types or ())
        if patterns == (EVERY_NAME,):
            patterns = ()
        return cls(patterns, frozenset(filter.tags or ()), frozenset(filter.priority or ()))

    def selects(self, event_type: str, tags: Collection[str], priority: str) -> bool:
        """Return whether an event with this type, these tags and this priority is selected."""
        if self.patterns and not any(covers(one, event_type) for one in self.patterns):
            return False
        if self.tags and self.tags.isdisjoint(tags):
            return False
        return not self.priorities or priority in self.priorities


def filter_problems(
    filter: EventFilter, features: EventFeatures, *, at: str = "/filter"
) -> Iterator[Problem]:
    """Yield why a server with these features does not take `filter`.

    `at` is a JSON pointer to the filter, with which the pointers of the problems begin.

    Source: MCPE 2025-01-01 sections 3.2, 4.4 and 5.2.
    """
    patterns, tags = filter.event_types or [], filter.tags or []
    priorities = filter.priority or []
    count = len(patterns) + len(tags) + len(priorities)
    if count > features.max_filters:
        expected = f"at most {features.max_filters} values in all lists together"
        yield Problem(at, expected, str(count))
        return
    yield from _pattern_problems(patterns, f"{at}/eventTypes", wildcards=features.wildcard_types)
    if tags and not features.tags:
        yield _unsupported(f"{at}/tags", "tags")
    else:
        yield from _tag_problems(tags, f"{at}/tags")
    if priorities and not features.priorities:
        yield _unsupported(f"{at}/priority", "priorities")


def _pattern_problems(patterns: list[str], at: str, *, wildcards: bool) -> Iterator[Problem]:
    for index, pattern in enumerate(patterns):
        if not is_dotted_pattern(pattern):
            expected = f"a type as github.push, github.* or *, at most {NAME_SIZE} characters"
            yield Problem(f"{at}/{index}", expected, shown(pattern))
        elif pattern.endswith(EVERY_NAME) and not wildcards:
            expected = "a type without a star, since this server has no wildcards"
            yield Problem(f"{at}/{index}", expected, shown(pattern))


def _tag_problems(tags: list[str], at: str) -> Iterator[Problem]:
    for index, tag in enumerate(tags):
        if not 0 < len(tag) <= TAG_SIZE:
            yield Problem(f"{at}/{index}", f"1 to {TAG_SIZE} characters", shown(tag))


def _unsupported(at: str, what: str) -> Problem:
    return Problem(at, f"nothing, since this server does not filter by {what}", "a list")
