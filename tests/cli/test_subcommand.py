"""Where subcommands are found: ours in a table, those of other packages by their entry points."""

from __future__ import annotations

import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from kinwire_cli.subcommand import _others
from tests.cli.fixtures_scripts import Captured, ran
from tests.codegen.documents import SCHEMA

GREET = """
class Greet:
    name, summary, group, exit_codes, examples = "greet", "greet somebody", "greetings", {}, ()

    @staticmethod
    def configure(parser):
        parser.add_argument("whom")

    def run(self, arguments):
        print("hello", arguments.whom)
        return 3
"""


def test_any_package_can_add_subcommands_but_not_replace_one(
    capsys: Captured, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "greeting_commands.py").write_text(GREET, encoding="utf-8")
    metadata = tmp_path / "greeting_commands-1.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Name: greeting-commands\nVersion: 1\n", encoding="utf-8")
    entries = (
        "[kinwire.subcommands]\ngreet = greeting_commands:Greet\nlint = greeting_commands:No\n"
        "half = greeting_commands:No\ngone = greeting_commands_gone:Greet\n"
    )
    (metadata / "entry_points.txt").write_text(entries, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr("kinwire_cli.subcommand._others", cache(_others.__wrapped__))
    assert ran(capsys, "greet", "you") == (3, "hello you\n", "")
    overview = " ".join(ran(capsys, "--help")[1].split())
    assert " greet greet somebody " in overview
    assert " half (AttributeError: module 'greeting_commands' has no attribute 'No') " in overview
    assert " gone (ModuleNotFoundError: No module named 'greeting_commands_gone') " in overview
    assert ran(capsys, "--version")[0] == 0
    assert ran(capsys, "lint", "--schema", str(SCHEMA))[0] == 0


def test_a_subcommand_of_ours_is_found_without_reading_what_is_installed() -> None:
    code = (
        "import sys; from kinwire_cli import main\n"
        "try: main(['lint', '--help'])\n"
        "finally: assert 'importlib.metadata' not in sys.modules"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
