"""Bad documents, and what lint reports: the place, the problem and the fix."""

from __future__ import annotations

import importlib
import json
import os
from pathlib import Path
from typing import Any

import pytest

from kinwire_codegen.build import build
from kinwire_codegen.lint import lint
from kinwire_codegen.lint.circles import DEEPEST
from kinwire_codegen.load.findings import DocumentError
from kinwire_codegen.load.loading import load_documents
from kinwire_codegen.load.parsing import DEEPEST as DEEPEST_TEXT
from tests.codegen.documents import SCHEMA, documents, load_package, protocol

TEXT = {"type": "string"}


def thing(**members: Any) -> dict[str, Any]:
    return {"description": "A type.", "type": "object", "properties": members}


CLOSED = "an object cannot be closed: the bindings preserve fields that they do not know"
CLOSED_PART = {"properties": {"b": TEXT}, "additionalProperties": False}


def tagged(tag: str) -> dict[str, Any]:
    return thing(type={"type": "string", "const": tag}) | {"required": ["type"]}


def row(**members: Any) -> dict[str, Any]:
    common = {"kind": "request", "from": "client", "section": "1", "summary": "Do."}
    return common | {"params": "#/$defs/Thing", "result": "#/$defs/Thing"} | members


THING = {"Thing": thing(a=TEXT)}


def union(**members: Any) -> dict[str, Any]:
    branches = [{"$ref": "#/$defs/A"}, {"$ref": "#/$defs/B"}]
    return {"description": "Either.", "oneOf": branches} | members


def ring(count: int) -> dict[str, Any]:
    """Types that refer to each other in a circle, each through a list of unions."""
    following = ({"$ref": f"#/$defs/T{(number + 1) % count}"} for number in range(count))
    return {
        f"T{number}": thing(next={"type": "array", "items": {"anyOf": [there, {"type": "null"}]}})
        for number, there in enumerate(following)
    }


