"""Absent, null and empty are three things, in and out (case B011)."""

from __future__ import annotations

import json
from typing import Annotated, Any

import pytest
from pydantic import MISSING, Field, ValidationError

from kinwire_protocols import jsonrpc, mcp
from kinwire_protocols.base import JsonObject, Message, from_wire, to_wire
from tests.each import each


class State(Message):
    """What the generator makes of each way in which a member may be there or not."""

    parent: str | None
    """Required, and null is a value."""
    tool_name: Annotated[str | None, Field(alias="toolName")] = None
    """Optional, and null is not."""
    value: Any | MISSING = MISSING
    """Optional, and null is a value."""
    kids: list[State] | None = None
    scoped: bool = False
    """Optional with a default of the protocol."""


def test_a_page_of_tools_has_no_null_and_no_absent_member() -> None:
    schema = mcp.ToolInputSchema()
    text = json.dumps(to_wire(mcp.ListToolsResult(tools=[mcp.Tool(name="a", input_schema=schema)])))
    assert text == '{"tools": [{"name": "a", "inputSchema": {"type": "object"}}]}'


KEPT: list[JsonObject] = [
    {"parent": None, "scoped": False},
    {"parent": "", "toolName": "", "value": None, "kids": [], "scoped": True},
    {"parent": "a", "value": {"deep": [None, {"x": None}]}, "scoped": False},
    {"parent": None, "value": [], "scoped": False, "x-unknown": None, "x-more": {"y": None}},
    {"parent": "a", "kids": [{"parent": None, "value": None, "scoped": False}], "scoped": False},
]


@each("value", KEPT)
def test_a_required_null_a_legal_null_and_an_unknown_null_come_back(value: JsonObject) -> None:
    assert to_wire(from_wire(State, value)) == value


def test_a_null_that_says_absent_goes_out_as_absent() -> None:
    state = from_wire(State, {"parent": None, "toolName": None, "kids": None})
    assert (state.tool_name, state.kids, state.value) == (None, None, MISSING)
    assert to_wire(state) == {"parent": None}
    assert not state.scoped


def test_a_member_that_must_be_there_may_be_null_but_not_absent() -> None:
    with pytest.raises(ValidationError, match="parent"):
        from_wire(State, {})


def test_a_member_with_a_default_takes_no_null() -> None:
    with pytest.raises(ValidationError, match="scoped"):
        from_wire(State, {"parent": None, "scoped": None})


@pytest.mark.parametrize(
    ("value", "data"),
    [
        ({"code": 1, "message": "m"}, MISSING),
        ({"code": 1, "message": "m", "data": None}, None),
        ({"code": 1, "message": "m", "data": {}}, {}),
    ],
    ids=["absent", "null", "empty"],
)
def test_the_data_of_an_error_is_absent_null_or_empty(value: JsonObject, data: object) -> None:
    error = from_wire(jsonrpc.ErrorObject, value)
    assert error.data is data or error.data == data
    assert to_wire(error) == value


def test_an_error_that_answers_an_unreadable_frame_keeps_its_null_id() -> None:
    value = {"jsonrpc": "2.0", "id": None, "error": {"code": -32700, "message": "Parse error"}}
    assert to_wire(from_wire(jsonrpc.ErrorResponse, value)) == value
    with pytest.raises(ValidationError, match="id"):
        from_wire(jsonrpc.ErrorResponse, {key: value[key] for key in ("jsonrpc", "error")})


@each("arguments", [None, {}, {"a": None}])
def test_arguments_of_a_call_are_absent_empty_or_hold_a_null(arguments: Any) -> None:
    params = mcp.CallToolRequestParams(name="t", arguments=arguments)
    expected = {"name": "t"} if arguments is None else {"name": "t", "arguments": arguments}
    assert to_wire(params) == expected
    assert from_wire(mcp.CallToolRequestParams, expected).arguments == arguments


def test_a_copy_drops_and_adds_members() -> None:
    tool = mcp.Tool(name="a", description="d", input_schema=mcp.ToolInputSchema())
    assert "description" not in to_wire(tool.model_copy(update={"description": None}))
    assert to_wire(tool.model_copy(update={"name": "b"}))["name"] == "b"


def test_the_methods_of_pydantic_write_the_same() -> None:
    state = from_wire(State, {"parent": None, "toolName": "t", "x-unknown": None})
    assert state.model_dump() == to_wire(state)
    assert json.loads(state.model_dump_json()) == to_wire(state)
