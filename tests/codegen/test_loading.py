"""Documents that are read are checked against the meta-schema, also those that the package has."""

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
    """Install a package that was made of a document with a fault."""
    package = tmp_path / "installed" / "kinwire_protocols"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    kept = {"meta": META, "documents": {"toy": FAULTY}}
    (package / "schema.json").write_text(json.dumps(kept), encoding="utf-8")
    monkeypatch.delitem(sys.modules, "kinwire_protocols", raising=False)
    monkeypatch.syspath_prepend(package.parent)


@pytest.mark.parametrize(
    ("content", "meta"),
    [
        pytest.param(FAULTY, META, id="a document that the installed package brings"),
        pytest.param(FAULTY | {"version": "2"}, META, id="another document"),
        pytest.param(FAULTY, META | {"title": "Another"}, id="another meta-schema"),
    ],
)
def test_a_fault_is_found(content: dict[str, Any], meta: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(DocumentError, match="/title"):
        load_documents(written(tmp_path / "schema", content, meta))


def test_a_meta_schema_that_only_python_calls_equal_is_checked(tmp_path: Path) -> None:
    meta = json.loads(json.dumps(META).replace('"minItems": 1', '"minItems": true'))
    assert meta == META
    with pytest.raises(DocumentError, match=r"meta\.schema\.json.*it is not a JSON Schema"):
        load_documents(written(tmp_path / "schema", protocol(), meta))


@pytest.mark.parametrize("title", ["Ours", "Another"])
def test_without_a_fault_the_documents_are_returned(title: str, tmp_path: Path) -> None:
    folder = written(tmp_path / "schema", protocol(), META | {"title": title})
    assert load_documents(folder).chosen == ("toy",)
