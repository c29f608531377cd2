"""Streams of a kernel before raw servers: chunks, results, broken rules, cancellation."""

from __future__ import annotations

import json
import os
import random
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest
from trio.testing import MockClock

from kinwire import (
    Connection,
    ConnectionClosedError,
    Host,
    RequestTimeoutError,
    RpcError,
    SessionStateError,
    result_text,
)
from kinwire.mgp import (
    CallbackQuestion,
    Callbacks,
    CallStream,
    Confirmations,
    MgpKernel,
    Retries,
    ServerPolicy,
    StreamUnreadError,
)
from kinwire.mgp.kernel import streams as streams_of
from kinwire.mgp.kernel.stream_inbox import MOST_UNREAD, MOST_UNREAD_BYTES
from kinwire.support.background import background
from kinwire_protocols.mcp.models import ProgressNotificationParams
from tests.runtime.mgp.fixtures_kernel import AuditEvents, audited
from tests.runtime.mgp.fixtures_tasks import tasks_now
from tests.runtime.mgp.raw_peers import NOTHING, Json, RawServer, tool

CANCELLED = int(os.environ.get("KINWIRE_CANCELLED", "500"))  # 10,000 for `nox -s streams`
pytestmark = pytest.mark.anyio

JUMPS = ("trio", {"clock": MockClock(autojump_threshold=0)})  # to the next time that is awaited

OFFER: Json = {"version": "0.2.0", "extensions": ["streaming"]}
CHUNK = "notifications/mgp.stream.chunk"
ASKS = "notifications/mgp.callback.request"
CANCEL = "mgp/stream/cancel"
SAID = ["Quantum computing is", " a paradigm that uses", " qubits."]
OPEN = ServerPolicy(trust="trusted", confirm=[])


def text(said: str) -> Json:
    return {"type": "text", "text": said}


class Streaming(RawServer):
    """A server that streams what a test says."""

    def __init__(self, mgp: Json | None = OFFER, **answers: Any) -> None:
        answers = {"tools_call": NOTHING, CANCEL.replace("/", "_"): NOTHING, **answers}
        super().__init__(tool("think"), tool("other"), mgp=mgp, **answers)

    @property
    def ids(self) -> list[int]:
        """The ids of the calls."""
        return [one["id"] for one in self.heard if one.get("method") == "tools/call"]

    async def called(self, count: int = 1) -> int:
        """Return the id of the last call when there have been `count`."""
        while len(self.ids) < count:
            await self._news.wait()
        return self.ids[-1]

    async def got(self, method: str) -> None:
        """Return when the last message is one of a method."""
        while self.heard[-1].get("method") != method:
            await self._news.wait()

    def chunk(self, index: Any, said: Any, *, of: Any = None, **more: Any) -> None:
        """Send a chunk."""
        content = text(said) if isinstance(said, str) else said
        params = {"request_id": self.ids[-1] if of is None else of, "index": index}
        self.say(method=CHUNK, params={**params, "content": content, "done": False, **more})

    def answer(self, *content: Json, id: int | None = None, **extras: Any) -> None:
        """Answer the call."""
        more = {"_mgp": extras} if extras else {}
        identifier = self.ids[-1] if id is None else id
        self.say(id=identifier, result={"content": list(content), **more})


@asynccontextmanager
async def connected(
    raw: RawServer, kernel: MgpKernel | None = None
) -> AsyncGenerator[tuple[MgpKernel, Connection]]:
    kernel = kernel or MgpKernel(unknown=OPEN)
    async with Host("h", "1", extensions=[kernel]) as host:
        yield kernel, await host.connect(raw, server_id="s")


async def texts(stream: CallStream) -> list[str]:
    return [chunk.text async for chunk in stream]


