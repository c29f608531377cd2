"""Channels of events, and what a subscription takes of them (MGP 0.2.0 sections 13.2 and 13.5)."""

from __future__ import annotations

__all__ = (
    "MOST_NAMES",
    "OWN_CHANNELS",
    "QUEUED",
    "EventSelection",
    "checked_channels",
    "severity_rank",
)

import re
from collections.abc import Collection, Iterable, Iterator
from typing import Final

from kinwire.mcp.log_messages import LEVELS
from kinwire.support.bounded import LruDict
from kinwire.support.patterns.glob import Pattern
from kinwire_protocols.mgp.tables import CHANNEL_PATTERNS
from kinwire_protocols.nearest import nearest

MOST_NAMES: Final = 100
"""How many names and patterns one subscription may have."""

QUEUED: Final = 1_000
"""How many events of one subscription may wait for their reader; then the oldest are dropped."""

OWN_CHANNELS: Final = (
    "security.access_denied",
    "security.validation_failed",
    "system.error",
    "system.resource_usage",
    "tool.completed",
    "tool.failed",
    "tool.started",
)
"""The channels that every `MgpServer` has, and on which it emits events by itself."""

_CHANNEL = re.compile(r"[a-z][a-z0-9_-]*(?:\.[A-Za-z0-9_-]+)+", re.ASCII)
_LONGEST = 128  # characters of the name of a channel, and of a pattern
_AT_ONCE = 500  # channels that are matched
_REMEMBERED = 100  # channels of which it is known whether they were asked for
_RANKS: dict[str, int] = {level: rank for rank, level in enumerate(LEVELS)}
_PATTERN_SIGNS = frozenset("*?[\\")


def severity_rank(severity: str | None) -> int:
    """Return the place of a severity in MCP's order of levels; what is absent counts as `info`.

    A word that is not in the order comes after all others: it may be as severe as any.
    """
    return _RANKS.get("info" if severity is None else severity, len(_RANKS))


class EventSelection:
    """Which events a subscription takes: of these channels, from a severity on.

    A channel is given by its name, or by a pattern such as `model.*`, whose signs are those of
    `support/patterns/glob.py`: `*` also stands for several parts, so `*` alone is every channel.
    What is longer than a channel's name can be is neither matched nor a pattern: that would take
    long.
    """

    def __init__(self, channels: Iterable[str], min_severity: str | None = None) -> None:
        self._asked = tuple(dict.fromkeys(channels))
        self._names = frozenset(self._asked)
        self._patterns = {text: Pattern(text) for text in self._asked if _is_pattern(text)}
        self._known = LruDict[str, bool](_REMEMBERED)
        self.least: Final = -1 if min_severity is None else severity_rank(min_severity)
        """The `severity_rank` from which on events are taken."""

    def found(self, declared: Collection[str]) -> Iterator[tuple[str, set[str]]]:
        """Yield each name and pattern with declared channels; none takes longer than a moment."""
        names = list(declared)
        for text in self._asked:
            pattern = self._patterns.get(text)
            if pattern is None:
                yield text, {text} if text in declared else set()
                continue
            for at in range(0, len(names), _AT_ONCE):
                yield text, {name for name in names[at : at + _AT_ONCE] if pattern.matches(name)}

    def split(
        self, declared: Collection[str], found: Iterable[tuple[str, set[str]]] | None = None
    ) -> tuple[list[str], list[str]]:
        """Return the declared channels that are taken, and what was asked for without any.

        The first are names, in the order in which they are declared; the second are in the order
        in which they were asked for. `found` is all that `found` has yielded, if it was called.
        """
        matched: dict[str, set[str]] = {text: set() for text in self._asked}
        for text, names in self.found(declared) if found is None else found:
            matched[text] |= names
        taken = set[str]().union(*matched.values())
        missing = [text for text, names in matched.items() if not names]
        return [name for name in declared if name in taken], missing

    def takes(self, channel: str, severity: str | None) -> bool:
        """Return whether an event of this channel and severity is taken."""
        return severity_rank(severity) >= self.least and self._names_channel(channel)

    def _names_channel(self, channel: str) -> bool:
        """Return whether it was asked for; matching a pattern costs more than reading an event."""
        if len(channel) > _LONGEST:
            return channel in self._names
        known = self._known.get(channel)
        if known is None:
            known = channel in self._names or any(
                pattern.matches(channel) for pattern in self._patterns.values()
            )
            self._known.put(channel, known)
        return known


def checked_channels(names: Iterable[str]) -> tuple[str, ...]:
    """Return the channels of a server: those given, and its own.

    Raises:
        ValueError: a name is not one of a channel below `model.`, `system.`, `tool.` or
            `security.`.

    Source: MGP 0.2.0 section 13.5.
    """
    given = tuple(names)
    families = [pattern.removesuffix("*") for pattern in CHANNEL_PATTERNS]
    for name in given:
        if len(name) > _LONGEST or not _CHANNEL.fullmatch(name):
            raise ValueError(
                f"channels: expected names like model.token_usage, got {name!r:.60}. Use letters, "
                f"digits, `_` and `-`, with dots between the parts, {_LONGEST} at most."
            )
        if not name.startswith(tuple(families)):
            raise ValueError(
                f"channels: expected names that begin with {', '.join(families)}, got "
                f"{name!r:.60}. {_hint(name, families)}"
            )
    return tuple(dict.fromkeys((*given, *OWN_CHANNELS)))


def _hint(name: str, families: list[str]) -> str:
    first, _, rest = name.partition(".")
    near = nearest(f"{first}.", families)
    return f"Did you mean {near + rest!r:.60}?" if near else f"Write {families[0] + name!r:.60}."


def _is_pattern(text: str) -> bool:
    return 0 < len(text) <= _LONGEST and not _PATTERN_SIGNS.isdisjoint(text)
