"""OpenRPC that `kinwire generate` wrote is imported as the whole document that it was made of."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kinwire_codegen.exports.openrpc import openrpc_files
from kinwire_codegen.imports.imported import Imported, ImportSource, UselessFileError
from kinwire_codegen.imports.openrpc import read_openrpc
from kinwire_codegen.lint import RESERVED
from kinwire_codegen.load.document import Documents
from kinwire_codegen.load.loading import load_documents
from tests.each import each

OURS = load_documents(None)
GOLDEN = Path(__file__).parents[1] / "golden" / "schema"
OWN = [
    (documents, name, path, text)
    for documents in (OURS, load_documents(GOLDEN))
    for name in documents.chosen
    for path, text in openrpc_files(documents, documents[name]).items()
]


@each(("documents", "name", "path", "text"), OWN, ids=lambda value: str(value)[:40])
def test_our_own_export_gives_the_whole_document_back(
    documents: Documents, name: str, path: str, text: str, tmp_path: Path
) -> None:
    (tmp_path / "rpc.json").write_text(text)
    found = read_openrpc(ImportSource((tmp_path / "rpc.json",), frozenset(RESERVED)))
    assert found.content == documents[name].content, path
    assert found == Imported(found.content)


def edited(text: str, edit: Callable[[Any], None], folder: Path) -> Path:
    content = json.loads(text)
    edit(content)
    (folder / "rpc.json").write_text(json.dumps(content))
    return folder / "rpc.json"


def test_edits_of_our_own_export_are_read_or_refused(tmp_path: Path) -> None:
    (text,) = (text for _, _, path, text in OWN if path == "openrpc/mcp-server.json")

    def summary(content: Any) -> None:
        content["methods"][0]["summary"] = "Another."

    def method(content: Any) -> None:
        content["methods"].append({"name": "more", "params": []})

    def param(content: Any) -> None:
        one = next(one for one in content["methods"] if one["params"])
        one["params"].append({"name": "more", "schema": {}})

    name = json.loads(text)["methods"][0]["name"]
    found = read_openrpc(ImportSource((edited(text, summary, tmp_path),), frozenset()))
    assert found.content["methods"][name]["summary"] == "Another."
    for edit, why in ((method, "'more' has no entry x-kinwire"), (param, "are not the fields of")):
        with pytest.raises(UselessFileError, match=why):
            read_openrpc(ImportSource((edited(text, edit, tmp_path),), frozenset()))
