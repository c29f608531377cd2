"""Files that are not what a kind expects: the error names the place, and nothing is written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kinwire_cli import main
from tests.codegen.imports.meta_model import base, prop, structure
from tests.each import each

TYPE = "one of null, boolean, integer, number, string, array, object, or a list of them"
STRUCTURE = structure("Spot", prop("line", base("integer")))
ACP = {"OpenRequest": {"x-method": "open", "x-side": "agent", "type": "object"}, "OpenResponse": {}}
METHODS = ["--methods", "acp", "--as-version", "1"]


def model(**lists: Any) -> dict[str, Any]:
    names = ("requests", "notifications", "structures", "enumerations", "typeAliases")
    return {name: lists.get(name, []) for name in names}


def domain(**lists: Any) -> dict[str, Any]:
    return {"domains": [{"domain": "Page", **lists}]}


def request(name: str, **more: Any) -> dict[str, Any]:
    return {"method": name, "messageDirection": "both", "result": base("null"), **more}


CASES: list[tuple[list[str], Any, str]] = [
    (["lsp"], model(requests=[request("a"), request("a")]), "there are two requests called 'a'"),
    (["lsp"], model(structures=[STRUCTURE, 5]), "number 2 of the structures has no text 'name'"),
    (
        ["lsp"],
        model(structures=[structure("Spot", prop("line", {"kind": "base"}))]),
        "the structure 'Spot' is not well-formed",
    ),
    (
        ["lsp"],
        model(requests=[request("a", messageDirection="up")]),
        "the request 'a' is not well-formed",
    ),
    (
        ["lsp"],
        model(enumerations=[{"name": "Kind", "values": []}]),
        "the enumeration 'Kind' is not well-formed",
    ),
    (["lsp"], model(typeAliases=[{"name": "It"}]), "the alias 'It' is not well-formed"),
    (
        ["cdp"],
        {"domains": [{"domain": "Page"}, {"domain": "Page"}]},
        "there are two domains called 'Page'",
    ),
    (
        ["cdp"],
        domain(commands=[{"name": "x"}], events=[{"name": "x"}]),
        "there are two commands and events of Page called 'x'",
    ),
    (["cdp"], domain(types=[{}]), "number 1 of the types of Page has no text 'id'"),
    (["cdp"], domain(types=[{"id": "T"}]), "the type Page.T is not well-formed"),
    (["cdp"], domain(commands=5), "the commands and events of Page are not a list"),
    (
        ["cdp"],
        domain(commands=[{"name": "x", "parameters": [1]}]),
        "Page.x is not well-formed",
    ),
    (
        ["cdp"],
        domain(types=[{"id": "T", "type": "map"}]),
        f"PageT type: 'map' is not {TYPE}",
    ),
    (
        ["json-schema", *METHODS],
        {"$defs": {**ACP, "OpenResponse": {"minLength": -1}}},
        "OpenResponse minLength: -1 is not a whole number that is not negative",
    ),
    (
        ["json-schema", *METHODS],
        {"$defs": {**ACP, "OpenResponse": 5}},
        "OpenResponse: 5 is not a schema, which is an object",
    ),
    (
        ["openrpc"],
        {"methods": [], "components": {"schemas": {"Pet": {"enum": "a"}}}},
        "Pet enum: 'a' is not a list",
    ),
]


@each(("words", "content", "message"), CASES)
def test_a_malformed_file_is_refused_with_its_place(
    words: list[str],
    content: Any,
    message: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = tmp_path / "given.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    kind, *more = words
    assert main(["import", kind, str(path), "--out", str(tmp_path / "out"), *more]) == 2
    assert f"error: {path}: {message}." in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


RPC = {"openrpc": "1.3.2", "info": {"title": "Pets", "version": "1"}, "methods": []}


def test_two_files_that_would_become_one_document_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = [tmp_path / "a.json", tmp_path / "b.json"]
    for path, name in zip(paths, ("tea", "cake"), strict=True):
        content = {**RPC, "methods": [{"name": name, "params": []}]}
        path.write_text(json.dumps(content), encoding="utf-8")
    assert main(["import", "openrpc", *map(str, paths), "--out", str(tmp_path / "out")]) == 2
    assert "pets.json: it would be made of two files that differ." in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_a_byte_order_mark_is_read_and_another_encoding_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "a.json"
    path.write_text("\ufeff" + json.dumps(RPC), encoding="utf-8")  # as tools of Windows write it
    assert main(["import", "openrpc", str(path), "--out", str(tmp_path / "out")]) == 0
    path.write_bytes('{"title": "Caf\u00e9"}'.encode("latin-1"))
    assert main(["import", "openrpc", str(path)]) == 2
    assert "it is not valid UTF-8 at byte 14." in capsys.readouterr().err
