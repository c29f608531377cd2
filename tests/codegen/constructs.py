"""Schema constructs, values for them, and what two judges say: `jsonschema` and the bindings."""

from __future__ import annotations

__all__ = (
    "HELPERS",
    "PAIRS",
    "SINGLE",
    "VALUES",
    "Node",
    "Tried",
    "kept_documents",
    "kept_models",
    "try_all",
)

import importlib.util
import json
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import combinations
from typing import Any, NamedTuple

from jsonschema import Draft202012Validator, ValidationError as Fault, validators
from pydantic import ValidationError

from kinwire_codegen.emit.layout import formatted
from kinwire_codegen.emit.models import make_models
from kinwire_codegen.emit.package import Package
from kinwire_codegen.lint import lint
from kinwire_codegen.load.compiled import compiled
from kinwire_codegen.load.document import Document, Documents
from kinwire_codegen.load.loading import load_documents
from kinwire_protocols.base import from_wire, to_wire
from tests.codegen.documents import protocol

Node = dict[str, Any]

_A = {"$ref": "#/$defs/Aa"}
_B = {"$ref": "#/$defs/Bb"}
_NULL = {"type": "null"}


def thing(*required: str, **members: Node) -> Node:
    """Return an object type with these fields."""
    return {
        "type": "object",
        "properties": members,
        **({"required": [*required]} if required else {}),
    }


HELPERS: dict[str, Node] = {
    "Aa": thing("k", k={"const": "x"}),
    "Bb": thing("n", n={"type": "integer"}),
    "Cc": thing("k", k={"const": "y"}, n={"type": "integer"}),
    "Text": {"type": "string"},
    "Word": {"enum": ["a", "b"]},
    "Size": {"type": "integer", "minimum": 0},
    "Numbers": {"type": "array", "items": {"type": "integer"}},
    "Map": {"type": "object", "additionalProperties": {"type": "integer"}},
    "Alias": _B,
    "Either": {"anyOf": [_A, _B]},
    "Tagged": {"oneOf": [_A, {"$ref": "#/$defs/Cc"}], "discriminator": {"propertyName": "k"}},
    "Zz": thing("k", k={"const": "z"}),
    "Tree": thing(
        kids={"type": "array", "items": {"$ref": "#/$defs/Tree"}}, name={"type": "string"}
    ),
    "Deep": {"anyOf": [{"type": "string"}, {"type": "array", "items": {"$ref": "#/$defs/Deep"}}]},
}

_FRAGMENTS: dict[str, Node] = {
    "$ref": _B,
    "$ref text": {"$ref": "#/$defs/Text"},
    "string": {"type": "string"},
    "integer": {"type": "integer"},
    "number": {"type": "number"},
    "boolean": {"type": "boolean"},
    "null": _NULL,
    "array": {"type": "array"},
    "object": {"type": "object"},
    "several": {"type": ["string", "integer", "null"]},
    "items": {"items": {"type": "integer"}},
    "properties": {"properties": {"n": {"type": "integer"}}},
    "required": {"required": ["n"]},
    "any others": {"additionalProperties": True},
    "no others": {"additionalProperties": False},
    "typed others": {"additionalProperties": {"type": "integer"}},
    "anyOf": {"anyOf": [{"type": "string"}, {"type": "integer"}]},
    "anyOf required": {"anyOf": [{"required": ["n"]}, {"required": ["m"]}]},
    "anyOf objects": {"anyOf": [_A, _B]},
    "oneOf": {"oneOf": [{"type": "string"}, {"type": "integer"}]},
    "oneOf overlapping": {"oneOf": [{"type": "number"}, {"type": "integer"}]},
    "allOf": {"allOf": [_B]},
    "allOf text": {"allOf": [{"$ref": "#/$defs/Text"}]},
    "enum": {"enum": ["a", "b"]},
    "enum of integers": {"enum": [0, 1, 2]},
    "const": {"const": "a"},
    "const 1": {"const": 1},
    "const true": {"const": True},
    "minimum": {"minimum": 1},
    "maximum": {"maximum": 2},
    "exclusiveMinimum": {"exclusiveMinimum": 1},
    "exclusiveMaximum": {"exclusiveMaximum": 2.5},
    "minLength": {"minLength": 2},
    "maxLength": {"maxLength": 1},
    "pattern": {"pattern": "^a"},
    "minItems": {"minItems": 1},
    "maxItems": {"maxItems": 1},
    "uniqueItems": {"uniqueItems": True},
    "format": {"format": "date"},
    "deprecated": {"deprecated": True},
}