@pytest.mark.spec("mgp-12.3-1", "mgp-12.4-1", "mgp-12.5-1")
async def test_a_stream_is_read_in_pieces_and_has_a_result() -> None:
    raw = Streaming()
    with audited() as events:
        async with (
            connected(raw) as (kernel, connection),
            kernel.stream(connection, "think", {"message": "Explain"}) as stream,
        ):
            identifier = await raw.called()
            (params,) = raw.calls
            assert params["_mgp"] == {"stream": True}
            assert params["arguments"] == {"message": "Explain"}
            for index, said in enumerate(SAID):
                raw.chunk(index, said)
            first = await anext(stream)
            assert (first.index, first.text) == (0, SAID[0])
            with pytest.raises(RuntimeError, match="still under way"):
                _ = stream.result
            raw.answer(text("".join(SAID)), streamed=True, chunks_sent=3, duration_ms=3200)
            assert await texts(stream) == SAID[1:]
            assert result_text(stream.result) == "".join(SAID)
            assert stream.missed == 0
            # What comes after the end is dropped, and the connection goes on (fault 23).
            raw.chunk(3, "late", of=identifier)
            raw.answer(text("again"), id=identifier)
            await connection.mcp.ping()
            assert await texts(stream) == []
            assert connection.session.counts.late_replies == 2
            assert not connection.session.streamed
    (event,) = events.of_calls
    assert event["result"] == "SUCCESS"


async def test_chunks_that_break_the_rules_have_one_meaning() -> None:
    """Gaps are counted, what comes again or late is dropped, and so is what names no stream."""
    rows: list[tuple[list[tuple[Any, Any, Json]], list[str], int]] = [
        ([(0, "a", {}), (0, "again", {}), (1, "b", {})], ["a", "b"], 0),
        ([(0, "a", {}), (3, "d", {}), (1, "late", {})], ["a", "d"], 2),
        ([(0, "a", {"done": True}), (1, "after", {})], ["a"], 0),
        ([(0, "a", {"of": 999}), (0, "b", {"of": "1"}), (0, "c", {"of": True})], [], 0),
        ([(-1, "a", {}), ("0", "b", {}), (0, 7, {}), (0, "c", {"done": "no"})], [], 0),
        ([(0, {"type": "image", "data": "AA==", "mimeType": "image/png"}, {})], [""], 0),
        ([(0, {"type": "hologram"}, {})], [""], 0),
        ([(0, "x" * 200_000, {})], ["x" * 200_000], 0),
    ]
    raw = Streaming()
    async with connected(raw) as (kernel, connection):
        for count, (sent, expected, missed) in enumerate(rows, 1):
            async with kernel.stream(connection, "think") as stream:
                await raw.called(count)
                for index, said, more in sent:
                    raw.chunk(index, said, **more)
                raw.answer()
                assert await texts(stream) == expected
                assert stream.missed == missed
        async with kernel.stream(connection, "think") as stream:
            await raw.called(len(rows) + 1)
            raw.chunk(0, "a")
            raw.answer(text("abc"), streamed=True, chunks_sent=3)
            assert await texts(stream) == ["a"]
            assert stream.missed == 2
            assert result_text(stream.result) == "abc"


@pytest.mark.spec("mgp-12.3-2", "mgp-12.1-1")
async def test_no_chunk_behind_the_answer_counts_also_if_it_comes_together_with_it() -> None:
    raw = Streaming()
    async with connected(raw) as (kernel, connection):
        async with kernel.stream(connection, "think") as stream:
            await raw.called()
            raw.chunk(0, "a")
            raw.answer(text("a"), streamed=True, chunks_sent=1)
            raw.chunk(1, "after")
            assert await texts(stream) == ["a"]
        async with kernel.stream(connection, "think") as stream:
            await raw.called(2)
            raw.answer(text("whole"))
            raw.chunk(0, "after")
            assert await texts(stream) == ["whole"]
        assert connection.session.counts.late_replies == 2


async def test_a_server_without_streams_gives_its_result_as_chunks() -> None:
    offers: list[Json | None] = [None, {"version": "0.2.0", "extensions": ["audit"]}, OFFER]
    for mgp in offers:
        raw = Streaming(mgp)
        async with (
            connected(raw) as (kernel, connection),
            kernel.stream(connection, "think") as stream,
        ):
            await raw.called()
            assert ("_mgp" in raw.calls[0]) == (mgp is OFFER)
            raw.answer(text("all"), text("of it"))
            assert await texts(stream) == ["all", "of it"]
            assert len(stream.result.content) == 2
    raw = Streaming(tools_call={"content": [text("broken")], "isError": True})
    async with connected(raw) as (kernel, connection), kernel.stream(connection, "think") as stream:
        assert await texts(stream) == []
        assert stream.result.is_error


def of_calls(events: AuditEvents) -> list[tuple[str, str, Any]]:
    found = events.of_calls
    return [(one["event_type"], one["result"], one["details"].get("reason")) for one in found]


