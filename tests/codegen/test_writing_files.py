"""Generated files are replaced whole, and what cannot be written is named."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from kinwire_codegen.atomic_files import FileChange, apply_changes, write_file
from kinwire_codegen.load.parsing import DEEPEST, json_text
from tests.each import each

LEFT, IN_USE = ".kinwire-unfinished-a", ".kinwire-unfinished-b"


def test_what_a_killed_run_has_left_is_removed_by_the_next(tmp_path: Path) -> None:
    for name in (LEFT, IN_USE):
        (tmp_path / name).touch()
    os.utime(tmp_path / LEFT, (0, 0))
    apply_changes([FileChange("models.py", None, "x = 1\n")], tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == [IN_USE, "models.py"]


def test_a_folder_where_a_file_belongs_is_named_and_nothing_is_left(tmp_path: Path) -> None:
    (tmp_path / "models.py").mkdir()
    with pytest.raises(OSError, match="directory") as caught:
        apply_changes([FileChange("models.py", None, "x = 1\n")], tmp_path)
    assert caught.value.filename == str(tmp_path / "models.py")
    assert [path.name for path in tmp_path.iterdir()] == ["models.py"]


def test_a_file_keeps_its_permissions_and_a_link_remains_a_link(tmp_path: Path) -> None:
    document, link = tmp_path / "notes.json", tmp_path / "link.json"
    document.touch(0o640)
    link.symlink_to(document)
    write_file(link, "{}\n")
    assert link.is_symlink()
    assert document.read_text(encoding="utf-8") == "{}\n"
    assert document.stat().st_mode & 0o777 == 0o640


def test_nobody_else_reads_the_unfinished_copy_of_a_private_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    modes: list[int] = []
    monkeypatch.setattr(os, "chmod", lambda path, _: modes.append(os.stat(path).st_mode & 0o777))
    (tmp_path / "notes.json").touch(0o600)
    write_file(tmp_path / "notes.json", "{}\n")
    write_file(tmp_path / "new.json", "{}\n")
    assert modes == [0o600]


DEEP: Any = 1
for _ in range(DEEPEST + 3):  # what is written may have a document in it
    DEEP = [{"a": DEEP}]

VALUES: tuple[Any, ...] = (
    *([], {}, [[]], [{}], {"a": []}, {"": {}}, "", True, None, (1, ("b",))),
    *(-0.0, 1.0, 0.1, 0.0001, 1e15, 1e16, 1.5e22, 1.8e308, 2**53 + 1, -(2**64), 2**200),
    *('\b\t\n\f\r"\\/', "\0\x1f", "\xe9\u2028\u2029\ufeff\U0001f600", {"\xe9\n": "\xe9"}),
    {"z": 1, "a": {"y": [1, [2, {"b": None}], {}], "\U0001f600": False}, "m": [[], {}]},
)


@each("value", (*VALUES, pytest.param(DEEP, id="deep")))
def test_text_of_json_has_the_layout_of_the_standard_library(value: Any) -> None:
    for indent in (1, 2):
        for is_ascii in (False, True):
            expected = json.dumps(value, indent=indent, ensure_ascii=is_ascii)
            assert json_text(value, indent=indent, ascii_only=is_ascii) == expected


@each("value", (1e-5, 1.5e-7, -5e-324, "\x7f"))
def test_what_the_standard_library_writes_otherwise_is_read_back(value: Any) -> None:
    assert json.loads(json_text([value], indent=1, ascii_only=True)) == [value]
