"""`kinwire tap` as a host sees it: bytes, ends, signals and exit codes as without it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from kinwire_cli import main
from tests.runtime.fixtures_wire import Wire

ECHO = """
import sys
print("started", file=sys.stderr, flush=True)
sys.stdout.buffer.write(sys.stdin.buffer.read())
sys.exit(3)
"""
STUBBORN = """
import signal, sys, time
signal.signal(signal.SIGTERM, lambda *_: sys.exit(7))
print("ready", file=sys.stderr, flush=True)
time.sleep(60)
"""
ODD = b'{"jsonrpc":"2.0","id":1,"method":"ping"}\r\nhello \xff\n\n[1]\nno newline'


def tap(*words: str) -> list[str]:
    return [sys.executable, "-m", "kinwire", "tap", *words]


def program(source: str) -> list[str]:
    return ["--", sys.executable, "-c", source]


def recorded(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_every_byte_passes_and_every_frame_is_recorded(tmp_path: Path) -> None:
    done = subprocess.run(
        tap(*program(ECHO)), cwd=tmp_path, input=ODD, capture_output=True, timeout=60
    )
    assert (done.stdout, done.returncode) == (ODD, 3)
    assert done.stderr == b"started\nwrote session.jsonl (8 frames, 6 invalid)\n"
    lines = recorded(tmp_path / "session.jsonl")
    assert [line["from"] for line in lines] == ["client"] * 4 + ["server"] * 4
    assert [line.get("unreadable") for line in lines[:4]] == [
        None, "hello \ufffd", None, "no newline"
    ]  # fmt: skip


@pytest.mark.slow
def test_bytes_pass_immediately(tmp_path: Path) -> None:
    with Wire(*tap("--", "cat"), cwd=tmp_path) as wire:
        assert wire.process.stdout is not None
        for part in (b"{", b'"a": ', b"1}\n"):
            wire.write(part)
            assert os.read(wire.process.stdout.fileno(), 100) == part
        wire.close_input()
        assert wire.exit_code() == 0
    assert len(recorded(tmp_path / "session.jsonl")) == 2


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        ([], 2, "No command is named."),
        (["python", "my notes.py"], 2, "hint: kinwire tap -- python 'my notes.py'"),
        (["python", "--", "notes.py"], 2, "hint: kinwire tap -- python notes.py"),
        (["--", "no-such-program"], 4, "error: Cannot start 'no-such-program': No such file"),
        (["--", "no-such-program"], 4, "hint: Install 'no-such-program', or name it"),
        (["--out", "none/a.jsonl", "--", "cat"], 2, "error: none/a.jsonl: No such file"),
    ],
)
def test_what_cannot_begin_says_why_and_leaves_nothing(
    words: list[str],
    code: int,
    message: str,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["tap", *words]) == code
    assert message in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.slow
def test_a_session_outlives_its_recording(tmp_path: Path) -> None:
    command = tap("--out", "/dev/full", "--", "cat")
    done = subprocess.run(command, cwd=tmp_path, input=ODD, capture_output=True, timeout=60)
    assert (done.stdout, done.returncode) == (ODD, 1)
    assert done.stderr.decode().splitlines() == [
        "warning: /dev/full: No space left on device; the session goes on unrecorded",
        "wrote /dev/full (0 frames, not complete)",
    ]


@pytest.mark.parametrize(
    ("source", "code"),
    [
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", 137),
        pytest.param("import os; os.close(1); os._exit(5)", 5, marks=pytest.mark.slow),
    ],
)
def test_the_command_s_end_is_the_tap_s(source: str, code: int, tmp_path: Path) -> None:
    # Its input stays open, as that of a host that waits does.
    with Wire(*tap(*program(source)), cwd=tmp_path) as wire:
        assert wire.remaining() == b""
        assert wire.exit_code() == code


def test_a_signal_is_passed_on(tmp_path: Path) -> None:
    with Wire(*tap(*program(STUBBORN)), cwd=tmp_path) as wire:
        wire.hear(b"ready\n")
        wire.process.send_signal(signal.SIGTERM)
        assert wire.exit_code() == 7


@pytest.mark.slow
def test_a_signal_that_comes_as_soon_as_the_command_runs_is_passed_on_too(tmp_path: Path) -> None:
    source = "trap 'exit 7' TERM; kill -TERM $PPID; while :; do sleep 0.02; done"
    command = tap("--", "sh", "-c", source)
    assert subprocess.run(command, cwd=tmp_path, capture_output=True).returncode == 7


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the end of its input has to do")
def test_the_command_does_not_outlive_a_tap_that_is_killed(tmp_path: Path) -> None:
    with Wire(*tap(*program(STUBBORN)), cwd=tmp_path) as wire:
        wire.hear(b"ready\n")
        wire.process.kill()
        assert wire.words() == b"ready\n"  # the command has held stderr open