PARTIALS: list[tuple[Json, list[str]]] = [
    ({"cancelled": True, "partial_result": {"content": [text("ab")]}}, ["ab"]),
    ({"cancelled": True, "partial_result": {"content": "ab"}}, ["ab"]),  # a known server does that
    ({"cancelled": True}, []),
    ({"cancelled": False, "reason": "not_active"}, []),
]


@pytest.mark.parametrize(("answer", "expected"), PARTIALS)
@pytest.mark.spec("mgp-12.7-1", "mgp-12.7-2", "mgp-12.7-3")
async def test_a_stream_is_cancelled_with_what_there_is_of_it(
    answer: Json, expected: list[str]
) -> None:
    raw, found = Streaming(mgp_stream_cancel=answer), list[list[Any]]()

    async def cancel(stream: CallStream) -> None:
        found.append(await stream.cancel("user_cancelled"))

    with audited() as events:
        async with (
            connected(raw) as (kernel, connection),
            kernel.stream(connection, "think") as stream,
            anyio.create_task_group() as tasks,
        ):
            identifier = await raw.called()
            raw.chunk(0, "a")
            raw.chunk(1, "b")
            assert (await anext(stream)).text == "a"
            tasks.start_soon(cancel, stream)
            await raw.got(CANCEL)
            (params,) = raw.of(CANCEL)
            assert (params["request_id"], params["reason"]) == (identifier, "user_cancelled")
            raw.answer(text("ab"), cancelled=True)
            await raw.settle()
            assert await texts(stream) == []  # nothing of it is read any more
            assert result_text(stream.result) == "ab"
            raw.chunk(2, "late", of=identifier)
            assert await stream.cancel() == found[0]
            await connection.mcp.ping()
    assert [[one.text for one in partial] for partial in found] == [expected]
    assert of_calls(events) == [("TOOL_EXECUTED", "FAILURE", "cancelled")]


async def test_a_server_that_cannot_cancel_a_stream_is_asked_in_mcps_way() -> None:
    raw = Streaming(mgp_stream_cancel={"code": -32602, "message": "Invalid request parameters"})
    with audited() as events:
        async with (
            connected(raw) as (kernel, connection),
            kernel.stream(connection, "think") as stream,
        ):
            identifier = await raw.called()
            assert await stream.cancel() == []
            with pytest.raises(RuntimeError, match="cancelled"):
                _ = stream.result
            await raw.settle()
            assert raw.of("notifications/cancelled")[0]["requestId"] == identifier
    assert of_calls(events) == [("TOOL_EXECUTED", "FAILURE", "cancelled")]


async def test_a_server_without_streams_is_cancelled_in_mcps_way() -> None:
    raw = Streaming(None)
    with audited() as events:
        async with connected(raw) as (kernel, connection):
            async with kernel.stream(connection, "think") as stream:
                identifier = await raw.called()
                assert await stream.cancel() == []
            async with kernel.stream(connection, "think") as stream:
                await raw.called(2)  # the block ends before the call
            await raw.settle()
            given_up = [one["requestId"] for one in raw.of("notifications/cancelled")]
            assert given_up == [identifier, raw.ids[1]]
            assert not raw.of(CANCEL)
        with pytest.raises(SessionStateError):
            kernel.stream(connection, "think")
    reasons = [one["details"]["reason"] for one in events.of_calls]
    assert reasons == ["cancelled", "cancelled"]


async def test_a_stream_passes_the_whole_guard() -> None:
    """Access, policy and confirmation decide before anything is sent; one event each."""
    asked: list[str] = []

    async def refuse(request: Any) -> bool:
        asked.append(request.tool)
        return False

    raw = Streaming()
    raw.tools[1]["security"] = {"risk_level": "dangerous"}
    kernel = MgpKernel(
        unknown=ServerPolicy(trust="trusted", confirm=["dangerous"]),
        confirmations=Confirmations(confirm=refuse),
    )
    await kernel.access.grant("agent.x", "s", "deny", tool="think")
    rows = [("agent.x", "think", 1001), ("host", "absent", 4001), ("host", "other", None)]
    with audited() as events:
        async with connected(raw, kernel) as (_, connection):
            for agent, name, code in rows:
                with kernel.acting_for(agent), pytest.raises(RpcError) as refused:
                    async with kernel.stream(connection, name) as stream:
                        await texts(stream)
                assert code in (None, refused.value.code)
            assert not raw.calls
    assert asked == ["other"]
    assert [one["event_type"] for one in events.of_calls] == ["TOOL_BLOCKED"] * 3
    assert events.of_calls[0]["actor"]["id"] == "agent.x"


