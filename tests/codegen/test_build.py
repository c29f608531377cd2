"""Writing and comparing: whole files or none, nothing of the user's touched."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from kinwire_codegen.atomic_files import FileChange, apply_changes
from kinwire_codegen.build import build, changes
from kinwire_codegen.emit.package import OWNED
from kinwire_codegen.load.findings import DocumentError
from tests.codegen.documents import documents, protocol

MADE = {"toy/a.py": f'"""A. Generated {OWNED}."""\n', "toy/py.typed": ""}


def test_a_second_writing_changes_nothing(tmp_path: Path) -> None:
    apply_changes(changes(MADE, tmp_path), tmp_path)
    assert changes(MADE, tmp_path) == []


def test_unchanged_files_keep_their_time(tmp_path: Path) -> None:
    apply_changes(changes(MADE, tmp_path), tmp_path)
    os.utime(tmp_path / "toy/a.py", (1, 1))
    apply_changes(changes(MADE | {"toy/b.py": MADE["toy/a.py"]}, tmp_path), tmp_path)
    assert (tmp_path / "toy/a.py").stat().st_mtime == 1


def test_a_generated_file_that_nothing_makes_any_more_goes(tmp_path: Path) -> None:
    old = tmp_path / "toy" / "old.py"
    old.parent.mkdir()
    old.write_text(MADE["toy/a.py"])
    found = changes(MADE, tmp_path)
    assert FileChange("toy/old.py", MADE["toy/a.py"], None) in found
    apply_changes(found, tmp_path)
    assert not old.exists()


def test_a_file_of_the_user_is_left_alone(tmp_path: Path) -> None:
    own = tmp_path / "toy" / "own.py"
    own.parent.mkdir()
    own.write_text("x = 1\n")
    apply_changes(changes(MADE, tmp_path), tmp_path)
    assert own.read_text() == "x = 1\n"


def test_a_file_of_the_user_in_the_way_is_a_finding_and_nothing_is_written(tmp_path: Path) -> None:
    own = tmp_path / "toy" / "a.py"
    own.parent.mkdir()
    own.write_text("x = 1\n")
    with pytest.raises(DocumentError, match=r"toy/a\.py#: is not a generated file\. Move it"):
        changes(MADE, tmp_path)
    assert own.read_text() == "x = 1\n"
    assert sorted(path.name for path in own.parent.iterdir()) == ["a.py"]


def test_an_edited_generated_file_is_restored(tmp_path: Path) -> None:
    apply_changes(changes(MADE, tmp_path), tmp_path)
    (tmp_path / "toy/a.py").write_text(MADE["toy/a.py"] + "x = 1\n")
    apply_changes(changes(MADE, tmp_path), tmp_path)
    assert (tmp_path / "toy/a.py").read_text() == MADE["toy/a.py"]


def test_files_get_the_usual_permissions(tmp_path: Path) -> None:
    apply_changes(changes(MADE, tmp_path), tmp_path)
    neighbour = tmp_path / "neighbour"
    neighbour.touch()
    assert (tmp_path / "toy/a.py").stat().st_mode == neighbour.stat().st_mode


def test_what_is_being_done_is_said(tmp_path: Path) -> None:
    said: list[str] = []
    build(documents(tmp_path, protocol()), "toy_bindings", said=said.append)
    assert said == [
        "checking the documents",
        "making the models",
        "writing rows, stubs, handlers and pages",
        "laying out",
    ]


def test_a_protocol_without_types_and_methods_builds(tmp_path: Path) -> None:
    files = build(documents(tmp_path, protocol()), "toy_bindings")
    assert {path for path in files if path.startswith("toy_bindings/toy/")} == {
        "toy_bindings/toy/__init__.py",
        "toy_bindings/toy/errors.py",
        "toy_bindings/toy/methods.py",
        "toy_bindings/toy/models.py",
    }
