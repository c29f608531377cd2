"""The client of MCP-lite follows promises and answers questions, against raw servers over HTTP."""

from __future__ import annotations

from typing import Any

import pytest

from kinwire.mcplite.client.made import outcome_of
from kinwire.mcplite.client.outcomes import (
    LiteAnswer,
    LiteElicitation,
    LiteFailure,
    LiteQuestion,
)
from kinwire.mcplite.client.promise import LitePromise
from kinwire.mcplite.client.transport import OutgoingCall
from kinwire.mcplite.rules.polling import PollHints
from kinwire.rpc.errors import (
    InvalidResponseError,
    RequestTimeoutError,
)
from kinwire_protocols.jsonrpc.errors import InvalidParamsError
from tests.runtime.mcp.http_client.fake_server import Asked, Line
from tests.runtime.mcplite.client.fixtures_raw import (
    ANSWER,
    PROMISE,
    SOON,
    answering,
    of,
    result_of,
)

pytestmark = pytest.mark.anyio


@pytest.mark.spec("mcp-lite-3.5-2", "mcp-lite-3.5-3", "mcp-lite-A.3-2")
async def test_a_promise_is_redeemed_until_it_is_kept() -> None:
    second = result_of("promise", meta={"promise_token": "prom_2", **SOON})
    async with of(answering(PROMISE, PROMISE, second, ANSWER)) as (client, server):
        promise = await client.call("analyze", session_context="s")
        assert isinstance(promise, LitePromise)
        assert promise.token == "prom_1"
        assert promise.retry_after == 0.001
        assert "prom_1" not in repr(promise)
        outcome = await promise
        assert isinstance(outcome, LiteAnswer)
        calls = [one.message["params"] for one in server.asked[1:]]
        assert [one["arguments"]["promise"] for one in calls] == ["prom_1", "prom_1", "prom_2"]
        assert {one["name"] for one in calls} == {"redeem"}
        assert [one["_meta"] for one in calls] == [{"session_context": "s"}] * 3


async def test_a_promise_is_kept_through_a_restart_of_the_server() -> None:
    async with of(answering(PROMISE, 503, 502, ANSWER)) as (client, server):
        promise = await client.call("analyze")
        assert isinstance(promise, LitePromise)
        handler, lost = server.handler, 0

        async def handle(asked: Asked, line: Line) -> None:
            nonlocal lost
            lost += 1
            await (handler(asked, line) if lost > 1 else line.reset())

        server.handler = handle
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("kinwire.mcplite.client.promise.next_poll", lambda *_, **__: 0.001)
            assert isinstance(await promise, LiteAnswer)
        assert len(server.asked) == 5


async def test_a_promise_is_kept_through_statuses_that_have_an_error_in_their_body() -> None:
    later = {"jsonrpc": "2.0", "id": None, "error": {"code": -32600, "message": "Later."}}
    stopping = {"jsonrpc": "2.0", "id": None, "error": {"code": -32603, "message": "Stopping."}}
    left = [
        (status, body) for status in (408, 425, 429, 502, 503, 504) for body in (later, stopping)
    ]

    async def handle(asked: Asked, line: Line) -> None:
        if left:
            status, body = left.pop(0)
            await line.json({**body, "id": asked.message["id"]}, status=status)
        else:
            await line.json({"jsonrpc": "2.0", "id": asked.message["id"], "result": ANSWER})

    async with of(handle) as (client, _):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("kinwire.mcplite.client.promise.next_poll", lambda *_, **__: 0.0)
            assert isinstance(await client.promise("prom_1"), LiteAnswer)
        left.append((503, stopping))
        with pytest.raises(InvalidResponseError, match="503") as caught:
            await client.call("x")
        assert caught.value.status == 503


async def test_a_server_that_asks_to_come_back_is_asked_until_the_end() -> None:
    later = result_of("promise", meta={"promise_token": "p", "expires_at": "2999-01-01T00:00:00Z"})
    waits: list[float | None] = []

    async def handle(asked: Asked, line: Line) -> None:
        seconds = {30: "soon", 31: "7"}.get(len(waits), "1")
        status = 503 if len(waits) < 32 else 200
        body = {"jsonrpc": "2.0", "id": asked.message["id"], "result": ANSWER}
        await line.json(body, status=status, retry_after=seconds)

    def next_poll(hints: PollHints, **_: Any) -> float:
        waits.append(hints.retry_failed_after)
        return 0.0

    async with of(handle) as (client, _):
        for timeout, meta in ((10, PROMISE), (None, later)):
            waits.clear()
            caller: Any = client
            promise = outcome_of(meta, OutgoingCall("x", {}, {}), caller)
            assert isinstance(promise, LitePromise)
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr("kinwire.mcplite.client.promise.next_poll", next_poll)
                assert isinstance(await promise.wait(timeout), LiteAnswer)
            assert waits == [None, *[1.0] * 29, None, 7.0]


