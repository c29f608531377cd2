"""Streams of a server before a raw kernel: chunks, the final result, progress, cancellation."""

from __future__ import annotations

import os
import random
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import asynccontextmanager
from itertools import product
from threading import Event
from typing import Any

import anyio
import pytest

from kinwire import Context, Limits, Server, ToolError
from kinwire.mgp import MgpServer
from kinwire.mgp.server.streams import ServedStreams
from kinwire.rpc.codec import encode
from kinwire.support.background import background
from kinwire_protocols import mcp
from tests.runtime.mgp.fixtures_tasks import tasks_now
from tests.runtime.mgp.raw_peers import Json, RawKernel

CANCELLED = int(os.environ.get("KINWIRE_CANCELLED", "500"))  # 10,000 for `nox -s streams`
pytestmark = pytest.mark.anyio

STREAMING = {"version": "0.2.0", "extensions": ["streaming"]}
CHUNK = "notifications/mgp.stream.chunk"
PROGRESS = "notifications/mgp.stream.progress"
CANCEL = "mgp/stream/cancel"
EVENT = "notifications/mgp.event"
SAID = ["Quantum computing is", " a paradigm that uses", " qubits."]
WHOLE = {"type": "text", "text": "".join(SAID)}
PIXEL = mcp.ImageContent(data="AAAA", mime_type="image/png")
LARGE = mcp.ImageContent(data="A" * 70_000, mime_type="image/png")


class Thinker:
    """A server whose tools yield, and what has become of them."""

    def __init__(self, **options: Any) -> None:
        self.made = 0
        self.closed = 0
        self.guarded = MgpServer()
        self.server = Server("thinker", "1", extensions=[self.guarded], **options)
        self.go_on = anyio.Event()
        own = (self.think, self.plain, self.mixed, self.long, self.flood, self.wait)
        tools: list[Any] = [*own, self.fails, self.breaks, self.works]
        for tool in tools:
            self.server.tool(tool)

    async def think(self, pause: bool = False) -> AsyncIterator[str]:
        try:
            for said in SAID:
                yield said
            if pause:
                await self.go_on.wait()
        finally:
            self.closed += 1

    def plain(self) -> Iterator[str]:
        try:
            yield from SAID
        finally:
            self.closed += 1

    async def mixed(self) -> AsyncIterator[object]:
        yield "a"
        yield "b"
        yield {"n": 1}
        yield [mcp.TextContent(text="c"), PIXEL]
        yield None
        yield LARGE
        yield "d"

    async def long(self, text: str) -> AsyncIterator[str]:
        yield text

    async def flood(self, pieces: int) -> AsyncIterator[str]:
        try:
            for _ in range(pieces):
                self.made += 1
                yield "x" * 1000
        finally:
            self.closed += 1

    async def wait(self) -> str:
        try:
            await self.go_on.wait()
        finally:
            self.closed += 1
        return "waited"

    async def fails(self) -> AsyncIterator[str]:
        yield "so far"
        raise ToolError("no more")

    async def breaks(self) -> AsyncIterator[str]:
        yield "so far"
        raise RuntimeError("secret")

    async def works(self, context: Context) -> str:
        await context.progress(13, 20, "Processing batch 13/20")
        await context.progress(5)
        peer = self.guarded.of(context)
        if peer is not None:
            await peer.progress(context, 0.9, message="soon", remaining_ms=4500)
            await peer.progress(context, 0.5)
        return "done"

    @asynccontextmanager
    async def kernel(self, mgp: Json | None = STREAMING) -> AsyncGenerator[RawKernel]:
        raw = RawKernel()
        async with background() as tasks:
            tasks.start_soon(self.server.serve, raw)
            await raw.greet(mgp)
            yield raw
            tasks.cancel_scope.cancel()


def call(tool: str, *, stream: bool = True, **arguments: Any) -> Json:
    extras = {"_mgp": {"stream": True}} if stream else {}
    return {"name": tool, "arguments": arguments, **extras}


def replies(raw: RawKernel, identifier: object) -> list[Json]:
    return [one for one in raw.heard if "method" not in one and one["id"] == identifier]


def chunks(raw: RawKernel, identifier: object) -> list[Json]:
    """Return the contents of the chunks of a call, whose numbers must be right."""
    found = [one for one in raw.of(CHUNK) if one["request_id"] == identifier]
    assert [one["index"] for one in found] == list(range(len(found)))
    assert not any(one["done"] for one in found)
    return [one["content"] for one in found]


def text(text: str) -> Json:
    return {"type": "text", "text": text}


