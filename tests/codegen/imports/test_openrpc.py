"""OpenRPC documents imported: ours come back as they were, others' as far as they can be said."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kinwire_codegen.exports.openrpc import openrpc_files
from kinwire_codegen.imports.imported import Imported, ImportSource, UselessFileError
from kinwire_codegen.imports.openrpc import openrpc_document, read_openrpc
from kinwire_codegen.imports.reading import read_data
from kinwire_codegen.lint import RESERVED, lint
from kinwire_codegen.load.document import Document, Documents
from kinwire_codegen.load.loading import load_documents
from tests.each import each

OURS = load_documents(None)
GOLDEN = Path(__file__).parents[1] / "golden" / "schema"

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


def loaded(content: dict[str, Any]) -> Documents:
    own = {"jsonrpc": OURS["jsonrpc"], content["protocol"]: Document(content)}
    return Documents(own, OURS.meta, (content["protocol"],))


def test_a_description_becomes_a_document_without_findings() -> None:
    found = imported(PETS)
    assert lint(loaded(found.content)) == []
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
    assert lint(loaded(found.content)) == []
    assert found.widened == ("A: it is defined by itself",)


def rpc(schema: Any, **more: Any) -> dict[str, Any]:
    """A description with one method, whose param `b` has that schema."""
    return {"methods": [{"name": "ask", "params": [{"name": "b", "schema": schema}], **more}]}


FILES: dict[str, Any] = {
    "api/near.yaml": {"Word": {"type": "string"}, "Pet": {"$ref": "#/Word"}},
    "api/types/pet.json": {"type": "object", "properties": {"next": {"$ref": "#"}}},
    "api/api/seen.json": {"components": {"schemas": {"T": {"type": "integer"}}}},
    "out.json": {"type": "string"},
}
OUTSIDE = "there is no such file below api"
NOT_THERE = "it leads to nothing in the file"


@each(
    ("reference", "target", "why"),
    [
        ("near.yaml#/Pet", "Pet", None),
        ("types/pet.json", "Pet", None),
        ("types/pet.json#/properties/next", "Next", None),
        ("./api/seen.json#/components/schemas/T", "T", None),
        ("#/components/schemas/Own/properties/in~1side", "OwnInSide", None),
        ("#/components/schemas/Own", "Own", None),
        ("#/methods/0/params/0/schema/anyOf/1", "Methods0Params0AnyOf1", None),
        ("../out.json", None, OUTSIDE),
        ("/etc/hostname", None, OUTSIDE),
        ("gone.json", None, OUTSIDE),
        ("near.yaml#/Nope", None, NOT_THERE),
        ("#/components/schemas/Own/properties/nope", None, NOT_THERE),
        ("#anchor", None, "it is not a JSON pointer"),
        ("https://example.org/pet.json", None, "nothing is read over the network"),
        ("//example.org/pet.json", None, "nothing is read over the network"),
    ],
)
def test_references_lead_to_files_of_the_folder_and_into_types(
    reference: str, target: str | None, why: str | None, tmp_path: Path
) -> None:
    for name, value in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(json.dumps(value))
    content = rpc({"anyOf": [{"$ref": reference}, {"type": "null"}]})
    inside = {"type": "object", "properties": {"in/side": {"type": "string"}}}
    content["components"] = {"schemas": {"Own": inside}}
    (tmp_path / "api" / "rpc.json").write_text(json.dumps(content))
    source = ImportSource((tmp_path / "api" / "rpc.json",), frozenset(RESERVED))
    found = read_openrpc(source)
    assert lint(loaded(found.content)) == []
    member = found.content["$defs"]["AskParams"]["properties"]["b"]["anyOf"][0]
    assert member == ({} if target is None else {"$ref": f"#/$defs/{target}"})
    assert found.widened == ((f"{reference}: {why}",) if target is None else ())


def test_root_names_a_folder_above_that_references_may_lead_into(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "out.json").write_text('{"type": "string"}')
    (tmp_path / "sub" / "rpc.json").write_text(json.dumps(rpc({"$ref": "../out.json"})))
    files = (tmp_path / "sub" / "rpc.json",)
    options = {"root": str(tmp_path), "params-by": "position"}
    found = read_openrpc(ImportSource(files, frozenset(), options=options))
    assert found.widened == ()
    assert found.content["methods"]["ask"]["paramsBy"] == "position"


def test_a_type_that_is_one_of_another_file_keeps_its_name(tmp_path: Path) -> None:
    (tmp_path / "b.json").write_text('{"$defs": {"T": {"type": "string"}}}')
    content = rpc({"$ref": "#/components/schemas/T"})
    content["components"] = {"schemas": {"T": {"$ref": "b.json#/$defs/T"}}}
    (tmp_path / "a.json").write_text(json.dumps(content))
    found = read_openrpc(ImportSource((tmp_path / "a.json",), frozenset()))
    assert found.content["$defs"]["T"]["type"] == "string"
    assert found.losses == 0


PIECES = {
    "methods/all.yaml": "- name: ask\n  params: []\n"
    "  result: {name: r, schema: {$ref: '#/components/schemas/no'}}\n"
    "  error-groups: [{$ref: '#/components/error-groups/All'}]\n",
    "schemas/types.yaml": "no: {type: string, enum: [on, 2001-01-01, no]}\n",
    "error-groups/all.yaml": "All: {errors: [{code: 7, message: Busy}]}\n",
    "head.json": '{"openrpc": "1.3.2", "info": {"title": "Pieces", "version": "2"}}',
}


def test_a_folder_of_yaml_pieces_is_one_description(tmp_path: Path) -> None:
    for name, text in PIECES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    content = read_openrpc(ImportSource((tmp_path,), frozenset(RESERVED))).content
    assert lint(loaded(content)) == []
    assert (content["protocol"], content["version"]) == ("pieces", "2")
    assert content["methods"]["ask"]["errors"] == ["Busy"]
    assert content["$defs"]["No"]["type"] == "string"
    (tmp_path / "notes.yaml").write_text("a: 1\n")
    with pytest.raises(UselessFileError, match="neither a part of an OpenRPC description"):
        read_openrpc(ImportSource((tmp_path,), frozenset(RESERVED)))


@each(
    ("text", "value"),
    [
        ("[on, no, yes, 2001-01-01, 1:30, 0b1, 1_0, '1']", None),
        ("[1, -2, 010, 0x1f, 0o17]", [1, -2, 10, 31, 15]),
        ("[1.5, 1e3, ~, null, true, FALSE]", [1.5, 1000.0, None, None, True, False]),
        ("{200: a, true: b, on: c}", {"200": "a", "true": "b", "on": "c"}),
        ("a: &x [1]\nb: *x", {"a": [1], "b": [1]}),
    ],
)
def test_yaml_is_read_by_the_core_schema_of_version_12(
    text: str, value: Any, tmp_path: Path
) -> None:
    (tmp_path / "a.yaml").write_text(text)
    expected = text.strip("[]").replace("'", "").split(", ") if value is None else value
    assert read_data(tmp_path / "a.yaml") == expected


BOMB = "a0: &a0 [1, 1]\n" + "".join(
    f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 9)
)


@each(
    ("text", "why"),
    [
        ("{a: 1, a: 2}", "the key 'a' occurs twice in one mapping"),
        ("{[a]: 1}", "a key is not text"),
        ("a: !!python/object:os.system {}", "could not determine a constructor"),
        ("a: &x [*x]", "nested more than 100 deep"),
        ("[" * 2000, "nested more than 100 deep"),
        (BOMB, "more than two million values"),
        ("a: [", "it is not valid YAML: while parsing"),
    ],
)
def test_yaml_that_is_not_plain_data_is_refused(text: str, why: str, tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(text)
    with pytest.raises(UselessFileError, match=why):
        read_data(tmp_path / "a.yaml")


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
    assert (found.without_effect, found.widened) == (named, ())


@each("content", [[], {}, {"methods": {}}, {"methods": [{"name": "no name"}]}])
def test_a_file_that_is_not_openrpc_is_refused(content: Any) -> None:
    with pytest.raises(UselessFileError):
        imported(content)


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
