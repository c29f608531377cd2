"""Schemas of peers: what they cost is bounded, nothing outside them is read, others agree."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from kinwire.mcp.rules.json_schema_peers import PeerSchema, SchemaLimits
from tests.absent import shared

DRAFTS = {"draft7": "http://json-schema.org/draft-07/schema#", "draft2020-12": None}
KNOWN = {
    # A meta-schema of its own switches the validation off; it would have to be fetched.
    "schema that uses custom metaschema with with no validation vocabulary",
}


def ladder(steps: int) -> dict[str, Any]:
    """Return a schema that is tried 2 ** steps times without memory."""
    both = {f"s{n}": {"anyOf": [{"$ref": f"#/$defs/s{n + 1}"}] * 2} for n in range(steps)}
    return {"$ref": "#/$defs/s0", "$defs": {**both, f"s{steps}": {"type": "string"}}}


def nested(times: int, keyword: str = "not") -> dict[str, Any]:
    schema: dict[str, Any] = {}
    for _ in range(times):
        schema = {keyword: schema}
    return schema


PRIME = 2**61 - 1  # numbers whose difference is a multiple of it have equal hashes
HOSTILE: dict[str, tuple[dict[str, Any], Any]] = {
    "a pattern that backtracks": ({"pattern": "^(a+)+$"}, "a" * 20_000 + "!"),
    "a pattern that is large when compiled": ({"pattern": "((a{100}){100}){100}"}, "a" * 1000),
    "many patterns": (
        {"patternProperties": {f"^a{n}.*x": {} for n in range(199)}},
        dict.fromkeys(map(str, range(5000)), 1),
    ),
    "a ladder of references": (ladder(60), 1),
    "a longer ladder": (ladder(300), 1),
    "a circle": ({"$ref": "#"}, 1),
    "a circle of two": ({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#"}}}, 1),
    "unique objects": ({"uniqueItems": True}, [{"a": n} for n in range(30_000)]),
    "unique numbers of one hash": ({"uniqueItems": True}, [PRIME * n for n in range(20_000)]),
    "unique fractions": ({"uniqueItems": True}, [n + 0.5 for n in range(20_000)]),
    "enums at every item": (
        {"items": {"allOf": [{"enum": list(range(900))}] * 20}},
        list(range(900)) * 100,
    ),
    "references at every item": (
        {"items": {"allOf": [{"$ref": "#/$defs/a"}] * 400}, "$defs": {"a": {"enum": [1] * 900}}},
        [1] * 5000,
    ),
    "names that are nearly right": (
        {"additionalProperties": False, "properties": {"a" * 500 + str(n): {} for n in range(900)}},
        {"a" * 499 + str(n): 1 for n in range(100)},
    ),
    "a value that is nested deep": ({"properties": {"not": {"$ref": "#"}}}, nested(5000)),
    "a large number": ({"multipleOf": 3}, 10**4200),
    "a small step": ({"multipleOf": 1e-300}, 10**300),
}


def test_hostile_schemas_and_values_end_although_the_clock_stands_still() -> None:
    for schema, value in HOSTILE.values():
        PeerSchema(schema).problems(value, clock=lambda: 0.0)


def test_time_and_steps_end_a_validation() -> None:
    schema, value = HOSTILE["references at every item"]
    seconds = iter(range(0, 10_000))
    (found,) = PeerSchema(schema).problems(value, "/a", clock=lambda: next(seconds) / 4)
    assert str(found) == "/a: expected a value that is validated in short time, got more than 1 s"
    (found,) = PeerSchema(schema, SchemaLimits(steps=100)).problems(value)
    assert found.got == "more than 100 steps"


def test_schemas_that_are_too_large_are_refused() -> None:
    too_large: dict[str, dict[str, Any]] = {
        "64 depth": nested(2000),
        "20000 values": {"enum": [1] * 30_000},
        "1000 references": {
            "allOf": [{"properties": {str(n): {"$ref": "#"} for n in range(501)}}] * 2
        },
        "500 branches of anyOf": {"anyOf": [{}] * 501},
        "500 branches of oneOf": {"not": {"oneOf": [{}] * 501}},
    }
    for what, schema in too_large.items():
        with pytest.raises(
            ValueError, match=f"the schema is too large: expected at most {what}, got"
        ):
            PeerSchema(schema)


@pytest.mark.parametrize(
    "reference",
    [
        *("http://127.0.0.1:1/a.json", "https://example.com/a.json#/b", "file:///etc/passwd"),
        *("a.json", "/etc/passwd", "#/$defs/none", "#none", "#/a/", "", 5, None, "urn:a"),
    ],
)
def test_references_out_of_the_schema_are_refused_and_nothing_is_read(
    reference: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*arguments: object, **more: object) -> None:
        raise AssertionError("something was opened")

    monkeypatch.setattr("socket.socket.connect", refuse)
    monkeypatch.setattr("socket.getaddrinfo", refuse)
    monkeypatch.setattr("builtins.open", refuse)
    for schema in ({"$ref": reference}, {"properties": {"a": {"items": {"$ref": reference}}}}):
        with pytest.raises(ValueError, match=r"Nothing is fetched\."):
            PeerSchema(schema)


def test_keywords_that_cannot_be_checked_are_reported_and_refuse_nothing() -> None:
    cases: list[tuple[dict[str, Any], Any, str]] = [
        ({"unevaluatedProperties": False}, {"a": 1}, "#/unevaluatedProperties: it cannot be"),
        ({"pattern": "^(?!x)"}, "x", "#/pattern: the pattern has look-around"),
        ({"pattern": "a" * 501}, "x", "#/pattern: the pattern is too large"),
        ({"type": "int"}, "x", "#/type: its argument is not valid"),
        ({"properties": {"a": 5}}, {"a": 1}, "#/properties/a: it is not a schema"),
        ({"properties": 5}, {"a": 1}, "#/properties: its argument is not valid"),
        ({"required": "a"}, {}, "#/required: its argument is not valid"),
        ({"not": {"pattern": "(?=a)"}}, "b", "#/not/pattern: the pattern has look-around"),
        ({"oneOf": [{"pattern": "(?=a)"}, {"type": "string"}]}, "b", "#/oneOf/0/pattern"),
        ({"if": {"pattern": "(?=a)"}, "then": False}, "b", "#/if/pattern"),
        (
            {"patternProperties": {"(?=a)": {}}, "additionalProperties": False},
            {"a": 1},
            "#/patternProperties: the pattern has look-around",
        ),
        (
            {"not": {"$ref": "#/$defs/a"}, "$defs": {"a": {"unevaluatedItems": False}}},
            [],
            "#/$defs/a/unevaluatedItems: it cannot",
        ),
    ]
    for schema, value, reported in cases:
        read = PeerSchema(schema)
        assert read.problems(value) == [], schema
        assert len(read.unchecked) == 1, schema
        assert read.unchecked[0].startswith(reported), read.unchecked


def test_what_is_not_a_keyword_says_nothing() -> None:
    read = PeerSchema({"type": "object", "x-order": 1, "nullable": "no", "format": 5, "title": 1})
    assert read.unchecked == ()
    assert read.problems({}) == []


def cases() -> Iterator[tuple[str, str, Any, Any, bool]]:
    """Yield the cases of the public suite: draft, where, schema, value, whether it is valid."""
    for draft, name in DRAFTS.items():
        for file in sorted((shared("corpora/json-schema/tests") / draft).glob("*.json")):
            for group in json.loads(file.read_text(encoding="utf-8")):
                schema = group["schema"]
                if name is not None and isinstance(schema, dict):
                    schema = {"$schema": name, **schema}
                for case in group["tests"]:
                    what = f"{draft} {file.stem}: {group['description']}: {case['description']}"
                    yield draft, what, schema, case["data"], case["valid"]


def test_the_public_suite_agrees() -> None:
    """Drafts 7 and 2020-12: equal, or reported as unchecked, or refused for a reference outside."""
    counts: Counter[tuple[str, str]] = Counter()
    wrong = []
    for draft, what, schema, value, valid in cases():
        if isinstance(schema, bool):
            continue
        try:
            read = PeerSchema(schema)
        except ValueError as error:
            counts[draft, "refused"] += 1
            if "Nothing is fetched" not in str(error):
                wrong.append(what)
            continue
        found = not read.problems(value)
        if found == valid:
            counts[draft, "equal"] += 1
        elif found and read.unchecked:
            counts[draft, "unchecked"] += 1
        elif not any(known in what for known in KNOWN):
            wrong.append(what)
    assert wrong == []
    assert counts["draft7", "equal"] >= 860
    assert counts["draft2020-12", "equal"] >= 1100
    assert counts["draft7", "unchecked"] == 0
    assert counts["draft2020-12", "unchecked"] <= 100


def test_schemas_of_real_tools_are_read_whole() -> None:
    tools = json.loads((shared("corpora/tool-catalog") / "tools.json").read_text(encoding="utf-8"))
    assert len(tools) == 527
    for tool in tools:
        assert PeerSchema(tool["inputSchema"]).unchecked == (), tool["name"]
