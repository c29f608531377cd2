"""Promises: work goes on behind them, in one process or several, and gives one answer."""

from __future__ import annotations

import json
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest

from kinwire import Promised, Server, ToolError
from kinwire.mcplite.rules.calls import ToolCall
from kinwire.mcplite.rules.limits import LiteLimits
from kinwire.mcplite.server.promises import PromiseBoard
from kinwire.mcplite.server.service import LiteServer
from kinwire.mcplite.server.source import ANYONE, LiteCaller
from kinwire.storage import (
    Record,
    StorageInputError,
)
from kinwire_protocols.base import JsonObject
from kinwire_protocols.jsonrpc.errors import InternalError, InvalidParamsError
from tests.each import each
from tests.runtime.managers.fixtures_records import FailingRecords
from tests.runtime.mcplite.fixtures_tools import Work, lite_call, text_of, tools
from tests.runtime.mcplite.server.fixtures_promises import (
    EVE,
    KEY,
    LIMITS,
    Place,
    forever,
    over,
    place,
    redeem,
    token_in,
)

pytestmark = pytest.mark.anyio


@pytest.mark.spec("mcp-lite-1-3", "mcp-lite-3.5-1", "mcp-lite-3.5-3")
async def test_a_call_that_takes_long_is_answered_by_a_promise() -> None:
    async with place() as here:
        result = await lite_call(here.first, "analyze", topic="t")
        token = token_in(result)
        assert token_in(await redeem(here.first, token)) == token
        here.work.go.set()
        await over(here.first)
        answer = await redeem(here.first, token)
        assert answer["content"] == [{"topic": "t"}]
        assert answer["_meta"]["response_type"] == "answer"
        assert await redeem(here.first, token) == answer
        assert here.work.begun == 1


@pytest.mark.spec("mcp-lite-3.4-2", "mcp-lite-A.3-1")
async def test_a_tool_that_promises_says_how_long_it_takes() -> None:
    async with place() as here:
        here.work.go.set()  # it is over immediately, and promised all the same
        meta = (await lite_call(here.first, "order"))["_meta"]
        assert meta["retry_after_ms"] == 20_000
        assert meta["expires_at"] > meta["estimated_completion"]
        await over(here.first)
        assert text_of(await redeem(here.first, meta["promise_token"])) == "ordered"


@each("meta", [{}, {"idempotency_key": "k"}])
async def test_a_promise_that_came_first_says_later_how_long_it_takes(meta: dict[str, Any]) -> None:
    async with place(shared=True) as here:
        server = tools(here.work)

        @server.tool(promise_after=0)
        def plain() -> Promised:
            return Promised(lambda: here.work.run("done"), estimated_seconds=20)

        lite = LiteServer(server, records=here.records)
        lite._promises = here.first._promises
        token = token_in(await lite_call(lite, "plain", meta=meta))
        await here.work.has_begun.wait()
        for one in (lite, here.server()):
            assert (await redeem(one, token))["_meta"]["retry_after_ms"] == 20_000
        here.work.go.set()
        await over(lite)
        assert text_of(await redeem(lite, token)) == "done"


async def test_a_call_that_is_over_in_time_gets_its_result_and_leaves_nothing() -> None:
    async with place() as here:
        assert text_of(await lite_call(here.first, "quick")) == "quick"
        assert (await lite_call(here.first, "quick", fail=True))["error"]["code"] == "NO"
        with pytest.raises(InvalidParamsError):
            await lite_call(here.first, "analyze", topic=5)
        await over(here.first)
        works = here.first._promises.works
        assert (works.open, works._running, len(works._ends._kept)) == ({}, set(), 0)


@each(
    ("arguments", "place_named"),
    [({}, "promise"), ({"promise": 5}, "promise"), ({"promise": "x", "action": "no"}, "action")],
)
async def test_wrong_arguments_of_redeem_are_an_error(
    arguments: dict[str, Any], place_named: str
) -> None:
    with pytest.raises(InvalidParamsError, match=f"/arguments/{place_named}"):
        await lite_call(LiteServer(tools(Work())), "redeem", **arguments)


@pytest.mark.spec("mcp-lite-3.5-5", "mcp-lite-3.5-6", "mcp-lite-3.5-7")
async def test_all_tokens_that_cannot_be_redeemed_get_one_answer_after_one_time() -> None:
    async with place() as here:
        foreign = token_in(await lite_call(here.first, "analyze", EVE))
        given_up = token_in(await lite_call(here.first, "analyze"))
        answer = await redeem(here.first, given_up, action="cancel")
        assert (text_of(answer), answer["_meta"]["response_type"]) == (
            "The promise is cancelled.",
            "answer",
        )
        old = token_in(await lite_call(here.first, "analyze"))
        here.time.now += 200.0
        foreign = token_in(await lite_call(here.first, "analyze", EVE))
        answers: list[Any] = []
        for token in ("prom_x", "", foreign, given_up, old, "\ud800"):
            for action in ("checkin", "cancel"):
                here.slept.clear()
                result = await redeem(here.first, token, action=action)
                assert len(here.slept) == 1, "each waits until the same time has passed"
                for name in ("timestamp", "processing_time_ms"):
                    del result["_meta"][name]
                answers.append(result)
        assert all(one == answers[0] for one in answers)
        assert answers[0]["error"]["code"] == "PROMISE_UNAVAILABLE"
        assert token_in(await redeem(here.first, foreign, EVE)) == foreign


