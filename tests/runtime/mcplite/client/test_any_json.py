"""Whatever JSON a server answers with is an outcome or an error of its own kind."""

from __future__ import annotations

from typing import Any

from hypothesis import given, strategies as st

from kinwire.mcplite import LiteClient, LitePromise
from kinwire.mcplite.client.made import outcome_of, tools_of
from kinwire.mcplite.client.outcomes import OutcomeFields
from kinwire.mcplite.client.transport import OutgoingCall
from kinwire.mcplite.rules.reading import answer_in, joined_result, tools_in
from kinwire.rpc.errors import ShapeError

SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
KINDS = st.sampled_from(
    ["answer", "Promise", "elicitation", "failure", "request-for-more-resource", "tea", " ", 5]
)


def fields(names: list[str], known: dict[str, st.SearchStrategy[Any]]) -> st.SearchStrategy[Any]:
    """Return objects with any of these fields, of their types or of any."""
    either = {name: VALUES | known[name] if name in known else VALUES for name in names}
    return st.fixed_dictionaries({}, optional=either)


QUESTIONS = st.lists(
    fields(["id", "text", "type", "options"], {"id": st.text(), "text": st.text()}), max_size=2
)
METAS = fields(
    [
        "response_type",
        "promise_token",
        "retry_after_ms",
        "estimated_completion",
        "estimated_seconds",
        "expires_at",
    ],
    {"response_type": KINDS, "promise_token": st.text(), "retry_after_ms": st.integers(0)},
)
RESULTS = fields(
    ["content", "results", "_meta", "promise", "elicitation", "error", "isError"],
    {
        "_meta": METAS,
        "promise": fields(["token", "estimated_time"], {"token": st.text()}),
        "elicitation": fields(["text", "questions"], {"text": st.text(), "questions": QUESTIONS}),
        "error": fields(["code", "message"], {"code": st.text(), "message": st.text()}),
        "isError": st.booleans(),
    },
)


PROMISED = {"response_type": "promise", "promise_token": "p"}
HINTS: list[dict[str, Any]] = [
    {name: value}
    for name in ("retry_after_ms", "estimated_seconds", "estimated_completion")
    for value in ("5", [5], True, None, 10**400, -(10**400), 1e308, -1.0)
]


def test_any_hint_when_to_redeem_again_is_a_time_or_a_shape_error() -> None:
    client = LiteClient("http://127.0.0.1:1", trust_env=False)
    for hint in HINTS:
        result = {"_meta": {**PROMISED, **hint}}
        try:
            outcome = outcome_of(result, OutgoingCall("x", {}, {}), client)
        except ShapeError:
            assert "estimated_seconds" not in hint
            continue
        assert isinstance(outcome, LitePromise)
        assert 0 <= outcome._delay(0, 0) <= 3600, hint


@given(result=RESULTS, pieces=st.lists(st.text(), max_size=2))
def test_any_result_is_an_outcome_or_a_shape_error(result: Any, pieces: list[str]) -> None:
    client = LiteClient("http://127.0.0.1:1", trust_env=False)
    try:
        outcome = outcome_of(joined_result(result, pieces), OutgoingCall("x", {}, {}), client)
    except ShapeError:
        return
    assert isinstance(outcome, OutcomeFields)
    assert outcome.result["_meta"]["response_type"] == outcome.meta.response_type


@given(body=VALUES | fields(["jsonrpc", "id", "result", "error", "_meta"], {"error": RESULTS}))
def test_any_body_is_an_answer_or_says_what_is_wrong(body: Any) -> None:
    answered = answer_in(body, 1)
    found = [answered.error is not None, answered.fault is not None]
    assert sum(found) <= 1
    tools = tools_in(body)
    if tools is not None:
        try:
            tools_of(tools)
        except ShapeError:
            return
