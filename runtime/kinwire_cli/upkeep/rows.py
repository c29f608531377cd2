"""The servers of a supervisor as rows of a table, with those that cannot be started."""

from __future__ import annotations

__all__ = ("rows_of",)

from collections.abc import Iterable, Mapping

from kinwire.mgp.kernel.supervisor.status import ServerStatus
from kinwire.mgp.rules.config_problem import ConfigProblem
from kinwire_cli.control.messages import ServerRow
from kinwire_cli.servers_table import age


def rows_of(
    statuses: Iterable[ServerStatus],
    refused: Mapping[str, ConfigProblem],
    began: float,
    now: float,
) -> list[ServerRow]:
    """Return a row for each server. `began` is when the kernel began, in seconds since 1970."""
    rows = [_row(one, now) for one in statuses]
    known = {row.id for row in rows}
    missing = (id for id in refused if id not in known)
    return rows + [
        ServerRow(id=id, state="registered", since=began, note=str(refused[id])) for id in missing
    ]


def _row(status: ServerStatus, now: float) -> ServerRow:
    note = status.note.removeprefix("The server ").removesuffix(".")
    parts = [note] if note else []
    if status.restart_at is not None and status.restart_at > now:
        parts.append(f"again in {age(status.restart_at - now + 1)}")
    return ServerRow(
        id=status.id,
        state=status.state,
        health=None if status.health is None else status.health.status,
        restarts=status.restarts,
        pid=status.pid,
        since=status.since,
        note="; ".join(parts) or None,
    )
