"""Tests look at the files of the project, and not at what else lies in its folder."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.tracked import ROOT, tracked_files

SETTINGS = '[tool.hatch.build.targets.sdist]\ninclude = ["docs", "README.md"]\n'
OURS = ["README.md", "docs/guide.md", "pyproject.toml"]
STRAY = [
    "docs/node_modules/x/README.md",
    "docs/venv/lib/y.md",
    *("venv/lib/y.md", ".venv2/lib/y.md", "node_modules/x/README.md", "site/index.md"),
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A project with an environment, installed packages and a site in its folder."""
    for name in (*OURS, *STRAY):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("text", encoding="utf-8")
    (tmp_path / "pyproject.toml").write_text(SETTINGS, encoding="utf-8")
    (tmp_path / "docs/venv/pyvenv.cfg").touch()
    return tmp_path


def names(folder: Path) -> list[str]:
    return [file.relative_to(folder).as_posix() for file in tracked_files(folder)]


def git(folder: Path, *words: str) -> None:
    subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True)


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not on the PATH")
def test_in_a_checkout_they_are_what_git_tracks(folder: Path) -> None:
    git(folder, "init", "-q")
    git(folder, "add", *OURS, "docs/venv/lib/y.md")
    (folder / "docs/venv/lib/y.md").unlink()
    assert names(folder) == OURS


def test_without_git_they_are_what_an_sdist_includes(folder: Path) -> None:
    assert names(folder) == OURS


def test_a_project_that_lies_in_the_repository_of_another_is_an_sdist(folder: Path) -> None:
    (folder / "inner").mkdir()
    git(folder, "init", "-q")
    for name in OURS:
        (folder / "inner" / name).parent.mkdir(exist_ok=True)
        shutil.copy(folder / name, folder / "inner" / name)
    assert names(folder / "inner") == OURS


def test_no_test_walks_the_whole_folder() -> None:
    walks = re.compile(r"\bROOT\.(?:rglob|glob|iterdir|walk)\(|os\.walk\((?:str\()?ROOT\)")
    code = [file for file in tracked_files() if file.suffix == ".py"]
    found = [file for file in code if walks.search(file.read_text(encoding="utf-8"))]
    assert [str(file.relative_to(ROOT)) for file in found] == []