PAIRS: dict[str, Node] = {name: node for name, node in _FRAGMENTS.items()} | {
    f"{one} + {other}": _FRAGMENTS[one] | _FRAGMENTS[other]
    for one, other in combinations(_FRAGMENTS, 2)
    if not _FRAGMENTS[one].keys() & _FRAGMENTS[other].keys()
}
"""Every keyword alone, and with every other one."""

_OF_KINDS = {
    "string": ("minLength", "maxLength", "pattern", "format", "enum", "const", "deprecated"),
    "integer": ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "const 1"),
    "number": ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "enum of integers"),
    "array": ("items", "minItems", "maxItems", "uniqueItems", "deprecated"),
    "object": ("properties", "required", "any others", "typed others", "anyOf required", "allOf"),
}

PAIRS |= {
    f"{kind}: {one} + {other}": _FRAGMENTS[kind] | _FRAGMENTS[one] | _FRAGMENTS[other]
    for kind, words in _OF_KINDS.items()
    for one, other in combinations(words, 2)
    if not _FRAGMENTS[one].keys() & _FRAGMENTS[other].keys()
}

_N = {"type": "integer"}
_T = {"type": "string"}

SINGLE: dict[str, Node] = {
    "anything": {},
    "a union with anything": {"anyOf": [{}, _NULL]},
    "one branch": {"anyOf": [_T]},
    "a union of constants": {"anyOf": [{"const": "a"}, {"const": 1}]},
    "a constant true": {"type": "boolean", "const": True},
    "a constant 0": {"const": 0},
    "a mixed enum": {"enum": ["a", 0, 1]},
    "an enum with its type": {"type": "string", "enum": ["a", "b"]},
    "an enum of another type": {"type": "integer", "enum": ["a"]},
    "a constant of another type": {"type": "string", "const": 1},
    "an integer as a number": {"type": "number", "const": 1},
    "a bounded scalar in a union": {"anyOf": [{"type": "integer", "minimum": 0}, _T]},
    "bounds in a union of kinds": {"type": ["string", "integer"], "minimum": 1, "minLength": 2},
    "bounds of a nullable": {"type": ["integer", "null"], "minimum": 1, "maximum": 2},
    "a union of two texts": {"anyOf": [{"type": "string", "minLength": 2}, {"enum": ["a"]}]},
    "bounds from both sides": {"type": "integer", "minimum": 1, "exclusiveMaximum": 2},
    "impossible integers": {"type": "integer", "exclusiveMinimum": 1, "exclusiveMaximum": 2},
    "impossible numbers": {"type": "number", "minimum": 2, "maximum": 1},
    "an impossible length": {"type": "string", "minLength": 2, "maxLength": 1},
    "an impossible count": {"type": "array", "minItems": 2, "maxItems": 1},
    "a fraction as a bound": {"type": "integer", "minimum": 0.5, "maximum": 1.5},
    "a fraction left out": {"type": "integer", "exclusiveMinimum": 0.5},
    "two lower bounds": {"type": "integer", "minimum": 0, "exclusiveMinimum": 0},
    "a large bound": {"type": "number", "maximum": 9007199254740993},
    "a bound on a name": {"$ref": "#/$defs/Text", "minLength": 2},
    "a second bound on a name": {"$ref": "#/$defs/Size", "maximum": 1},
    "the same bound on a name": {"$ref": "#/$defs/Size", "minimum": 1},
    "a bound on a name of an enum": {"$ref": "#/$defs/Word", "minLength": 2},
    "a count on a name": {"$ref": "#/$defs/Numbers", "minItems": 1, "uniqueItems": True},
    "a list of bounded texts": {"type": "array", "items": {"type": "string", "minLength": 2}},
    "a list of lists": {"type": "array", "items": {"type": "array", "items": _N, "maxItems": 1}},
    "a list of anything": {"type": "array", "items": {}},
    "unique items": {"type": "array", "uniqueItems": True},
    "unique objects": {"type": "array", "items": _B, "uniqueItems": True},
    "items may repeat": {"type": "array", "uniqueItems": False},
    "a list or a text": {"type": ["array", "string"], "items": _N, "minItems": 1},
    "a map": {"type": "object", "additionalProperties": _N},
    "a map of lists": {"type": "object", "additionalProperties": {"type": "array", "items": _N}},
    "a map of objects": {"type": "object", "additionalProperties": _B},
    "a map of anything": {"type": "object", "additionalProperties": {}},
    "a map or null": {"type": ["object", "null"], "additionalProperties": _N},
    "an optional field": thing(n=_N),
    "an optional field that may be null": thing(n={"type": ["integer", "null"]}),
    "a required field that may be null": thing("n", n={"type": ["integer", "null"]}),
    "a required field of any type": thing("n", n={}),
    "an optional field of any type": thing(n={}),
    "a required union with anything": thing("n", n={"anyOf": [{}, _NULL]}),
    "a field with a default": thing(n={"type": "integer", "default": 7}),
    "a nullable field with a default": thing(n={"type": ["integer", "null"], "default": 7}),
    "a field whose default is null": thing(n={"type": ["integer", "null"], "default": None}),
    "an object as a default": thing(n={"$ref": "#/$defs/Bb", "default": {"n": 1}}),
    "a list as a default": thing(n={"type": "array", "items": _N, "default": [1]}),
    "a constant with a default": thing(k={"const": "x", "default": "x"}),
    "a required field with a default": thing("n", n={"type": "integer", "default": 7}),
    "a required constant": thing("k", k={"const": "x"}),
    "an optional constant": thing(k={"const": "x"}),
    "a required constant 1": thing("n", n={"const": 1}),
    "a required constant true": thing("n", n={"const": True}),
    "a required word of one": thing("k", k={"enum": ["x"]}),
    "bounds of a field": thing("n", n={"type": "integer", "minimum": 1, "maximum": 2}),
    "bounds of an optional field": thing(n={"type": "array", "items": _N, "maxItems": 1}),
    "a unique optional field": thing(n={"type": "array", "uniqueItems": True}),
    "a field of a union": thing(limit={"anyOf": [{"type": "integer", "minimum": 0}, _T]}),
    "fields called like types": thing("int", int=_N, list={"type": "array"}, str=_T, dict={}),
    "an alternative of fields": thing(n=_N, m=_T)
    | {"anyOf": [{"required": ["n"]}, {"required": ["m"]}]},
    "exactly one of fields": thing(n=_N, m=_T)
    | {"oneOf": [{"required": ["n"]}, {"required": ["m"]}]},
    "an alternative of nullable fields": thing(n={"type": ["integer", "null"]}, m=_T)
    | {"anyOf": [{"required": ["n"]}, {"required": ["m"]}]},
    "an alternative that is described": thing(n=_N)
    | {"anyOf": [{"required": ["n"], "description": "D."}]},
    "fields and a union": thing(n=_N) | {"anyOf": [_A, _B]},
    "fields without a type": {"properties": {"n": _N}},
    "fields of what may be null": {"type": ["object", "null"], "properties": {"n": _N}},
    "an extended object": {"allOf": [_B, thing("k", k={"const": "x"})]},
    "an extended object that says more is required": {"allOf": [_B, {"required": ["n"]}]},
    "an extended optional": {"allOf": [{"$ref": "#/$defs/Tree"}, {"required": ["name"]}]},
    "an extended name": {"allOf": [{"$ref": "#/$defs/Alias"}], "type": "object"},
    "an extended union": {"allOf": [{"$ref": "#/$defs/Either"}]},
    "an extended tagged union": {"allOf": [{"$ref": "#/$defs/Tagged"}]},
    "an extended map": {"allOf": [{"$ref": "#/$defs/Map"}]},
    "an extended text": {"allOf": [{"$ref": "#/$defs/Text"}, {"minLength": 1}]},
    "an extended object that is closed": {"allOf": [_B, {"additionalProperties": False}]},
    "an extended object with typed others": {"allOf": [_B, {"additionalProperties": _N}]},
    "two bases": {"allOf": [_A, _B]},
    "a union of objects": {"anyOf": [_A, _B]},
    "a union of objects that may be both": {"oneOf": [_A, _B]},
    "a union of objects and a text": {"anyOf": [_A, _B, _T]},
    "one of apart": {"oneOf": [_A, _T, {"type": "array"}]},
    "one of constants": {"oneOf": [{"const": "a"}, {"const": "b"}]},
    "one of equal constants": {"oneOf": [{"const": "a"}, {"enum": ["a", "b"]}]},
    "one of 1 and true": {"oneOf": [{"const": 1}, {"const": True}]},
    "one of a text and a word": {"oneOf": [_T, {"const": "a"}]},
    "one of objects without a discriminator": {"oneOf": [_A, {"$ref": "#/$defs/Cc"}]},
    "a tagged union": {"$ref": "#/$defs/Tagged"},
    "a nested tagged union": {
        "oneOf": [{"$ref": "#/$defs/Tagged"}, {"$ref": "#/$defs/Zz"}],
        "discriminator": {"propertyName": "k"},
    },
    "a tagged union and a text": {"anyOf": [{"$ref": "#/$defs/Tagged"}, _T]},
    "a tagged union and an object": {"anyOf": [{"$ref": "#/$defs/Tagged"}, _B]},
    "a tagged union and null": {"anyOf": [{"$ref": "#/$defs/Tagged"}, _NULL]},
    "a list of tagged unions": {"type": "array", "items": {"$ref": "#/$defs/Tagged"}},
    "a tree": {"$ref": "#/$defs/Tree"},
    "a list that holds itself": {"$ref": "#/$defs/Deep"},
    "a pattern": {"type": "string", "pattern": "^[a-c]+$"},
    "a pattern anywhere": {"type": "string", "pattern": "b"},
    "a look-ahead": {"type": "string", "pattern": "^(?=a)"},
    "a format": {"type": "string", "format": "uri"},
    "a deprecated field": thing(n={"type": "integer", "deprecated": True}),
    "a short form": {
        "type": "array",
        "items": {"$ref": "#/$defs/Tree"},
        "shorthand": {"$ref": "#/$defs/Tree", "member": "name"},
    },
}
"""Constructs of more than two keywords, and those that generators are known to lose."""

