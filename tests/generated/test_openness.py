"""What newer peers add is kept; names on the wire and names in Python stay apart."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest
from pydantic import ValidationError

from kinwire_protocols import mcp
from kinwire_protocols.base import JsonObject, from_wire, to_wire
from kinwire_protocols.peer import Method
from tests.each import each

UNKNOWN: list[JsonObject] = [
    {"x-null": None},
    {"x-nested": {"a": [None, {"b": None}], "c": 2**53 + 1}},
    {"a/b~c": "slash", "": "empty", " ": "blank", "Zoë": "text"},
    {"class": 1, "from": 2, "self": 3, "model_config": 4, "__class__": 5, "__dict__": 6},
    {"model_dump": 1, "copy": {}, "json": [], "__pydantic_extra__": 1},
]


@each("members", UNKNOWN)
def test_unknown_members_come_back_as_they_were(members: JsonObject) -> None:
    value = {
        "content": [{"type": "text", "text": "t", **members}],
        "_meta": {**members},
        **members,
    }
    assert to_wire(from_wire(mcp.CallToolResult, value)) == value


def test_an_unknown_member_is_an_attribute_too() -> None:
    result = from_wire(mcp.CallToolResult, {"content": [], "structuredContent": {"n": None}})
    assert result.model_extra == {"structuredContent": {"n": None}}
    assert result.structuredContent == {"n": None}  # type: ignore[attr-defined]


def test_an_unknown_member_can_be_sent() -> None:
    params: Any = {"name": "t", "x-trace": None}
    assert to_wire(mcp.CallToolRequestParams(**params)) == params


@each(
    ("kind", "value", "attribute"),
    [
        (mcp.CallToolResult, {"content": [], "is_error": True}, "is_error"),
        (mcp.RequestParams, {"meta": {"progressToken": 1}}, "meta"),
        (mcp.RequestMeta, {"progress_token": 1}, "progress_token"),
        (mcp.ListToolsResult, {"tools": [], "next_cursor": "c"}, "next_cursor"),
    ],
)
def test_a_python_name_on_the_wire_is_an_unknown_member(
    kind: Any, value: JsonObject, attribute: str
) -> None:
    message = from_wire(kind, value)
    assert getattr(message, attribute) is None
    assert to_wire(message) == value


def test_a_python_name_on_the_wire_does_not_stand_for_a_required_member() -> None:
    value = {"name": "t", "input_schema": {"type": "object"}}
    with pytest.raises(ValidationError, match="inputSchema"):
        from_wire(mcp.Tool, value)


def test_both_names_on_the_wire_are_two_members() -> None:
    value = {"content": [], "isError": False, "is_error": True}
    result = from_wire(mcp.CallToolResult, value)
    assert result.is_error is False
    assert to_wire(result) == value


def test_messages_are_built_by_python_names() -> None:  # B003
    tool = mcp.Tool(name="t", input_schema=mcp.ToolInputSchema(required=["a"]))
    assert to_wire(tool) == {"name": "t", "inputSchema": {"type": "object", "required": ["a"]}}
    with pytest.raises(ValidationError, match="input_schema"):
        mcp.Tool(name="t", inputSchema=mcp.ToolInputSchema())  # type: ignore[call-arg]


def test_a_message_cannot_be_changed() -> None:
    tool = mcp.Tool(name="t", input_schema=mcp.ToolInputSchema())
    with pytest.raises(ValidationError, match="frozen"):
        tool.name = "other"
    with pytest.raises(ValidationError, match="frozen"):
        del tool.name


def pickled(value: object) -> object:
    return pickle.loads(pickle.dumps(value))


@each("again", [copy.copy, copy.deepcopy, pickled])
def test_a_copy_of_a_message_is_equal(again: Any) -> None:
    result = from_wire(mcp.CallToolResult, {"content": [], "x-null": None, "_meta": {"a": 1}})
    assert again(result) == result
    assert to_wire(again(result)) == to_wire(result)


# B012: what a peer reports is open, what it asks for is not.
REPORTED = [
    (mcp.LoggingMessageNotificationParams, {"level": "trace", "data": "d"}),
    (mcp.Annotations, {"audience": ["user", "moderator"]}),
    (mcp.PromptMessage, {"role": "system", "content": {"type": "text", "text": "t"}}),
    (
        mcp.CreateMessageResult,
        {
            "role": "tool",
            "content": {"type": "text", "text": "t"},
            "model": "m",
            "stopReason": "content_filter",
        },
    ),
]


@each(("kind", "value"), REPORTED)
def test_an_unknown_value_that_a_peer_reports_is_kept(kind: Any, value: JsonObject) -> None:
    assert to_wire(from_wire(kind, value)) == value


@each(
    ("row", "value"),
    [
        (mcp.methods.LOGGING_SET_LEVEL, {"level": "loud"}),
        (
            mcp.methods.SAMPLING_CREATE_MESSAGE,
            {"messages": [], "maxTokens": 1, "includeContext": "everything"},
        ),
        (
            mcp.methods.SAMPLING_CREATE_MESSAGE,
            {
                "messages": [{"role": "system", "content": {"type": "text", "text": "t"}}],
                "maxTokens": 1,
            },
        ),
    ],
)
def test_an_unknown_value_that_a_peer_asks_for_is_refused(
    row: Method[Any, Any], value: JsonObject
) -> None:
    with pytest.raises(ValidationError):
        row.decode_params(value)


@each("value", [{"answer": 42}, {}, {"tools": None}])
def test_a_result_without_members_loses_nothing(value: JsonObject) -> None:  # B013
    result = mcp.methods.PING.decode_result(value)
    assert type(result) is mcp.EmptyResult
    assert to_wire(result) == value