@pytest.mark.spec("mcp-lite-2.2-3")
async def test_work_is_cancelled_with_its_promise() -> None:
    async with place() as here:
        token = token_in(await lite_call(here.first, "analyze"))
        await redeem(here.first, token, action="cancel")
        await over(here.first)
        assert here.work.cancelled == 1


async def test_a_promise_whose_work_is_over_is_not_cancelled_but_redeemed() -> None:
    async with place() as here:
        here.work.go.set()
        token = token_in(await lite_call(here.first, "order"))
        await over(here.first)
        assert text_of(await redeem(here.first, token, action="cancel")) == "ordered"
        assert text_of(await redeem(here.first, token)) == "ordered"


async def test_a_result_is_kept_for_a_limited_time_after_it_was_redeemed_first() -> None:
    async with place() as here:
        here.work.go.set()
        token = token_in(await lite_call(here.first, "order"))
        await over(here.first)
        for passed, kept in ((50.0, True), (9.0, True), (2.0, False)):
            here.time.now += passed
            assert ("error" not in await redeem(here.first, token)) is kept


async def test_work_that_ended_by_an_error_is_redeemed_as_a_failure(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with place() as here:
        here.work.go.set()
        here.first.source.promise_after = lambda name: 0.0  # type: ignore[method-assign]
        with caplog.at_level(logging.CRITICAL), pytest.raises(InternalError):
            await lite_call(here.first, "crash")
        meta = {"idempotency_key": "k"}
        with caplog.at_level(logging.CRITICAL), pytest.raises(InternalError):
            await lite_call(here.first, "crash", meta=meta)
        result = await lite_call(here.first, "crash", meta=meta)
        assert result["error"]["code"] == "INTERNAL_ERROR"
        assert "secret" not in str(result)


async def test_a_result_that_is_too_large_is_a_failure() -> None:
    async with place(limits=LiteLimits(result_size=200)) as here:
        token = token_in(await lite_call(here.first, "analyze", topic="x" * 300))
        here.work.go.set()
        await over(here.first)
        assert (await redeem(here.first, token))["error"]["code"] == "TOO_LARGE"


@each("limits", [{"open_promises": 2}, {"open_promises_per_caller": 2}])
async def test_there_is_a_limit_of_open_promises(limits: dict[str, Any]) -> None:
    async with place(limits=LiteLimits(**limits)) as here:
        tokens = [token_in(await lite_call(here.first, "analyze")) for _ in range(2)]
        for _ in range(2):
            refused = await lite_call(here.first, "analyze")
            assert refused["error"]["code"] == "TOO_MANY_PROMISES"
        if "open_promises_per_caller" in limits:
            token_in(await lite_call(here.first, "analyze", EVE))
        here.time.now += 100_000.0
        await redeem(here.first, tokens[0], action="cancel")
        here.work.go.set()
        await over(here.first)
        token_in(await lite_call(here.first, "order"))


async def test_a_caller_that_leaves_before_there_is_a_promise_ends_its_work() -> None:
    async with place() as here:
        here.first.source.promise_after = lambda name: 60.0  # type: ignore[method-assign]
        with anyio.move_on_after(0.01):
            await lite_call(here.first, "analyze")
        await over(here.first)
        assert (here.work.begun, here.work.cancelled) == (1, 1)


async def test_a_deadline_makes_a_promise_in_time() -> None:
    async with place() as here:
        here.first.source.promise_after = lambda name: 60.0  # type: ignore[method-assign]
        caller = LiteCaller(deadline=anyio.current_time() + 0.05)
        assert token_in(await lite_call(here.first, "analyze", caller))


# -- streams --


@pytest.mark.spec("mcp-lite-5.3-3", "mcp-lite-2.2-4")
async def test_a_promise_is_followed_until_its_result() -> None:
    async with place() as here:
        token = token_in(await lite_call(here.first, "analyze"))
        parts: list[JsonObject] = []

        async def send(part: JsonObject) -> None:
            parts.append(part)
            here.work.go.set()

        call = ToolCall("redeem", {"promise": token})
        result = await here.first.stream(call, ANYONE, send)
        half = {"progress": 1, "total": 2, "message": "half"}
        assert parts == [{"partial": "", "progress": half}]
        assert result == await redeem(here.first, token)
        assert result["content"] == [{"topic": "x"}]


async def test_a_stream_of_a_tool_that_may_promise_waits_for_the_end() -> None:
    async with place() as here:
        here.work.go.set()
        result = await here.first.stream(ToolCall("order"), ANYONE, nothing)
        assert text_of(result) == "ordered"


async def nothing(part: JsonObject) -> None: ...


async def test_one_that_waits_is_released_when_the_promise_expires() -> None:
    async with place(limits=LiteLimits(token_life=0.05, refusal_time=0.001)) as here:
        board = here.first._promises = PromiseBoard(None, here.limits)
        token = token_in(await lite_call(here.first, "analyze"))
        result = await here.first.stream(ToolCall("redeem", {"promise": token}), ANYONE, nothing)
        assert result["error"]["code"] == "PROMISE_UNAVAILABLE"
        await over(here.first)
        assert (here.work.cancelled, board.works.open) == (1, {})


# -- calls with an idempotency key --


async def test_a_repeated_call_joins_the_work_and_gets_its_result() -> None:
    async with place(shared=True) as here:
        other = here.server()
        tokens = {
            token_in(await lite_call(server, "analyze", meta=KEY))
            for server in (here.first, here.first, other)
        }
        assert len(tokens) == 1
        here.work.go.set()
        await over(here.first)
        results = [await lite_call(one, "analyze", meta=KEY) for one in (here.first, other)]
        assert results[0]["content"] == [{"topic": "x"}]
        assert results[0] == results[1] == await redeem(other, tokens.pop())
        assert here.work.begun == 1


async def test_calls_of_a_tool_that_never_promises_wait_for_each_other() -> None:
    async with place(shared=True) as here:
        servers, results = [here.first, here.first, here.server()], list[Any]()

        async def call(server: LiteServer) -> None:
            results.append(await lite_call(server, "pay", meta=KEY, amount=5))

        async with anyio.create_task_group() as tasks:
            for server in servers:
                tasks.start_soon(call, server)
            await anyio.sleep(0.01)
            here.work.go.set()
        assert here.work.begun == 1
        assert results[0] == results[1] == results[2]


@each("key", ["", 5, ["k"], "x" * 1025])
async def test_a_key_that_is_not_a_short_text_is_refused(key: Any) -> None:
    async with place() as here:
        with pytest.raises(InvalidParamsError, match="idempotency_key"):
            await lite_call(here.first, "quick", meta={"idempotency_key": key})


async def test_a_key_stands_for_one_call_of_one_caller() -> None:
    async with place() as here:
        here.work.go.set()
        await lite_call(here.first, "pay", meta=KEY, amount=5)
        with pytest.raises(InvalidParamsError, match="new key"):
            await lite_call(here.first, "pay", meta=KEY, amount=6)
        assert text_of(await lite_call(here.first, "pay", EVE, KEY, amount=6)) == "6"
        assert here.work.begun == 2


async def test_a_call_that_did_not_run_does_not_use_its_key_up() -> None:
    async with place() as here:
        here.work.go.set()
        with pytest.raises(InvalidParamsError, match="amount"):
            await lite_call(here.first, "pay", meta=KEY, amount="x")
        await over(here.first)
        assert text_of(await lite_call(here.first, "pay", meta=KEY, amount=6)) == "6"


async def test_answers_with_the_key_of_the_questions_are_a_call_of_their_own() -> None:
    async with place(shared=True) as here:
        asked = await lite_call(here.first, "report", meta=KEY)
        context = asked["elicitation"]["context"]
        meta = {**KEY, "elicitation_context": context, "elicitation_answers": {"format": "short"}}
        results = [await lite_call(here.first, "report", meta=meta) for _ in range(2)]
        assert results[0]["content"][0]["answers"] == {"format": "short"}
        assert results[0] == results[1]
        assert await lite_call(here.first, "report", meta=KEY) == asked
        meta["elicitation_answers"] = {"format": "long"}
        with pytest.raises(InvalidParamsError, match="idempotency_key"):
            await lite_call(here.first, "report", meta=meta)


async def test_a_caller_that_leaves_finds_its_work_again_by_the_key() -> None:
    async with place() as here:
        with anyio.move_on_after(0.01):
            await lite_call(here.first, "pay", meta=KEY, amount=5)
        here.work.go.set()
        assert text_of(await lite_call(here.first, "pay", meta=KEY, amount=5)) == "5"
        assert (here.work.begun, here.work.cancelled) == (1, 0)


# -- several processes --


@pytest.mark.spec("mcp-lite-3.8-1")
async def test_any_process_redeems_and_cancels_what_another_began() -> None:
    async with place(shared=True) as here:
        other = here.server()
        token = token_in(await lite_call(here.first, "analyze"))
        assert token_in(await redeem(other, token)) == token
        here.work.go.set()
        await over(here.first)
        assert (await redeem(other, token))["content"] == [{"topic": "x"}]
        here.work.go = anyio.Event()
        token = token_in(await lite_call(here.first, "analyze"))
        assert text_of(await redeem(other, token, action="cancel")) == "The promise is cancelled."
        await over(here.first)
        assert here.work.cancelled == 1


async def test_work_of_a_process_that_is_gone_has_failed() -> None:
    async with place(shared=True) as here:
        here.first._promises.works._signs._sleep = forever  # it gives no sign of life any more
        token = token_in(await lite_call(here.first, "analyze"))
        other = here.server()
        for _ in range(100):
            result = await redeem(other, token)
            if "error" in result:
                break
            await anyio.sleep(0.005)
        assert result["error"]["code"] == "WORK_LOST"
        here.work.go.set()  # it was only slow: what was answered stays so
        await over(here.first)
        assert await redeem(here.first, token) == result


async def test_work_of_a_process_that_lives_is_not_lost() -> None:
    async with place(shared=True) as here:
        token, other = token_in(await lite_call(here.first, "analyze")), here.server()
        until = anyio.current_time() + 4 * LIMITS.worker_lease
        while anyio.current_time() < until:
            token_in(await redeem(other, token))
            await anyio.sleep(0.01)


async def test_a_server_that_closes_says_that_its_work_has_failed() -> None:
    async with place(shared=True) as here:
        token = token_in(await lite_call(here.first, "analyze"))
        await here.first.close(0.0)
        other = here.server()
        assert (await redeem(other, token))["error"]["code"] == "WORK_LOST"


async def test_a_server_that_closes_waits_for_work_that_is_nearly_over() -> None:
    async with place(shared=True) as here:
        token = token_in(await lite_call(here.first, "analyze"))
        here.work.go.set()
        await here.first.close(5.0)
        assert (await redeem(here.server(), token))["content"] == [{"topic": "x"}]


# -- results that are hard to store --


class NarrowRecords(FailingRecords):
    """Records with values of at most `most` characters, as a server of NATS has them."""

    most = 1_000_000

    async def put(self, key: str, value: Any, **options: Any) -> int:
        if len(json.dumps(value)) > self.most:
            raise StorageInputError(key, expected="a short value", got="more", hint="Shorten it.")
        return await super().put(key, value, **options)

    async def pieces(self) -> list[Record]:
        return [one async for one in self.records.scan("piece/")]


@asynccontextmanager
async def narrow(most: int = 1_000_000) -> AsyncIterator[tuple[Place, NarrowRecords]]:
    async with place(shared=True) as here:
        assert here.records is not None
        here.records = records = NarrowRecords(here.records)
        records.most = most
        here.first = here.server()
        yield here, records


async def redeemed_as(answer: Any, server: LiteServer, token: str) -> None:
    assert await redeem(server, token) == answer


async def test_a_large_result_is_stored_in_pieces_that_go_with_its_promise() -> None:
    async with narrow() as (here, records):
        topic = '\\"\0é😀' * 100_000
        token = token_in(await lite_call(here.first, "analyze", topic=topic))
        here.work.go.set()
        await over(here.first)
        pieces = await records.pieces()
        assert len(pieces) > 5
        other = here.server()
        answer = await redeem(other, token)
        assert answer["content"] == [{"topic": topic}]
        before_all = records.begun
        async with anyio.create_task_group() as tasks:
            for _ in range(10):
                tasks.start_soon(redeemed_as, answer, other, token)
        assert records.begun - before_all == 10 + len(pieces)
        life = LIMITS.token_life - LIMITS.result_kept
        for before, after in zip(pieces, await records.pieces(), strict=True):
            assert before.expires_at is not None
            assert after.expires_at is not None
            assert 0 < before.expires_at - after.expires_at <= life  # less by the time since then
        await records.delete(pieces[2].key)
        with pytest.raises(InternalError):
            await redeem(here.server(), token)


@each("value", ["\ud800", "x" * 5000, ToolError("no", data={1j})])
async def test_a_result_that_no_store_holds_is_a_failure_of_its_own(
    value: Any, caplog: pytest.LogCaptureFixture
) -> None:
    async with narrow(most=1000) as (here, records):
        server = Server("odd", "1")

        @server.tool(promise_after=0)
        async def odd() -> str:
            await here.work.run(None)
            if isinstance(value, ToolError):
                raise value
            return str(value)

        here.first = LiteServer(server, records=records)
        with caplog.at_level(logging.CRITICAL):
            token = token_in(await lite_call(here.first, "odd"))
            here.work.go.set()
            await over(here.first)
        failure = await redeem(here.server(), token)
        assert failure["error"]["code"] == "NOT_STORED"
