"""Types that generators are known to stumble over (cases B001 to B010): right code, tried."""

from __future__ import annotations

import importlib
import typing
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from pydantic import ValidationError

from kinwire_codegen.build import build
from tests.codegen.documents import build_types, documents, load_package, protocol

TEXT = {"type": "string"}


def thing(**members: Any) -> dict[str, Any]:
    return {"type": "object", "properties": members}


def base_of(models: ModuleType) -> Any:
    return importlib.import_module(f"{models.__name__.partition('.')[0]}.base")


def round_trip(models: ModuleType, name: str, value: Any) -> Any:
    base = base_of(models)
    return base.to_wire(base.from_wire(getattr(models, name), value))


def refusal(models: ModuleType, name: str, value: Any) -> str:
    problems = importlib.import_module(f"{models.__name__.partition('.')[0]}.problems")
    with pytest.raises(ValidationError) as caught:
        round_trip(models, name, value)
    return "; ".join(str(problem) for problem in problems.problems(caught.value, value))


def test_b001_a_member_called_like_the_type_it_holds(tmp_path: Path) -> None:
    visit = thing(
        date={"type": "string", "format": "date"},
        list={"type": "array", "items": {"type": "integer"}},
        datetime={"type": "string", "format": "date-time"},
        int={"type": "array", "items": {"type": "integer"}},
        str={"type": "array", "items": TEXT},
        Any={"description": "Any."},
        dict={"type": "object", "additionalProperties": {"type": "boolean"}},
    )
    value: dict[str, Any] = {
        "date": "2026-05-01",
        "list": [1],
        "datetime": "2026-05-01T00:00:00Z",
        "int": [2],
    }
    value |= {"str": ["a"], "Any": None, "dict": {"a": True}}
    with build_types(tmp_path, Visit=visit | {"required": ["date"]}) as models:
        assert round_trip(models, "Visit", value) == value
        assert refusal(models, "Visit", {"list": [1]}) == "/date: expected a value, got nothing"


WORDS = ["Global", "from", "async", "None", "class", "self", "match", "2fa", "a-b", "a_b"]
WORDS += ["model_config", "model_fields", "copy", "json", "schema", "validate", "_meta", "__init__"]
WORDS += ["$ref", "@type", "a.b", "a/b", "é", "名", " ", "", "type", "import", "A-B", "Ab", "AB"]


def test_names_that_are_not_valid_in_python(tmp_path: Path) -> None:
    definition = thing(**{word: TEXT for word in WORDS}) | {"required": WORDS}
    with build_types(tmp_path, Words=definition) as models:
        value = {word: f"<{word}>" for word in WORDS}
        assert round_trip(models, "Words", value) == value
        assert len(models.Words.model_fields) == len(WORDS)


def test_b003_a_value_under_the_python_name_is_never_lost(tmp_path: Path) -> None:
    with build_types(tmp_path, Seat=thing(**{"class": TEXT})) as models:
        base = base_of(models)
        assert base.to_wire(models.Seat(class_="x")) == {"class": "x"}
        assert round_trip(models, "Seat", {"class": "x"}) == {"class": "x"}
        assert round_trip(models, "Seat", {"klass": "x"}) == {"klass": "x"}
        assert round_trip(models, "Seat", {"class_": "x"}) == {"class_": "x"}


def test_b004_a_tagged_union_keeps_other_tags_apart(tmp_path: Path) -> None:
    types = {
        "A": thing(type={"const": "text"}, text=TEXT) | {"required": ["type", "text"]},
        "B": thing(type={"const": "resource"}, uri=TEXT) | {"required": ["type", "uri"]},
        "Either": {
            "oneOf": [{"$ref": "#/$defs/A"}, {"$ref": "#/$defs/B"}],
            "discriminator": {"propertyName": "type"},
        },
        "Holder": thing(it={"$ref": "#/$defs/Either"}) | {"required": ["it"]},
    }
    with build_types(tmp_path, **types) as models:
        value = {"it": {"type": "resource", "uri": "m://1"}}
        assert round_trip(models, "Holder", value) == value
        assert isinstance(base_of(models).from_wire(models.Holder, value).it, models.B)
        assert refusal(models, "Holder", {"it": {"uri": "m://1"}}).startswith("/it/type: ")
        other = {"it": {"type": "video", "uri": "m://1"}}
        assert round_trip(models, "Holder", other) == other
        kept = base_of(models).from_wire(models.Holder, other).it
        assert isinstance(kept, base_of(models).UnknownVariant)
        wrong = refusal(models, "Holder", {"it": {"type": 5, "uri": "m://1"}})
        assert wrong == "/it/type: expected one of 'text', 'resource', got 5"
        source = Path(str(models.__file__)).read_text()
        assert source.count("Literal[") == 2


