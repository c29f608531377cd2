"""Generated files are replaced whole, and what cannot be written is named."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from kinwire_codegen.atomic_files import FileChange, apply_changes, write_file

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
