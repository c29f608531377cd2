"""A store that is unavailable for a while: no work is lost, and callers are asked to come back."""

from __future__ import annotations

import json
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest

from kinwire import Promised
from kinwire.mcplite.client.client import LiteClient
from kinwire.mcplite.client.outcomes import LiteAnswer
from kinwire.mcplite.rules.unavailable import ServerUnavailableError
from kinwire.rpc.errors import InvalidResponseError
from kinwire.storage import StorageUnavailableError
from tests.each import each
from tests.runtime.managers.fixtures_records import FailingRecords
from tests.runtime.mcplite.fixtures_grpc import connected, details_of, serving
from tests.runtime.mcplite.fixtures_tools import lite_call, text_of
from tests.runtime.mcplite.server.fixtures_promises import (
    KEY,
    LIMITS,
    Place,
    forever,
    over,
    place,
    redeem,
    token_in,
)
from tests.runtime.mcplite.server.http.fixtures_lite import call_of, caller_at

pytestmark = pytest.mark.anyio

on_asyncio = pytest.mark.parametrize("anyio_backend", ["asyncio"])
LATER = {"retry_after_ms": 1000}


@asynccontextmanager
async def failing_place() -> AsyncIterator[tuple[Place, FailingRecords]]:
    """Yield servers, and the records of all those that are made from now on."""
    async with place(shared=True) as here:
        assert here.records is not None
        here.records = failing = FailingRecords(here.records)
        here.first = here.server()
        yield here, failing


@pytest.fixture(autouse=True)
def quiet(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.CRITICAL)


async def test_work_is_not_lost_after_an_outage_that_a_reader_has_seen() -> None:
    async with failing_place() as (here, failing):
        other = here.server()
        token = token_in(await lite_call(here.first, "analyze"))
        token_in(await redeem(other, token))
        failing.fails = True
        with pytest.raises(ServerUnavailableError):
            await redeem(other, token)
        await anyio.sleep(2 * LIMITS.worker_lease)
        here.first._promises.works._signs._sleep = forever
        failing.fails = False
        token_in(await redeem(other, token))


async def test_work_is_not_lost_after_an_outage_between_two_looks() -> None:
    async with failing_place() as (here, failing):
        raw = Place(failing.records, here.work)
        other = raw.first  # only the worker notices
        token = token_in(await lite_call(here.first, "analyze"))
        token_in(await redeem(other, token))
        failing.fails = True
        await anyio.sleep(1.5 * LIMITS.worker_lease)
        token_in(
            await redeem(other, token)
        )  # no sign for a lease, but the store may have been away
        failing.fails = False
        await anyio.sleep(LIMITS.worker_lease)
        token_in(await redeem(other, token))
        here.work.go.set()
        await over(here.first)
        assert (await redeem(other, token))["content"] == [{"topic": "x"}]


async def test_a_sign_of_life_lasts_as_long_as_its_promises() -> None:
    async with place(shared=True) as here:
        assert here.records is not None
        token_in(await lite_call(here.first, "analyze"))
        (sign,) = [one async for one in here.records.scan("worker/")]
        (promise,) = [one async for one in here.records.scan("promise/")]
        assert sign.expires_at is not None
        assert promise.expires_at is not None
        assert sign.expires_at > promise.expires_at


async def test_calls_that_need_the_store_are_asked_to_come_back() -> None:
    async with failing_place() as (here, failing):
        token = token_in(await lite_call(here.first, "analyze"))
        failing.fails = True
        calls: list[tuple[str, dict[str, Any], Any]] = [
            ("redeem", {"promise": token}, None),
            ("redeem", {"promise": token, "action": "cancel"}, None),
            ("analyze", {}, None),
            ("pay", {"amount": 1}, KEY),
        ]
        for name, arguments, meta in calls:
            with pytest.raises(ServerUnavailableError) as caught:
                await lite_call(here.first, name, meta=meta, **arguments)
            assert caught.value.data == LATER
        assert text_of(await lite_call(here.first, "quick")) == "quick"
        failing.fails = False
        here.work.go.set()
        assert text_of(await lite_call(here.first, "pay", meta=KEY, amount=1)) == "1"


async def test_without_a_record_there_is_no_promise_and_no_work() -> None:
    async with failing_place() as (here, failing):
        failing.fails = True
        for meta in ({}, KEY):
            with pytest.raises(ServerUnavailableError):
                await lite_call(here.first, "analyze", meta=meta)
        await over(here.first)
        assert here.work.begun == here.work.cancelled


async def test_an_error_of_a_tools_own_store_is_an_internal_error() -> None:
    async with place() as here:

        async def run(run: Any) -> Any:
            raise StorageUnavailableError("own", expected="a", got="b", hint="c")

        here.first.source.run = run  # type: ignore[method-assign]
        for name in ("quick", "report"):
            with pytest.raises(Exception, match="correlation id") as caught:
                await lite_call(here.first, name)
            assert not isinstance(caught.value, ServerUnavailableError)


