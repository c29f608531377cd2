"""OpenRPC documents imported: ours come back as they were, others' as far as they can be said."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kinwire_codegen.compare import compare
from kinwire_codegen.compare.verdict import Category, Level
from kinwire_codegen.exports.openrpc import openrpc_files
from kinwire_codegen.imports.imported import Imported
from kinwire_codegen.imports.openrpc import NotOpenRpcError, openrpc_document
from kinwire_codegen.lint import RESERVED, lint
from kinwire_codegen.load.document import Document, Documents
from kinwire_codegen.load.loading import load_documents
from tests.each import each

OURS = load_documents(None)

PETS: dict[str, Any] = {
    "openrpc": "1.3.2",
    "info": {"title": "Pet Store", "version": "1.0.0"},
    "methods": [
        {
            "name": "list_pets",
            "summary": "List all pets.",
            "params": [
                {"name": "limit", "required": True, "schema": {"type": "integer", "minimum": 1}},
                {"$ref": "#/components/contentDescriptors/Filter"},
            ],
            "result": {"name": "pets", "schema": {"$ref": "#/components/schemas/Pets"}},
            "errors": [{"code": 100, "message": "pets busy"}, {"code": -32602, "message": "No"}],
        },
        {
            "name": "rename_pet",
            "params": [{"name": "to", "schema": {"type": ["string"]}}],
            "result": {
                "name": "done",
                "schema": {"type": "object", "properties": {"ok": {"type": "boolean"}}},
            },
            "errors": [{"code": 100, "message": "pets busy"}],
            "deprecated": True,
        },
        {"name": "notified", "params": []},
        {"name": "count", "params": [], "result": {"name": "n", "schema": {"type": "integer"}}},
        {
            "name": "first",
            "params": [],
            "paramStructure": "by-position",
            "result": {"name": "pet", "schema": {"$ref": "#/components/schemas/pet"}},
        },
        {"name": "no good name", "params": []},
    ],
    "components": {
        "contentDescriptors": {
            "Filter": {"name": "filter", "description": "Which.", "schema": {"type": "string"}}
        },
        "schemas": {
            "Pets": {
                "type": "object",
                "properties": {
                    "pets": {"type": "array", "items": {"$ref": "#/components/schemas/pet"}}
                },
            },
            "pet": {
                "type": "object",
                "title": "A pet",
                "required": ["id"],
                "properties": {
                    "id": {"type": "integer"},
                    "tag": {"type": "string", "nullable": True, "enum": ["cat", "dog"]},
                    "owner": {"type": "object", "properties": {"name": {"type": "string"}}},
                },
            },
        },
    },
}  # fmt: skip


def imported(content: Any) -> Imported:
    return openrpc_document(content, protocol=None, version=None, taken=frozenset(RESERVED))


def loaded(content: dict[str, Any]) -> Documents:
    own = {"jsonrpc": OURS["jsonrpc"], content["protocol"]: Document(content)}
    return Documents(own, OURS.meta, (content["protocol"],))


def test_what_others_describe_becomes_a_document_without_findings() -> None:
    found = imported(PETS)
    assert lint(loaded(found.content)) == []
    assert found.content["protocol"] == "pet-store"
    assert list(found.content["methods"]) == ["list_pets", "rename_pet", "notified"]
    kinds = {name: row["kind"] for name, row in found.content["methods"].items()}
    assert kinds == {"list_pets": "request", "rename_pet": "request", "notified": "notification"}
    params = found.content["$defs"]["ListPetsParams"]
    assert params["required"] == ["limit"]
    assert params["properties"]["filter"] == {"type": "string", "description": "Which."}
    assert found.content["$defs"]["Pet"]["properties"]["owner"] == {"$ref": "#/$defs/PetOwner"}
    assert {name: row["code"] for name, row in found.content["errors"].items()} == {"PetsBusy": 100}


def test_a_circle_of_references_is_a_finding_and_no_end_of_work() -> None:
    types = {"A": {"$ref": "#/components/schemas/B"}, "B": {"$ref": "#/components/schemas/A"}}
    either = {"anyOf": [{"$ref": "#/components/schemas/A"}, {"$ref": "#/components/schemas/B"}]}
    method = {"name": "a", "params": [{"name": "b", "schema": either}]}
    found = imported({"methods": [method], "components": {"schemas": types}})
    findings = lint(Documents({"imported": Document(found.content)}, {}, ("imported",)))
    assert [finding.what for finding in findings] == [
        "'A' is defined by itself",
        "'B' is defined by itself",
    ]


def test_references_out_of_the_file_and_repeated_methods_are_reported() -> None:
    method = {"name": "a", "params": [{"name": "b", "schema": {"$ref": "other.json#/B"}}]}
    found = imported({"methods": [method, method]})
    assert found.left_out == ("a: it is there twice",)
    assert found.widened == ("other.json#/B: it is not a definition in the file",)


def test_what_cannot_be_said_is_named() -> None:
    assert imported(PETS).left_out == (
        "count: its result is not an object",
        "first: its params are passed by position",
        "no good name: not a valid method name",
    )


def test_references_lead_to_methods_params_and_errors_of_the_file_alone() -> None:
    schemas: dict[str, Any] = {
        "B": {"type": "string"},
        "C": {"type": "object", "properties": {"B": {}}},
    }
    methods = [
        {"$ref": "#/components/methods/asked"},
        {"$ref": "other.json#/asked"},
        {"name": "far", "params": [{"$ref": "other.json#/B"}]},
        {"name": "unnamed", "params": [{"schema": {"type": "string"}}]},
    ]
    params = [
        {"name": "far", "schema": {"$ref": "other.json#/components/schemas/B"}},
        {"name": "inner", "schema": {"$ref": "#/components/schemas/C/properties/B"}},
        {"name": "near", "schema": {"$ref": "#/components/schemas/B"}},
    ]
    kept: dict[str, Any] = {
        "methods": {"asked": {"name": "asked", "params": params}},
        "schemas": schemas,
    }
    found = imported({"methods": methods, "components": kept})
    assert list(found.content["methods"]) == ["asked"]
    assert found.content["$defs"]["AskedParams"]["properties"] == {
        "far": {},
        "inner": {},
        "near": {"$ref": "#/$defs/B"},
    }
    assert found.left_out == (
        "{'$ref': 'other.json#/asked'}: not a valid method name",
        "far: a param has no name, or is not in the file",
        "unnamed: a param has no name, or is not in the file",
    )
    assert found.widened == (
        "other.json#/components/schemas/B: it is not a definition in the file",
        "#/components/schemas/C/properties/B: it is not a definition in the file",
    )


def test_the_reason_of_a_failed_import_is_reported() -> None:
    result = {"name": "n", "schema": True}
    with pytest.raises(NotOpenRpcError, match="count: its result is not an object"):
        imported({"methods": [{"name": "count", "params": [], "result": result}]})


@each(
    ("schema", "lost"),
    [
        ({"type": ["string", "string"]}, ()),
        ({"not": {"type": "string"}}, ("AskParamsA not",)),
        ({"enum": ["x", 1.5]}, ("AskParamsA enum",)),
        ({"type": "object", "additionalProperties": False}, ("AskParamsA additionalProperties",)),
        (
            {"properties": {"b": {"type": "string"}}, "additionalProperties": False},
            ("AskParamsA additionalProperties",),
        ),
        (
            {"properties": {"b": {}}, "additionalProperties": {"type": "string"}},
            ("AskParamsA additionalProperties",),
        ),
        ({"properties": {"b": {}}, "additionalProperties": True}, ()),
        ({"type": "object", "additionalProperties": {"type": "string"}}, ()),
        ({"type": "string", "title": "T", "x-more": 1, "$comment": "No."}, ()),
    ],
)
def test_keywords_that_documents_have_no_words_for_are_named(schema: Any, lost: Any) -> None:
    method = {"name": "ask", "params": [{"name": "a", "schema": schema}]}
    found = imported({"methods": [method]})
    assert lint(loaded(found.content)) == []
    assert found.widened == tuple(f"{one}: documents cannot represent it" for one in lost)


TEXTS = {"type": "array", "items": {"type": "string"}}


@each(
    ("schema", "kept", "lost"),
    [
        ({"type": "string", "maxItems": 2}, {"type": "string"}, "AskParamsA maxItems"),
        ({"minLength": 1}, {}, "AskParamsA minLength"),
        ({**TEXTS, "minLength": 1}, TEXTS, "AskParamsA minLength"),
        (
            {**TEXTS, "items": {"type": "integer", "pattern": "a"}},
            {"type": "array", "items": {"type": "integer"}},
            "AskParamsAItem pattern",
        ),
        (
            {"anyOf": [{"type": "string"}, {"type": "boolean", "minimum": 1}]},
            {"anyOf": [{"type": "string"}, {"type": "boolean"}]},
            "AskParamsA2 minimum",
        ),
        (
            {"anyOf": [{"type": "string"}, TEXTS], "maxLength": 1},
            {"anyOf": [{"type": "string"}, TEXTS]},
            "AskParamsA maxLength",
        ),
        ({"$ref": "#/$defs/N", "maxItems": 1}, {"$ref": "#/$defs/N"}, "AskParamsA maxItems"),
        ({"type": ["string", "null"], "maxLength": 1}, None, None),
        ({"$ref": "#/$defs/N", "maximum": 1}, None, None),
    ],
)
def test_a_bound_that_says_nothing_of_its_kind_is_dropped_and_named(
    schema: Any, kept: Any, lost: str | None
) -> None:
    method = {"name": "ask", "params": [{"name": "a", "schema": schema}]}
    schemas = {"N": {"type": "integer"}}
    found = imported({"methods": [method], "components": {"schemas": schemas}})
    assert lint(loaded(found.content)) == []
    (member,) = found.content["$defs"]["AskParams"]["properties"].values()
    assert member == (schema if kept is None else kept)
    named = (f"{lost}: it does not apply to the values there",) if lost else ()
    assert (found.without_effect, found.losses) == (named, 0)


@each("content", [[], {}, {"methods": {}}, {"methods": []}])
def test_a_file_that_is_not_openrpc_is_refused(content: Any) -> None:
    with pytest.raises(NotOpenRpcError):
        imported(content)


def methods_from(protocol: str) -> dict[str, Any]:
    """Our document, less what only the server sends, which is in another file."""
    content: dict[str, Any] = json.loads(json.dumps(OURS[protocol].content))
    for name, row in list(content["methods"].items()):
        if row["from"] == "server" or row.get("status") == "considered":
            del content["methods"][name]
        else:
            row["from"] = "client"
    for definition in content["$defs"].values():
        definition.pop("shorthand", None)  # what is read and never written is not exported
    return content


@each("protocol", ["mcp", "mcpl", "mgp"])
def test_our_own_comes_back_with_the_same_messages(protocol: str) -> None:
    (text,) = (
        text
        for path, text in openrpc_files(OURS, OURS[protocol]).items()
        if path.endswith("-server.json")
    )
    content = openrpc_document(
        json.loads(text), protocol=protocol, version=None, taken=frozenset(RESERVED)
    ).content
    before = Documents({**OURS.by_name, protocol: Document(methods_from(protocol))}, OURS.meta)
    changes = compare(before, loaded(content), (protocol,)).of(Category.WIRE)
    broken = [one.what for one in changes if one.rule.of_types and one.level is Level.BREAKING]
    assert broken == []
    rows = [one for one in changes if one.place[:1] == ("methods",) and one.rule.id < "B110"]
    assert [one.what for one in rows] == []
