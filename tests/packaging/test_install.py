"""The installed wheel works without a checkout, with and without extras."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import kinwire
from tests.packaging.distribution import ROOT, Installed

pytestmark = pytest.mark.packaging

USER_PROGRAM = """
from kinwire_protocols import mcp
from kinwire_protocols.peer import Peer


async def first_tool(peer: Peer) -> str:
    listed = await mcp.ServerStub(peer).tools_list()
    tool: mcp.Tool = listed.tools[0]
    return tool.name
"""

WRONG_USER_PROGRAM = USER_PROGRAM.replace("return tool.name", "return tool.input_schema")


def contents(folder: Path) -> dict[str, bytes]:
    """Return the files below a folder, but for what Python itself puts there."""
    files = (file for file in folder.rglob("*") if file.is_file() and file.suffix != ".pyc")
    return {str(file.relative_to(folder)): file.read_bytes() for file in files}


def test_a_core_install_has_at_most_eight_distributions(core: Installed, tmp_path: Path) -> None:
    listing = "from importlib.metadata import distributions as d; print(*{x.name for x in d()})"
    names = core.run("python", "-c", listing, cwd=tmp_path).stdout.split()
    assert "kinwire" in names
    assert len(names) <= 8, sorted(names)


def test_the_demo_of_a_core_install_names_the_extra_of_a_skipped_step(
    core: Installed, tmp_path: Path
) -> None:
    shown = core.run("kinwire", "demo", cwd=tmp_path).stdout
    assert "skip" in shown
    assert "kinwire[codegen]" in shown


def test_the_conversation_of_mcpl_is_played_by_a_core_install(
    core: Installed, tmp_path: Path
) -> None:
    shown = core.run("kinwire", "demo", "mcpl", cwd=tmp_path).stdout
    assert "which exited with: memory 0, redaction 0" in shown


def test_the_first_programs_of_the_guides_run_on_a_core_install(
    core: Installed, tmp_path: Path
) -> None:
    for guide in ("README.md", "docs/bindings.md"):
        shown = (ROOT / guide).read_text(encoding="utf-8")
        blocks = re.findall(r"^```python (\S+)\n(.*?)^```$", shown, re.DOTALL | re.MULTILINE)
        for name, text in blocks:
            (tmp_path / name).write_text(text, encoding="utf-8")
    assert core.run("python", "client.py", cwd=tmp_path).stdout == "1\n"
    assert "MethodNotFound" in core.run("python", "alone.py", cwd=tmp_path).stdout


def test_the_command_and_the_module_are_one(core: Installed, tmp_path: Path) -> None:
    expected = f"kinwire {kinwire.__version__}\n"
    assert core.run("kinwire", "--version", cwd=tmp_path).stdout == expected
    assert core.run("python", "-m", "kinwire", "--version", cwd=tmp_path).stdout == expected


def test_the_demo_regenerates_where_the_generator_can_run(
    with_codegen: Installed, tmp_path: Path
) -> None:
    shown = with_codegen.run("kinwire", "demo", cwd=tmp_path).stdout
    assert "skip" not in shown


def test_the_installed_generator_writes_what_is_installed(
    with_codegen: Installed, tmp_path: Path
) -> None:
    with_codegen.run("kinwire", "generate", "--out", ".", cwd=tmp_path)
    where = "import kinwire_protocols as package; print(*package.__path__)"
    installed = Path(with_codegen.run("python", "-c", where, cwd=with_codegen.scripts).stdout[:-1])
    assert contents(tmp_path / "kinwire_protocols") == contents(installed)


@pytest.mark.parametrize(
    ("program", "verdict"), [(USER_PROGRAM, "Success"), (WRONG_USER_PROGRAM, "return-value")]
)
def test_a_type_checker_sees_the_types_of_the_installed_packages(
    core: Installed, tmp_path: Path, program: str, verdict: str
) -> None:
    (tmp_path / "program.py").write_text(program, encoding="utf-8")
    options = ("--strict", "--config-file=", f"--python-executable={core.python}")
    command = (sys.executable, "-m", "mypy", *options, "program.py")
    found = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert verdict in found.stdout