BAD = [
    pytest.param(
        protocol(methods={"a/" + "b" * 99: row()}, types=THING),
        f"toy.json#/methods/a~1{'b' * 99}: a name of 101 characters: 100 are the most for its"
        " files. Shorten it.",
        id="a name of a method that no file can have",
    ),
    pytest.param(
        protocol(types={"A" * 101: THING["Thing"]}),
        f"toy.json#/$defs/{'A' * 101}: a name of 101 characters: 100 are the most for its files."
        " Shorten it.",
        id="a name of a type that no file can have",
    ),
    pytest.param(
        protocol(methods={"a": row(params="#/$defs/Thng")}, types=THING),
        "toy.json#/methods/a/params: 'Thng' is not a definition. Did you mean 'Thing'?",
        id="a method names a type that is not there",
    ),
    pytest.param(
        protocol(types={"Thing": thing(a={"$ref": "#/$defs/Thingy"})}),
        "toy.json#/$defs/Thing/properties/a/$ref: 'Thingy' is not a definition."
        " Did you mean 'Thing'?",
        id="a dangling reference",
    ),
    pytest.param(
        protocol(types={"Thing": thing(examples={"$ref": "#/$defs/Nope"})}),
        "toy.json#/$defs/Thing/properties/examples/$ref: 'Nope' is not a definition."
        " Define it under $defs.",
        id="a dangling reference in a member called like a keyword",
    ),
    pytest.param(
        protocol(types={"Thing": thing(a={"$ref": "other.json#/$defs/X"})}),
        "toy.json#/$defs/Thing/properties/a/$ref: there is no document 'other'."
        " Add other.json or correct the name.",
        id="a document that is not there",
    ),
    pytest.param(
        protocol(types={"Thing": thing(a={"$ref": "jsonrpc.json#/$defs/RequestId"})}),
        "toy.json#/$defs/Thing/properties/a/$ref: 'jsonrpc' is not extended here."
        " Add 'jsonrpc' to extends.",
        id="a document that is not extended",
    ),
    pytest.param(
        protocol(extends=["toy"]),
        "toy.json#/extends/0: extends goes in a circle. Break the circle.",
        id="a protocol that extends itself",
    ),
    pytest.param(
        protocol(extends=["gone"]),
        "toy.json#/extends/0: there is no document 'gone'. Add gone.json or correct the name.",
        id="a protocol that extends nothing",
    ),
    pytest.param(
        protocol("base"),
        "base.json#/protocol: 'base' is a name that the generated code uses itself."
        " Rename the protocol.",
        id="a protocol called like a module that every package has",
    ),
    pytest.param(
        protocol("im-port"),
        "im-port.json#/protocol: 'import' is a Python keyword and cannot be the name of a package."
        " Rename the protocol.",
        id="a protocol whose package could not be imported",
    ),
    pytest.param(
        protocol(
            methods={"a": row(kind="notification", errors=["jsonrpc#ParseError"])},
            extends=["jsonrpc"],
            types=THING,
        ),
        "toy.json#/methods/a/result: a notification has no answer, so no result. Remove it.",
        id="a notification with a result",
    ),
    pytest.param(
        protocol(methods={"a": row(errors=["Ful"])}, types=THING)
        | {"errors": {"Full": {"code": 1, "message": "Full", "description": "Full."}}},
        "toy.json#/methods/a/errors/0: 'Ful' is not an error. Did you mean 'Full'?",
        id="an error that is not there",
    ),
    pytest.param(
        protocol(methods={"a": row(errors=["ParseError"])}, extends=["jsonrpc"], types=THING),
        "toy.json#/methods/a/errors/0: 'ParseError' is not an error."
        " Did you mean 'jsonrpc#ParseError'?",
        id="an error of another document without its name",
    ),
    pytest.param(
        protocol(
            methods={"a": row(errors=["jsonrpc#ParsError"])}, extends=["jsonrpc"], types=THING
        ),
        "toy.json#/methods/a/errors/0: 'jsonrpc#ParsError' is not an error."
        " Did you mean 'jsonrpc#ParseError'?",
        id="an error that another document does not have",
    ),
    pytest.param(
        protocol(methods={"a": row(errors=["nobody#Full"])}, types=THING),
        "toy.json#/methods/a/errors/0: 'nobody#Full' is not an error."
        " Add 'nobody' to extends, or correct the name.",
        id="an error of a document that is not there",
    ),
    pytest.param(
        protocol(types={"Message": thing(a=TEXT)}),
        "toy.json#/$defs/Message: 'Message' is a name that the generated code uses itself."
        " Choose another name.",
        id="a reserved name",
    ),
    pytest.param(
        protocol(extends=["jsonrpc"], types={"RequestId": thing(a=TEXT)}),
        "toy.json#/$defs/RequestId: 'RequestId' is also a definition of jsonrpc.json."
        " Use that one, or choose another name.",
        id="a name of a protocol that is extended",
    ),
    pytest.param(
        protocol(methods={"a/b": row(), "a.b": row()}, types=THING),
        "toy.json#/methods/a.b: 'a.b' and 'a/b' are both 'a_b' in Python. Rename one of them.",
        id="B010 two methods with one name in Python",
    ),
    pytest.param(
        protocol(methods={"rows": row()}, types=THING),
        "toy.json#/methods/rows: 'rows' is a name that the generated code uses itself."
        " Choose another wire name.",
        id="a method called like a member of every handler class",
    ),
    pytest.param(
        protocol(
            errors={
                "A": {"code": 1, "message": "A", "description": "A."},
                "B": {"code": 1, "message": "B", "description": "B."},
            }
        ),
        "toy.json#/errors/B/code: code 1 is also that of 'A'. Give each error its own code.",
        id="two errors with one code",
    ),
    pytest.param(
        protocol(methods={"a": row(params="#/$defs/Word")})
        | {"$defs": THING | {"Word": {"description": "Text.", "type": "string"}}},
        "toy.json#/methods/a/params: #/$defs/Word may be something else than an object or an array."
        " Give it a field, or a place in a list.",
        id="params that are text",
    ),
    pytest.param(
        protocol(methods={"a": row()}, types=THING | {"Idle": thing(a=TEXT)}),
        "toy.json#/$defs/Idle: 'Idle' is used nowhere. Use it or remove it.",
        id="a type that nothing uses",
    ),
    pytest.param(
        protocol(types={"Thing": thing(a=thing(b=TEXT))}),
        "toy.json#/$defs/Thing/properties/a: an object with properties has no name here."
        " Move it to $defs and refer to it.",
        id="an inline object",
    ),
    pytest.param(
        protocol(types={"Thing": thing(a={"type": "array", "items": thing(b=TEXT)})}),
        "toy.json#/$defs/Thing/properties/a/items: an object with properties has no name here."
        " Move it to $defs and refer to it.",
        id="an inline object in an array",
    ),
    pytest.param(
        protocol(types={"A": {"description": "A.", "allOf": [{"$ref": "#/$defs/A"}]}}),
        "toy.json#/$defs/A: 'A' is defined by itself. Break the circle.",
        id="allOf of itself",
    ),
    pytest.param(
        protocol(
            types={
                "A": {"description": "A.", "$ref": "#/$defs/B"},
                "B": {"description": "B.", "anyOf": [{"$ref": "#/$defs/A"}, TEXT]},
            }
        ),
        "toy.json#/$defs/A: 'A' is defined by itself. Break the circle.",
        id="two names for each other",
    ),
    pytest.param(
        protocol(
            types={
                "A": {"description": "A.", "anyOf": [{"$ref": "#/$defs/A"}, TEXT]}
                | {"examples": ["x"]},
            }
        ),
        "toy.json#/$defs/A: 'A' is defined by itself. Break the circle.",
        id="a union of itself with an example",
    ),
    pytest.param(
        protocol(
            types={
                "A": {"description": "A.", "oneOf": [TEXT, {"$ref": "#/$defs/B"}]},
                "B": {"description": "B.", "$ref": "#/$defs/C"},
                "C": {"description": "C.", "anyOf": [{"anyOf": [{"$ref": "#/$defs/A"}, TEXT]}]}
                | {"examples": ["x"]},
            }
        ),
        "toy.json#/$defs/C: 'C' is defined by itself. Break the circle.",
        id="a circle of unions and other names",
    ),
    pytest.param(
        protocol(types=ring(DEEPEST + 1)),
        "toy.json#/$defs/T0: 25 types refer to each other in a circle, and 25 of them would be"
        " built one inside the other: pydantic can build 24. Leave the type of one member open:"
        " {}.",
        id="a circle that pydantic cannot build",
    ),
    pytest.param(
        protocol(types={"A": tagged("a"), "B": tagged("b"), "U": union()}),
        "toy.json#/$defs/U: 'type' distinguishes the branches, but the union does not say so."
        ' Add "discriminator": {"propertyName": "type"}.',
        id="B004 a tagged union without a discriminator",
    ),
    pytest.param(
        protocol(
            types={
                "A": tagged("a"),
                "B": thing(b=TEXT),
                "U": union(discriminator={"propertyName": "type"}),
            }
        ),
        "toy.json#/$defs/U/discriminator: branch 1 has no required constant 'type'."
        " Give each branch one, or remove the discriminator.",
        id="a discriminator that a branch lacks",
    ),
    pytest.param(
        protocol(
            types={
                "A": tagged("a"),
                "B": tagged("a"),
                "U": union(discriminator={"propertyName": "type"}),
            }
        ),
        "toy.json#/$defs/U/discriminator: two branches have the tag 'a'. Give each branch its own.",
        id="one tag twice",
    ),
    pytest.param(
        protocol(
            types={
                "A": thing(a=TEXT),
                "B": {"description": "B.", "allOf": [{"$ref": "#/$defs/A"}, thing(a=TEXT)]},
            }
        ),
        "toy.json#/$defs/B: 'a' is a member of both 'A' and 'B'."
        " A derived type adds members; remove one of them.",
        id="a derived type that declares a member again",
    ),
    pytest.param(
        protocol(types={"Thing": thing(a=TEXT) | {"required": ["b"]}}),
        "toy.json#/$defs/Thing/required: 'b' is required but not a member. Add it to properties.",
        id="a required member that is not there",
    ),
    pytest.param(
        protocol(types={"Thing": thing(a=TEXT) | {"examples": [{"a": 5}]}}),
        "toy.json#/$defs/Thing/examples/0/a: it does not fit the type: 5 is not of type 'string'."
        " Correct the value or the type.",
        id="an example that does not fit",
    ),
    pytest.param(
        protocol(types={"Thing": thing(a=TEXT | {"default": 5})}),
        "toy.json#/$defs/Thing/properties/a/default: it does not fit the type:"
        " 5 is not of type 'string'. Correct the value or the type.",
        id="a default that does not fit",
    ),
    pytest.param(
        protocol(types={"Thing": {"type": "object"}}),
        "toy.json#/$defs/Thing: 'description' is a required property. Add it.",
        id="a type without a description",
    ),
    pytest.param(
        protocol(types={"Thing": thing(a=TEXT) | {"additionalProperties": False}}),
        f"toy.json#/$defs/Thing/additionalProperties: {CLOSED}. Remove it.",
        id="an object that is closed",
    ),
    pytest.param(
        protocol(types={"Thing": {"description": "A.", "additionalProperties": False}}),
        f"toy.json#/$defs/Thing/additionalProperties: {CLOSED}. Remove it.",
        id="an object without fields that is closed",
    ),
    pytest.param(
        protocol(
            types={"Thing": thing(a={"type": "array", "items": {"additionalProperties": False}})}
        ),
        f"toy.json#/$defs/Thing/properties/a/items/additionalProperties: {CLOSED}. Remove it.",
        id="an object in a list that is closed",
    ),
    pytest.param(
        protocol(
            types=THING
            | {"More": {"description": "A.", "allOf": [{"$ref": "#/$defs/Thing"}, CLOSED_PART]}}
        ),
        f"toy.json#/$defs/More/allOf/1/additionalProperties: {CLOSED}. Remove it.",
        id="a part of an object that is closed",
    ),
    pytest.param(
        protocol(types={"Thing": thing(a=TEXT) | {"additionalProperties": TEXT}}),
        "toy.json#/$defs/Thing/additionalProperties: it does not apply next to properties: an"
        " unknown field may have any value. Remove it, or give the map a field of its own.",
        id="a type for the other fields of an object",
    ),
    pytest.param(
        protocol(types={"Thing": thing() | {"patternProperties": {}}}),
        "toy.json#/$defs/Thing/patternProperties: Additional properties are not allowed"
        " ('patternProperties' was unexpected). Remove it, or correct its name.",
        id="a keyword outside the document language",
    ),
    pytest.param(
        protocol(types={"a-b": thing()}),
        "toy.json#/$defs/a-b: 'a-b' does not match '^[A-Z][A-Za-z0-9]*$'. Write it in that form.",
        id="a type name that is not a class name",
    ),
    pytest.param(
        protocol(methods={"a": row(kind="question")}, types=THING),
        "toy.json#/methods/a/kind: 'question' is not one of"
        " ['request', 'notification', 'either']. Choose one of them.",
        id="an unknown kind",
    ),
    pytest.param(
        protocol(methods={"a": row(kind="reqest")}, types=THING),
        "toy.json#/methods/a/kind: 'reqest' is not one of"
        " ['request', 'notification', 'either']. Did you mean 'request'?",
        id="a kind with a letter missing",
    ),
    pytest.param(
        protocol(methods={"a": row(sumary="Do.")}, types=THING),
        "toy.json#/methods/a/sumary: Additional properties are not allowed"
        " ('sumary' was unexpected). Did you mean 'summary'?",
        id="a member with a letter missing",
    ),
    pytest.param(
        protocol(methods={"a": row(params=thing())}, types=THING),
        f"toy.json#/methods/a/params: {thing()} is not of type 'string'."
        ' Write a value such as "#/$defs/Tool".',
        id="params that are not a reference",
    ),
    pytest.param(
        protocol(methods={"a": row(deprecated="1.1")}, types=THING),
        "toy.json#/methods/a/deprecated: True was expected."
        ' Write a value such as {"reason": "It cannot say what failed.", "since": "1.1"}.',
        id="a deprecation that is a version",
    ),
    pytest.param(
        protocol(types={"Thing": thing(a={"type": "sting"})}),
        "toy.json#/$defs/Thing/properties/a/type: 'sting' is not one of ['null', 'boolean',"
        " 'integer', 'number', 'string', 'array', 'object']. Did you mean 'string'?",
        id="a type with a letter missing",
    ),
]


