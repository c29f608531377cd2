"""What clients read of results and lists, without a server."""

from __future__ import annotations

from typing import Any

import pytest

from kinwire.mcplite.rules.polling import PollHints, next_poll
from kinwire.mcplite.rules.reading import (
    Answered,
    answer_in,
    joined_result,
    normal_result,
    response_type_of,
    tools_in,
)
from tests.each import each

ERROR = {"code": -32601, "message": "Tool not found"}
FAILED = {"code": "OUT", "message": "Out of stock."}


@pytest.mark.spec("mcp-lite-3.3-4")
@each(
    ("result", "kind"),
    [
        ({}, "answer"),
        ({"_meta": {}}, "answer"),
        ({"_meta": None}, "answer"),
        ({"_meta": {"response_type": None}}, "answer"),
        ({"_meta": {"response_type": " "}}, "answer"),
        ({"_meta": {"response_type": "Promise"}}, "promise"),
        ({"_meta": {"response_type": "FAILURE"}}, "failure"),
        ({"_meta": {"response_type": "Request_For_More_Resource"}}, "request-for-more-resource"),
        ({"_meta": {"response_type": "tea"}}, "tea"),
        ({"isError": True}, "failure"),
        ({"isError": False}, "answer"),
        ({"isError": True, "_meta": {"response_type": "answer"}}, "answer"),
    ],
)
def test_the_kind_of_a_result_is_read_in_any_case_of_letters(
    result: dict[str, Any], kind: str
) -> None:
    assert response_type_of(result) == kind
    assert normal_result(result)["_meta"]["response_type"] == kind


@each(
    ("result", "normal"),
    [
        ({"results": [{"a": 1}]}, {"content": [{"a": 1}]}),
        ({"results": "x"}, {"results": "x"}),
        ({"content": [], "results": [{"a": 1}]}, {"content": [], "results": [{"a": 1}]}),
    ],
)
def test_results_of_nlweb_are_content(result: dict[str, Any], normal: dict[str, Any]) -> None:
    assert normal_result(result) == {**normal, "_meta": {"response_type": "answer"}}


@each(
    ("promise", "meta"),
    [
        ({"token": "t", "estimated_time": 5}, {"promise_token": "t", "estimated_seconds": 5}),
        ({"token": "t", "estimated_time": True}, {"promise_token": "t"}),
        ({"token": 5}, {}),
        ("t", {}),
    ],
)
def test_a_promise_of_nlweb_is_read(promise: Any, meta: dict[str, Any]) -> None:
    made = normal_result({"promise": promise, "_meta": {"response_type": "promise"}})
    assert made["_meta"] == {"response_type": "promise", **meta}
    kept = normal_result({"promise": {"token": "other"}, "_meta": {"promise_token": "mine"}})
    assert kept["_meta"]["promise_token"] == "mine"


@each(
    ("body", "answered"),
    [
        ({"jsonrpc": "2.0", "id": 1, "result": {"a": 1}}, Answered({"a": 1})),
        ({"jsonrpc": "2.0", "id": 1, "error": ERROR}, Answered(error=ERROR)),
        ({"jsonrpc": "2.0", "id": None, "error": ERROR}, Answered(error=ERROR)),
        ({"jsonrpc": "2.0", "id": 1, "error": None, "result": {}}, Answered({})),
        (
            {"_meta": {"response_type": "failure"}, "error": FAILED},
            Answered({"_meta": {"response_type": "failure"}, "error": FAILED}),
        ),
        ({"content": []}, Answered({"content": []})),
    ],
)
def test_an_answer_is_found_with_and_without_an_envelope(body: Any, answered: Answered) -> None:
    assert answer_in(body, 1) == answered


@each(
    "body",
    [
        5,
        None,
        [],
        {},
        {"detail": "Not found"},
        {"jsonrpc": "2.0", "id": 1},
        {"jsonrpc": "2.0", "id": 2, "result": {}},
        {"jsonrpc": "2.0", "id": "1", "result": {}},
        {"jsonrpc": "2.0", "result": {}},
        {"jsonrpc": "2.0", "id": 2, "error": ERROR},
        {"jsonrpc": "2.0", "id": 1, "error": {"code": "x", "message": "y"}},
    ],
)
def test_what_is_no_answer_to_the_request_is_none(body: Any) -> None:
    answered = answer_in(body, 1)
    assert answered.fault
    assert (answered.result, answered.error) == (None, None)


@each(
    ("listed", "names"),
    [
        ([{"name": "a"}], ["a"]),
        ({"tools": [{"name": "a"}, {"name": "b"}]}, ["a", "b"]),
        ([], []),
        ({"tools": []}, []),
        ({}, None),
        ({"tools": {}}, None),
        ([5], None),
        ([{"name": "a"}, None], None),
        ("tools", None),
    ],
)
def test_a_list_of_tools_is_an_array_or_an_object(listed: Any, names: list[str] | None) -> None:
    tools = tools_in(listed)
    assert (None if tools is None else [one["name"] for one in tools]) == names
    for one in tools or ():
        assert (one["description"], one["inputSchema"]) == ("", {"type": "object"})


@each(
    ("end", "joins"),
    [
        ({"_meta": {"response_type": "answer"}}, True),
        ({}, True),
        ({"content": []}, False),
        ({"results": []}, False),
        ({"error": FAILED}, False),
        ({"_meta": {"response_type": "promise"}}, False),
        ({"isError": True}, False),
    ],
)
def test_a_short_end_of_a_stream_is_what_the_pieces_are(end: dict[str, Any], joins: bool) -> None:
    made = joined_result(end, ["a", "b"])
    content = [{"type": "text", "text": "ab"}]
    assert made == ({**end, "content": content} if joins else end)
    assert joined_result(end, []) is end


@each(
    ("hints", "asked", "failures", "seconds"),
    [
        (PollHints(), 0, 0, 0.5),
        (PollHints(), 1, 0, 1.0),
        (PollHints(), 50, 0, 30.0),
        (PollHints(retry_after=2.0), 7, 0, 2.0),
        (PollHints(retry_after=0.0), 0, 0, 0.05),
        (PollHints(retry_after=1e9), 0, 0, 3600.0),
        (PollHints(retry_after=2.0), 0, 1, 0.5),
        (PollHints(retry_after=2.0), 0, 50, 30.0),
        (PollHints(retry_failed_after=2.0), 0, 1, 2.0),
        (PollHints(retry_failed_after=2.0), 0, 5, 8.0),
        (PollHints(retry_failed_after=1e9), 0, 1, 3600.0),
        (PollHints(estimated_completion="1970-01-01T00:16:50Z"), 0, 0, 10.0),
        (PollHints(estimated_completion="1970-01-01T00:16:00Z"), 0, 0, 0.5),
        (PollHints(estimated_completion="2970-01-01T00:00:00Z"), 0, 0, 30.0),
        (PollHints(estimated_completion="soon"), 2, 0, 2.0),
        (PollHints(estimated_seconds=5), 0, 0, 5.0),
        (PollHints(estimated_seconds=5), 1, 0, 1.0),
        (PollHints(estimated_seconds=-5), 0, 0, 0.5),
        (PollHints(2.0, "1970-01-01T00:16:50Z", 5), 0, 0, 2.0),
    ],
)
def test_a_promise_is_asked_for_when_the_server_says_else_ever_less_often(
    hints: PollHints, asked: int, failures: int, seconds: float
) -> None:
    assert next_poll(hints, asked=asked, failures=failures, now=1000.0, jitter=0.0) == seconds
