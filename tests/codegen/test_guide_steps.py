"""The steps of schema/README.md, done as they stand there in a copy of the project.

After them the checks pass that such a change can break, although other files lie in the folder.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from tests.tracked import ROOT, tracked_files

pytestmark = pytest.mark.slow

GUIDE = (ROOT / "schema" / "README.md").read_text(encoding="utf-8")
HEADING = "## Add a method, step by step\n"
OTHERS = ("mcpl", "mgp", "mcpe", "mcp-lite")
"""The documents that get the method of the guide too, with names of their own."""

CONCERNED = (
    *("tests/generated", "tests/spec", "tests/parity/test_map.py", "tests/interop/test_cells.py"),
    *("tests/cli/test_command.py", "tests/codegen/test_writing_a_document.py"),
    *("tests/runtime/rpc/test_negotiated.py", "tests/runtime/mcpl/test_who_sends_what.py"),
    *("tests/runtime/mcpl/test_versions.py", "tests/runtime/mcpl/test_same_everywhere.py"),
    *("tests/test_readme.py", "tests/test_plain_english.py", "tests/test_tracked.py"),
    "--ignore=tests/spec/test_conditions.py",  # of the runtime's files, which nobody has changed
)
"""The tests that look at all methods of a document, the guides, or all files of the project."""
STRAY = "# Notes\n\n```python\nprint('of another project')\n```\n"


def steps() -> list[str]:
    """Return the text of each step."""
    part = GUIDE.partition(HEADING)[2].partition("\n## ")[0]
    return re.split(r"^\d+\. ", part, flags=re.MULTILINE)[1:]


def block(step: str, language: str) -> str:
    (found,) = re.findall(rf"^ *```{language}\n(.*?)^ *```$", step, re.DOTALL | re.MULTILINE)
    return textwrap.dedent(found)


def commands(step: str) -> list[str]:
    return [text for text in re.findall(r"`([^`]+)`", step) if text.startswith(("kinwire", "nox"))]


def run(folder: Path, *command: str) -> str:
    """Run a command of Python's in the copy; return what it prints."""
    places = os.pathsep.join(str(folder / name) for name in ("runtime", "generated", "codegen"))
    done = subprocess.run(
        [sys.executable, *command],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": places},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        timeout=280,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


def run_tests(folder: Path, *paths: str) -> str:
    # An assertion that fails in the copy fails in the project, where it is explained.
    quietly = ("-q", "--no-header", "--tb=short", "-p", "no:cacheprovider", "--assert=plain")
    return run(folder, "-m", "pytest", *quietly, *paths)


def insert(document: Path, table: str, entries: str) -> None:
    """Write entries at the head of a table, as somebody with an editor would."""
    text = document.read_text(encoding="utf-8")
    opened = f'\n  "{table}": {{\n'
    assert text.count(opened) == 1
    indented = textwrap.indent(entries.rstrip("\n"), "    ")
    document.write_text(text.replace(opened, f"{opened}{indented},\n"), encoding="utf-8")


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy of the project, with the specifications next to it if they are here."""
    folder = tmp_path / "project"
    for file in tracked_files():
        target = folder / file.relative_to(ROOT)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, target)
    shared = ROOT.parent / "shared"
    if shared.is_dir():
        (tmp_path / "shared").symlink_to(shared)
    return folder


@pytest.fixture
def edited(copy: Path) -> Path:
    """The copy after the first two steps."""
    types, row = (block(step, "json") for step in steps()[:2])
    for name in ("mcp", *OTHERS):
        own = "" if name == "mcp" else name.replace("-", "")
        document = copy / "schema" / f"{name}.json"
        insert(document, "$defs", types.replace("Echo", f"{own.title()}Echo"))
        insert(document, "methods", named(row, own))
    return copy


def named(row: str, own: str) -> str:
    return row.replace("Echo", f"{own.title()}Echo").replace("demo/", f"{own}-demo/".lstrip("-"))


def test_there_are_five_steps_and_each_command_in_them_is_run() -> None:
    assert len(steps()) == 5
    found = [line for step in steps() for line in commands(step)]
    assert found == ["kinwire lint", "kinwire generate", "nox"]


def test_after_the_steps_of_the_guide_the_checks_pass(edited: Path) -> None:
    add_files_of_others(edited)
    _, _, generating, using, _ = steps()
    for line in commands(generating):
        run(edited, "-m", *shlex.split(line))
    (edited / "echo.py").write_text(block(using, "python") + TRIED, encoding="utf-8")
    assert run(edited, "echo.py") == "hi\n"
    (edited / "echo.py").unlink()
    # The last step is `nox`: of its sessions what the change can break.
    for session in ("lint", "check"):
        run(edited, "-m", "nox", "-s", session)
    run_tests(edited, *CONCERNED)
    run(edited, "-m", "kinwire", "docs", "build")


def add_files_of_others(folder: Path) -> None:
    """Put files into the project that git does not track."""
    subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
    subprocess.run(["git", "add", "."], cwd=folder, check=True)
    for place in ("venv/lib", ".venv2/lib", "node_modules/x", "docs/notes"):
        (folder / place).mkdir(parents=True)
        (folder / place / "README.md").write_text(STRAY, encoding="utf-8")
        (folder / place / "x.py").write_text("import os,sys\n", encoding="utf-8")
    (folder / "docs" / "scratch.md").write_text(STRAY, encoding="utf-8")


TRIED = """

import asyncio
from kinwire_protocols.base import to_wire


class FakePeer:
    async def call(self, method, params):
        return method.decode_result(await Echo().dispatch(method.name, to_wire(params)))


print(asyncio.run(ask(FakePeer())).text)
"""
