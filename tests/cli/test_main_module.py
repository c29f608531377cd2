"""`python -m kinwire` is the command."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

COMMAND = str(Path(sys.executable).with_name("kinwire"))


@pytest.mark.parametrize("start", [[sys.executable, "-m", "kinwire"], [COMMAND]])
def test_the_module_and_the_command_end_with_its_code(start: list[str], tmp_path: Path) -> None:
    command = [*start, "no-such-subcommand"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (2, "")
    assert "There is no subcommand 'no-such-subcommand'." in done.stderr
