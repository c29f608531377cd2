"""Bodies of chat completions: what is asked for, and what is made of every answer."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, strategies as st

from kinwire.mcpl import ModelAnswer, ModelRequest, ProviderError, UnsupportedMessageError
from kinwire.mcpl.rules.chat_completions import (
    StreamedAnswer,
    answer_of,
    failure_of,
    request_body,
)
from kinwire_protocols import mcp, mcpl
from kinwire_protocols.mcpl import InferenceMessage, TokenUsage
from tests.each import each

pytestmark = pytest.mark.spec("mcpl-11.3-1", "mcpl-11.3-3", "mcpl-11.3-4")


def asked(content: Any, role: str = "user") -> Any:
    message = InferenceMessage(role=role, content=content)
    return request_body(ModelRequest("m", [message]), stream=False)["messages"][0]


def test_a_request_has_the_model_the_messages_and_the_preferences() -> None:
    messages = [
        InferenceMessage(role="system", content="Be short"),
        InferenceMessage(role="user", content="Summarize"),
    ]
    assert request_body(ModelRequest("m", messages, 500, 0.7), stream=False) == {
        "model": "m",
        "messages": [
            {"role": "system", "content": "Be short"},
            {"role": "user", "content": "Summarize"},
        ],
        "max_tokens": 500,
        "temperature": 0.7,
    }
    body = request_body(ModelRequest("m", messages), stream=True)
    assert body.keys() == {"model", "messages", "stream", "stream_options"}
    assert body["stream_options"] == {"include_usage": True}


def test_blocks_become_parts() -> None:
    embedded = mcp.TextResourceContents(uri="m://1", text="fact")
    blocks = [
        mcp.TextContent(text="Look"),
        mcpl.ImageBlock(data="cG5n", mime_type="image/png"),
        mcpl.AudioBlock(data="d2F2", mime_type="audio/wav"),
        mcpl.ResourceBlock(resource=embedded),
    ]
    assert asked(blocks)["content"] == [
        {"type": "text", "text": "Look"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,cG5n"}},
        {"type": "input_audio", "input_audio": {"data": "d2F2", "format": "wav"}},
        {"type": "text", "text": "fact"},
    ]


UNSUPPORTED = [
    pytest.param(mcpl.ImageBlock(uri="http://169.254.169.254/"), "of type image", id="an address"),
    pytest.param(mcpl.ResourceBlock(uri="memory://1"), "of type resource", id="a name"),
    pytest.param(
        mcpl.AudioBlock(data="x", mime_type="audio/flac"), "of type audio", id="a sound of a kind"
    ),
]


@each(("block", "why"), UNSUPPORTED)
def test_what_a_model_cannot_be_given_is_refused_and_not_left_out(block: Any, why: str) -> None:
    with pytest.raises(UnsupportedMessageError, match=why) as raised:
        asked([mcp.TextContent(text="x"), block])
    assert str(raised.value).startswith("inference/request#/messages/0/content/1: expected text")


def test_a_role_that_there_is_not_is_refused() -> None:
    with pytest.raises(UnsupportedMessageError, match="/messages/0/role: expected assistant or"):
        asked("x", role="tool")


def completion(**changes: Any) -> bytes:
    choice = {
        "index": 0,
        "message": {"role": "assistant", "content": "Hi"},
        "finish_reason": "stop",
    }
    usage = {"prompt_tokens": 4, "completion_tokens": 2, "total_tokens": 6}
    body = {"id": "c", "model": "m-2026", "choices": [choice], "usage": usage, **changes}
    return json.dumps(body).encode()


def choice(content: Any, **others: Any) -> dict[str, Any]:
    return {"choices": [{"message": {"content": content, **others}, "finish_reason": "length"}]}


def test_an_answer_has_the_text_the_model_the_reason_and_the_usage() -> None:
    usage = TokenUsage(input_tokens=4, output_tokens=2)
    assert answer_of(completion(), "m") == ModelAnswer("Hi", "m-2026", "stop", usage)


ANSWERS = [
    pytest.param(completion(model=None), ModelAnswer("Hi", "m", "stop"), id="without a model"),
    pytest.param(
        completion(**choice([{"type": "text", "text": "a"}, {"type": "x"}, 7, {"text": "b"}])),
        ModelAnswer("ab", "m-2026", "length"),
        id="in parts",
    ),
    pytest.param(
        completion(**choice(None, refusal="No")),
        ModelAnswer("No", "m-2026", "length"),
        id="refused",
    ),
    pytest.param(completion(**choice(None)), ModelAnswer("", "m-2026", "length"), id="no text"),
    pytest.param(
        completion(choices=[{"message": {"content": "Hi"}}]),
        ModelAnswer("Hi", "m-2026", ""),
        id="without a reason",
    ),
]


@each(("body", "expected"), ANSWERS)
def test_answers_of_other_servers_are_read_too(body: bytes, expected: ModelAnswer) -> None:
    found = answer_of(body, "m")
    assert (found.content, found.model, found.stopped) == (
        expected.content,
        expected.model,
        expected.stopped,
    )


USAGES = [
    None,
    {},
    {"prompt_tokens": 1},
    {"prompt_tokens": -1, "completion_tokens": 1},
    {"prompt_tokens": True, "completion_tokens": 1},
    {"prompt_tokens": 1.5, "completion_tokens": 1},
    7,
]


@each("usage", USAGES)
def test_an_invalid_usage_is_none(usage: Any) -> None:
    assert answer_of(completion(usage=usage), "m").usage is None


GARBAGE = [
    pytest.param(b"", "an object of JSON", id="nothing"),
    pytest.param(b"<html>s3cret</html>", "an object of JSON", id="a page"),
    pytest.param(b"[]", "an object of JSON", id="a list"),
    pytest.param(b"\xff", "an object of JSON", id="no text"),
    pytest.param(b"[" * 100_000, "an object of JSON", id="too deep"),
    pytest.param(completion(choices=[]), "/choices: expected a list", id="no choice"),
    pytest.param(completion(choices="s3cret"), "/choices: expected a list", id="no list"),
    pytest.param(completion(choices=["s3cret"]), "/choices/0/message: expected", id="no object"),
    pytest.param(
        completion(**choice({"s3cret": 1})), "/content: expected text", id="no text there"
    ),
    pytest.param(completion(error={"message": "s3cret"}), "HTTP status 200", id="an error"),
]


@each(("body", "why"), GARBAGE)
def test_an_invalid_answer_is_a_failure_that_quotes_nothing(body: bytes, why: str) -> None:
    with pytest.raises(ProviderError, match=why) as raised:
        answer_of(body, "m")
    assert raised.value.reason == "provider_failed"
    assert "s3cret" not in str(raised.value)


FAILURES: list[Any] = [
    (429, b"", "rate_limited", "HTTP status 429"),
    (429, b'{"error": {"code": "insufficient_quota"}}', "rate_limited", "insufficient_quota"),
    (500, b'{"error": {"type": "rate_limit_exceeded"}}', "rate_limited", "HTTP status 500"),
    (408, b"", "timeout", "408"),
    (504, b"<html>", "timeout", "504"),
    (401, b'{"error": {"code": "invalid_api_key"}}', "provider_failed", "401, invalid_api_key"),
    (400, b'{"error": {"code": ["x"], "type": 7}}', "provider_failed", "400"),
    (400, b'{"error": "s3cret"}', "provider_failed", "400"),
    (400, b'{"error": {"code": "s_secret", "message": "s3cret"}}', "provider_failed", "400"),
    (302, b"", "provider_failed", "302"),
    (200, b"[7]", "provider_failed", "200"),
]


@each(("status", "body", "reason", "why"), FAILURES)
def test_a_status_is_a_failure_that_repeats_nothing(
    status: int, body: bytes, reason: str, why: str
) -> None:
    failure = failure_of(status, body)
    assert failure.reason == reason
    assert why in failure.why
    assert "secret" not in str(failure).replace("s3cret", "secret")


def piece(delta: Any = None, reason: str | None = None, **others: Any) -> bytes:
    found = {"choices": [{"delta": delta, "finish_reason": reason}], **others}
    return json.dumps(found).encode()


def test_pieces_come_to_an_answer() -> None:
    answer = StreamedAnswer("m")
    said = [
        answer.take(piece({"role": "assistant", "content": ""}, model="m-2026")),
        answer.take(piece({"content": "Hel"})),
        answer.take(piece({"content": "lo"})),
        answer.take(piece({}, "stop")),
        answer.take(b'{"choices": [], "usage": {"prompt_tokens": 4, "completion_tokens": 2}}'),
    ]
    assert not answer.ended
    said.append(answer.take(b" [DONE]"))
    assert said == ["", "Hel", "lo", "", "", ""]
    assert answer.ended
    usage = TokenUsage(input_tokens=4, output_tokens=2)
    assert answer.whole() == ModelAnswer("Hello", "m-2026", "stop", usage)


def test_a_stream_is_whole_by_its_mark_or_by_a_reason_and_else_broken() -> None:
    marked, reasoned, broken = (StreamedAnswer("m") for _ in range(3))
    for one in (marked, reasoned, broken):
        one.take(piece({"content": "Hi"}))
    marked.take(b"[DONE]")
    reasoned.take(piece(None, "length"))
    assert marked.whole() == ModelAnswer("Hi", "m", "")
    assert reasoned.whole() == ModelAnswer("Hi", "m", "length")
    with pytest.raises(ProviderError, match="broken off"):
        broken.whole()


@each(
    ("data", "reason"),
    [
        (b"nonsense", "provider_failed"),
        (b'{"choices": 7}', "provider_failed"),
        (piece({"content": 7}), "provider_failed"),
        (b'{"error": {"message": "s3cret"}}', "provider_failed"),
        (b'{"error": {"code": "rate_limit_exceeded"}}', "rate_limited"),
    ],
)
def test_an_invalid_chunk_ends_the_answer(data: bytes, reason: str) -> None:
    with pytest.raises(ProviderError) as raised:
        StreamedAnswer("m").take(data)
    assert raised.value.reason == reason
    assert "s3cret" not in str(raised.value)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["choices", "message", "delta", "content", "error", "usage", "x"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(JSON)
def test_whatever_comes_is_an_answer_or_a_failure(value: Any) -> None:
    body = json.dumps(value).encode()
    for read in (lambda: answer_of(body, "m"), lambda: StreamedAnswer("m").take(body)):
        with suppress(ProviderError):
            read()
    failure_of(500, body)


CUT = [
    pytest.param(["a\\ud83d", "\\ude00b"], ["a", "\U0001f600b"], "", id="between pieces"),
    pytest.param(["a\\ud83d", "b"], ["a", "\ufffdb"], "", id="without its other half"),
    pytest.param(["\\ude00"], ["\ufffd"], "", id="without its first half"),
    pytest.param(["a\\ud83d"], ["a"], "\ufffd", id="at the end"),
]


@each(("pieces", "deltas", "rest"), CUT)
def test_a_sign_that_is_cut_in_two_is_joined_or_replaced(
    pieces: list[str], deltas: list[str], rest: str
) -> None:
    answer = StreamedAnswer("m")
    events = [b'{"choices":[{"delta":{"content":"%s"}}]}' % one.encode() for one in pieces]
    assert [answer.take(event) for event in events] == deltas
    answer.take(b"[DONE]")
    assert answer.whole().content == "".join(deltas) + rest
    whole = answer_of(
        b'{"model":"m\\ud800","choices":[{"message":{"content":"%s"}}]}' % "".join(pieces).encode(),
        "m",
    )
    assert whole.content == "".join(deltas) + rest
    assert whole.model == "m\ufffd"