async def test_a_promise_is_given_up_when_the_server_refuses_or_is_gone_or_it_expired() -> None:
    gone = result_of(
        "promise", meta={"promise_token": "p", "expires_at": "2020-01-01T00:00:00Z", **SOON}
    )
    refusal = {"jsonrpc": "2.0", "id": None, "error": {"code": -32602, "message": "no"}}
    rows: list[tuple[list[Any], type[Exception], int]] = [
        ([PROMISE, refusal], InvalidParamsError, 2),
        ([PROMISE, 400], InvalidResponseError, 2),
        ([gone, 503], InvalidResponseError, 2),
        ([PROMISE, 503], InvalidResponseError, 21),
    ]
    for results, kind, requests in rows:
        async with of(answering(*results)) as (client, server):
            promise = await client.call("analyze")
            assert isinstance(promise, LitePromise)
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr("kinwire.mcplite.client.promise.next_poll", lambda *_, **__: 0.0)
                with pytest.raises(kind):
                    await promise
            assert len(server.asked) == requests


async def test_waiting_for_a_promise_has_a_deadline() -> None:
    async with of(answering(PROMISE)) as (client, _):
        with pytest.raises(RequestTimeoutError, match="The work goes on"):
            await client.promise("prom_1").wait(timeout=0.05)


@pytest.mark.spec("mcp-lite-2.2-3", "mcp-lite-3.5-8")
async def test_a_promise_is_cancelled_and_redeemed_once() -> None:
    failed = result_of("failure", error={"code": "PROMISE_NOT_FOUND", "message": "gone"})
    async with of(answering(PROMISE, failed)) as (client, server):
        promise = client.promise("stored")
        assert isinstance(await promise.redeem(), LitePromise)
        match await promise.cancel():
            case LiteFailure("PROMISE_NOT_FOUND", "gone"):
                pass
            case other:
                pytest.fail(f"{other}")
        arguments = [one.message["params"]["arguments"] for one in server.asked]
        assert arguments == [{"promise": "stored"}, {"promise": "stored", "action": "cancel"}]


QUESTIONS = [
    {"id": "format", "text": "Which?", "type": "single_select", "options": ["short", "long"]},
    {"id": "parts", "text": "Which parts?", "type": "multi_select", "options": ["a", "b"]},
    {"id": "title", "text": "Title?"},
]


ASKED = result_of(
    "elicitation",
    elicitation={"text": "Two things.", "questions": QUESTIONS, "context": "signed"},
    meta={"session_context": {"conversation": 1}},
)


@pytest.mark.spec("mcp-lite-3.4-3")
async def test_questions_are_answered_by_the_same_call() -> None:
    async with of(answering(ASKED, ANSWER)) as (client, server):
        asked = await client.call("report", {"topic": "x"}, idempotency_key="k")
        assert isinstance(asked, LiteElicitation)
        assert asked.text == "Two things."
        assert asked.questions == (
            LiteQuestion("format", "Which?", "single_select", ("short", "long")),
            LiteQuestion("parts", "Which parts?", "multi_select", ("a", "b")),
            LiteQuestion("title", "Title?"),
        )
        answers = {"format": "short", "parts": ["a", "b"], "title": "Q4"}
        assert isinstance(await asked.answer(answers), LiteAnswer)
        assert server.asked[1].message["params"] == {
            "name": "report",
            "arguments": {"topic": "x"},
            "_meta": {
                "elicitation_answers": answers,
                "elicitation_context": "signed",
                "session_context": {"conversation": 1},
            },
        }
        for wrong, words in (
            ({"formt": "short"}, "'format'"),
            ({"format": "medium"}, "short, long"),
            ({"parts": "a"}, "list of options"),
            ({"parts": ["c"]}, "a, b"),
        ):
            with pytest.raises(ValueError, match=words):
                await asked.answer(wrong)
        assert len(server.asked) == 2


async def test_a_text_without_questions_is_answered_by_any_name() -> None:
    asked = result_of("elicitation", elicitation={"text": "Which quarter?"})
    async with of(answering(asked, ANSWER)) as (client, server):
        outcome = await client.call("report")
        assert isinstance(outcome, LiteElicitation)
        assert outcome.questions == ()
        await outcome.answer({"quarter": "Q4"})
        meta = server.asked[1].message["params"]["_meta"]
        assert meta == {"elicitation_answers": {"quarter": "Q4"}}
