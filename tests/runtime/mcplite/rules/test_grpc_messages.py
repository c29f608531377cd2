"""Results of all kinds as messages of gRPC, and back, read by the messages that protoc makes."""

from __future__ import annotations

from typing import Any

import pytest

from kinwire.mcplite.rules.calls import ToolCall
from kinwire.mcplite.rules.grpc_messages import (
    call_from,
    encoded_call,
    encoded_part,
    encoded_result,
    response_from,
)
from tests.runtime.mcplite.fixtures_grpc import Json, as_json, kind_of, message

ALL: Json = {
    "response_type": "promise",
    "promise_token": "prom_1",
    "timestamp": "2024-01-01T12:00:00.250Z",
    "processing_time_ms": 145,
    "estimated_completion": "2024-01-01T12:05:00Z",
    "expires_at": "2024-01-02T12:00:00Z",
    "retry_after_ms": 5000,
    "server_version": "2.1",
    "session_context": {"conversation": ["c", None, 1]},
}
RESULTS: list[Json] = [
    {"content": [], "_meta": ALL},
    {"_meta": {"response_type": "answer", "session_context": None}},
    {"_meta": {"response_type": "request-for-more-resource"}},
    {"content": [{"a": 1}], "_meta": {"response_type": "a-later-kind", "x-later": [1]}},
    {"content": [], "_meta": {"response_type": "failure", "x-trace": "t"}},
]


def test_every_result_comes_back_equal() -> None:
    for result in RESULTS:
        assert response_from(encoded_result(result)) == (result, True)
    assert response_from(encoded_part({"partial": ""})) == ({"partial": ""}, False)


def test_the_metadata_is_the_message_of_the_specification() -> None:
    found = as_json(kind_of("ToolResponse").FromString(encoded_result(RESULTS[0])))
    assert found["meta"] == {
        **ALL,
        "response_type": "PROMISE",
        "timestamp": "1704110400250",
        "retry_after_ms": "5000",
        "session_context": {"conversation": ["c", None, 1.0]},
    }
    other = kind_of("ToolResponse").FromString(encoded_result({"_meta": {"timestamp": OLD}}))
    assert other.meta.timestamp == 1704106800000
    assert response_from(encoded_result({}))[0] == {"_meta": {"response_type": "answer"}}


OLD = "2024-01-01T12:00:00+01:00"


def test_counts_are_cut_to_what_a_field_holds() -> None:
    meta = {"processing_time_ms": 2**40, "retry_after_ms": 2**70}
    found: Any = kind_of("ToolResponse").FromString(encoded_result({"_meta": meta}))
    assert found.meta.processing_time_ms == 2**31 - 1
    assert found.meta.retry_after_ms == 2**63 - 1


def test_errors_name_the_place() -> None:
    wrong: list[tuple[Json, str]] = [
        ({"content": [{"n": 2**60}]}, "^/content/0/n: expected a number"),
        ({"_meta": {"session_context": {"n": 2**60}}}, "^/_meta.*/n: expected a number"),
        ({"_meta": {"x-later": 2**60}}, "^/_meta/x-later: expected a number"),
    ]
    for result, text in wrong:
        with pytest.raises(ValueError, match=text):
            encoded_result(result)
    for call, text in (
        (ToolCall("x", {"n": 2**60}, {}), "^/arguments/n: "),
        (ToolCall("x", {}, {"n": 2**60}), "^/_meta/n: "),
        (ToolCall("\ud800", {}, {}), "^/name: expected text of Unicode"),
    ):
        with pytest.raises(ValueError, match=text):
            encoded_call(call)
    late = message("ToolResponse", {"meta": {"timestamp": str(2**63 - 1)}})
    with pytest.raises(ValueError, match=r"^/_meta/timestamp: expected a time"):
        response_from(late.SerializeToString())


def test_a_call_comes_back_equal_and_a_foreign_one_is_read() -> None:
    call = ToolCall("search", {"query": "q", "limit": 5}, {"session_context": 1})
    assert call_from(encoded_call(call)) == call
    request = message("ToolRequest", {"name": "x", "arguments": {"n": 5}})
    assert call_from(request.SerializeToString()) == ToolCall("x", {"n": 5}, {})
    with pytest.raises(ValueError, match="expected a ToolRequest"):
        call_from(b"\xff")
