"""A metaModel of LSP as a document: written for these tests, in the form of the official ones."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kinwire_cli import main
from kinwire_codegen.imports.imported import Imported, ImportSource
from kinwire_codegen.imports.lsp import lsp_document
from kinwire_codegen.lint import RESERVED, lint
from kinwire_codegen.load.document import Document, Documents
from kinwire_codegen.load.loading import load_documents
from tests.codegen.imports.meta_model import base, one_of, prop, structure, to
from tests.each import each

META = load_documents(None).meta


TEXT, NUMBER, NULL = base("string"), base("uinteger"), base("null")
MODEL: dict[str, Any] = {
    "metaData": {"version": "9.1"},
    "requests": [
        {
            "method": "shop/find",
            "messageDirection": "clientToServer",
            "params": to("FindParams"),
            "result": one_of({"kind": "array", "element": to("Ware")}, NULL),
            "partialResult": {"kind": "array", "element": to("Ware")},
            "registrationOptions": {"kind": "and", "items": [to("Options"), to("Progress")]},
            "registrationMethod": "shop/all",
            "errorData": to("FindTrouble"),
            "documentation": "Find wares. All of them.",
            "since": "9.0",
        },
        {"method": "shop/close", "messageDirection": "both", "result": NULL},
    ],
    "notifications": [
        {
            "method": "$/event",
            "messageDirection": "serverToClient",
            "params": to("LSPAny"),
            "registrationMethod": "$/event",
            "proposed": True,
        },
    ],
    "structures": [
        structure("_FindParams", prop("kind", TEXT)),
        structure(
            "FindParams",
            prop("kind", {"kind": "stringLiteral", "value": "find"}),
            prop("near", to("Place"), optional=True, deprecated="Use where."),
            extends=[to("_FindParams")],
            mixins=[to("Progress")],
        ),
        structure("Progress", prop("token", one_of(TEXT, base("integer")), optional=True)),
        structure("Options", prop("size", one_of(to("Size"), base("boolean")))),
        structure(
            "Ware",
            prop("place", to("Place")),
            prop("range", {"kind": "tuple", "items": [NUMBER, NUMBER]}),
            prop("pair", {"kind": "tuple", "items": [NUMBER, TEXT]}),
            prop("notes", {"kind": "map", "key": base("URI"), "value": to("LSPAny")}),
            prop("any", to("LSPAny")),
            prop("box", {"kind": "literal", "value": {"properties": [prop("deep", NUMBER)]}}),
            prop("colour", to("Colour")),
            extends=[to("Progress")],
        ),
        structure("FindTrouble", prop("retry", base("boolean"))),
        structure("LSPObject"),
    ],
    "enumerations": [
        {
            "name": "Size",
            "type": NUMBER,
            "values": [
                {"name": "Small", "value": 1, "documentation": "Fits."},
                {"name": "Large", "value": 2, "since": "9.1"},
            ],
        },
        {
            "name": "Colour",
            "type": TEXT,
            "values": [{"name": "Red", "value": "red"}, {"name": "Rouge", "value": "red"}],
            "supportsCustomValues": True,
        },
        {
            "name": "ShopErrorCodes",
            "type": base("integer"),
            "values": [
                {"name": "ParseError", "value": -32700},
                {"name": "SoldOut", "value": -32801, "documentation": "There is no more."},
            ],
        },
    ],
    "typeAliases": [
        {"name": "LSPAny", "type": one_of(to("LSPObject"), TEXT)},
        {"name": "Place", "type": base("DocumentUri"), "deprecated": "Use Spot."},
    ],
}


@pytest.fixture(scope="module")
def imported() -> Imported:
    return lsp_document(MODEL, ImportSource((Path("metaModel.json"),), frozenset(RESERVED)))


def test_the_document_of_a_meta_model_is_valid(imported: Imported) -> None:
    assert lint(Documents({"lsp": Document(imported.content)}, META)) == []
    assert (imported.content["protocol"], imported.content["version"]) == ("lsp", "9.1")


def test_methods_keep_what_the_meta_model_says_of_them(imported: Imported) -> None:
    methods = imported.content["methods"]
    assert methods["shop/find"] == {
        "kind": "request",
        "from": "client",
        "section": "metaModel.json, shop/find",
        "summary": "Find wares.",
        "description": "All of them.",
        "params": "#/$defs/FindParams",
        "result": "#/$defs/ShopFindResult",
        "partialResult": "#/$defs/ShopFindPartialResult",
        "registrationOptions": "#/$defs/ShopFindRegistrationOptions",
        "registrationMethod": "shop/all",
        "since": "9.0",
    }
    assert methods["shop/close"]["from"] == "both"
    assert methods["shop/close"]["result"] == "#/$defs/NullResult"
    event = methods["$/event"]
    assert (event["kind"], event["from"], event["x-lsp-proposed"]) == (
        "notification",
        "server",
        True,
    )
    assert "registrationMethod" not in event


@each(
    ("name", "place", "expected"),
    [
        ("FindParams", ("properties", "kind"), {"const": "find"}),
        ("FindParams", ("required",), ["kind"]),
        (
            "FindParams",
            ("properties", "near"),
            {"$ref": "#/$defs/Place", "deprecated": {"reason": "Use where."}},
        ),
        ("Ware", ("allOf", 0), {"$ref": "#/$defs/Progress"}),
        (
            "Ware",
            ("allOf", 1, "properties", "range"),
            {
                "type": "array",
                "items": {"type": "integer", "minimum": 0, "maximum": 2**31 - 1},
                "minItems": 2,
                "maxItems": 2,
            },
        ),
        (
            "Ware",
            ("allOf", 1, "properties", "notes"),
            {"type": "object", "additionalProperties": True},
        ),
        ("Ware", ("allOf", 1, "properties", "any"), {}),
        ("Ware", ("allOf", 1, "properties", "box"), {"$ref": "#/$defs/WareBox"}),
        ("WareBox", ("required",), ["deep"]),
        ("Place", ("format",), "uri"),
        ("Place", ("deprecated",), {"reason": "Use Spot."}),
        ("Colour", ("anyOf",), [{"$ref": "#/$defs/KnownColour"}, {"type": "string"}]),
        ("KnownColour", ("enum",), ["red"]),
        ("Size", ("enumValues", "1"), {"name": "Small", "description": "Fits."}),
        ("Size", ("enumValues", "2"), {"name": "Large", "since": "9.1"}),
        ("EventParams", ("anyOf", 1), {"type": "array"}),
    ],
)
def test_types_take_what_the_meta_model_takes(
    imported: Imported, name: str, place: tuple[str | int, ...], expected: Any
) -> None:
    here: Any = imported.content["$defs"][name]
    for step in place:
        here = here[step]
    assert here == expected


def test_enumerations_of_codes_are_errors(imported: Imported) -> None:
    error = {"code": -32801, "message": "Sold out", "description": "There is no more."}
    assert imported.content["errors"] == {"SoldOut": error}
    assert "ShopErrorCodes into errors" in imported.folded


def test_differences_from_the_meta_model_are_listed(imported: Imported) -> None:
    what = "shop/find errorData: the metaModel does not say for which code"
    assert imported.left_out == (what,)
    assert imported.widened == ("WarePair prefixItems: documents cannot represent it",)
    assert "_FindParams into the structure that extends it" in imported.folded
    assert imported.content["records"]["FindTrouble"]["type"] == "#/$defs/FindTrouble"


def test_a_file_that_is_no_meta_model_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "x.json").write_text(json.dumps({"requests": []}))
    assert main(["import", "lsp", str(tmp_path / "x.json")]) == 2
    assert (
        "it has no list 'notifications'.\nhint: Name a metaModel.json." in capsys.readouterr().err
    )
