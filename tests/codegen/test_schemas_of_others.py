"""Documents that others wrote: nothing outside them is read, and no pattern hangs."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from kinwire_codegen.lint import lint
from kinwire_codegen.load.findings import DocumentError
from kinwire_codegen.load.loading import load_documents
from tests.codegen.documents import documents, protocol


@pytest.fixture(autouse=True)
def offline(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: object, **more: object) -> None:
        raise AssertionError("something was fetched")

    monkeypatch.setattr("urllib.request.urlopen", refuse)
    monkeypatch.setattr("socket.socket.connect", refuse)
    monkeypatch.setattr("socket.getaddrinfo", refuse)


@pytest.mark.parametrize("url", ["http://127.0.0.1:1/x.json", "file:///etc/passwd"])
def test_a_reference_of_a_document_to_a_url_is_a_finding(url: str, tmp_path: Path) -> None:
    thing: dict[str, Any] = {"description": "A type.", "type": "object", "examples": [{"a": 1}]}
    thing["properties"] = {"a": {"$ref": url}}
    with pytest.raises(DocumentError, match="Write a value such as"):
        documents(tmp_path, protocol(types={"Thing": thing}))


@pytest.mark.parametrize("url", ["http://127.0.0.1:1/x.json", "file:///etc/passwd"])
def test_a_reference_of_a_meta_schema_to_a_url_is_not_followed(url: str, tmp_path: Path) -> None:
    documents(tmp_path, protocol())
    (tmp_path / "meta.schema.json").write_text(json.dumps({"$ref": url}), encoding="utf-8")
    with pytest.raises(DocumentError, match=f"a reference leads nowhere: {re.escape(url)}"):
        load_documents(tmp_path)


@pytest.mark.parametrize("rule", [False, {"type": "integer", "examples": []}])
def test_a_meta_schema_may_lack_examples(rule: Any, tmp_path: Path) -> None:
    documents(tmp_path, protocol())
    meta = {"properties": {"title": rule}}
    (tmp_path / "meta.schema.json").write_text(json.dumps(meta), encoding="utf-8")
    with pytest.raises(DocumentError, match=r"See meta|of that type"):
        load_documents(tmp_path)


def test_an_example_that_its_pattern_would_hang_on_is_a_finding(tmp_path: Path) -> None:
    text = {"description": "A type.", "type": "string", "pattern": "^(a+)+$"}
    types = {"Thing": {**text, "examples": ["a" * 5000 + "!"]}}
    (found,) = lint(documents(tmp_path, protocol(types=types)))
    assert "does not match" in str(found)
