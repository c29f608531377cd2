"""What the guide says of completion, in each shell that is here: a line loaded, Tab pressed."""

from __future__ import annotations

import os
import select
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from kinwire_cli.extras import is_installed
from tests.absent import absent

pty = pytest.importorskip("pty", reason="there are terminals on POSIX only")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not is_installed("cli"), reason="needs the extra [cli]"),
]

GUIDE = Path(__file__).parents[2] / "docs" / "install.md"
PATIENCE = 60.0  # seconds without a word of the shell

BASH_OR_ZSH = 'eval "$(register-python-argcomplete kinwire)"'
FISH = "register-python-argcomplete --shell fish kinwire | source"

# How each is started without the files of its user, and what has to be loaded before.
STARTED = {
    "bash": (("--noprofile", "--norc", "-i"), "true"),
    "zsh": (("-f", "-i"), "autoload -U compinit && compinit -u -D"),
}

TRIPS = """
from kinwire import Server

server = Server("trips", "1.0")


@server.tool
async def book(name: str) -> str:
    return f"booked for {name}"
"""


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    (tmp_path / "trips.py").write_text(TRIPS, encoding="utf-8")
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    return {**os.environ, "PATH": path, "HOME": str(tmp_path), "TERM": "dumb"}


def program(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        absent(f"{name} is not installed")
    return found


class Terminal:
    """A terminal in which a shell runs."""

    def __init__(self, file: int) -> None:
        self._file = file

    def type(self, text: str) -> None:
        os.write(self._file, text.encode())

    def read_until(self, wanted: str) -> None:
        seen = b""
        while wanted.encode() not in seen:
            ready, _, _ = select.select([self._file], [], [], PATIENCE)
            assert ready, f"nothing more after {seen.decode(errors='replace')!r}"
            seen += os.read(self._file, 65536)


@contextmanager
def terminal(command: tuple[str, ...], folder: Path, env: dict[str, str]) -> Iterator[Terminal]:
    ours, its = pty.openpty()
    shell = subprocess.Popen(
        command, cwd=folder, env=env, stdin=its, stdout=its, stderr=its, start_new_session=True
    )
    os.close(its)
    try:
        yield Terminal(ours)
    finally:
        shell.kill()
        shell.wait()
        os.close(ours)


@pytest.mark.parametrize("name", STARTED)
def test_tab_completes_a_verb_a_tool_and_a_member(
    name: str, tmp_path: Path, environment: dict[str, str]
) -> None:
    options, before = STARTED[name]
    with terminal((program(name), *options), tmp_path, environment) as shown:
        shown.type(f"{before}; {BASH_OR_ZSH}; echo load''ed\n")
        shown.read_until("loaded")
        shown.type("kinwire ca\ttrips.py bo\tna\tAda\n")
        shown.read_until("booked for Ada")


def test_fish_completes_a_verb_a_tool_and_a_member(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    lines = ("kinwire ca", "kinwire call trips.py bo", "kinwire call trips.py book na")
    ask = "; ".join(f"complete -C '{line}'" for line in lines)
    done = subprocess.run(
        (program("fish"), "--no-config", "-c", f"{FISH}; {ask}"),
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    words = [line.partition("\t")[0].strip() for line in done.stdout.splitlines()]
    assert words == ["call", "book", "name="], done.stderr


def test_the_guide_has_the_lines_that_are_loaded_here() -> None:
    text = GUIDE.read_text(encoding="utf-8").replace("\\|", "|")  # as it is shown in a table
    assert [line for line in (BASH_OR_ZSH, FISH) if f"`{line}`" not in text] == []