@pytest.mark.parametrize(("content", "expected"), BAD)
def test_a_bad_document_is_refused_with_place_problem_and_hint(
    content: dict[str, Any], expected: str, tmp_path: Path
) -> None:
    with pytest.raises(DocumentError) as caught:
        build(documents(tmp_path, content), "toy_bindings")
    assert expected in [str(finding) for finding in caught.value.findings]


@pytest.mark.parametrize("others", [True, {}])
def test_an_object_with_fields_may_say_that_it_is_open(others: Any, tmp_path: Path) -> None:
    content = protocol(types={"Thing": thing(a=TEXT) | {"additionalProperties": others}})
    assert lint(documents(tmp_path, content)) == []


def test_the_longest_circle_that_is_let_through_can_be_imported(tmp_path: Path) -> None:
    (tmp_path / "schema").mkdir()
    found = documents(tmp_path / "schema", protocol(types=ring(DEEPEST)))
    assert lint(found) == []
    with load_package(found, tmp_path / "out", "ring_bindings") as package:
        models = importlib.import_module(f"{package.__name__}.toy.models")
        assert models.T0.model_validate({"next": [{"next": []}, None]}).next[0].next == []


def test_all_findings_are_shown_together(tmp_path: Path) -> None:
    types = {"A": thing(a=thing()), "B": thing() | {"required": ["x"]}, "Peer": thing()}
    found = lint(documents(tmp_path, protocol(types=types)))
    assert [finding.pointer for finding in found] == [
        "/$defs/A/properties/a",
        "/$defs/B/required",
        "/$defs/Peer",
    ]


