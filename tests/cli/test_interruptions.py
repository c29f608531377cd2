"""Ctrl-C at moments at which Python itself would say something about it."""

from __future__ import annotations

import os
import subprocess
import sys
from itertools import product
from pathlib import Path

import pytest
from _pytest.mark.structures import ParameterSet

STARTS = {
    "the module": [sys.executable, "-m", "kinwire"],
    "the script": [str(Path(sys.executable).with_name("kinwire"))],
}
INTERRUPT = "import os, signal, sys\n"
KILL = "os.kill(os.getpid(), signal.SIGINT)"
SERVER = "from kinwire import Server\n\nserver = Server('a', '1')\n"

LOOP = f"""{INTERRUPT}
from asyncio import base_events

class Loop(base_events.BaseEventLoop):
    def __init__(self, *arguments):
        {KILL}

base_events.BaseEventLoop.__init__ = Loop.__init__
"""
IMPORT = f"""{INTERRUPT}
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == NAME:
            {KILL}

sys.meta_path.insert(0, Finder())
"""


MOMENTS = {
    "an event loop is being made": LOOP,
    "before the command is there": IMPORT.replace("NAME", "'kinwire_cli.command'"),
    "a subcommand is loaded": IMPORT.replace("NAME", "'kinwire_cli.target'"),
    "the runtime is loaded": IMPORT.replace("NAME", "'kinwire.mcp.host'"),
}
QUICK = {  # each way to start, and each moment, once
    ("the module", "an event loop is being made"),
    ("the module", "before the command is there"),
    ("the script", "a subcommand is loaded"),
    ("the script", "before the command is there"),
}


def quick_or_slow(start: str, moment: str) -> ParameterSet:
    marks = () if (start, moment) in QUICK else (pytest.mark.slow,)
    return pytest.param(STARTS[start], MOMENTS[moment], id=f"{start}-{moment}", marks=marks)


@pytest.mark.skipif(sys.platform == "win32", reason="needs signals")
@pytest.mark.parametrize(
    ("start", "before"), [quick_or_slow(*one) for one in product(STARTS, MOMENTS)]
)
def test_an_interruption_is_quiet_and_ends_with_130(
    tmp_path: Path, start: list[str], before: str
) -> None:
    (tmp_path / "sitecustomize.py").write_text(before, encoding="utf-8")
    (tmp_path / "a.py").write_text(SERVER, encoding="utf-8")
    command = [*start, "list", str(tmp_path / "a.py")]
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run(
        command, env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


INTERRUPTED = f"{INTERRUPT}{KILL}\n"
# What `run` runs is interrupted as soon as it begins.
RUNNING = f"{INTERRUPT}import anyio\nanyio.run = lambda *_, **__: {KILL}\n{SERVER}server.run()\n"


@pytest.mark.skipif(sys.platform == "win32", reason="needs signals")
@pytest.mark.parametrize(
    ("start", "source"),
    [
        pytest.param("the module", INTERRUPTED, id="the module-imported"),
        pytest.param("the module", RUNNING, id="the module-running", marks=pytest.mark.slow),
        pytest.param("the script", INTERRUPTED, id="the script-imported", marks=pytest.mark.slow),
        pytest.param("the script", RUNNING, id="the script-running", marks=pytest.mark.slow),
    ],
)
def test_a_file_that_is_interrupted_while_it_is_imported_is_not_blamed(
    tmp_path: Path, start: str, source: str
) -> None:
    (tmp_path / "a.py").write_text(source, encoding="utf-8")
    command = [*STARTS[start], "serve", "a.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")
