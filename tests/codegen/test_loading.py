"""Documents that are read: which of them are checked against the meta-schema, and which were."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from kinwire_codegen.load.findings import DocumentError
from kinwire_codegen.load.loading import load_documents
from tests.codegen.documents import SCHEMA, protocol

FAULTY = protocol() | {"title": 1}
META = json.loads((SCHEMA / "meta.schema.json").read_text(encoding="utf-8"))


def written(folder: Path, content: dict[str, Any], meta: dict[str, Any]) -> Path:
    folder.mkdir()
    (folder / "toy.json").write_text(json.dumps(content), encoding="utf-8")
    (folder / "meta.schema.json").write_text(json.dumps(meta), encoding="utf-8")
    return folder


@pytest.fixture(autouse=True)
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Install a package whose document no check would pass."""
    package = tmp_path / "installed" / "kinwire_protocols"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    kept = {"meta": META, "documents": {"toy": FAULTY}}
    (package / "schema.json").write_text(json.dumps(kept), encoding="utf-8")
    monkeypatch.delitem(sys.modules, "kinwire_protocols", raising=False)
    monkeypatch.syspath_prepend(package.parent)


def test_what_the_installed_package_was_made_of_is_not_checked_again(tmp_path: Path) -> None:
    assert load_documents(written(tmp_path / "schema", FAULTY, META)).chosen == ("toy",)


def test_a_check_that_is_asked_for_spares_nothing(tmp_path: Path) -> None:
    with pytest.raises(DocumentError, match="/title"):
        load_documents(written(tmp_path / "schema", FAULTY, META), recheck=True)


@pytest.mark.parametrize(
    ("content", "meta"),
    [
        pytest.param(FAULTY | {"version": "2"}, META, id="another document"),
        pytest.param(FAULTY | {"title": True}, META, id="a value that Python calls equal"),
        pytest.param(FAULTY, META | {"title": "Another"}, id="another meta-schema"),
    ],
)
def test_anything_else_is_checked(
    content: dict[str, Any], meta: dict[str, Any], tmp_path: Path
) -> None:
    with pytest.raises(DocumentError, match="/title"):
        load_documents(written(tmp_path / "schema", content, meta))
