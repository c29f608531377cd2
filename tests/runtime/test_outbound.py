"""The requests of this side: the rules, without an event loop."""

from __future__ import annotations

import json
import tracemalloc
from asyncio import CancelledError
from typing import Any

import pytest

from kinwire.calls import Outbound
from kinwire.errors import (
    ConnectionClosedError,
    InvalidResponseError,
    RequestTimeoutError,
    RpcError,
    UnsendableError,
)
from kinwire.limits import Limits
from kinwire_protocols import mcp
from kinwire_protocols.mcp import methods
from tests.runtime.engine_bench import Bench, Settled

RESULT: dict[str, Any] = {"content": []}


@pytest.mark.spec("mcp-message-types-1", "mcp-id-field-requirements-3")
def test_a_request_leaves_once_with_an_id_of_its_own() -> None:
    bench = Bench()
    bench.call(name="a")
    bench.call(name="b")
    assert bench.sent() == [
        {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "a"}},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "b"}},
    ]
    assert bench.sent() == []


def test_empty_params_are_left_out() -> None:
    bench = Bench()
    bench.call(methods.PING)
    bench.engine.notify("notifications/initialized", {})
    assert [set(message) for message in bench.sent()] == [
        {"jsonrpc", "id", "method"},
        {"jsonrpc", "method"},
    ]


def test_answers_reach_their_calls_in_any_order() -> None:
    bench = Bench()
    first, second = bench.called(), bench.called()
    bench.receive(id=second.id, result={"n": 2})
    bench.receive(id=first.id, result={"n": 1})
    assert bench.settled == {1: Settled({"n": 1}, None), 2: Settled({"n": 2}, None)}


def test_a_second_answer_is_dropped_and_counted() -> None:
    bench = Bench()
    call = bench.called()
    bench.receive(id=call.id, result={})
    bench.receive(id=call.id, result={})
    assert bench.engine.counts.late_replies == 1


def test_a_reply_to_one_request_answers_no_other() -> None:
    bench = Bench()
    first, second = bench.called(), bench.called()
    stolen = json.dumps({"jsonrpc": "2.0", "id": first.id, "result": RESULT}).encode()
    bench.engine.feed(stolen, second.id)
    assert (bench.settled, bench.engine.counts.late_replies) == ({}, 1)
    bench.engine.feed(stolen, first.id)
    assert bench.settled[first.id].result == RESULT


@pytest.mark.parametrize("frame", [b"<html>", b'{"jsonrpc":"2.0","id":1,"result":', b"[]"])
def test_a_reply_that_is_no_message_fails_the_request_that_it_is_the_reply_to(frame: bytes) -> None:
    bench = Bench()
    bench.called()
    second = bench.called()
    bench.engine.feed(frame, second.id)
    assert set(bench.settled) == {second.id}
    assert isinstance(bench.settled[second.id].error, InvalidResponseError)
    assert bench.sent() == []


def test_a_transport_can_fail_one_call() -> None:
    bench = Bench()
    call, other = bench.called(), bench.called()
    outbound, error = bench.engine.outbound, ConnectionClosedError("It broke off.")
    assert outbound.waits(call.id)
    outbound.fail(call.id, error)
    outbound.fail(call.id, error)
    assert bench.settled == {call.id: Settled(None, error)}
    assert (outbound.waits(call.id), outbound.waits(other.id)) == (False, True)


@pytest.mark.parametrize("id", ["1", True, 1.0, None, 2, [1]])
def test_an_answer_under_an_id_of_another_type_or_value_is_nobodys(id: object) -> None:
    bench = Bench()
    call = bench.called()
    bench.receive(id=id, result={})
    bench.receive(id=None, error={"code": -32600, "message": "batch"})
    assert (bench.settled, bench.engine.counts.late_replies) == ({}, 2)
    bench.receive(id=call.id, result=RESULT)
    assert bench.settled[call.id].result == RESULT


