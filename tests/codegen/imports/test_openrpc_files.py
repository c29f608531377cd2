"""OpenRPC descriptions in several files and in YAML: what is read, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kinwire_codegen.imports.imported import ImportSource, UselessFileError
from kinwire_codegen.imports.openrpc import read_openrpc
from kinwire_codegen.imports.reading import read_data
from kinwire_codegen.lint import RESERVED
from tests.codegen.imports.descriptions import findings, rpc
from tests.each import each

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
    assert findings(found.content) == []
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
    assert findings(content) == []
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
        ("[" * 500, "nested more than 100 deep"),
        (BOMB, "more than two million values"),
        ("a: [", "it is not valid YAML: line 1, column 5: expected the node content"),
        ("a: 1e999", "a number is more than 1.8e308"),
        (r'a: "\ud800"', "half of a surrogate pair"),
    ],
)
def test_yaml_that_is_not_plain_data_is_refused(text: str, why: str, tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(text)
    with pytest.raises(UselessFileError, match=why):
        read_data(tmp_path / "a.yaml")