@pytest.mark.spec("mgp-12.2-1", "mgp-12.3-1", "mgp-12.4-1")
async def test_a_tool_that_yields_is_a_stream_for_a_kernel_that_asks_for_one() -> None:
    thinker = Thinker()
    async with thinker.kernel() as raw:
        for identifier, tool in ((20, "think"), ("text", "plain")):
            reply = await raw.ask(identifier, "tools/call", call(tool))
            assert chunks(raw, identifier) == [text(one) for one in SAID]
            at = [raw.heard.index(one) for one in raw.heard if one.get("method") == CHUNK]
            assert max(at) < raw.heard.index(reply)
    assert thinker.closed == 2


@pytest.mark.spec("mgp-12.4-2", "mgp-12.4-3", "mgp-12.4-4")
async def test_chunks_are_numbered_and_name_the_call() -> None:
    async with Thinker().kernel() as raw:
        await raw.ask(20, "tools/call", call("think"))
        assert raw.of(CHUNK) == [
            {"request_id": 20, "index": index, "content": text(said), "done": False}
            for index, said in enumerate(SAID)
        ]


@pytest.mark.spec("mgp-12.5-1", "mgp-12.5-2", "mgp-12.5-3")
async def test_the_final_result_is_complete_and_says_how_it_was_sent() -> None:
    async with Thinker().kernel() as raw:
        reply = await raw.ask(20, "tools/call", call("think"))
        assert reply["result"]["content"] == [WHOLE]
        extras = reply["result"]["_mgp"]
        assert extras.pop("duration_ms") >= 0
        assert extras == {"streamed": True, "chunks_sent": 3}
        assert len(replies(raw, 20)) == 1


@pytest.mark.spec("mgp-12-1", "mgp-12.1-1", "mgp-12.3-2")
async def test_every_other_client_gets_one_result() -> None:
    offers: list[tuple[Json | None, bool]] = [
        (STREAMING, False),  # did not ask for a stream
        ({"version": "0.2.0", "extensions": ["security"]}, True),  # has no streams
        (None, True),  # speaks only MCP
    ]
    for mgp, stream in offers:
        async with Thinker().kernel(mgp) as raw:
            for tool in ("think", "plain"):
                reply = await raw.ask(tool, "tools/call", call(tool, stream=stream))
                assert reply["result"] == {"content": [WHOLE]}
            assert "mgp" not in str([one.get("method") for one in raw.heard])


async def test_pieces_are_blocks_and_large_texts_are_cut() -> None:
    image = {"type": "image", "data": "AAAA", "mimeType": "image/png"}
    before = [text("a"), text("b"), text('{"n":1}'), text("c"), image]
    async with Thinker().kernel() as raw:
        reply = await raw.ask(1, "tools/call", call("mixed"))
        assert chunks(raw, 1) == [*before, text("d")]  # the large image has no chunk
        large = {**image, "data": "A" * 70_000}
        assert reply["result"]["content"] == [text('ab{"n":1}c'), image, large, text("d")]
        for identifier, said in enumerate(("x" * 200_000, "\N{GRINNING FACE}" * 50_000), 2):
            reply = await raw.ask(identifier, "tools/call", call("long", text=said))
            parts = [one["text"] for one in chunks(raw, identifier)]
            assert len(parts) == 4
            assert max(len(one.encode()) for one in parts) <= 64 * 1024
            assert "".join(parts) == said == reply["result"]["content"][0]["text"]


async def test_a_result_that_no_frame_could_hold_is_cut_and_marked() -> None:
    async with Thinker(limits=Limits(frame_size=20_000)).kernel() as raw:
        reply = await raw.ask(1, "tools/call", call("flood", pieces=100))
        assert len(chunks(raw, 1)) == 100
        (kept,) = reply["result"]["content"]
        assert kept == text("x" * 10_000)
        assert reply["result"]["_mgp"]["truncated"] is True
        reply = await raw.ask(2, "tools/call", call("flood", stream=False, pieces=100))
        assert reply["result"]["isError"] is True
        assert "larger than 10000 bytes" in reply["result"]["content"][1]["text"]


async def test_escapes_and_wide_signs_count_in_a_result() -> None:
    thinker = Thinker(limits=Limits(frame_size=20_000))

    @thinker.server.tool
    async def write(sign: str, noted: bool) -> AsyncIterator[object]:
        for _ in range(100):
            text = sign * 300
            yield mcp.TextContent(text=text, annotations=mcp.Annotations()) if noted else text

    async with thinker.kernel() as raw:
        for id, (sign, *flags) in enumerate(product('"\x1b\u6f22', (False, True), (False, True))):
            noted, stream = flags
            asked = call("write", stream=stream, sign=sign, noted=noted)
            result = (await raw.ask(id, "tools/call", asked))["result"]
            assert len(encode(result["content"])) < 11_000, (sign, noted, stream)
            assert result["_mgp"]["truncated"] if stream else result["isError"]


