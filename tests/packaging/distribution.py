"""Build the distribution and install it where nothing else is installed."""

from __future__ import annotations

__all__ = ("ROOT", "Installed", "build", "install")

import os
import subprocess
import sys
import venv
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]

# 1980-01-01 is the oldest day that a zip can hold; any fixed day does.
FIXED_DAY = "315532800"

TIMEOUT = 300.0  # seconds; downloads on a slow line, and then still an end


@dataclass(frozen=True)
class Installed:
    """A virtual environment that holds the wheel and what it asked for."""

    python: Path

    @property
    def scripts(self) -> Path:
        return self.python.parent

    def run(self, *command: str, cwd: Path) -> subprocess.CompletedProcess[str]:
        """Run `command` as a user would who has this environment and no checkout."""
        kept = {name: os.environ[name] for name in ("HOME", "LANG", "TMPDIR") if name in os.environ}
        path = os.pathsep.join([str(self.scripts), os.defpath])
        return run(command, cwd=cwd, env={**kept, "PATH": path})


def build(out: Path, *what: str) -> dict[str, Path]:
    """Build into `out`; return the files by suffix (`.whl`, `.gz`).

    Without `what` the wheel is made from the sdist, as an index's users would have to.
    """
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(out), *what]
    run((*command, str(ROOT)), cwd=out, env={**os.environ, "SOURCE_DATE_EPOCH": FIXED_DAY})
    return {file.suffix: file for file in out.iterdir()}


def install(requirement: str, where: Path) -> Installed:
    """Install `requirement` into a new virtual environment at `where`."""
    venv.create(where, symlinks=True)
    python = where / "bin" / "python"
    pip = (sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet")
    run((*pip, requirement), cwd=where)
    return Installed(python)


def run(
    command: tuple[str, ...], *, cwd: Path, env: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run `command` to its end; when it fails, its output is in the message."""
    done = subprocess.run(
        command,
        cwd=cwd,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=TIMEOUT,
    )
    assert done.returncode == 0, f"{command} ended with {done.returncode}:\n{done.stdout}"
    return done
