"""Names, patterns, bounds and defaults that generators are known to change (cases C040 to C045)."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError
from pydantic_core import SchemaValidator, ValidationError as Refusal, core_schema

from kinwire_codegen.build import build
from kinwire_codegen.compare.bounds import changed_bounds
from kinwire_codegen.compare.verdict import Category
from kinwire_codegen.lint import lint
from kinwire_codegen.load.patterns import PatternError, translated
from tests.codegen.compare.documents import against, edited, toy
from tests.codegen.documents import build_types, documents, protocol
from tests.each import each

TEXT = {"type": "string"}
WHOLE = {"type": "integer"}


def thing(*required: str, **members: Any) -> dict[str, Any]:
    return {"type": "object", "properties": members, "required": [*required]}


def findings(folder: Path, **types: dict[str, Any]) -> list[str]:
    described = {name: {"description": "A type."} | node for name, node in types.items()}
    return [finding.what for finding in lint(documents(folder, protocol(types=described)))]


def test_c040_names_that_python_reads_in_another_form_keep_theirs(tmp_path: Path) -> None:
    names = ["latency_µs", "nº", "Ångström", "ﬁle"]
    with build_types(tmp_path, Visit=thing(*names, **dict.fromkeys(names, WHOLE))) as models:
        base = importlib.import_module(f"{models.__name__.partition('.')[0]}.base")
        value = {name: number for number, name in enumerate(names)}
        assert base.to_wire(base.from_wire(models.Visit, value)) == value
        assert all(name.isidentifier() for name in models.Visit.model_fields)


@each("pair", [("µs", "μs"), ("ﬁ", "fi"), ("\u00e9", "e\u0301")])
def test_c040_two_names_that_python_takes_for_one_are_refused(
    pair: tuple[str, str], tmp_path: Path
) -> None:
    found = findings(tmp_path, Visit=thing(**dict.fromkeys(pair, WHOLE)))
    assert found == [f"{pair[1]!r} and {pair[0]!r} are one name in Python"]


def test_c041_names_that_differ_in_the_size_of_letters_are_refused(tmp_path: Path) -> None:
    row = {"kind": "notification", "from": "client", "section": "1", "summary": "Do."}
    row["params"] = "#/$defs/Foo"
    types = {name: {"description": "A type."} | thing(a=TEXT) for name in ("Foo", "FOO")}
    types["Foo"]["properties"]["b"] = {"$ref": "#/$defs/FOO"}
    methods = {"x/doThing": row, "x/dothing": row}
    found = lint(documents(tmp_path, protocol(types=types, methods=methods)))
    assert [one.what for one in found if "size of letters" in one.what] == [
        "'FOO' and 'Foo' differ in the size of letters only",
        "'x/dothing' and 'x/doThing' differ in the size of letters only",
    ]


MATCHES = [  # by hand, as ECMA-262 has it
    *((r"^a$", "a", True), (r"^a$", "a\n", False), (r"^\d+$", "12", True), (r"^\d+$", "١٢", False)),
    *((r"^\w$", "é", False), (r"^[\w-]+$", "a-b", True), (r"^[^\d]$", "5", False)),
    *((r"^\s$", "\ufeff", True), (r"^\s$", "\x85", False), (r"^\S$", "\x85", True)),
    *((r"^.$", "\r", False), (r"^.$", "\u2028", False), (r"^.$", "😀", True), (r"a|b", "xb", True)),
    *((r"^[[]$", "[", True), (r"^[a&&b]+$", "&", True), (r"^[a-c-]+$", "-b", True)),
    *(
        (r"^[-a]+$", "-", True),
        (r"^a{2,3}$", "aaa", True),
        (r"^(?<y>\d{4})-\d\d$", "2020-11", True),
    ),
    *((r"\bfoo\b", "a foo", True), (r"\bé", "é", False), (r"^\/x$", "/x", True)),
    *((r"^\u0041$", "A", True), (r"^[\u0041-\x43]$", "B", True), (r"^\p{L}$", "é", True)),
    *(
        (r"^\0$", "\0", True),
        (r"^[^\]]$", "]", False),
        (r"^a+?$", "aa", True),
        (r"^[.]$", "x", False),
    ),
    *((r"^\$ref$", "$ref", True), (r"^[\W]$", "é", True), (r"^[ -~]+$", "a b", True)),
    *((r"^[~^]$", "~", True), (r"^[\b]$", "\b", True), (r"^\D$", "٣", True), (r"^\t$", "\t", True)),
    *((r"^(a+)+$", "a" * 5000 + "!", False), (r"^(?:ab)*$", "abab", True), (r"", "x", True)),
]


@each(("pattern", "value", "expected"), MATCHES)
def test_c044_a_pattern_means_what_json_schema_says(
    pattern: str, value: str, expected: bool
) -> None:
    schema = SchemaValidator(core_schema.str_schema(pattern=translated(pattern)))
    try:
        assert (schema.validate_python(value) == value) is expected
    except Refusal:
        assert not expected


REFUSED = [
    *(r"(?=a)", r"(?!a)", r"(?<=a)b", r"(a)\1", r"(?i)a", r"[^]", r"[]", r"a**", r"*a", r"a{,3}"),
    *(r"\Aa", r"\z", r"a{", r"(", r"[a", "\\", r"\cA", r"\k<x>", r"a++", r"\ud800", r"[z-a]", r"]"),
    *(r"^*", r"a|*", r"(+)", r"[\1]", "[a\\"),
]


@each("pattern", REFUSED)
def test_c044_a_pattern_that_the_bindings_cannot_apply_is_refused(pattern: str) -> None:
    with pytest.raises(PatternError):
        translated(pattern)


def test_c044_lint_says_why_it_refuses_a_pattern(tmp_path: Path) -> None:
    found = findings(tmp_path, Word=TEXT | {"pattern": "^(?=a)b"})
    assert found == [
        "the bindings cannot apply the pattern: look-around and flags are not supported"
    ]


CONSTANTS = [
    ({"const": 1}, {"const": 1.0}, []),
    ({"enum": [0, 1]}, {"enum": [1.0, 0]}, []),
    ({"const": 1}, {"const": True}, ["constant-changed"]),
    (
        {"enum": [0, 1]},
        {"enum": [0, True]},
        ["values-removed", "values-added", "removed-without-deprecation"],
    ),
]


@each(("old", "new", "rules"), CONSTANTS)
def test_c042_constants_are_compared_as_json(
    old: dict[str, Any], new: dict[str, Any], rules: list[str]
) -> None:
    changes = against(holding(old), holding(new)).of(Category.WIRE)
    assert [change.rule.name for change in changes] == rules


def holding(member: dict[str, Any]) -> dict[str, Any]:
    def edit(content: dict[str, Any]) -> None:
        content["$defs"]["AskParams"] = {"description": "It."} | thing("a", a=member)

    return edited(toy(), edit)


INTERVALS = [
    ("integer", {"minimum": 1}, {"exclusiveMinimum": 0}, []),
    ("integer", {"minimum": 0.5}, {"minimum": 1}, []),
    ("number", {"exclusiveMinimum": 0}, {"minimum": 0, "exclusiveMinimum": 0}, []),
    ("number", {"minimum": 0}, {"exclusiveMinimum": 0}, ["bounds-tightened"] * 2),
    ("integer", {"maximum": 3}, {"exclusiveMaximum": 5}, ["bounds-loosened"] * 2),
    ("integer", {"maximum": 3, "minimum": 0}, {"maximum": 3, "exclusiveMinimum": -1}, []),
    ("string", {}, {"minLength": 0}, []),
    ("string", {"maxLength": 2}, {}, ["bounds-loosened"]),
    ("array", {}, {"uniqueItems": False}, []),
    ("array", {}, {"uniqueItems": True}, ["bounds-tightened"]),
]


@each(("kind", "old", "new", "rules"), INTERVALS)
def test_c045_bounds_are_compared_as_intervals(
    kind: str, old: dict[str, Any], new: dict[str, Any], rules: list[str]
) -> None:
    assert [rule for rule, _ in changed_bounds(kind, old, new)] == rules


def test_a_bounded_scalar_in_a_union_takes_nobodys_name(tmp_path: Path) -> None:
    token = {"anyOf": [WHOLE | {"minimum": 0}, TEXT]}
    page = thing("limit", limit=token, token={"$ref": "#/$defs/Token"})
    with build_types(tmp_path, Token=token, Page=page) as models:
        base = importlib.import_module(f"{models.__name__.partition('.')[0]}.base")
        assert base.from_wire(models.Page, {"limit": "a", "token": "b"}).token == "b"
        for wrong in ({"limit": -1}, {"limit": 1, "token": -1}):
            with pytest.raises(ValidationError):
                base.from_wire(models.Page, wrong)
        assert {name for name in vars(models) if name[0].isupper()} >= {"Token", "Page"}
        assert not hasattr(models, "TokenModel")


def test_a_constant_is_required_where_it_tells_objects_apart(tmp_path: Path) -> None:
    types = {
        "Aa": thing("k", k={"const": "x"}),
        "Bb": thing("n", n=WHOLE),
        "Either": {"anyOf": [{"$ref": "#/$defs/Aa"}, {"$ref": "#/$defs/Bb"}]},
        "Holder": thing("it", it={"$ref": "#/$defs/Either"}),
    }
    with build_types(tmp_path, **types) as models:
        base = importlib.import_module(f"{models.__name__.partition('.')[0]}.base")
        read = base.from_wire(models.Holder, {"it": {"n": 2}})
        assert isinstance(read.it, models.Bb)
        assert base.to_wire(read) == {"it": {"n": 2}}
        assert base.to_wire(models.Aa()) == {"k": "x"}  # the default is for those who build
        assert base.to_wire(models.Holder(it=models.Aa())) == {"it": {"k": "x"}}
        with pytest.raises(ValidationError):
            base.from_wire(models.Holder, {"it": {"n": "2"}})


def test_a_default_of_an_object_is_built_by_wire_names_and_not_written_back(
    tmp_path: Path,
) -> None:
    types = {
        "Rules": thing(maxItems=WHOLE),
        "Page": thing(
            rules={"$ref": "#/$defs/Rules", "default": {"maxItems": 3}},
            all={"type": "array", "items": {"$ref": "#/$defs/Rules"}, "default": [{"maxItems": 1}]},
            size=WHOLE | {"default": 7},
        ),
    }
    with build_types(tmp_path, **types) as models:
        base = importlib.import_module(f"{models.__name__.partition('.')[0]}.base")
        page = base.from_wire(models.Page, {})
        assert (page.rules.max_items, page.all[0].max_items, page.size) == (3, 1, 7)
        assert base.to_wire(page) == {}
        assert base.to_wire(models.Page(size=7)) == {"size": 7}
        assert page.rules is not base.from_wire(models.Page, {}).rules


def test_a_definition_is_what_the_module_defines(tmp_path: Path) -> None:
    types = {
        "Tree": {"description": "A."}
        | thing(kids={"type": "array", "items": {"$ref": "#/$defs/Leaf"}}),
        "Leaf": {"description": "B.", "anyOf": [{"$ref": "#/$defs/Tree"}, TEXT]},
    }
    files = build(documents(tmp_path, protocol(types=types)), "toy_bindings")
    assert '"Leaf": "models"' in files["toy_bindings/toy/__init__.py"]
    assert '"Tree": "models"' in files["toy_bindings/toy/__init__.py"]