@pytest.mark.spec("mcp-lite-4.4-1")
async def test_http_asks_to_come_back_by_503_and_a_stream_by_its_error() -> None:
    async with failing_place() as (here, failing):
        app = here.first.asgi()
        failing.fails = True
        refused = await caller_at(app).post(call_of("redeem", promise="x"))
        assert (refused.status, refused.headers["retry-after"]) == (503, "1")
        assert refused.json["id"] == 1
        error = refused.json["error"]
        assert error["code"] == -32603
        assert error["data"]["retry_after_ms"] == 1000
        streamed = await caller_at(app, accept="text/event-stream").post(
            call_of("redeem", promise="x")
        )
        last = streamed.body.decode().strip().rpartition("data: ")[2]
        assert json.loads(last) == error
        await app.aclose()


@on_asyncio
@pytest.mark.spec("mcp-lite-5.5-1")
async def test_grpc_asks_to_come_back_by_unavailable() -> None:
    async with failing_place() as (here, failing), connected(here.first) as peer:
        failing.fails = True
        error = await peer.refusal("redeem", {"promise": "x"})
        assert error.code().name == "UNAVAILABLE"
        reason, _, facts = details_of(error)
        assert (reason, facts["code"]) == ("SERVER_UNAVAILABLE", "-32603")
        assert json.loads(facts["data"]) == LATER


@on_asyncio
async def test_a_promise_is_awaited_through_an_outage() -> None:
    async with (
        failing_place() as (here, failing),
        serving(here.first) as address,
        LiteClient(address) as client,
    ):
        token = token_in(await lite_call(here.first, "analyze"))
        failing.fails = True
        with pytest.raises(InvalidResponseError, match="UNAVAILABLE") as caught:
            await client.promise(token).redeem()
        assert (caught.value.status, caught.value.retry_after) == (503, 1.0)

        def next_poll(*_: Any, failures: int, **others: Any) -> float:
            if failures == 25:
                failing.fails = False
                here.work.go.set()
            return 0.0

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("kinwire.mcplite.client.promise.next_poll", next_poll)
            outcome = await client.promise(token).wait(20)
        assert isinstance(outcome, LiteAnswer)
        assert outcome.content == [{"topic": "x"}]


class SilentRecords(FailingRecords):
    """Records whose write takes place without an answer, as often as a test says."""

    silent = 0
    prefix = "promise/"

    async def put(self, key: str, value: Any, **options: Any) -> int:
        revision = await super().put(key, value, **options)
        if self.silent and key.startswith(self.prefix):
            self.silent -= 1
            error = StorageUnavailableError(
                key, expected="a", got="b", hint="c", outcome_unknown=True
            )
            raise error
        return revision


@each("prefix", ["promise/", "key/"])
async def test_a_key_whose_claim_got_no_answer_can_be_used_again(prefix: str) -> None:
    async with place(shared=True) as here:
        assert here.records is not None
        here.records = records = SilentRecords(here.records)
        server = here.server()
        for other in (server, here.server()):
            records.prefix, records.silent = prefix, 1
            with pytest.raises(ServerUnavailableError):
                await lite_call(server, "pay", meta=KEY, amount=5)
            if other is not server:  # which does not know what is left, until it is cleared
                await server._promises.works.claims._clear(*server._promises.works.claims._remnants)
            here.work.go.set()
            assert text_of(await lite_call(other, "pay", meta=KEY, amount=5)) == "5"
            for prefix_left in ("key/", "promise/"):
                async for record in records.scan(prefix_left):
                    await records.delete(record.key)
        assert here.work.begun == 2


async def test_a_result_is_stored_although_an_estimate_got_no_answer() -> None:
    async with place(shared=True) as here:
        assert here.records is not None
        here.records = records = SilentRecords(here.records)
        server = here.server()
        begin = anyio.Event()

        async def late(run: Any) -> Any:
            await begin.wait()
            return Promised(lambda: here.work.run({"content": []}), estimated_seconds=20)

        server.source.run = late  # type: ignore[method-assign]
        token = token_in(await lite_call(server, "analyze"))
        records.silent = 1
        begin.set()
        await here.work.has_begun.wait()
        here.work.go.set()
        await over(server)
        assert (await redeem(here.server(), token))["content"] == []
        assert records.silent == 0


async def test_a_result_is_stored_when_the_store_is_back() -> None:
    async with failing_place() as (here, failing):
        token = token_in(await lite_call(here.first, "analyze"))
        failing.fails = True
        here.has_slept = anyio.Event()
        here.work.go.set()
        await here.has_slept.wait()
        failing.fails = False
        await over(here.first)
        assert (await redeem(here.first, token))["content"] == [{"topic": "x"}]
