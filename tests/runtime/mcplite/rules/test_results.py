"""What a tool returned becomes a result of MCP-lite: objects stay as they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
from pydantic import BaseModel, Field

from kinwire.managers.tool_outcomes import NeedsAnswers, ToolError, ToolQuestion
from kinwire.mcplite.rules.results import (
    content_from,
    elicitation_body,
    failure_body,
    finished,
)
from tests.each import each


@dataclass
class Point:
    x: int


class Document(BaseModel):
    id: str = Field(serialization_alias="document_id")


def text(value: str) -> dict[str, Any]:
    return {"type": "text", "text": value}


@pytest.mark.spec("mcp-lite-A.2-2", "mcp-lite-3.4-1", "mcp-lite-3.8-2")
@each(
    ("value", "content"),
    [
        (None, []),
        ("", [text("")]),
        ("x", [text("x")]),
        (5, [text("5")]),
        (True, [text("true")]),
        (1.5, [text("1.5")]),
        ({"document_id": "doc_123"}, [{"document_id": "doc_123"}]),
        ([{"a": 1}, {"b": 2}], [{"a": 1}, {"b": 2}]),
        ([], []),
        ({"order_id": "o-1"}, [{"order_id": "o-1"}]),
        (
            [1, "x", None, [2], {"a": 1}],
            [text("1"), text("x"), text("null"), text("[2]"), {"a": 1}],
        ),
        (({"a": 1},), [{"a": 1}]),
        (Point(1), [{"x": 1}]),
        ([Document(id="d")], [{"document_id": "d"}]),
        ({"n": 2**60}, [{"n": 2**60}]),
    ],
)
def test_the_content_of_a_value(value: object, content: list[Any]) -> None:
    assert content_from(value, "t") == content


@each("value", [float("nan"), {"a": [float("inf")]}, object(), {"a": {1, object()}}])
def test_a_value_that_json_cannot_hold_is_refused(value: object) -> None:
    with pytest.raises(ValueError, match="'t'"):
        content_from(value, "t")


@pytest.mark.spec("mcp-lite-3.4-4")
def test_a_failure_is_one_for_readers_of_mcp_too() -> None:
    body = failure_body(ToolError("Out of stock.", code="OUT_OF_STOCK", data={"item": 1}))
    assert body == {
        "content": [text("Out of stock.")],
        "error": {"code": "OUT_OF_STOCK", "message": "Out of stock.", "data": {"item": 1}},
        "isError": True,
        "_meta": {"response_type": "failure"},
    }
    assert failure_body(ToolError("x"))["error"] == {"code": "TOOL_FAILED", "message": "x"}


@pytest.mark.spec("mcp-lite-3.4-3")
def test_questions_have_the_type_that_their_options_say() -> None:
    asked = NeedsAnswers(
        "Two things.",
        [
            ToolQuestion("format", "Which?", options=("short", "long")),
            ToolQuestion("title", "What?"),
            ToolQuestion("tags", "Which?", "multi_select", ["a"]),
        ],
    )
    assert elicitation_body(asked, "sealed")["elicitation"] == {
        "text": "Two things.",
        "questions": [
            {
                "id": "format",
                "text": "Which?",
                "type": "single_select",
                "options": ["short", "long"],
            },
            {"id": "title", "text": "What?", "type": "text"},
            {"id": "tags", "text": "Which?", "type": "multi_select", "options": ["a"]},
        ],
        "context": "sealed",
    }


def whole(body: dict[str, Any], asked: dict[str, Any], version: str | None = "2.1") -> Any:
    return finished(body, now=1_704_110_400.0, took=0.1459, version=version, asked=asked)["_meta"]


STAMPED = {"timestamp": "2024-01-01T12:00:00.000Z", "processing_time_ms": 145}


@pytest.mark.spec("mcp-lite-3.3-1", "mcp-lite-3.3-3", "mcp-lite-A.2-1")
@each(
    ("meta", "asked", "expected"),
    [
        (None, {}, {"response_type": "answer"}),
        ({"response_type": "failure"}, {}, {"response_type": "failure"}),
        ({"own": 1}, {}, {"response_type": "answer", "own": 1}),
        ({"timestamp": "x"}, {}, {"response_type": "answer"}),
        (None, {"session_context": None}, {"response_type": "answer", "session_context": None}),
        (
            {"session_context": "new"},
            {"session_context": "old"},
            {"response_type": "answer", "session_context": "new"},
        ),
    ],
)
def test_every_result_says_what_it_is_when_it_was_made_and_how_long_it_took(
    meta: dict[str, Any] | None, asked: dict[str, Any], expected: dict[str, Any]
) -> None:
    body = {"content": []} if meta is None else {"content": [], "_meta": meta}
    assert whole(body, asked) == {**expected, **STAMPED, "server_version": "2.1"}
    assert "server_version" not in whole(body, asked, None)


def test_a_result_that_is_whole_stays_as_it_is() -> None:
    meta = {"response_type": "answer", "timestamp": "then", "processing_time_ms": 3}
    assert whole({"content": [], "_meta": meta}, {"session_context": 1}) == meta