async def test_a_call_is_not_repeated_once_a_piece_of_it_is_out() -> None:
    hints = {"retryable": True, "retry_strategy": "immediate", "fallback_tool": "other"}
    away = {"code": 3000, "message": "away", "data": {"_mgp": hints}}
    for pieces, calls in (([], 2), (["a"], 1)):
        raw = Streaming()
        raw.tools[0]["security"] = {"risk_level": "safe"}
        kernel = MgpKernel(unknown=OPEN, retries=Retries(most=1, first_delay=0.0))
        async with (
            connected(raw, kernel) as (_, connection),
            kernel.stream(connection, "think") as stream,
        ):
            identifier = await raw.called()
            for index, said in enumerate(pieces):
                raw.chunk(index, said)
            raw.say(id=identifier, error=away)
            if calls == 2:
                assert await raw.called(2) == stream._inbox.id != identifier
                raw.chunk(0, "of the first", of=identifier)  # which is over
                raw.chunk(0, "b")
                raw.answer()
                assert await texts(stream) == ["b"]
            else:
                assert (await anext(stream)).text == "a"
                with pytest.raises(RpcError, match="away"):
                    await anext(stream)
            assert len(raw.calls) == calls


def is_paused(connection: Connection) -> bool:
    session: Any = connection.session
    paused: bool = session._driver._callbacks.paused
    return paused