@pytest.mark.parametrize("tag", ["noteKind", "@type", "class"])
def test_the_tag_of_a_union_may_have_any_name(tag: str, tmp_path: Path) -> None:
    types = {
        name: thing(**{tag: {"const": name.lower()}}, text=TEXT) | {"required": [tag]}
        for name in ("A", "B", "C")
    }
    parts = {one: {"$ref": f"#/$defs/{one}"} for one in (*types, "Two")}
    union = {"discriminator": {"propertyName": tag}}
    types["Two"] = {"oneOf": [parts["A"], parts["B"]]} | union
    types["All"] = {"oneOf": [parts["Two"], parts["C"]]} | union
    types["Holder"] = thing(it={"$ref": "#/$defs/All"}) | {"required": ["it"]}
    with build_types(tmp_path, **types) as models:
        base = base_of(models)
        for name in ("A", "B", "C"):
            value = {"it": {tag: name.lower(), "text": "x"}}
            assert round_trip(models, "Holder", value) == value
            read = base.from_wire(models.Holder, value).it
            assert type(read) is getattr(models, name)
            assert models.Holder(it=getattr(models, name)(text="x")).it == read
        other = {"it": {tag: "video", "text": "x"}}
        assert round_trip(models, "Holder", other) == other
        assert refusal(models, "Holder", {"it": {"text": "x"}}).startswith(f"/it/{tag}: expected ")
        assert models.Holder.model_json_schema()["properties"]["it"]


def test_b005_required_adds_up_over_the_branches_of_all_of(tmp_path: Path) -> None:
    number = {"type": "integer"}
    types = {
        "Basic": thing(a=number, b=number),
        "Sub": {
            "allOf": [{"$ref": "#/$defs/Basic"}, {"required": ["a"], "properties": {"c": number}}]
        },
    }
    with build_types(tmp_path, **types) as models:
        assert refusal(models, "Sub", {"c": 1}) == "/a: expected a value, got nothing"
        assert round_trip(models, "Sub", {"a": 1}) == {"a": 1}
        assert round_trip(models, "Basic", {}) == {}


def test_b006_types_that_hold_each_other(tmp_path: Path) -> None:
    types = {
        "Item": {"anyOf": [{"$ref": "#/$defs/Leaf"}, {"$ref": "#/$defs/Branch"}]},
        "Leaf": thing(leaf=TEXT) | {"required": ["leaf"]},
        "Branch": thing(
            kids={"type": "array", "items": {"$ref": "#/$defs/Item"}},
            next={"$ref": "#/$defs/Branch"},
        ),
    }
    with build_types(tmp_path, **types) as models:
        tree = {"kids": [{"kids": [{"leaf": "a"}], "next": {"next": {}}}, {"leaf": "b"}]}
        assert round_trip(models, "Branch", tree) == tree
        for kind in (models.Leaf, models.Branch):
            assert typing.get_type_hints(kind)


ODD = ["mro", "name", "value", "_missing_", "__init__", "", " ", "True"]
ODD += ["UTC+1", "UTC-1", "utc-1", "e", "é", "1", "-1", 'quote"', "back\\slash", "new\nline"]
ODD += ["channels/publish", "channels.publish", "channels_publish", "/chat/completions"]


def test_b008_b009_b010_values_of_an_enum_keep_their_text(tmp_path: Path) -> None:
    definition = thing(it={"type": "string", "enum": ODD}) | {"required": ["it"]}
    with build_types(tmp_path, Holder=definition) as models:
        for value in ODD:
            assert round_trip(models, "Holder", {"it": value}) == {"it": value}
        assert refusal(models, "Holder", {"it": "mro "}).startswith("/it: expected ")


@pytest.mark.parametrize(
    "nasty",
    [
        'Ends """ here, \\d too, {# and {{ braces }} and a final quote"',
        'It ends with """',
        "A NUL \0, an escape \x1b[31m, a \x9b and a return \r in between",
    ],
)
def test_a_text_that_would_end_a_docstring_or_a_comment(nasty: str, tmp_path: Path) -> None:
    row: dict[str, Any] = {"kind": "request", "from": "client", "section": nasty, "summary": nasty}
    row |= {"params": "#/$defs/Thing", "result": "#/$defs/Thing", "errors": ["Bad"]}
    content = protocol(
        title=nasty,
        version=nasty,
        description=nasty,
        methods={"a/b": row},
        errors={"Bad": {"code": 1, "message": nasty, "description": nasty}},
        types={"Thing": thing(a=TEXT | {"description": nasty}) | {"description": nasty}},
    )
    schema = tmp_path / "schema"
    schema.mkdir()
    with load_package(documents(schema, content), tmp_path / "out", "toy_bindings") as package:
        toy = importlib.import_module(f"{package.__name__}.toy")
        assert toy.BadError().message == nasty
        assert toy.ServerStub.a_b.__doc__.startswith(nasty)
        assert toy.methods.A_B.section == nasty
        assert toy.methods.PROTOCOL.version == nasty


def test_the_order_of_definitions_and_files_does_not_show(tmp_path: Path) -> None:
    types = {
        "Aa": {"description": "A."} | thing(b={"$ref": "#/$defs/Bb"}),
        "Bb": {"description": "B."} | thing(c={"$ref": "#/$defs/Cc"}),
        "Cc": {"description": "C."} | thing(a={"$ref": "#/$defs/Aa"}),
    }
    made = []
    for order in (list(types), list(reversed(types))):
        schema = tmp_path / order[0]
        schema.mkdir()
        found = documents(schema, protocol(types={name: types[name] for name in order}))
        files = build(found, "toy_bindings")
        made.append({path: text for path, text in files.items() if path.endswith(".py")})
    assert made[0] == made[1]
