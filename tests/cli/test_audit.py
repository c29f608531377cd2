"""`kinwire audit` on the log of a kernel."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest

from kinwire.managers.chained_log import ChainedLog
from kinwire.mgp.rules.audit_events import SecurityEvent
from kinwire.storage import Log, LogFolder, Retention, open_store
from kinwire_cli.failure import PROBLEMS_FOUND, USAGE
from tests.cli.fixtures_scripts import Captured, ran

EVENTS = [
    ("TOOL_EXECUTED", "agent.a", "files", "read", "SUCCESS"),
    ("TOOL_BLOCKED", "agent.b", "files", "write", "BLOCKED"),
    ("TOOL_EXECUTED", "agent.b", "mail", "send", "FAILURE"),
    ("io.kinwire.tool_retried", "agent.a", "mail", "send", "FAILURE"),
]


def event(number: int) -> dict[str, Any]:
    kind, agent, server, tool, result = EVENTS[number % len(EVENTS)]
    details = {"risk_level": "moderate", "reason": "a \x1b[31mb"}
    made = SecurityEvent(kind, "agent", agent, server, tool, result, details, f"trace-{number}")  # type: ignore[arg-type]
    return made.params(1_772_193_600.0 + number)


async def fill(log: Log, count: int) -> None:
    chain = ChainedLog(log)
    for number in range(count):
        await chain.append("mgp.kernel.X", event(number))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "kernel.db"


@pytest.fixture
def store(file: Path) -> str:
    return made_store(file)


def made_store(file: Path, count: int = 8, retention: Retention | None = None) -> str:
    async def make() -> None:
        async with open_store(f"sqlite:///{file}") as store:
            await fill(await store.log("mgp-audit", retention=retention), count)

    anyio.run(make)
    return f"sqlite:///{file}"


def tamper(file: Path, *statements: str) -> None:
    with sqlite3.connect(file) as database:
        for statement in statements:
            database.execute(statement)
    database.close()


def test_tail_shows_the_newest_events_as_lines(capsys: Captured, store: str) -> None:
    code, out, _ = ran(capsys, "audit", "tail", "--store", store, "--lines", "2")
    assert code == 0
    first, second = out.splitlines()
    assert first.split("  ") == [
        *["2026-02-27T12:00:06.000Z", "TOOL_EXECUTED", "FAILURE", "agent.b", "mail/send"],
        *['reason="a \\\\x1b[31mb"', "risk_level=moderate", "trace=trace-6"],
    ]
    assert "\x1b" not in out
    assert second.startswith("2026-02-27T12:00:07.000Z  io.kinwire.tool_retried  FAILURE")
    everything = ran(capsys, "audit", "tail", "--store", store)[1].splitlines()
    assert len(everything) == 8
    assert ran(capsys, "audit", "tail", "--store", store, "--lines", "0")[1] == ""
    _, out, err = ran(capsys, "audit", "tail", "--store", store, "--agent", "nobody")
    assert (out, err) == ("", "there are no events\n")


@pytest.mark.parametrize(
    ("words", "traces"),
    [
        ((), range(8)),
        (("--type", "TOOL_BLOCKED"), [1, 5]),
        (("--type", "TOOL_*"), [0, 1, 2, 4, 5, 6]),
        (("--agent", "agent.a", "--server", "mail"), [3, 7]),
        (("--tool", "send", "--result", "FAILURE", "--type", "TOOL_EXECUTED"), [2, 6]),
        (("--trace", "trace-5"), [5]),
        (("--since", "1h"), range(8)),
        (("--since", "2026-01-01T00:00:00Z"), range(8)),
        (("--since", "2999-01-01T00:00:00Z"), []),
        (("--server", "nowhere"), []),
    ],
)
def test_search_finds_events(
    capsys: Captured, store: str, words: tuple[str, ...], traces: list[int]
) -> None:
    code, out, err = ran(capsys, "audit", "search", "--store", store, "--format", "json", *words)
    assert code == 0
    found = [json.loads(line)["event"]["trace_id"] for line in out.splitlines()]
    assert found == [f"trace-{number}" for number in traces]
    assert err.startswith(f"{len(traces)} event")


def test_verify_prints_the_head_that_a_later_run_can_ask_for(capsys: Captured, store: str) -> None:
    code, out, err = ran(capsys, "audit", "verify", "--store", store)
    assert (code, err) == (0, "nothing is wrong\n")
    count, head = out.splitlines()
    assert count == "8 records from 1"
    known = head.removeprefix("head ")
    assert ran(capsys, "audit", "verify", "--store", store, "--known", known)[0] == 0
    other = known.replace("8:", "7:")
    code, out, _ = ran(capsys, "audit", "verify", "--store", store, "--known", other)
    assert (code, "seq 7: the log lacks the record" in out) == (PROBLEMS_FOUND, True)
    words = ("--store", store, "--format", "json")
    found = json.loads(ran(capsys, "audit", "verify", *words)[1])
    assert found == {"records": 8, "first": 1, "head": known, "problems": []}
    found = json.loads(ran(capsys, "audit", "verify", *words, "--known", other)[1])
    assert found["problems"] == ["seq 7: the log lacks the record that --known names"]


ROW = "sequence = 4"


@pytest.mark.parametrize(
    ("statements", "problem"),
    [
        ([f"UPDATE entries SET value = replace(value, 'moderate', 'safe') WHERE {ROW}"], "seq 4 "),
        ([f"UPDATE entries SET subject = 'mgp.kernel.Y' WHERE {ROW}"], "seq 4 "),
        ([f"DELETE FROM entries WHERE {ROW}"], "seq 4 "),
        (["DELETE FROM entries WHERE sequence = 1"], "seq 1 "),
        ([f"UPDATE entries SET value = '5' WHERE {ROW}"], "seq 4 (entry 4) is not an entry"),
        (
            [
                "UPDATE entries SET sequence = 99 WHERE sequence = 4",
                "UPDATE entries SET sequence = 4 WHERE sequence = 5",
                "UPDATE entries SET sequence = 5 WHERE sequence = 99",
            ],
            "seq 4 ",
        ),
        (
            [
                "INSERT INTO entries SELECT space, 9, subject, value, at, id FROM entries"
                " WHERE sequence = 3"
            ],
            "seq 3 ",
        ),
    ],
)
def test_verify_names_the_first_record_that_is_wrong(
    capsys: Captured, file: Path, store: str, statements: list[str], problem: str
) -> None:
    tamper(file, *statements)
    code, out, err = ran(capsys, "audit", "verify", "--store", store)
    assert (code, err) == (PROBLEMS_FOUND, "the log was changed or damaged\n")
    assert out.startswith(problem)


def test_records_that_were_removed_at_the_end_are_missed_by_the_known_head(
    capsys: Captured, file: Path, store: str
) -> None:
    head = ran(capsys, "audit", "verify", "--store", store)[1].splitlines()[-1]
    tamper(file, "DELETE FROM entries WHERE sequence > 6")
    assert ran(capsys, "audit", "verify", "--store", store)[0] == 0
    words = ("--known", head.removeprefix("head "))
    assert ran(capsys, "audit", "verify", "--store", store, *words)[0] == PROBLEMS_FOUND


def test_what_retention_removes_is_not_missed(capsys: Captured, file: Path) -> None:
    store = made_store(file, 8, Retention(max_entries=5))
    code, out, _ = ran(capsys, "audit", "verify", "--store", store)
    assert (code, out.splitlines()[0]) == (0, "5 records from 4")


def test_a_folder_of_files_is_verified_across_files(capsys: Captured, tmp_path: Path) -> None:
    folder = tmp_path / "audit"
    anyio.run(fill, LogFolder(folder, max_bytes=900), 12)
    files = sorted(folder.glob("*.jsonl"))
    assert len(files) > 2
    code, out, _ = ran(capsys, "audit", "verify", "--folder", str(folder))
    assert (code, out.splitlines()[0]) == (0, "12 records from 1")
    files[1].unlink()
    code, out, _ = ran(capsys, "audit", "verify", "--folder", str(folder))
    assert (code, out.startswith(f"seq {int(files[1].stem)} ")) == (PROBLEMS_FOUND, True)


def test_a_torn_line_is_reported_and_marked_by_the_next_writer(
    capsys: Captured, tmp_path: Path
) -> None:
    folder = tmp_path / "audit"
    anyio.run(fill, LogFolder(folder), 2)
    with (folder / "0000000000000001.jsonl").open("a") as out:
        out.write('{"at": 1')
    assert ran(capsys, "audit", "verify", "--folder", str(folder))[0] == 0  # it may be under way
    anyio.run(fill, LogFolder(folder), 1)
    code, text, _ = ran(capsys, "audit", "verify", "--folder", str(folder))
    assert code == PROBLEMS_FOUND
    assert text.splitlines()[0] == "seq 3 (entry 3) is not an entry of the chain"
    assert text.splitlines()[1] == "4 records from 1"
    shown = ran(capsys, "audit", "tail", "--folder", str(folder))[1]
    assert '3: not an audit record: {"line": ' in shown


def test_tail_follows(store: str) -> None:
    command = [sys.executable, "-m", "kinwire", "audit", "tail", "--store", store]
    words = ["--follow", "--lines", "1", "--agent", "agent.a"]
    with subprocess.Popen([*command, *words], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert "trace-7" in process.stdout.readline()
        anyio.run(append_more, store)
        assert "trace-0" in process.stdout.readline()
        process.terminate()


async def append_more(url: str) -> None:
    async with open_store(url) as store:
        await fill(await store.log("mgp-audit"), 2)


def to_nowhere(path: Path) -> list[str]:
    return ["verify", "--store", f"sqlite:///{path}/none.db"]


MISTAKES: list[tuple[Callable[[Path], list[str]], str]] = [
    (lambda path: ["tail"], "Write --store URL, or --folder DIR"),
    (lambda path: ["tail", "--store", "x", "--folder", "y"], "reads one log"),
    (to_nowhere, "there is no such file"),
    (lambda path: ["verify", "--folder", f"{path}/none"], "there is no such folder"),
    (lambda path: ["verify", "--folder", str(path), "--type", "X"], "takes no filters"),
    (lambda path: ["verify", "--folder", str(path), "--known", "5"], "expected SEQ:HASH"),
    (lambda path: ["search", "--folder", str(path), "--follow"], "an option of audit tail"),
    (lambda path: ["search", "--folder", str(path), "--since", "soon"], "--since: expected a date"),
    (lambda path: ["tail", "--folder", str(path), "--lines", "-1"], "a number from 0"),
    (lambda path: ["tail", "--folder", str(path), "--type", "TOOL_BLOKED"], "'TOOL_BLOCKED'?"),
    (lambda path: ["tail", "--folder", str(path), "--result", "blocked"], "mean 'BLOCKED'?"),
    (lambda path: ["tail", "--folder", str(path), "--result", "X"], "SUCCESS, FAILURE, BLOCKED."),
]


def test_mistakes_are_answered_with_a_hint(capsys: Captured, tmp_path: Path, store: str) -> None:
    for words, text in MISTAKES:
        code, _, err = ran(capsys, "audit", *words(tmp_path))
        assert (code, text in err) == (USAGE, True), (text, err)
    code, _, err = ran(capsys, "audit", "verify", "--store", store, "--log", "other")
    assert (code, "The store has no log 'other'" in err) == (USAGE, True)
    assert "mgp-audit" in err
