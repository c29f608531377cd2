"""What `kinwire up` shows of its servers: a table, or lines; and the rows of both."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from dataclasses import replace

import anyio
import pytest

from kinwire.mgp.kernel.supervisor.status import ServerStatus
from kinwire.mgp.rules.config_problem import ConfigProblem, Place
from kinwire.mgp.rules.health import ServerHealth
from kinwire_cli.control.messages import ServerRow
from kinwire_cli.live_table import LiveLines
from kinwire_cli.upkeep import display
from kinwire_cli.upkeep.display import ServerDisplay
from kinwire_cli.upkeep.rows import rows_of
from tests.cli.test_live_table import Screen

NOW = 1000.0


def row(id: str, state: str, since: float = NOW) -> ServerRow:
    return ServerRow(id=id, state=state, since=since, note=f"at {since:g}")


async def played(
    *moments: tuple[Iterable[ServerRow], str], rows: list[ServerRow]
) -> AsyncIterator[str]:
    for new, id in moments:
        rows[:] = new
        yield id


@pytest.mark.anyio
async def test_without_a_terminal_each_change_is_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    rows = [row("a", "registered"), row("b\n", "registered")]
    shown = ServerDisplay(lambda: rows, lambda: NOW, None)
    later = [row("a", "connected", NOW + 1), rows[1]]
    same = later[0].model_copy(update={"note": "x", "health": "healthy"})
    moments = [(later, "a"), ([same, rows[1]], "a"), (later[:1], "b\n")]
    await shown.run(played(*moments, rows=rows))
    rows[0] = row("a", "disconnected", NOW + 2)
    shown.show()
    assert capsys.readouterr().out.splitlines() == [
        "1970-01-01T00:16:40Z a: registered (at 1000)",
        "1970-01-01T00:16:40Z b : registered (at 1000)",
        "1970-01-01T00:16:41Z a: connected (at 1001)",
        "1970-01-01T00:16:40Z b : removed",
        "1970-01-01T00:16:42Z a: disconnected (at 1002)",
    ]


def test_lines_that_nobody_reads_end_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise BrokenPipeError

    monkeypatch.setattr(display, "print", broken, raising=False)
    ServerDisplay(lambda: [row("a", "connected")], lambda: NOW, None).show()


@pytest.mark.anyio
async def test_on_a_terminal_a_table_goes_with_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(display, "_TICK", 0.001)
    screen, times, rows = Screen(), iter([NOW, NOW, NOW + 7]), [row("a", "connected")]
    ticked = anyio.Event()

    def clock() -> float:
        now = next(times, None)
        if now is None:
            ticked.set()
        return NOW + 7 if now is None else now

    async def changes() -> AsyncIterator[str]:
        yield "a"
        await ticked.wait()

    shown = ServerDisplay(lambda: rows, clock, LiveLines(screen))
    with anyio.fail_after(5):
        await shown.run(changes())
    assert screen.lines[1].split() == ["a", "connected", "-", "0", "-", "7", "s", "at", "1000"]
    rows[0] = row("a", "disconnected")
    shown.show()
    assert screen.lines[1].split()[:2] == ["a", "disconnected"]
    assert len(screen.lines) == 3


def test_a_row_says_what_comes_next_and_why_a_server_cannot_be_started() -> None:
    again = ServerStatus(
        id="a",
        state="restarting",
        since=990.0,
        restarts=2,
        health=None,
        pid=None,
        restart_at=1003.5,
        note="The server exited with code 1.",
    )
    health = ServerHealth(status="degraded")
    well = replace(again, id="b", state="connected", health=health, restart_at=None, pid=7)
    refused = {"c": ConfigProblem(Place("mgp.toml", 3, 1), "the variable X is not set")}
    found = rows_of([again, well], {**refused, "b": refused["c"]}, began=5.0, now=NOW)
    shown = [(one.id, one.state, one.health, one.pid, one.since, one.note) for one in found]
    assert shown == [
        ("a", "restarting", None, None, 990.0, "exited with code 1; again in 4 s"),
        ("b", "connected", "degraded", 7, 990.0, "exited with code 1"),
        ("c", "registered", None, None, 5.0, "mgp.toml:3:1: the variable X is not set"),
    ]