def test_protocols_of_one_python_package_are_refused(tmp_path: Path) -> None:
    found = lint(documents(tmp_path, protocol("a-b"), protocol("ab")))
    assert [str(finding) for finding in found] == [
        "ab.json#/protocol: its Python package 'ab' is also that of a-b.json."
        " Rename one of the protocols."
    ]


def deep_text(times: int) -> bytes:
    """A document that Python's own encoder may not be able to write."""
    whole = json.dumps(protocol(types={"Deep": thing(a="here")}))
    array = '{"type": "array", "items": ' * times + '{"type": "string"}' + "}" * times
    return whole.replace('"here"', array).encode()


TOO_DEEP = "arrays and objects are nested more than 100 deep. Give inner types names under $defs."

UNREADABLE = [
    pytest.param(b"{", "toy.json#: cannot be read as JSON: ", id="cut off"),
    pytest.param(b"\xff\xfe{}", "toy.json#: cannot be read as JSON: ", id="not UTF-8"),
    pytest.param(b"[]", "toy.json#: [] is not of type 'object'. ", id="an array"),
    pytest.param(
        b'{"a": 1e999}', "toy.json#: cannot be read as JSON: 1e999 is more", id="infinite"
    ),
    pytest.param(b'{"a": NaN}', "toy.json#: cannot be read as JSON: NaN is not JSON", id="NaN"),
    pytest.param(
        b'{"a": 1, "a": 2}',
        "toy.json#: cannot be read as JSON: the member 'a' stands twice in one object",
        id="a member twice",
    ),
    *(
        pytest.param(content, f"toy.json#: {TOO_DEEP}", id=f"types too deep: {times}")
        for times in (101, 300, 500, 100_000)
        for content in [deep_text(times)]
    ),
    pytest.param(
        json.dumps(protocol(title="\ud800")).encode(),
        "toy.json#: cannot be read as JSON: \\ud800 is half of a surrogate pair",
        id="half a surrogate pair",
    ),
    pytest.param(
        json.dumps(protocol("other")).encode(),
        "toy.json#/protocol: the protocol is called 'other'. Rename the file to other.json.",
        id="another name than the file",
    ),
]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_document_that_is_not_a_file_is_a_finding(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "toy.json")
    (tmp_path / "meta.schema.json").write_bytes((SCHEMA / "meta.schema.json").read_bytes())
    with pytest.raises(DocumentError, match="it is not a regular file"):
        load_documents(tmp_path)