@pytest.mark.parametrize(
    "members",
    [
        pytest.param({"result": {}, "error": {"code": 1, "message": "x"}}, id="both"),
        pytest.param({}, id="neither"),
        pytest.param({"error": None}, id="a null error"),
        pytest.param({"error": {"code": "1", "message": "x"}}, id="a code that is text"),
        pytest.param({"error": {"code": 1.0, "message": "x"}}, id="a code that is a fraction"),
        pytest.param({"error": {"code": True, "message": "x"}}, id="a code that is true"),
        pytest.param({"error": {"code": 1}}, id="no message"),
        pytest.param({"result": {}, "jsonrpc": "1.0"}, id="another version"),
    ],
)
def test_an_answer_that_is_no_response_fails_that_call_only(members: dict[str, Any]) -> None:
    bench = Bench()
    call, other = bench.called(), bench.called()
    bench.receive(id=call.id, **members)
    assert isinstance(bench.settled[call.id].error, InvalidResponseError)
    assert bench.sent() == []
    bench.receive(id=other.id, result=RESULT)
    assert bench.settled[other.id].result == RESULT


@pytest.mark.parametrize(
    "frame",
    [
        b'{"jsonrpc":"2.0","id":1,"result":{"x":NaN}}',
        b'{"jsonrpc":"2.0","id":1,"result":{"x":"\\ud800"}}',
        b'\xef\xbb\xbf{"jsonrpc":"2.0","id":1,"result":{}}',
        pytest.param(b'{"jsonrpc":"2.0","id":1,"result":%b}' % (b"[" * 2000), id="too deep"),
        pytest.param(b'{"jsonrpc":"2.0","id":1,"result":{"x":"a', id="torn"),
        pytest.param(b'{"jsonrpc":"2.0","id":1,"result":{"x":"\xc0"}}', id="no UTF-8"),
    ],
)
def test_an_unreadable_answer_fails_its_call_and_is_not_answered(frame: bytes) -> None:
    bench = Bench()
    call = bench.called()
    bench.engine.feed(frame)
    assert isinstance(bench.settled[call.id].error, InvalidResponseError)
    assert bench.sent() == []


def test_params_that_json_cannot_hold_leave_nothing_pending() -> None:
    bench = Bench()
    with pytest.raises(UnsendableError):
        bench.call(name="\ud800", timeout=1)
    bench.engine.close(ConnectionClosedError("end"))
    assert (bench.settled, bench.sent(), bench.rings_at) == ({}, [], [])


class TestDeadline:
    """A call waits no longer than its timeout."""

    def test_fails_the_call_and_tells_the_peer(self) -> None:
        bench = Bench()
        call = bench.called(timeout=60)
        bench.pass_time(59.9)
        assert bench.settled == {}
        bench.pass_time(0.1)
        error = bench.settled[call.id].error
        assert isinstance(error, RequestTimeoutError)
        assert isinstance(error, TimeoutError)
        assert (error.method, error.timeout) == ("tools/call", 60)
        assert bench.answer() == {
            "jsonrpc": "2.0",
            "method": "notifications/cancelled",
            "params": {"requestId": call.id, "reason": "No answer within 60 s."},
        }

    def test_says_nothing_of_a_request_that_never_left(self) -> None:
        bench = Bench()
        call = bench.call(timeout=1)
        bench.pass_time(1)
        assert isinstance(bench.settled[call.id].error, RequestTimeoutError)
        assert bench.sent() == []

    def test_does_not_cancel_the_handshake(self) -> None:
        bench = Bench()
        call = bench.called(method=methods.INITIALIZE, timeout=1)
        bench.pass_time(1)
        assert isinstance(bench.settled[call.id].error, RequestTimeoutError)
        assert bench.sent() == []

    def test_begins_anew_with_each_progress_report(self) -> None:
        bench = Bench()
        call = bench.called(timeout=10, on_progress=lambda _: None)
        for value in range(5):
            bench.pass_time(9)
            bench.receive(
                method="notifications/progress",
                params={"progressToken": call.id, "progress": value},
            )
        assert bench.settled == {}
        bench.pass_time(10)
        assert isinstance(bench.settled[call.id].error, RequestTimeoutError)

    def test_of_none_waits_for_ever(self) -> None:
        bench = Bench()
        bench.called(timeout=None)
        bench.pass_time(1e9)
        assert (bench.settled, bench.rings_at) == ({}, [])

    def test_of_many_calls_is_one_timer_at_the_earliest(self) -> None:
        bench = Bench()
        for timeout in (60, 30, 90, 30):
            bench.called(timeout=timeout)
        assert bench.rings_at == [1060, 1030]
        bench.pass_time(30)
        assert sorted(bench.settled) == [2, 4]
        assert bench.rings_at == [1060, 1030, 1060]
        bench.pass_time(60)
        assert sorted(bench.settled) == [1, 2, 3, 4]

    def test_after_the_answer_does_nothing(self) -> None:
        bench = Bench()
        call = bench.called(timeout=1)
        bench.receive(id=call.id, result=RESULT)
        bench.pass_time(1)
        assert bench.settled[call.id].result == RESULT
        assert bench.sent() == []

    def test_leaves_a_late_answer_to_be_dropped(self) -> None:
        bench = Bench()
        call = bench.called(timeout=1)
        bench.pass_time(1)
        bench.receive(id=call.id, result=RESULT)
        assert bench.engine.counts.late_replies == 1


