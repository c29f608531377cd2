"""Servers of a kernel as a table, and as lines that say what has changed. Nothing is read here."""

from __future__ import annotations

__all__ = ("age", "changed_line", "removed_line", "table_lines", "with_states")

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from kinwire_cli.layout import coloured, columns, one_line

if TYPE_CHECKING:
    from kinwire_cli.control.messages import ServerRow

_HEADINGS = ("server", "state", "health", "restarts", "pid", "for", "note")
_UNITS = ((86_400, "d"), (3600, "h"), (60, "min"))
_ENDLESS = 10_000  # columns: a line is cut later, and not folded
_COLOURS = {"connected": "green", "error": "red", "registered": None, "disconnected": None}


def table_lines(
    rows: Sequence[ServerRow], now: float, width: int | None = None, height: int | None = None
) -> list[str]:
    """Return a heading and a line for each server; `now` is in seconds since 1970.

    With a `width` no line is longer; else long cells go on below themselves on a terminal. With a
    `height` there are no more lines: the last one says how many servers are left out, which are not
    those in trouble.
    """
    shown = rows if height is None or len(rows) < height else _most_troubled(rows, height - 2)
    room = None if width is None else _ENDLESS
    lines = columns([_HEADINGS, *(_cells(row, now) for row in shown)], room).split("\n")
    if len(shown) < len(rows):
        lines.append(f"... and {len(rows) - len(shown)} more: kinwire ps shows all")
    return [_cut(line, width) for line in lines]


def with_states(lines: Sequence[str], rows: Sequence[ServerRow]) -> list[str]:
    """Return the lines of a table with the states in colour, if stdout takes colour."""
    states = {row.id: row.state for row in rows}
    return [_with_state(line, states.get(line.partition("  ")[0])) for line in lines]


def changed_line(row: ServerRow) -> str:
    """Return what a log says of a server that has changed."""
    parts = [row.state]
    if row.health not in (None, "healthy"):
        parts.append(str(row.health))
    if row.pid is not None:
        parts.append(f"pid {row.pid}")
    if row.restarts:
        parts.append(f"restarts {row.restarts}")
    note = f" ({row.note})" if row.note else ""
    return one_line(f"{_moment(row.since)} {row.id}: {', '.join(parts)}{note}")


def removed_line(id: str, now: float) -> str:
    """Return what a log says of a server that the configuration does not name any more."""
    return one_line(f"{_moment(now)} {id}: removed")


def _moment(seconds: float) -> str:
    when = datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")
    return f"{when.removesuffix('+00:00')}Z"


def age(seconds: float) -> str:
    """Return how long something has been so, such as `12 s` or `3 h`."""
    whole = max(0, int(seconds))
    for size, unit in _UNITS:
        if whole >= size:
            return f"{whole // size} {unit}"
    return f"{whole} s"


def _cells(row: ServerRow, now: float) -> tuple[str, ...]:
    pid = "-" if row.pid is None else str(row.pid)
    cells = (row.id, row.state, row.health or "-", str(row.restarts), pid, age(now - row.since))
    return tuple(one_line(cell) for cell in (*cells, row.note or ""))


def _most_troubled(rows: Sequence[ServerRow], count: int) -> list[ServerRow]:
    """Return `count` rows in their order: those that are well are left out first."""
    ranked = sorted(rows, key=_is_well)[: max(0, count)]
    kept = {row.id for row in ranked}
    return [row for row in rows if row.id in kept]


def _is_well(row: ServerRow) -> bool:
    return row.state == "connected" and row.health in (None, "healthy")


def _cut(line: str, width: int | None) -> str:
    if width is None or len(line) <= width:
        return line
    return f"{line[: width - 1]}…"


def _with_state(line: str, state: str | None) -> str:
    if state is None:
        return line
    colour = _COLOURS.get(state, "yellow")
    return line.replace(f"  {state}", f"  {coloured(state, colour)}", 1)
