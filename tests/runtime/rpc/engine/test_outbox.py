"""What waits to be written: limits, order, what gives way."""

from __future__ import annotations

import json
import tracemalloc

import pytest

from kinwire.rpc.codec import EncodedObject, joined_notification
from kinwire.rpc.limits import Limits
from kinwire_protocols.mcp import methods
from tests.runtime.rpc.engine.fixtures_engine import Bench


@pytest.mark.spec("mcp-message-types-1", "mcp-id-field-requirements-3")
class TestOutbox:
    """What waits to leave."""

    def test_the_writer_is_woken_by_the_first_frame_only(self) -> None:
        bench = Bench()
        bench.call()
        bench.call()
        assert bench.wakes == 1
        bench.engine.take()
        bench.call()
        assert bench.wakes == 2

    def test_frames_keep_their_order(self) -> None:
        bench = Bench()
        bench.engine.notify("a", {})
        bench.call(methods.PING)
        bench.engine.notify("b", {})
        assert [one["method"] for one in bench.sent()] == ["a", "ping", "b"]

    def test_a_large_backlog_leaves_in_pieces_that_can_still_be_taken_back(self) -> None:
        bench = Bench()
        calls = [bench.call(name="x" * 100_000) for _ in range(10)]
        assert len(bench.engine.take()) == 3
        assert [call.sent for call in calls] == [True] * 3 + [False] * 7
        for call in calls[5:]:
            bench.engine.outbound.abandon(call)
        left = []
        while bench.engine.outbox.waiting:
            left += bench.engine.take()
        assert [json.loads(frame)["id"] for frame in left] == [4, 5]

    def test_is_full_above_its_limit_until_a_quarter_is_left(self) -> None:
        bench = Bench(limits=Limits(unsent=1_000_000))
        for _ in range(10):
            bench.engine.notify("x", {"text": "x" * 100_000})
        seen = []
        while bench.engine.outbox.waiting:
            seen.append((bench.engine.outbox.full, bench.rooms))
            bench.engine.take()
        assert seen == [(True, 0), (True, 0), (True, 0), (False, 1)]

    def test_reading_stops_only_when_two_more_of_the_largest_frames_wait(self) -> None:
        bench = Bench(limits=Limits(unsent=100_000, frame_size=300_000))
        held = []
        for _ in range(8):
            bench.engine.notify("x", {"text": "x" * 100_000})
            held.append(bench.holding)
        assert held == [False] * 6 + [True] * 2
        left = []
        while bench.engine.outbox.waiting:
            bench.engine.take()
            left.append(bench.holding)
        assert left == [True, True, False]

    def test_small_frames_that_wait_take_little_memory(self) -> None:
        bench = Bench()
        tracemalloc.start()
        try:
            for _ in range(10_000):
                bench.engine.notify("x", {})
            used, _ = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert used < 10_000 * 500

    def test_frames_are_handed_out_with_what_they_are(self) -> None:
        bench = Bench()
        answered, failed = bench.requested(1), bench.requested(2)
        bench.engine.notify("a", {})
        bench.engine.finish(answered, {})
        call, abandoned, taken_back = bench.call(methods.PING), bench.call(), bench.call()
        bench.engine.outbound.abandon(abandoned)
        bench.gone.add(taken_back)
        bench.engine.fail(failed, ValueError("no"))
        own, shared = EncodedObject({"é": 1}), EncodedObject({"b": 2})
        assert bench.engine.outbox.add_apart(joined_notification("b", own, shared))
        frames = bench.engine.take_frames()
        assert [(frame.kind, frame.id, frame.method) for frame in frames] == [
            ("notification", None, "a"),
            ("result", None, ""),
            ("request", call.id, "ping"),
            ("error", None, ""),
            ("notification", None, "b"),
        ]
        named = [json.loads(frame.data).get("method", "") for frame in frames]
        assert named == [frame.method for frame in frames]
        assert (call.data, call.sent, taken_back.sent) == (b"", True, False)

    def test_a_cancellation_is_handed_out_with_the_id_of_its_request(self) -> None:
        bench = Bench()
        call = bench.called()
        bench.engine.outbound.abandon(call)
        (frame,) = bench.engine.take_frames()
        assert (frame.kind, frame.id, frame.cancels) == ("notification", None, call.id)

    def test_a_request_that_left_does_not_keep_its_bytes(self) -> None:
        bench = Bench()
        call = bench.call(name="x" * 1000)
        bench.engine.take()
        assert call.data == b""

    def test_a_stall_ends_the_connection(self) -> None:
        bench = Bench(limits=Limits(unsent=100, stall=30))
        bench.engine.notify("x", {"text": "x" * 100})
        bench.pass_time(29)
        assert bench.ended is None
        bench.pass_time(1)
        assert bench.ended is not None
        assert "stopped reading" in bench.ended.reason

    def test_a_slow_reader_is_not_a_stall(self) -> None:
        bench = Bench(limits=Limits(unsent=1000, stall=30))
        for _ in range(20):
            bench.engine.notify("x", {"text": "x" * 200_000})
        while bench.engine.outbox.full:
            bench.pass_time(29)
            bench.engine.take()
        bench.pass_time(31)
        assert bench.ended is None

    def test_frames_held_by_the_transport_count_and_are_not_a_stall(self) -> None:
        bench = Bench(limits=Limits(unsent=100, stall=30))
        outbox = bench.engine.outbox
        seen = []
        for more in (100, 1, -50, -26):
            outbox.hold_back(more)
            seen.append(outbox.full)
            bench.pass_time(31)
        assert seen == [False, True, True, False]
        assert bench.ended is None
        outbox.hold_back(200)
        bench.engine.notify("x", {})  # this one nobody takes
        bench.pass_time(60)
        assert bench.ended is not None