@pytest.mark.parametrize(("content", "expected"), UNREADABLE)
def test_an_unreadable_document_is_a_finding(content: bytes, expected: str, tmp_path: Path) -> None:
    (tmp_path / "toy.json").write_bytes(content)
    (tmp_path / "meta.schema.json").write_bytes((SCHEMA / "meta.schema.json").read_bytes())
    with pytest.raises(DocumentError) as caught:
        load_documents(tmp_path)
    assert any(str(finding).startswith(expected) for finding in caught.value.findings)


@pytest.mark.parametrize("kind", ["items", "anyOf"])
def test_the_deepest_types_that_are_read_can_be_generated(kind: str, tmp_path: Path) -> None:
    inner: dict[str, Any] = dict(TEXT)
    for number in range((DEEPEST_TEXT - 6) // (1 if kind == "items" else 2)):
        once = {"type": "array", "items": inner}
        inner = once if kind == "items" else {"anyOf": [inner, {"const": number}]}
    found = documents(tmp_path, protocol(types={"Deep": thing(a=inner)}))
    assert build(found, "deep_bindings")


@pytest.mark.parametrize("name", ["", "missing"])
def test_a_folder_without_documents_is_a_finding(name: str, tmp_path: Path) -> None:
    with pytest.raises(DocumentError, match="no protocol documents"):
        load_documents(tmp_path / name)