async def test_a_stream_that_fails_ends_with_one_error() -> None:
    async with Thinker().kernel() as raw:
        reply = await raw.ask(1, "tools/call", call("fails"))
        assert reply["result"]["isError"] is True
        assert reply["result"]["content"] == [text("so far"), text("no more")]
        assert reply["result"]["_mgp"]["chunks_sent"] == 1
        reply = await raw.ask(2, "tools/call", call("breaks"))
        assert reply["error"]["code"] == -32603
        assert "secret" not in str(reply)
        assert len(chunks(raw, 2)) == 1
        reply = await raw.ask(3, CANCEL, {"request_id": 2})
        assert reply["result"] == {"cancelled": False, "reason": "not_active"}


@pytest.mark.spec("mgp-12.7-1", "mgp-12.7-2", "mgp-12.7-3")
async def test_a_cancelled_stream_breaks_nothing_that_comes_after() -> None:
    """Case B094; where it and the issue differ, the issue wins: the call is answered, once."""
    thinker = Thinker()
    async with thinker.kernel() as raw, thinker.kernel() as other:
        raw.say(id=20, method="tools/call", params=call("think", pause=True))
        other.say(id=30, method="tools/call", params=call("think", pause=True))
        await raw.settle()
        foreign = await raw.ask("foreign", CANCEL, {"request_id": 30})
        reply = await raw.ask(22, CANCEL, {"request_id": 20, "reason": "user_cancelled"})
        partial = {"content": [WHOLE]}
        assert reply["result"] == {"cancelled": True, "partial_result": partial}
        await raw.settle()
        (final,) = replies(raw, 20)
        assert final["result"]["content"] == [WHOLE]
        assert final["result"]["_mgp"]["cancelled"] is True
        assert thinker.closed == 1
        assert (await raw.ask(23, "ping", {}))["result"] == {}
        for again in (20, 999, "20", -1, 22):
            reply = await raw.ask(f"again {again}", CANCEL, {"request_id": again})
            assert reply["result"] == {"cancelled": False, "reason": "not_active"}
        assert foreign["result"]["cancelled"] is False
        thinker.go_on.set()
        await raw.settle()
        assert len(chunks(raw, 20)) == len(chunks(other, 30)) == 3
        assert len(replies(raw, 20)) == len(replies(other, 30)) == 1
        assert "cancelled" not in replies(other, 30)[0]["result"]["_mgp"]


async def test_the_id_of_a_cancelled_stream_may_be_used_again() -> None:
    """Fault 23."""
    async with Thinker().kernel() as raw:
        for count in (1, 2, 3):
            raw.heard.clear()
            raw.say(id=20, method="tools/call", params=call("think", pause=True))
            await raw.settle()
            reply = await raw.ask(f"cancel {count}", CANCEL, {"request_id": 20})
            assert reply["result"]["cancelled"] is True
            await raw.settle()
            assert len(replies(raw, 20)) == 1
            assert len(chunks(raw, 20)) == 3


async def test_other_ways_to_give_up_a_call() -> None:
    thinker = Thinker()
    async with thinker.kernel() as raw:
        # A call that takes long and is not a stream.
        raw.say(id=1, method="tools/call", params=call("wait"))
        await raw.settle()
        assert (await raw.ask(2, CANCEL, {"request_id": 1}))["result"] == {"cancelled": True}
        await raw.settle()
        (final,) = replies(raw, 1)
        assert final["result"] == {"content": [], "_mgp": {"cancelled": True}}
        # MCP's own way: no reply at all.
        raw.say(id=3, method="tools/call", params=call("think", pause=True))
        await raw.settle()
        raw.say(method="notifications/cancelled", params={"requestId": 3})
        await raw.settle()
        assert (await raw.ask(4, CANCEL, {"request_id": 3}))["result"]["cancelled"] is False
        assert not replies(raw, 3)
        # Other requests than calls of tools have no partial result.
        raw.say(id=5, method="resources/list", params={})
        assert (await raw.ask(6, CANCEL, {"request_id": 5}))["result"]["cancelled"] is False
    assert thinker.closed == 2


async def stubborn(for_ever: bool) -> AsyncIterator[str]:
    yield "so far"
    while True:
        try:
            await anyio.sleep_forever()
        except BaseException:
            yield "too late"
        if not for_ever:
            break


