"""Which audit events a command shows, and how they look."""

from __future__ import annotations

__all__ = ("FILTERS", "AuditFilter", "known_values", "shown_entry")

import json
import re
import time
from argparse import Namespace
from collections.abc import Callable
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, Final, cast

from kinwire_cli.failure import UsageError, did_you_mean
from kinwire_cli.layout import printable

if TYPE_CHECKING:
    from kinwire.storage import Entry

FILTERS: Final = {
    "type": "only events of this type: TOOL_BLOCKED",
    "agent": "only events that this agent, operator or server caused",
    "server": "only events about this server",
    "tool": "only events about this tool",
    "result": "only events that ended so: SUCCESS, FAILURE or BLOCKED",
    "trace": "only events of this trace",
    "since": "only events of the last 30s, 15m, 2h or 7d, or since 2026-02-27T12:00:00Z",
}
"""The options that choose events, and their help."""

_PLACES: dict[str, tuple[str, ...]] = {
    "type": ("event_type",),
    "agent": ("actor", "id"),
    "server": ("target", "server_id"),
    "tool": ("target", "tool_name"),
    "result": ("result",),
    "trace": ("trace_id",),
}
_RESULTS = ("SUCCESS", "FAILURE", "BLOCKED")
_OPEN = frozenset("*?[.")  # in a pattern, or in a type of somebody's own
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}
_SPAN = re.compile(r"(\d{1,9})([smhd])")


class AuditFilter:
    """Chooses events by the options of a command."""

    def __init__(self, arguments: Namespace, *, clock: Callable[[], float] = time.time) -> None:
        """Read the options.

        Raises:
            UsageError: `--since` is not a time, or no event can have the type or result.
        """
        given = {name: getattr(arguments, name) for name in _PLACES}
        self._patterns = {name: text for name, text in given.items() if text is not None}
        _must_exist("type", arguments.type)
        _must_exist("result", arguments.result)
        self._since = _time_of(arguments.since, clock)

    def fits(self, entry: Entry) -> bool:
        """Return whether an entry of the log is shown."""
        event = event_of(entry)
        if self._since is not None and entry.at < self._since:
            return False
        for name, pattern in self._patterns.items():
            if not fnmatchcase(_text_at(event, _PLACES[name]), pattern):
                return False
        return True


def _object(value: object) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def event_of(entry: Entry) -> dict[str, Any]:
    """Return the event of an entry; `{}` for one that is not a record of the chain."""
    return _object(_object(entry.value).get("event"))


def shown_entry(entry: Entry, form: str) -> str:
    """Return an entry as one line: of text, or of JSON with its place in the chain."""
    if form == "json":
        return json.dumps(entry.value)
    event = event_of(entry)
    if not event:
        return printable(f"{entry.sequence}: not an audit record: {json.dumps(entry.value):.200}")
    place = "/".join(filter(None, (_text_at(event, _PLACES[one]) for one in ("server", "tool"))))
    names = ("timestamp", "event_type", "result")
    words = [_text_at(event, (name,)) for name in names]
    words += [_text_at(event, _PLACES["agent"]), place]
    words += [f"{name}={_fact(value)}" for name, value in _object(event.get("details")).items()]
    words.append(f"trace={_text_at(event, ('trace_id',)) or '-'}")
    return printable("  ".join(word or "-" for word in words))


def _fact(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value)
    return json.dumps(text) if " " in text else text


def _text_at(event: Any, path: tuple[str, ...]) -> str:
    for name in path:
        event = _object(event).get(name)
    return event if isinstance(event, str) else ""


def known_values(option: str, **_: Any) -> tuple[str, ...]:
    """Return which values of an option there are, for those that have a list."""
    if option == "result":
        return _RESULTS
    if option != "type":
        return ()
    from kinwire_protocols.mgp.tables import AUDIT_EVENT_TYPES

    return tuple(AUDIT_EVENT_TYPES)


def _must_exist(option: str, pattern: str | None) -> None:
    """Refuse a type or result without `*` that no event has; a type with dots may be anybody's."""
    known = known_values(option)
    if pattern is None or pattern in known or set(pattern) & _OPEN:
        return
    hint = did_you_mean(pattern.upper(), known, f"There are: {', '.join(known)}.")
    raise UsageError(f"--{option}: no event has the {option} {pattern!r:.60}.", hint)


def _time_of(text: str | None, clock: Callable[[], float]) -> float | None:
    from kinwire.support.timestamps import seconds_of

    if text is None:
        return None
    span = _SPAN.fullmatch(text)
    if span is not None:
        return clock() - int(span[1]) * _UNITS[span[2]]
    try:
        return seconds_of(text)
    except ValueError as error:
        hint = "--since 2h, or --since 2026-02-27T12:00:00Z"
        raise UsageError(f"--since: {error}.", hint) from None
