"""The table of `kinwire up` and `kinwire ps`, and the lines of a log."""

from __future__ import annotations

from typing import Any

import pytest

from kinwire_cli.control.messages import ServerRow
from kinwire_cli.servers_table import age, changed_line, table_lines, with_states
from tests.each import each

NOW = 1_000_000.0


def row(id: str, state: str = "connected", **more: Any) -> ServerRow:
    return ServerRow(id=id, state=state, since=NOW - 5, **more)


ROWS = [
    row("files", health="healthy", pid=12),
    row("mind.cerebras", "restarting", restarts=3, note="exit code 1; again in 4 s"),
    row("web", "error", note="restart_limit_exceeded"),
]


def test_a_table_has_a_line_for_each_server() -> None:
    assert table_lines(ROWS, NOW) == [
        "server         state       health   restarts  pid  for  note",
        "files          connected   healthy  0         12   5 s",
        "mind.cerebras  restarting  -        3         -    5 s  exit code 1; again in 4 s",
        "web            error       -        0         -    5 s  restart_limit_exceeded",
    ]
    assert len(table_lines([], NOW)) == 1


def test_a_table_fits_a_terminal_and_keeps_servers_in_trouble() -> None:
    rows = [*(row(f"s{number}") for number in range(50)), ROWS[2], row("t", health="degraded")]
    lines = table_lines(rows, NOW, width=40, height=5)
    assert [len(line) <= 40 for line in lines] == [True] * 5
    assert [line.split()[0] for line in lines] == ["server", "s0", "web", "t", "..."]
    assert lines[-1] == "... and 49 more: kinwire ps shows all"
    assert lines[2].endswith("…")
    assert len(table_lines(ROWS, NOW, height=4)) == 4
    assert table_lines(ROWS, NOW, height=1)[-1] == "... and 3 more: kinwire ps shows all"


def test_states_have_colours_where_stdout_takes_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("FORCE_COLOR", "1")
    rows = [row("error connected", "error"), row("b"), row("c", "draining"), row("d", "registered")]
    _, *lines = with_states(table_lines(rows, NOW), rows)
    found = [line[17:].split("  ")[0].rstrip() for line in lines]
    assert found == [
        "\x1b[31merror\x1b[0m",
        "\x1b[32mconnected\x1b[0m",
        "\x1b[33mdraining\x1b[0m",
        "registered",
    ]
    monkeypatch.setenv("NO_COLOR", "1")
    assert with_states(table_lines(rows, NOW), rows) == table_lines(rows, NOW)


def test_a_line_of_a_log_says_what_has_changed() -> None:
    assert [changed_line(one) for one in ROWS] == [
        "1970-01-12T13:46:35Z files: connected, pid 12",
        "1970-01-12T13:46:35Z mind.cerebras: restarting, restarts 3 (exit code 1; again in 4 s)",
        "1970-01-12T13:46:35Z web: error (restart_limit_exceeded)",
    ]
    assert "connected, degraded" in changed_line(row("a", health="degraded"))


def test_no_text_of_a_server_steers_the_terminal() -> None:
    wild = row("a\n\x1b[2J", note="\x1b]0;x\x07\u202e")
    shown = [*table_lines([wild], NOW), changed_line(wild)]
    assert [line for line in shown if not line.isprintable()] == []


@each(
    ("seconds", "text"),
    [(-3, "0 s"), (59.9, "59 s"), (60, "1 min"), (7199, "1 h"), (86_400, "1 d"), (9e5, "10 d")],
)
def test_an_age_has_one_unit(seconds: float, text: str) -> None:
    assert age(seconds) == text