_SCALARS: list[Any] = [
    *(None, True, False, 0, 1, 2, 3, -1, 1.0, 1.5, 2.0, 100.0, 0.5, 9007199254740994),
    *("", "a", "b", "ab", "abc", "x", "date", "2020-01-01", "a\n"),
]
_LISTS: list[Any] = [
    *([], [1], [1, 1], [1, 1.0], [1, True], [1, 2], [None], ["a"], ["ab"], [[1]], [[1, 2]], [[]]),
    *(
        [{"n": 1}],
        [{"n": 1}, {"n": 1.0}],
        [{"n": 1}, {"n": 2}],
        [{"k": "x"}],
        [{"k": "x"}, {"k": "y"}],
    ),
    ["a", ["b", []]],
]
_OBJECTS: list[Any] = [
    *(
        {},
        {"n": 1},
        {"n": 2.0},
        {"n": 3},
        {"n": "a"},
        {"n": None},
        {"n": True},
        {"n": []},
        {"n": [1]},
    ),
    *({"n": [1, 1]}, {"n": {}}, {"n": {"n": 2}}, {"m": "a"}, {"m": None}, {"n": 1, "m": "a"}),
    *({"k": "x"}, {"k": "y"}, {"k": "y", "n": 1}, {"k": "z"}, {"k": "w"}, {"k": 1}, {"k": None}),
    *(
        {"k": "x", "n": 1},
        {"k": "x", "n": "a"},
        {"n": 2, "other": None},
        {"limit": 1},
        {"limit": -1},
    ),
    *(
        {"limit": "a"},
        {"limit": None},
        {"int": 1, "list": [], "str": "a", "dict": None},
        {"int": "a"},
    ),
    *(
        {"name": "a"},
        {"name": 1},
        {"kids": [{"kids": []}]},
        {"kids": [{"kids": 1}]},
        {"kids": None},
    ),
]

