"""What `kinwire help` and `--help` show."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path

import pytest

from kinwire_cli.command import _parse  # pyright: ignore[reportPrivateUsage]
from kinwire_cli.subcommand import load_subcommand, subcommand_names
from tests.cli.fixtures_scripts import Captured, ran
from tests.each import each

ROOT = Path(__file__).parents[2]
GROUPS = [
    "use a server",
    "serve",
    "kernel",
    "protocols and generation",
    "recordings",
    "storage",
    "security",
]
NOTES = """
from kinwire import Server

server = Server("notes", "1.0")

@server.tool
async def add_note(text: str) -> int:
    return len(text)

if __name__ == "__main__":
    server.run()
"""
QUICK = ("call", "list", "describe", "validate", "rule", "tap", "doctor", "new")
"""Subcommands whose examples end by themselves."""
ABSENT = ("127.0.0.1", "kinwire tap -- ")  # a server that has to run, and a host that has to write


def examples() -> list[tuple[str, str]]:
    return [(name, line) for name in subcommand_names() for line in load_subcommand(name).examples]


def commands_in(line: str) -> Iterator[list[str]]:
    """Yield the words of each `kinwire` command, also of one that another starts after `--`."""
    words = shlex.split(line.replace("|", " ; ").replace("<", " ; "))
    while "kinwire" in words:
        words = words[words.index("kinwire") + 1 :]
        yield words[: words.index(";")] if ";" in words else words


def parsed(words: list[str]) -> Namespace:
    return _parse(load_subcommand(words[0]), words[1:])


def test_the_overview_shows_groups_in_order(capsys: Captured) -> None:
    code, out, err = ran(capsys, "help")
    assert (code, err) == (0, "")
    headings = re.findall(r"^([a-z ]+):$", out, re.MULTILINE)
    assert headings == ["options", *GROUPS, "exit codes"]
    assert ran(capsys, "--help") == (0, out, "")


def test_no_arguments_print_the_overview_to_stderr_and_end_with_2(capsys: Captured) -> None:
    overview = ran(capsys, "help")[1]
    assert ran(capsys) == (2, "", overview)


@each("name", subcommand_names())
def test_help_of_a_subcommand_has_examples_and_exit_codes(capsys: Captured, name: str) -> None:
    code, out, err = ran(capsys, "help", name)
    assert (code, err) == (0, "")
    assert f"\nexamples:\n  {load_subcommand(name).examples[0]}\n" in out
    assert re.search(r"\nexit codes:\n  0 .*\n(  .*\n)*?  2 .*\n(  .*\n)*?  130 ", out)
    assert ran(capsys, name, "--help") == (0, out, "")


def test_subcommands_that_use_a_server_list_the_codes_of_its_failures(capsys: Captured) -> None:
    for name in ("call", "list", "doctor", "inspect", "replay", "demo"):
        assert "  4    the server could not be reached\n" in ran(capsys, "help", name)[1]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["cal"], "There is no subcommand 'cal'.\nhint: Did you mean 'call'?"),
        (["call", "list"], "kinwire help takes one subcommand.\nhint: kinwire help call"),
    ],
)
def test_help_of_something_else_ends_with_2(
    capsys: Captured, words: list[str], message: str
) -> None:
    code, out, err = ran(capsys, "help", *words)
    assert (code, out) == (2, "")
    assert message in err


def test_a_slip_in_help_is_recognized(capsys: Captured) -> None:
    assert "Did you mean 'help'?" in ran(capsys, "halp")[2]


@each(("name", "line"), examples())
def test_an_example_parses(name: str, line: str) -> None:
    commands = list(commands_in(line))
    assert name in [words[0] for words in commands]
    for words in commands:
        parsed(words)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="examples are for a POSIX shell")
@pytest.mark.parametrize(
    "line",
    [
        line
        for name in QUICK
        for line in load_subcommand(name).examples
        if not any(absent in line for absent in ABSENT)
    ],
)
def test_an_example_works(
    tmp_path: Path, line: str, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "notes.py").write_text(NOTES, encoding="utf-8")
    message = '{"jsonrpc": "2.0", "id": 1, "method": "ping"}\n'
    (tmp_path / "session.jsonl").write_text(message, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    code, err = by_a_shell(line) if set(line) & set("|<") else in_this_process(line, capsys)
    assert (code, "Traceback" in err) == (0, False), err


def by_a_shell(line: str) -> tuple[int, str]:
    done = subprocess.run(["sh", "-c", line], capture_output=True, text=True, timeout=60)
    return done.returncode, done.stderr


def in_this_process(line: str, capsys: Captured) -> tuple[int, str]:
    """Run the command without the time that another Python takes to load it."""
    kinwire, *words = shlex.split(line)
    assert kinwire == "kinwire"
    code, _, err = ran(capsys, *words)
    return code, err


@pytest.mark.parametrize("columns", [50, 80, 120])
@pytest.mark.parametrize("name", ["", *subcommand_names()])
def test_help_fits_the_width_except_for_examples(
    capsys: Captured, monkeypatch: pytest.MonkeyPatch, name: str, columns: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    _, out, _ = ran(capsys, "help", *filter(None, [name]))
    shown = [line for line in out.splitlines() if not line.startswith("  ") or name == ""]
    assert [line for line in shown if len(line) > columns] == []


def test_the_usage_is_wrapped_between_its_brackets(
    capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "55")
    _, out, _ = ran(capsys, "help", "store")
    assert out.startswith(
        "usage: kinwire store check URL [--timeout SECONDS]\n"
        "       kinwire store export URL [FILE]\n"
        "                     [--timeout SECONDS]\n"
        "       kinwire store import URL [FILE]\n"
        "                     [--timeout SECONDS]\n\n"
    )


def test_headings_are_bold_where_stdout_takes_colour(
    capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    plain = ran(capsys, "help", "rule")[1]
    monkeypatch.setenv("FORCE_COLOR", "1")
    out = ran(capsys, "help", "rule")[1]
    assert out.startswith("\x1b[1musage:\x1b[0m kinwire rule")
    assert "\n\x1b[1mexamples:\x1b[0m\n" in out
    assert re.sub(r"\x1b\[\d+m", "", out) == plain


def test_the_page_has_every_exit_code(capsys: Captured) -> None:
    page = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    codes = ran(capsys, "help")[1].partition("exit codes:\n")[2].split("\n\n")[0]
    for code in re.findall(r"^  (\d+)", codes, re.MULTILINE):
        assert re.search(rf"^\| [\d, ]*\b{code}\b", page, re.MULTILINE)


@each("words", [["help"], ["help", "call"], ["list", "--help"]])
def test_help_loads_no_runtime_and_no_pydantic(words: list[str]) -> None:
    program = (
        "import sys; from kinwire_cli import main\n"
        f"try: main({words!r})\n"
        "except SystemExit: pass\n"
        "loaded = {'anyio', 'asyncio', 'pydantic', 'jinja2', 'kinwire.mcp.server'}\n"
        "print(loaded & set(sys.modules), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stderr == "set()\n"


def test_a_command_finds_its_configuration_without_pydantic() -> None:
    program = "import sys; import kinwire.mgp.kernel.config_place; print('pydantic' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("False\n", "")
