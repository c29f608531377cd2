"""The files of the project, whatever else lies in its folder: environments, sites, notes."""

from __future__ import annotations

__all__ = ("ROOT", "tracked_files")

import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
SETTINGS = "pyproject.toml"
NOT_OURS = ("__pycache__", "node_modules")


def tracked_files(root: Path = ROOT) -> list[Path]:
    """Return the files that git tracks; without git, in an unpacked sdist, those of an sdist."""
    names = _of_git(root)
    files = _of_sdist(root) if names is None else (root / name for name in names)
    return sorted(file for file in files if file.is_file())


def _of_git(root: Path) -> list[str] | None:
    """Return what git tracks; None if `root` is not a working tree of its own, or git fails."""
    if not (root / ".git").exists():  # a file in a linked working tree
        return None
    command = ["git", "ls-files", "-z"]
    try:
        listed = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return listed.stdout.split("\0")[:-1]


def _of_sdist(root: Path) -> Iterator[Path]:
    settings = tomllib.loads((root / SETTINGS).read_text(encoding="utf-8"))
    for name in settings["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]:
        yield from _below(root / name)
    yield root / SETTINGS  # hatchling adds it to what is listed


def _below(path: Path) -> Iterator[Path]:
    if path.is_file():
        yield path
    elif path.is_dir() and path.name not in NOT_OURS and not (path / "pyvenv.cfg").exists():
        for inner in path.iterdir():
            yield from _below(inner)