VALUES: list[Any] = [*_SCALARS, *_LISTS, *_OBJECTS]
"""JSON values that tell the constructs apart."""


class Tried(NamedTuple):
    """What became of one construct in one place."""

    faults: list[str]
    """What lint says of it; empty if it is kept."""
    silent: list[str]
    """Values that the two judges treat in different ways."""


PLACES = {"D": "defined", "F": "a field", "O": "an optional field"}
"""Where each construct is tried."""


class _Placed(NamedTuple):
    keys: dict[tuple[str, str], str]
    """The definition that has a construct in a place."""
    faults: dict[str, list[str]]
    kept: dict[str, Node]


def try_all(constructs: Mapping[str, Node]) -> dict[tuple[str, str], Tried]:
    """Lint each construct in each place, and judge all values by those that lint lets pass."""
    placed = _placed(constructs)
    made = _module(_source(placed))
    known: dict[str, dict[str, bool]] = {name: {} for name in constructs}
    return {
        where: Tried(
            placed.faults[key],
            list(_differences(made, placed.kept, key, known[where[0]]))
            if key in placed.kept
            else [],
        )
        for where, key in placed.keys.items()
    }


def kept_models(constructs: Mapping[str, Node]) -> str:
    """Return the module of models with everything that lint lets pass, as it is written."""
    files = {"toy/models.py": _source(_placed(constructs))}
    return formatted(files, "kinwire_protocols")["toy/models.py"]