async def test_a_generator_that_goes_on_after_its_cancellation_is_ended() -> None:
    thinker = Thinker()
    thinker.server.tool(stubborn)
    offer: Json = {"version": "0.2.0", "extensions": ["streaming", "bidirectional"]}
    async with thinker.kernel(offer) as raw:
        await raw.ask("e", "mgp/events/subscribe", {"channels": ["tool.failed", "system.error"]})
        for id, flags in enumerate(product((False, True), (False, True), (False, True))):
            for_ever, stream, by_mcp = flags
            asked = call("stubborn", stream=stream, for_ever=for_ever)
            raw.say(id=id, method="tools/call", params=asked)
            await raw.settle()
            if by_mcp:
                raw.say(method="notifications/cancelled", params={"requestId": id})
            else:
                reply = await raw.ask(f"cancel {id}", CANCEL, {"request_id": id})
                assert reply["result"]["cancelled"] is True
            await raw.settle()
            finals = [one["result"]["_mgp"]["cancelled"] for one in replies(raw, id)]
            assert finals == ([] if by_mcp else [True]), flags
            assert chunks(raw, id) == ([text("so far")] if stream else []), flags
        events = [(one["channel"], one["data"]["reason"]) for one in raw.of(EVENT)]
        assert events[:4] == [("tool.failed", "cancelled")] * 4


async def test_a_plain_generator_that_blocks_its_thread_holds_no_answer_back() -> None:
    thinker, begun, go_on, closed = Thinker(), Event(), Event(), Event()

    @thinker.server.tool
    def blocks() -> Iterator[str]:
        try:
            yield "so far"
            begun.set()
            go_on.wait(10)
            yield "too late"
        finally:
            closed.set()

    async with thinker.kernel() as raw:
        raw.say(id=1, method="tools/call", params=call("blocks"))
        assert await anyio.to_thread.run_sync(begun.wait, 5)
        reply = await raw.ask(2, CANCEL, {"request_id": 1})
        assert reply["result"]["partial_result"] == {"content": [text("so far")]}
        while not replies(raw, 1):
            await raw._news.wait()
        assert not closed.is_set()  # its thread cannot be stopped
        go_on.set()
        assert await anyio.to_thread.run_sync(closed.wait, 5)
        assert chunks(raw, 1) == [text("so far")]


async def test_a_producer_waits_for_a_kernel_that_does_not_read_and_can_be_cancelled() -> None:
    thinker = Thinker()
    async with thinker.kernel() as raw:
        raw.reads = False
        raw.say(id=1, method="tools/call", params=call("flood", pieces=100_000))
        await raw.settle()
        held = thinker.made
        assert 500 < held < 3_000  # what may be unsent is about 1 MiB
        raw.say(id=2, method=CANCEL, params={"request_id": 1})
        await raw.settle()
        assert thinker.closed == 1
        raw.reads = True
        raw.wake()
        await raw.settle()
        assert len(replies(raw, 1)) == len(replies(raw, 2)) == 1
        partial = replies(raw, 2)[0]["result"]["partial_result"]["content"][0]["text"]
        assert len(partial) == 1000 * len(chunks(raw, 1)) == 1000 * (thinker.made - 1)


@pytest.mark.spec("mgp-12.6-1", "mgp-12.6-2")
async def test_progress_is_reported_by_the_id_and_by_the_token() -> None:
    async with Thinker().kernel() as raw:
        await raw.ask(21, "tools/call", call("works", stream=False))
        first = {"request_id": 21, "progress": 0.65, "message": "Processing batch 13/20"}
        # A number without a total is not a share; one that does not rise is not sent.
        assert raw.of(PROGRESS) == [first]
        assert not raw.of("notifications/progress")
        await raw.ask(22, "tools/call", {**call("works"), "_meta": {"progressToken": "t"}})
        assert raw.of(PROGRESS)[1:] == [{**first, "request_id": 22}]
        (report,) = raw.of("notifications/progress")
        assert report["progressToken"] == "t"
    for mgp in (None, {"version": "0.2.0", "extensions": ["security"]}):
        async with Thinker().kernel(mgp) as raw:
            await raw.ask(21, "tools/call", call("works"))
            assert not raw.of(PROGRESS)


async def test_a_storm_of_cancellations_leaves_nothing() -> None:
    """Fault 22: half are cancelled when they may be over; each is answered once."""
    calls = CANCELLED
    draw, thinker = random.Random(7), Thinker()
    async with thinker.kernel() as raw:
        await raw.settle()
        before = tasks_now()
        for at in range(0, calls, 100):
            ids = range(at, at + 100)
            for identifier in ids:
                params = call("think", pause=draw.random() < 0.5)
                raw.say(id=f"call {identifier}", method="tools/call", params=params)
            if draw.random() < 0.5:
                await raw.settle()
            for identifier in draw.sample(ids, 100):
                params = {"request_id": f"call {identifier}"}
                raw.say(id=f"cancel {identifier}", method=CANCEL, params=params)
            await raw.settle()
        found = [one["id"] for one in raw.heard if "method" not in one]
        assert len(found) == len(set(found)) == 2 * calls + 1
        assert tasks_now() == before
        assert thinker.closed <= calls
        managers: Any = thinker.guarded._managers
        (streams,) = [one for one in managers if isinstance(one, ServedStreams)]
        assert not any(streams._streams.values())
        session = thinker.guarded.kernels[0].session
        assert not session._opened().engine.inbound.under_way
