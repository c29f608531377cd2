"""Requests that wait: deadlines, requests given up, progress."""

from __future__ import annotations

from asyncio import CancelledError
from typing import Any

import pytest

from kinwire.rpc.errors import (
    RequestTimeoutError,
)
from kinwire_protocols import mcp
from kinwire_protocols.mcp import methods
from tests.runtime.rpc.engine.fixtures_engine import Bench

RESULT: dict[str, Any] = {"content": []}


@pytest.mark.spec("mcp-message-types-1", "mcp-id-field-requirements-3")
class TestDeadline:
    """A call waits no longer than its timeout."""

    def test_fails_the_call_and_cancels_the_request(self) -> None:
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

    def test_restarts_with_each_progress_report(self) -> None:
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

    def test_is_prolonged_by_a_time_and_the_whole_timeout(self) -> None:
        bench = Bench()
        call, endless = bench.called(timeout=10), bench.called(timeout=None)
        bench.pass_time(9)
        bench.engine.outbound.prolong(call.id, 30)
        bench.engine.outbound.prolong(call.id, 1)  # never shorter
        for other in (endless.id, 99, str(call.id), True):
            bench.engine.outbound.prolong(other, 1)
        bench.pass_time(39.9)
        assert bench.settled == {}
        bench.pass_time(0.1)
        assert list(bench.settled) == [call.id]

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
