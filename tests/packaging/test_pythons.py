"""Newer Pythons are found by what they answer, on the PATH and among the versions of pyenv."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import noxfile

MINOR = sys.version_info[1]


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """A folder on the PATH, and that of pyenv's versions; nothing else is looked at."""
    on_path, versions = tmp_path / "bin", tmp_path / "pyenv" / "versions"
    on_path.mkdir()
    versions.mkdir(parents=True)
    monkeypatch.setenv("PATH", str(on_path))
    monkeypatch.setenv("PYENV_ROOT", str(versions.parent))
    return on_path, versions


def interpreter(path: Path, script: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    path.chmod(0o755)
    return path


def test_one_on_the_path_and_one_of_pyenv_are_found(places: tuple[Path, Path]) -> None:
    on_path, versions = places
    first = interpreter(on_path / f"python3.{MINOR + 1}", f"echo 3 {MINOR + 1}")
    folder = versions / f"3.{MINOR + 2}.0" / "bin"
    second = interpreter(folder / f"python3.{MINOR + 2}", f"echo 3 {MINOR + 2}")
    assert noxfile.newer_pythons() == {(3, MINOR + 1): first, (3, MINOR + 2): second}


@pytest.mark.parametrize(
    ("name", "script"),
    [
        pytest.param(f"python3.{MINOR + 1}", "echo not active >&2; exit 127", id="a shim"),
        pytest.param(f"python3.{MINOR + 1}", "echo hello", id="it answers something else"),
        pytest.param(f"python3.{MINOR + 1}", f"echo 3 {MINOR}", id="it is not newer"),
        pytest.param(f"python3.{MINOR + 1}-config", f"echo 3 {MINOR + 1}", id="no interpreter"),
    ],
)
def test_an_interpreter_without_a_newer_version_is_skipped(
    places: tuple[Path, Path], name: str, script: str
) -> None:
    interpreter(places[0] / name, script)
    assert noxfile.newer_pythons() == {}


def test_a_shim_does_not_hide_one_that_answers(places: tuple[Path, Path]) -> None:
    on_path, versions = places
    name = f"python3.{MINOR + 1}"
    interpreter(on_path / name, "exit 127")
    real = interpreter(versions / f"3.{MINOR + 1}.2" / "bin" / name, f"echo 3 {MINOR + 1}")
    assert noxfile.newer_pythons() == {(3, MINOR + 1): real}