class TestAbandon:
    """The caller has gone."""

    def test_tells_the_peer_once(self) -> None:
        bench = Bench()
        call = bench.called()
        bench.engine.outbound.abandon(call)
        bench.engine.outbound.abandon(call)
        assert [one["params"]["requestId"] for one in bench.sent()] == [call.id]

    def test_takes_back_a_request_that_has_not_left(self) -> None:
        bench = Bench()
        call = bench.call()
        bench.engine.outbound.abandon(call)
        assert bench.sent() == []

    def test_a_request_whose_caller_is_about_to_go_does_not_leave(self) -> None:
        bench = Bench()
        call = bench.call()
        bench.gone.add(call)
        assert bench.sent() == []
        bench.engine.outbound.abandon(call)
        assert bench.sent() == []

    def test_after_the_answer_says_nothing(self) -> None:
        bench = Bench()
        call = bench.called()
        bench.receive(id=call.id, result=RESULT)
        bench.engine.outbound.abandon(call)
        assert bench.sent() == []

    def test_of_the_handshake_says_nothing(self) -> None:
        bench = Bench()
        bench.engine.outbound.abandon(bench.called(method=methods.INITIALIZE))
        assert bench.sent() == []


class TestProgress:
    """Reports of the peer."""

    def report(self, bench: Bench, **params: Any) -> None:
        bench.receive(method="notifications/progress", params=params)

    def test_token_is_written_only_for_a_caller_that_wants_reports(self) -> None:
        bench = Bench()
        bench.call(name="a", _meta={"trace": "t"})
        bench.call(name="b", _meta={"trace": "t"}, on_progress=lambda _: None)
        assert [one["params"]["_meta"] for one in bench.sent()] == [
            {"trace": "t"},
            {"trace": "t", "progressToken": 2},
        ]

    def test_is_handed_over_as_its_model(self) -> None:
        bench, seen = Bench(), list[mcp.ProgressNotificationParams]()
        call = bench.called(on_progress=seen.append)
        self.report(bench, progressToken=call.id, progress=1, total=2.5, message="m")
        assert [(one.progress, one.total, one.message) for one in seen] == [(1, 2.5, "m")]

    @pytest.mark.parametrize("token", ["1", True, 1.0, 2, None])
    def test_under_another_token_is_ignored(self, token: object) -> None:
        bench, seen = Bench(), list[object]()
        bench.called(on_progress=seen.append)
        self.report(bench, progressToken=token, progress=1)
        assert seen == []

    def test_of_a_wrong_shape_is_ignored(self) -> None:
        bench, seen = Bench(), list[object]()
        call = bench.called(on_progress=seen.append)
        self.report(bench, progressToken=call.id, progress="half")
        assert seen == []

    def test_after_the_answer_is_ignored(self) -> None:
        bench, seen = Bench(), list[object]()
        call = bench.called(on_progress=seen.append)
        bench.receive(id=call.id, result=RESULT)
        self.report(bench, progressToken=call.id, progress=1)
        assert seen == []

    @pytest.mark.parametrize("error", [ZeroDivisionError, CancelledError, SystemExit])
    def test_a_callback_that_fails_is_logged_and_the_call_goes_on(
        self, error: type[BaseException], caplog: pytest.LogCaptureFixture
    ) -> None:
        def fail(report: object) -> None:
            raise error

        bench = Bench()
        call = bench.called(on_progress=fail)
        self.report(bench, progressToken=call.id, progress=1)
        assert "on_progress" in caplog.text
        bench.receive(id=call.id, result=RESULT)
        assert bench.settled[call.id].result == RESULT