@pytest.mark.parametrize(
    ("size", "most"), [(1, MOST_UNREAD), (64 * 1024, MOST_UNREAD_BYTES // (64 * 1024))]
)
async def test_the_producer_waits_for_a_slow_reader_and_ordinary_calls_do_not(
    size: int, most: int
) -> None:
    """1,000 unread chunks, or 4 MiB, pause reading; a call that waits is still answered."""
    raw = Streaming()
    async with connected(raw) as (kernel, connection), kernel.stream(connection, "think") as stream:
        await raw.called()
        for index in range(most - 1):
            raw.chunk(index, "x" * size)
        await raw.settle()
        assert not is_paused(connection)
        raw.chunk(most - 1, "x" * size)
        raw.chunk(most, "x" * size)
        await raw.settle()
        assert is_paused(connection)
        async with anyio.create_task_group() as tasks:
            raw.silent_ping = True
            tasks.start_soon(connection.mcp.ping)
            await raw.got("ping")
            assert not is_paused(connection)  # the answer has to get through
            raw.say(id=raw.heard[-1]["id"], result={})
        assert is_paused(connection)
        for _ in range(most // 2 - 2):
            await anext(stream)
        assert is_paused(connection)
        for _ in range(4):
            await anext(stream)
        assert not is_paused(connection)


async def test_all_that_is_in_a_chunk_counts_as_unread() -> None:
    long = "x" * 300_000
    blocks: list[Json] = [
        {**text("a"), "note": long},
        {**text("a"), "_meta": {"note": long}},
        {**text("a"), "annotations": {"note": long}},
        {"type": "image", "data": "AA==", "mimeType": f"image/{long}"},
        {"type": "image", "data": "AA==", "mimeType": "image/png", "note": long},
        {"type": "hologram", "note": long},
        {"type": "resource", "resource": {"uri": "a:b", "text": "", "note": long}},
        {**text("a"), "note": "\N{GRINNING FACE}" * 75_000},
    ]
    raw = Streaming(mgp_stream_cancel={"cancelled": True})
    async with connected(raw) as (kernel, connection):
        for count, block in enumerate(blocks, 1):
            async with kernel.stream(connection, "think") as stream:
                await raw.called(count)
                for index in range(MOST_UNREAD_BYTES // len(long) + 1):
                    raw.chunk(index, block)
                await raw.settle()
                assert is_paused(connection), str(block)[:60]
                raw.answer()
                await stream.cancel()


@pytest.mark.parametrize(("waiting", "unread"), [("ping", 4 * MOST_UNREAD), ("other", MOST_UNREAD)])
async def test_a_stream_that_nobody_reads_ends_when_others_wait_for_it(
    monkeypatch: pytest.MonkeyPatch, waiting: str, unread: int
) -> None:
    monkeypatch.setattr(streams_of, "_PATIENCE", 0.005)
    raw = Streaming()
    raw.silent_ping = True

    async def wait_for(kernel: MgpKernel, connection: Connection) -> None:
        if waiting == "ping":
            await connection.mcp.ping()
        async with kernel.stream(connection, waiting) as stream:
            await texts(stream)

    async with (
        connected(raw) as (kernel, connection),
        kernel.stream(connection, "think") as stream,
        anyio.create_task_group() as tasks,
    ):
        identifier = await raw.called()
        for index in range(unread):
            raw.chunk(index, "x")
        await anyio.sleep(0.02)
        assert is_paused(connection)
        assert not stream._inbox.over.is_set()  # nobody waits
        tasks.start_soon(wait_for, kernel, connection)
        with anyio.fail_after(5):
            await stream._inbox.over.wait()
        await raw.settle()
        assert not is_paused(connection)
        assert [one["requestId"] for one in raw.of("notifications/cancelled")] == [identifier]
        with pytest.raises(StreamUnreadError):
            await texts(stream)
        tasks.cancel_scope.cancel()


async def test_the_end_of_the_connection_is_raised_after_what_came_before() -> None:
    raw = Streaming()
    with audited() as events:
        async with (
            connected(raw) as (kernel, connection),
            kernel.stream(connection, "think") as stream,
        ):
            await raw.called()
            raw.chunk(0, "a")
            await raw.settle()
            raw.hang_up()
            assert (await anext(stream)).text == "a"
            with pytest.raises(ConnectionClosedError):
                await anext(stream)
            with pytest.raises(ConnectionClosedError):
                await stream.read()
            assert await stream.cancel() == []
    assert of_calls(events) == [("TOOL_EXECUTED", "FAILURE", None)]


@pytest.mark.parametrize("anyio_backend", [JUMPS])
async def test_only_time_in_which_somebody_reads_counts() -> None:
    raw = Streaming()
    async with connected(raw) as (kernel, connection):
        async with kernel.stream(connection, "think", timeout=5) as stream:
            await raw.called()
            await anyio.sleep(8)
            raw.chunk(0, "a")
            assert (await anext(stream)).text == "a"
            with pytest.raises(RequestTimeoutError):
                await anext(stream)
            assert await stream.cancel() == []  # it was given up: the server is not asked
            await raw.settle()
            assert raw.of("notifications/cancelled")
            assert not raw.of(CANCEL)
            with pytest.raises(RequestTimeoutError):
                _ = stream.result
        with pytest.raises(TypeError):
            kernel.stream(connection, 7)  # type: ignore[arg-type]


@pytest.mark.spec("mgp-12.6-1", "mgp-12.6-2")
async def test_progress_of_mgp_is_reported_as_that_of_mcp() -> None:
    raw, reports = Streaming(), list[ProgressNotificationParams]()
    async with (
        connected(raw) as (kernel, connection),
        kernel.stream(connection, "think", on_progress=reports.append) as stream,
    ):
        identifier = await raw.called()
        report = {"progress": 0.65, "message": "13/20", "estimated_remaining_ms": 4500}
        for id in (identifier, 999, str(identifier)):
            params = {"request_id": id, **report}
            raw.say(method="notifications/mgp.stream.progress", params=params)
        await raw.settle()
        assert [(one.progress, one.total, one.message) for one in reports] == [(0.65, 1.0, "13/20")]
        # A server that reports in both ways says the same in both.
        token = {"progressToken": raw.calls[0]["_meta"]["progressToken"]}
        raw.say(method="notifications/progress", params={**token, "progress": 14, "total": 20})
        params = {"request_id": identifier, "progress": 0.7}
        raw.say(method="notifications/mgp.stream.progress", params=params)
        raw.answer()
        await texts(stream)
    assert [one.progress for one in reports] == [0.65, 14]


@pytest.mark.parametrize("anyio_backend", [JUMPS])
async def test_questions_and_progress_give_a_stream_more_time_as_any_call() -> None:
    async def answer(question: CallbackQuestion) -> bool:
        await anyio.sleep(12)
        return True

    raw = Streaming({"version": "0.2.0", "extensions": ["streaming", "bidirectional"]})
    kernel, end = MgpKernel(unknown=OPEN, callbacks=Callbacks(answer=answer)), anyio.Event()

    async def play() -> None:
        identifier = await raw.called()
        params = {"callback_id": "a", "request_id": identifier, "type": "confirmation"}
        raw.say(method=ASKS, params={**params, "message": "Continue?", "timeout_ms": 20_000})
        await raw.got("mgp/callback/respond")
        for tenths in range(10):
            await anyio.sleep(3)
            report = {"request_id": identifier, "progress": tenths / 10}
            raw.say(method="notifications/mgp.stream.progress", params=report)
        raw.chunk(0, "late")
        end.set()

    async with connected(raw, kernel) as (_, connection), background() as tasks:
        tasks.start_soon(play)
        began = anyio.current_time()
        opened = kernel.stream(connection, "think", timeout=6, on_progress=lambda _: None)
        async with opened as stream:
            assert (await anext(stream)).text == "late"
            assert end.is_set()
            with pytest.raises(RequestTimeoutError):
                await anext(stream)
        # The time that was not used does not add up.
        assert anyio.current_time() - began == pytest.approx(12 + 10 * 3 + 6)
        tasks.cancel_scope.cancel()


FINAL_OF_0_6 = json.dumps({"text": "Quantum", "_mgp": {"streamed": True, "chunks_sent": 2}})


def of_version_0_6() -> Streaming:
    """Return a server with the known shapes of version 0.6.1."""

    def cancelled(params: Json) -> Json:
        assert type(params["request_id"]) is int  # a text is answered by -32602
        return {"cancelled": True, "partial_result": {"content": "Quantum computing is a"}}

    raw = Streaming(None, mgp_stream_cancel=cancelled)
    offer = {"version": "0.6.1", "extensions": ["permissions", "streaming"], "server_id": "s"}
    raw.capabilities["experimental"] = {"mgp": offer}
    return raw


async def test_the_dialect_of_a_known_server_is_understood() -> None:
    """An offer under `experimental`, no `done`, `_mgp` inside of the text, an unknown message."""
    raw = of_version_0_6()
    async with connected(raw) as (kernel, connection):
        assert "streaming" in kernel.servers[0].extensions
        async with kernel.stream(connection, "think") as stream:
            await raw.called()
            raw.chunk(0, "Quantum")
            raw.say(method="notifications/mgp.stream.gap_unrecoverable", params={"request_id": 1})
            raw.answer(text(FINAL_OF_0_6))
            assert await texts(stream) == ["Quantum"]
            assert result_text(stream.result) == FINAL_OF_0_6
            assert stream.missed == 1


async def test_a_known_server_cancels_by_a_text_and_a_normal_result() -> None:
    raw, found = of_version_0_6(), list[list[Any]]()

    async def cancel(stream: CallStream) -> None:
        found.append(await stream.cancel())

    async with connected(raw) as (kernel, connection), kernel.stream(connection, "think") as stream:
        async with anyio.create_task_group() as tasks:
            await raw.called()
            raw.chunk(0, "Quantum computing is a")
            tasks.start_soon(cancel, stream)
            await raw.got(CANCEL)
            raw.answer(text(FINAL_OF_0_6))
        assert result_text(stream.result) == FINAL_OF_0_6
    assert [one.text for one in found[0]] == ["Quantum computing is a"]


async def test_a_storm_of_cancelled_streams_leaves_nothing() -> None:
    """Fault 22, from the side of the kernel."""
    calls = CANCELLED
    draw = random.Random(7)

    def cancelled(params: Json) -> Json:
        raw.answer(text("so far"), id=params["request_id"], cancelled=True)
        return {"cancelled": True}

    raw = Streaming(mgp_stream_cancel=cancelled)
    async with connected(raw) as (kernel, connection):
        await raw.settle()
        before = tasks_now()
        for _ in range(0, calls, 100):
            raw.heard.clear()  # looking through all of it would take most of the time
            async with anyio.create_task_group() as tasks:
                for _ in range(100):
                    opened = kernel.stream(connection, "think")
                    tasks.start_soon(stormed, raw, opened, draw.randrange(4))
        await connection.mcp.ping()
        await raw.settle()
        assert tasks_now() == before
        session: Any = connection.session
        assert not session.streamed
        assert not session._driver.engine.outbound._pending
        assert kernel._streams._open == {session: {}}
    assert kernel._streams._open == {}


async def stormed(raw: Streaming, opened: Any, kind: int) -> None:
    """Cancel a stream before it is sent, under way or after its end, or leave its block."""
    async with opened as stream:
        if kind:
            await raw.called(1)
            await anyio.lowlevel.checkpoint()
        if kind > 1 and stream._inbox.id is not None:
            raw.chunk(0, "x", of=stream._inbox.id)
            raw.answer(id=stream._inbox.id)
        if kind < 3:
            await stream.cancel()