def kept_documents(constructs: Mapping[str, Node]) -> Documents:
    """Return documents with everything that lint lets pass."""
    return _documents(_placed(constructs).kept)


def _placed(constructs: Mapping[str, Node]) -> _Placed:
    described = {name: {"description": "A type."} | node for name, node in HELPERS.items()}
    keys: dict[tuple[str, str], str] = {}
    for index, (name, node) in enumerate(constructs.items()):
        placed = {"D": node, "F": thing("it", it=node), "O": thing(it=node)}
        for place, whole in placed.items():
            keys[name, PLACES[place]] = f"{place}{index:04}"
            described[f"{place}{index:04}"] = {"description": "A type."} | whole
    faults: dict[str, list[str]] = {key: [] for key in described}
    for finding in lint(_documents(described)):
        faults[finding.pointer.split("/")[2]].append(finding.what)
    return _Placed(keys, faults, {key: node for key, node in described.items() if not faults[key]})


PACKAGE = Package("toys", "kinwire_protocols", frozenset({"toy"}))


def _source(placed: _Placed) -> str:
    return make_models(_documents(placed.kept), PACKAGE)["toy"].sources["toy/models.py"]


def _documents(definitions: dict[str, Node]) -> Documents:
    ours = load_documents(None)
    content = protocol("toy", types=definitions)
    return Documents({"jsonrpc": ours["jsonrpc"], "toy": Document(content)}, ours.meta, ("toy",))


def _module(source: str) -> Any:
    spec = importlib.util.spec_from_loader("constructs_toy", loader=None)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["constructs_toy"] = module  # pydantic looks for names of annotations there
    exec(compile(source, "<constructs>", "exec"), module.__dict__)
    return module


def _pattern(_: Any, pattern: str, value: Any, __: Any) -> Iterator[Fault]:
    """Judge a simple pattern as ECMA-262 does: its `$` is the very end."""
    if isinstance(value, str) and not re.search(pattern.replace("$", r"\Z"), value):
        yield Fault("it does not match")


_Judge: Any = validators.extend(  # type: ignore[no-untyped-call]
    Draft202012Validator, {"pattern": _pattern}
)


def _judge(kept: Mapping[str, Node], key: str, known: dict[str, bool]) -> Callable[[Any], bool]:
    """Return whether a value is valid; `known` has what is known for one construct.

    A field is as valid as its value is, which saves two thirds of the work.
    """
    node = kept[key] if key[0] == "D" else kept[key]["properties"]["it"]
    schema = {"$defs": {name: kept[name] for name in HELPERS}} | node
    judge, fits = _Judge(schema), compiled(schema)

    def judged(value: Any) -> bool:
        text = json.dumps(value, sort_keys=True)  # to Python, 1, 1.0 and True are equal
        if text not in known:
            known[text] = judge.is_valid(value)
            assert known[text] == fits(value), f"of {node}, lint judges {text} otherwise"
        return known[text]

    if key[0] == "D":
        return judged
    required = key[0] == "F"
    return lambda value: judged(value["it"]) if "it" in value else not required


def _differences(
    module: Any, kept: Mapping[str, Node], key: str, known: dict[str, bool]
) -> Iterator[str]:
    is_valid = _judge(kept, key, known)
    values = VALUES if key[0] == "D" else [{"it": one} for one in VALUES]
    for value in [*values, {}]:
        valid, notices = is_valid(value), list[object]()
        try:
            read = from_wire(getattr(module, key), value, partial(_note, notices))
        except ValidationError:
            if valid:
                yield f"{json.dumps(value)} is refused"
            continue
        written = to_wire(read)
        if valid and not _same(written, value):
            yield f"{json.dumps(value)} becomes {json.dumps(written)}"
        if not valid and not notices and not is_valid(written):
            yield f"{json.dumps(value)} is accepted and becomes {json.dumps(written)}"


def _note(notices: list[object], *reading: object) -> None:
    notices.append(reading)


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_same, one, other))
    return bool(one == other)
