"""`python -m kinwire` is the command."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import kinwire


@pytest.mark.parametrize(
    ("arguments", "code", "out"),
    [(["--version"], 0, f"kinwire {kinwire.__version__}\n"), (["no-such-verb"], 2, "")],
)
def test_the_module_does_what_the_command_does(
    arguments: list[str], code: int, out: str, tmp_path: Path
) -> None:
    command = str(Path(sys.executable).with_name("kinwire"))
    for start in ([sys.executable, "-m", "kinwire"], [command]):
        done = subprocess.run(
            [*start, *arguments], cwd=tmp_path, capture_output=True, text=True, timeout=60
        )
        assert (done.returncode, done.stdout) == (code, out)
