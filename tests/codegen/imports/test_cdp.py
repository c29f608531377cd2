"""Files of Chrome DevTools as one document: written for these tests, in the official form."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kinwire_cli import main

BROWSER: dict[str, Any] = {
    "version": {"major": "7", "minor": "2"},
    "domains": [
        {
            "domain": "Shelf",
            "experimental": True,
            "types": [
                {"id": "BookId", "type": "string", "description": "Of a book."},
                {
                    "id": "Book",
                    "type": "object",
                    "properties": [
                        {"name": "id", "$ref": "BookId"},
                        {"name": "pages", "type": "array", "items": {"type": "any"}},
                        {"name": "cover", "type": "binary", "optional": True},
                        {"name": "size", "type": "string", "enum": ["small", "large"]},
                    ],
                },
                {"id": "Dust", "type": "number"},
            ],
            "commands": [
                {
                    "name": "get",
                    "parameters": [{"name": "id", "$ref": "BookId", "experimental": True}],
                    "returns": [{"name": "book", "$ref": "Book"}],
                    "deprecated": True,
                },
                {"name": "clear", "redirect": "Other"},
            ],
            "events": [
                {"name": "fell", "parameters": [{"name": "by", "$ref": "Wind.Gust"}]},
            ],
        }
    ],
}
WIND: dict[str, Any] = {
    "version": {"major": "7", "minor": "2"},
    "domains": [{"domain": "Wind", "types": [{"id": "Gust", "type": "integer"}], "commands": []}],
}


@pytest.fixture(scope="module")
def document(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("cdp")
    files: list[str] = []
    for name, content in (("browser.json", BROWSER), ("wind.json", WIND)):
        (folder / name).write_text(json.dumps(content))
        files.append(str(folder / name))
    assert main(["import", "cdp", *files, "--out", str(folder / "out")]) == 0
    return json.loads((folder / "out" / "7.2" / "cdp.json").read_text())


def test_all_files_make_one_document(document: Any) -> None:
    assert document["x-cdp-domains"] == {"Shelf": {"experimental": True}, "Wind": {}}
    assert document["$defs"]["ShelfFellParams"]["properties"]["by"] == {"$ref": "#/$defs/WindGust"}


def test_commands_are_requests_and_events_notifications(document: Any) -> None:
    methods = document["methods"]
    assert {name: (row["kind"], row["from"]) for name, row in methods.items()} == {
        "Shelf.clear": ("request", "client"),
        "Shelf.fell": ("notification", "server"),
        "Shelf.get": ("request", "client"),
    }
    assert methods["Shelf.get"]["deprecated"] is True
    assert methods["Shelf.clear"]["x-cdp-redirect"] == "Other"
    assert methods["Shelf.clear"]["result"] == "#/$defs/EmptyResult"
    assert "params" not in methods["Shelf.clear"]


def test_types_have_their_domain_in_their_name(document: Any) -> None:
    types = document["$defs"]
    assert types["ShelfBook"]["properties"] == {
        "id": {"$ref": "#/$defs/ShelfBookId"},
        "pages": {"type": "array", "items": {}},
        "cover": {"type": "string"},
        "size": {"type": "string", "enum": ["small", "large"]},
    }
    assert types["ShelfBook"]["required"] == ["id", "pages", "size"]
    id_ = types["ShelfGetParams"]["properties"]["id"]
    assert id_ == {"$ref": "#/$defs/ShelfBookId", "x-cdp-experimental": True}
    assert document["records"]["Shelf.Dust"]["type"] == "#/$defs/ShelfDust"


def test_a_file_without_domains_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "x.json").write_text("[]")
    assert main(["import", "cdp", str(tmp_path / "x.json")]) == 2
    assert "it has no list 'domains'." in capsys.readouterr().err
