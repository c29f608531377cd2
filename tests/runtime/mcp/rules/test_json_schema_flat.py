"""What the quick look says of flat schemas is what a walk along them says."""

from __future__ import annotations

from typing import Any

from hypothesis import given, strategies as st

from kinwire.mcp.rules.json_schema import JsonSchema
from kinwire.mcp.rules.json_schema_flat import flat
from kinwire.mcp.rules.json_schema_peers import PeerSchema
from tests.each import each

NAMES = st.sampled_from(["a", "b", "c"])
TYPES = st.sampled_from(["string", "integer", "number", "boolean"])
SCHEMAS = st.fixed_dictionaries(
    {"type": st.just("object")},
    optional={
        "properties": st.dictionaries(NAMES, st.fixed_dictionaries({"type": TYPES})),
        "required": st.lists(NAMES, unique=True),
        "additionalProperties": st.booleans(),
        "title": st.just("T"),
    },
)
VALUES: st.SearchStrategy[dict[str, Any]] = st.dictionaries(
    st.sampled_from(["a", "b", "c", "d"]),
    st.sampled_from(["", "text", 0, 1, -1, 1.0, 0.5, True, False, None, [], {}]),
)


@given(SCHEMAS, VALUES)
def test_a_value_for_which_it_holds_has_no_problem(schema: Any, value: Any) -> None:
    found = flat(schema)
    assert found is not None
    problems = JsonSchema(schema).problems(value, "")
    assert not (found.holds(value) and problems)
    assert PeerSchema(schema).problems(value) == problems


OTHER: list[Any] = [
    {},
    {"type": "array"},
    {"type": ["object"]},
    {"type": "object", "minProperties": 1},
    {"type": "object", "properties": {"a": {"type": "string", "minLength": 1}}},
    {"type": "object", "properties": {"a": {"type": ["string", "null"]}}},
    {"type": "object", "properties": {"a": {}}},
    {"type": "object", "properties": {"a": True}},
    {"type": "object", "properties": {"a": {"type": "array"}}},
    {"type": "object", "additionalProperties": {"type": "string"}},
]


@each("schema", OTHER)
def test_other_schemas_are_walked(schema: Any) -> None:
    assert flat(schema) is None


def test_what_usually_comes_is_seen_at_once() -> None:
    schema = {
        "type": "object",
        "properties": {"a": {"type": "string", "description": "A"}, "n": {"type": "number"}},
        "required": ["a"],
    }
    found = flat(schema)
    assert found is not None
    assert PeerSchema(schema)._flat == found  # the one that is used
    for value, holds in (
        ({"a": "x"}, True),
        ({"a": "x", "n": 1, "more": []}, True),
        ({"a": "x", "n": 0.5}, True),
        ({"n": 1}, False),
        ({"a": 1}, False),
        ({"a": "x", "n": True}, False),
    ):
        assert found.holds(value) is holds
