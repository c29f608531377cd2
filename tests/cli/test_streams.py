"""The command in the states in which a shell may hand over its streams."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

KINWIRE = f"{sys.executable} -m kinwire"


def shell(command: str, **variables: str) -> tuple[int, str, str]:
    done = subprocess.run(
        command.replace("kinwire", KINWIRE),
        shell=True,
        env={**os.environ, **variables},
        capture_output=True,
        timeout=60,
    )
    return done.returncode, done.stdout.decode(), done.stderr.decode()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.parametrize(
    "words",
    [
        pytest.param("describe ping", id="it fails at the end"),
        pytest.param("list mcp --format json", id="it fails before"),
    ],
)
@pytest.mark.slow
def test_an_answer_that_cannot_be_written_ends_with_2(words: str) -> None:
    message = "error: The answer cannot be written to stdout: No space left on device.\n"
    assert shell(f"kinwire {words} >/dev/full") == (2, "", message)
    assert shell("kinwire --version >/dev/full", PYTHONUNBUFFERED="") == (2, "", message)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.parametrize(
    ("words", "buffered"),
    [
        ("--help", ""),
        pytest.param("--help", "1", marks=pytest.mark.slow),
        pytest.param("--version", "", marks=pytest.mark.slow),
        pytest.param("--version", "1", marks=pytest.mark.slow),
        pytest.param("list --help", "", marks=pytest.mark.slow),
        ("list --help", "1"),
    ],
)
def test_help_that_cannot_be_written_ends_with_2(words: str, buffered: str) -> None:
    message = "error: The answer cannot be written to stdout: No space left on device.\n"
    assert shell(f"kinwire {words} >/dev/full", PYTHONUNBUFFERED=buffered) == (2, "", message)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.parametrize(
    ("words", "code"),
    [
        pytest.param("doctor", 0, marks=pytest.mark.slow),
        ("validate a.jsonl", 1),
        ("lst", 2),
        pytest.param("list --fromat", 2, marks=pytest.mark.slow),
    ],
)
def test_what_stderr_does_not_take_changes_no_exit_code(
    words: str, code: int, tmp_path: Path
) -> None:
    (tmp_path / "a.jsonl").write_text("{}\n", encoding="utf-8")
    assert shell(f"cd {tmp_path} && kinwire {words} 2>/dev/full >/dev/null") == (code, "", "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.slow
def test_a_server_whose_answers_cannot_be_written_ends_with_2() -> None:
    ping = """echo '{"jsonrpc":"2.0","id":1,"method":"ping"}'"""
    message = "error: The answer cannot be written to stdout: No space left on device.\n"
    assert shell(f"{ping} | kinwire serve demo mcp >/dev/full") == (2, "", message)


@pytest.mark.slow
def test_a_server_whose_client_has_left_ends_with_0() -> None:
    ping = """echo '{"jsonrpc":"2.0","id":1,"method":"ping"}'"""
    serving = f"({ping}; sleep 1) | (kinwire serve demo mcp; echo $? >&2)"
    assert shell(f"{serving} | true") == (0, "", "0\n")


def test_a_closed_stdout_ends_with_2() -> None:
    message = "error: stdout is closed.\nhint: > /dev/null discards answers.\n"
    assert shell("kinwire describe ping >&-") == (2, "", message)


@pytest.mark.slow
def test_a_closed_stderr_leaves_answers_clean() -> None:
    code, out, err = shell("kinwire call nothing 2>&-")
    assert (code, out, err) == (2, "", "")


@pytest.mark.slow
def test_a_closed_stdin_is_an_empty_one() -> None:
    assert shell("kinwire serve demo mcp <&-") == (0, "", "")
    assert shell("kinwire validate - <&-")[0] == 2


@pytest.mark.slow
def test_a_sign_that_the_encoding_lacks_is_escaped_as_in_json(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"jsonrpc": "2.0", "id": 1, "method": "é😀"}\n', encoding="utf-8")
    code, out, err = shell(f"kinwire validate {path}", PYTHONIOENCODING="ascii")
    assert (code, err) == (1, "0 good, 1 bad\n")
    assert '"got": "\\"\\\\u00e9\\\\ud83d\\\\ude00\\""' in out
    code, out, err = shell("kinwire describe é😀", PYTHONIOENCODING="ascii")
    assert err.startswith("error: There is no '\\u00e9\\ud83d\\ude00'.\n")


@pytest.mark.slow
def test_a_missing_folder_does_not_crash_the_command(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    code, out, err = shell(
        f"cd {gone} && rmdir {gone} && kinwire call ping -- kinwire serve demo mcp"
    )
    assert (code, out, err) == (0, "{}\n", "")


def test_what_is_written_to_a_pipe_keeps_its_order(tmp_path: Path) -> None:
    (tmp_path / "wrong.jsonl").write_text('{"jsonrpc":"2.0"}\n', encoding="utf-8")
    command = f"kinwire validate {tmp_path / 'wrong.jsonl'} 2>&1 | cat"
    _, said, _ = shell(command, PYTHONUNBUFFERED="")
    assert said.splitlines()[-1] == "0 good, 1 bad", said