class TestEnd:
    """The connection ends."""

    def test_every_call_fails_at_once_with_an_error_of_its_own(self) -> None:
        bench = Bench()
        calls = [bench.called(timeout=60), bench.called(), bench.call()]
        bench.engine.no_more(ConnectionClosedError("gone", 3, "words"))
        errors = [bench.settled[call.id].error for call in calls]
        assert [str(error) for error in errors] == ["gone Its last words on stderr:\nwords"] * 3
        assert len({id(error) for error in errors}) == 3
        assert bench.sent() == []

    def test_a_later_call_fails_before_anything_is_queued(self) -> None:
        bench = Bench()
        bench.engine.no_more(ConnectionClosedError("gone"))
        with pytest.raises(ConnectionClosedError, match="gone"):
            bench.call()
        assert (bench.settled, bench.sent()) == ({}, [])

    def test_a_half_closed_connection_still_carries_answers_and_notifications(self) -> None:
        bench = Bench()
        work = bench.requested(1)
        bench.engine.no_more(ConnectionClosedError("gone"))
        bench.engine.notify("x", {})
        bench.engine.finish(work, {})
        assert [one.get("id") for one in bench.sent()] == [None, 1]

    def test_a_closed_one_cancels_handlers_and_carries_nothing(self) -> None:
        bench = Bench()
        work, kept = bench.requested(1), bench.requested(2)
        bench.engine.close(ConnectionClosedError("gone"), kept)
        assert bench.stopped == [work]
        bench.engine.finish(work, {})
        bench.receive(id=3, method="ping")
        with pytest.raises(ConnectionClosedError):
            bench.engine.notify("x", {})
        assert bench.sent() == []

    def test_the_first_reason_stays(self) -> None:
        bench = Bench()
        bench.engine.no_more(ConnectionClosedError("first"))
        bench.engine.close(ConnectionClosedError("second"))
        with pytest.raises(ConnectionClosedError, match="first"):
            bench.call()


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

    def test_reading_stops_only_when_two_of_the_largest_frames_wait_besides(self) -> None:
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

    def test_a_request_that_left_does_not_keep_its_bytes(self) -> None:
        bench = Bench()
        call = bench.call(name="x" * 1000)
        bench.engine.take()
        assert call.frame == b""

    def test_a_stall_ends_the_connection(self) -> None:
        bench = Bench(limits=Limits(unsent=100, stall=30))
        bench.engine.notify("x", {"text": "x" * 100})
        bench.pass_time(29)
        assert bench.ended is None
        bench.pass_time(1)
        assert bench.ended is not None
        assert "stopped reading" in bench.ended.reason

    def test_a_slow_reader_is_no_stall(self) -> None:
        bench = Bench(limits=Limits(unsent=1000, stall=30))
        for _ in range(20):
            bench.engine.notify("x", {"text": "x" * 200_000})
        while bench.engine.outbox.full:
            bench.pass_time(29)
            bench.engine.take()
        bench.pass_time(31)
        assert bench.ended is None

    def test_what_its_transport_holds_back_counts_and_is_no_stall(self) -> None:
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


def test_an_outbound_error_is_decoded_by_its_row() -> None:
    bench = Bench()
    call: Outbound = bench.called(method=methods.RESOURCES_READ)
    bench.receive(id=call.id, error={"code": -32002, "message": "gone", "data": {"uri": "x"}})
    error = bench.settled[call.id].error
    assert isinstance(error, mcp.ResourceNotFoundError)
    assert isinstance(error, RpcError)
