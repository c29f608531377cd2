"""Programs run in a fresh interpreter, where nothing is loaded yet; a warning there is an error."""

from __future__ import annotations

__all__ = ("PROGRAMS", "ROOT", "run")

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
PROGRAMS = Path(__file__).with_name("programs")


def run(*arguments: str, given: str = "") -> str:
    """Return what `python -W error ARGUMENTS` prints when it is given that standard input."""
    done = subprocess.run(
        [sys.executable, "-W", "error", *arguments],
        input=given,
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
