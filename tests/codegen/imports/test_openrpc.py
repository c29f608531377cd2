"""OpenRPC descriptions of other projects imported: methods, types, errors and examples."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kinwire_codegen.imports.imported import Imported, ImportSource, UselessFileError
from kinwire_codegen.imports.openrpc import openrpc_document
from kinwire_codegen.lint import RESERVED
from tests.codegen.imports.descriptions import findings, rpc
from tests.each import each

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
            "params": [{"name": "of", "schema": {}}],
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
            "Spare": {"type": "string"},
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
    return openrpc_document(content, ImportSource((Path("rpc.json"),), frozenset(RESERVED)))


def test_a_description_becomes_a_document_without_findings() -> None:
    found = imported(PETS)
    assert findings(found.content) == []
    assert found.content["protocol"] == "pet-store"
    rows = found.content["methods"]
    assert list(rows) == ["list_pets", "rename_pet", "notified", "count", "first"]
    assert [name for name, row in rows.items() if row["kind"] == "notification"] == ["notified"]
    assert rows["list_pets"]["errors"] == ["PetsBusy", "jsonrpc#InvalidParams"]
    assert rows["rename_pet"]["deprecated"] is True
    assert "params" not in rows["notified"]
    assert rows["first"]["paramsBy"] == "position"
    assert rows["first"]["result"] == "#/$defs/Pet"
    types = found.content["$defs"]
    assert types["CountResult"] == {"description": "n", "type": "integer"}
    params = types["ListPetsParams"]
    assert params["required"] == ["limit"]
    assert params["properties"]["filter"] == {"type": "string", "description": "Which."}
    assert types["Pet"]["description"] == "A pet"
    assert types["Pet"]["properties"]["owner"] == {"$ref": "#/$defs/PetOwner"}
    assert {name: row["code"] for name, row in found.content["errors"].items()} == {"PetsBusy": 100}
    assert found.left_out == ("no good name: not a valid method name",)
    assert types["Spare"]["type"] == "string"
    assert found.content["records"]["Spare"]["type"] == "#/$defs/Spare"
    assert found.folded == ("list_pets -32602 'No' into jsonrpc#InvalidParams",)
    assert found.without_effect == ("PetTag nullable: it refuses no value",)


def test_types_that_are_each_other_become_any_value() -> None:
    types = {"A": {"$ref": "#/components/schemas/B"}, "B": {"$ref": "#/components/schemas/A"}}
    either = {"anyOf": [{"$ref": "#/components/schemas/A"}, {"$ref": "#/components/schemas/B"}]}
    method = {"name": "a", "params": [{"name": "b", "schema": either}]}
    found = imported({"methods": [method], "components": {"schemas": types}})
    assert findings(found.content) == []
    assert found.widened == ("A: it is defined by itself",)


def test_examples_are_kept_if_they_fit() -> None:
    pairing = {
        "name": "e",
        "params": [{"name": "b", "value": 1}],
        "result": {"name": "r", "value": "x"},
    }
    wrong = {"name": "e", "params": [{"name": "b", "value": "one"}]}
    schema = {"type": "integer", "examples": [1, "a", 2]}
    result = {"name": "r", "schema": {"type": "string"}}
    found = imported(rpc(schema, result=result, examples=[pairing, wrong]))
    types = found.content["$defs"]
    assert types["AskParams"]["examples"] == [{"b": 1}]
    assert types["AskParams"]["properties"]["b"]["examples"] == [1, 2]
    assert types["AskResult"]["examples"] == ["x"]
    assert sorted(found.left_out) == [
        "AskParams/examples/1: it does not fit its type: 'one' is not of type 'integer'",
        "AskParams/properties/b/examples/1: it does not fit its type: 'a' is not of type 'integer'",
    ]


UNNAMED = "has no name, or is not in the file"


@each(
    ("method", "why"),
    [
        ({"name": "a b"}, "a b: not a valid method name"),
        ({"name": "call"}, "call: 'call' is a name that the generated code uses itself"),
        ({"name": "getIt"}, "getIt: it is 'get_it' in Python, as 'get_it' is"),
        ({"name": "get_it"}, "get_it: it is there twice"),
        ({"params": []}, "{'params': []}: it has no name, or is not in the file"),
        ({"$ref": "gone.json"}, "{'$ref': 'gone.json'}: it has no name, or is not in the file"),
        (
            {"name": "x", "params": [{"schema": {}}]},
            "x: a param has no name, or is not in the file",
        ),
        ({"name": "x", "params": 1}, "x: it is not a well-formed method"),
        ({"name": "x", "result": 1}, "x: its result is not in the file"),
    ],
)
def test_a_method_that_is_left_out_is_named_with_the_reason(method: Any, why: str) -> None:
    found = imported({"methods": [{"name": "get_it", "params": []}, method]})
    assert list(found.content["methods"]) == ["get_it"]
    assert found.left_out == (why,)


def test_errors_keep_their_data_and_share_codes() -> None:
    data = {"type": "object", "properties": {"n": {"type": "integer"}}}
    errors = [
        {"code": 7, "message": "Busy", "data": data},
        {"code": 7, "message": "Also busy"},
        {"code": 8, "message": "Late", "data": "hint"},
        {"code": "9", "message": "No code"},
    ]
    found = imported(rpc({}, result={"name": "r", "schema": {}}, errors=errors))
    assert found.content["methods"]["ask"]["errors"] == ["Busy", "Late"]
    assert found.content["errors"]["Busy"]["data"] == "#/$defs/BusyData"
    assert found.content["errors"]["Late"]["x-openrpc-data"] == "hint"
    assert found.folded == ("ask 7 'Also busy' into Busy, which has the same code",)
    assert [one.partition(": {")[0] for one in found.left_out] == ["ask: an error without a code"]


def test_what_openrpc_says_and_documents_do_not_is_kept() -> None:
    content = rpc({"type": "string", "x-a": 1}, tags=[{"name": "t"}], **{"x-b": [2]})
    content |= {"info": {"title": "T", "license": {"name": "MIT"}, "x-c": 3}, "x-d": None}
    found = imported(content).content
    assert found["methods"]["ask"]["x-openrpc-tags"] == [{"name": "t"}]
    assert found["methods"]["ask"]["x-b"] == [2]
    assert found["$defs"]["AskParams"]["properties"]["b"]["x-a"] == 1
    assert found["x-openrpc"] == {"license": {"name": "MIT"}}
    assert (found["x-c"], found["x-d"]) == (3, None)


@each(
    ("schema", "lost"),
    [
        ({"type": ["string", "string"]}, ()),
        ({"not": {"type": "string"}}, ("AskParamsA not",)),
        ({"enum": ["x", 1.5]}, ("AskParamsA enum",)),
        ({"enum": ["x", 1, None, True, False]}, ()),
        ({"enum": ["x", True]}, ()),
        ({"enum": [None]}, ()),
        ({"const": None}, ()),
        ({"type": "integer", "minimum": 1, "exclusiveMinimum": True}, ()),
        ({"type": "array", "items": [{"type": "string"}]}, ("AskParamsA prefixItems",)),
        ({"type": "array", "items": False}, ("AskParamsAItem false",)),
        ({"type": ["object", "null"], "properties": {"b": {"type": "string"}}}, ()),
        ({"type": "array", "properties": {"b": {"type": "string"}}, "required": ["b"]}, ()),
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
    assert findings(found.content) == []
    assert found.widened == tuple(f"{one}: documents cannot represent it" for one in lost)


TEXTS = {"type": "array", "items": {"type": "string"}}


@each(
    ("schema", "kept", "lost"),
    [
        ({"type": "string", "maxItems": 2}, {"type": "string"}, "AskParamsA maxItems"),
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
    assert findings(found.content) == []
    (member,) = found.content["$defs"]["AskParams"]["properties"].values()
    assert member == (schema if kept is None else kept)
    named = (f"{lost}: it does not apply to the values there",) if lost else ()
    assert (found.without_effect, found.widened) == (named, ())


@each("content", [[], {}, {"methods": {}}, {"methods": [{"name": "no name"}]}])
def test_a_file_that_is_not_openrpc_is_refused(content: Any) -> None:
    with pytest.raises(UselessFileError):
        imported(content)
