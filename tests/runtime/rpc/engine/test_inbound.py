"""The requests and notifications of the peer: the rules, without an event loop."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from kinwire.rpc.errors import RpcError
from kinwire.rpc.limits import Limits
from kinwire.rpc.request import Request
from kinwire.rpc.routes import Route
from kinwire_protocols import mcp
from kinwire_protocols.jsonrpc.errors import InvalidParamsError
from kinwire_protocols.mcp import methods
from tests.each import each
from tests.runtime.rpc.engine.fixtures_engine import ROUTES, Bench, handler, route

SERIAL = replace(methods.NOTIFICATIONS_MESSAGE, name="x/serial", serial=True)
SERIAL_ROUTES = {**ROUTES, "x/serial": route(SERIAL)}


def error_of(bench: Bench) -> tuple[int, Any, Any]:
    answer = bench.answer()
    return answer["error"]["code"], answer["id"], answer["error"].get("data")


@each("id", [0, 1, -5, 2**53 + 1, 10**30, "", "1", "0", "a\u2028b"])
@pytest.mark.spec("mcp-message-types-2", "mcp-id-field-requirements-4")
def test_the_answer_has_the_id_of_the_request_with_its_type(id: int | str) -> None:
    bench = Bench()
    bench.engine.finish(bench.requested(id), {})
    assert bench.answer() == {"jsonrpc": "2.0", "id": id, "result": {}}


def test_a_handler_gets_its_params_as_their_model() -> None:
    work = Bench().requested(1, "tools/call", name="echo", arguments={"n": 2**64})
    assert work.params == mcp.CallToolRequestParams(name="echo", arguments={"n": 2**64})


def test_a_result_model_leaves_under_its_wire_names() -> None:
    bench = Bench()
    text = mcp.TextContent(text="x")
    bench.engine.finish(
        bench.requested(1, "tools/call", name="echo"),
        mcp.CallToolResult(content=[text], is_error=True),
    )
    assert bench.answer()["result"] == {
        "content": [{"type": "text", "text": "x"}],
        "isError": True,
    }


@pytest.mark.spec("mcp-error-codes-3")
def test_an_unknown_request_is_method_not_found() -> None:
    bench = Bench()
    bench.receive(id=7, method="no/such")
    assert error_of(bench)[:2] == (-32601, 7)


def test_an_unknown_notification_is_ignored() -> None:
    bench = Bench()
    bench.receive(method="no/such")
    assert (bench.sent(), bench.started) == ([], [])


@pytest.mark.spec("mcp-message-types-3")
def test_a_request_sent_as_a_notification_has_no_effect() -> None:
    bench = Bench()
    bench.receive(method="tools/call", params={"name": "rm"})
    assert (bench.sent(), bench.started) == ([], [])


def test_bad_params_are_answered_with_place_expectation_and_finding() -> None:
    bench = Bench()
    bench.receive(id=1, method="tools/call", params={"name": 3})
    code, _, data = error_of(bench)
    (problem,) = data["problems"]
    assert code == -32602
    assert (problem["pointer"], problem["got"]) == ("/name", "3")
    assert "string" in problem["expected"]


@each("params", [[1], "x", 1, True])
def test_params_that_are_not_an_object_are_invalid(params: object) -> None:
    bench = Bench()
    bench.receive(id=1, method="ping", params=params)
    code, _, data = error_of(bench)
    assert (code, data["problems"][0]["pointer"]) == (-32602, "")


def test_a_notification_with_bad_params_is_ignored() -> None:
    bench = Bench()
    bench.receive(method="notifications/message", params={"level": 3})
    assert (bench.sent(), bench.started) == ([], [])


def test_very_many_faults_earn_a_short_answer() -> None:
    bench = Bench(routes={"x": route(replace(methods.SAMPLING_CREATE_MESSAGE, name="x"))})
    bench.receive(id=1, method="x", params={"messages": [1] * 500, "maxTokens": 1})
    assert len(str(error_of(bench))) < 1000


def test_a_duplicate_id_is_refused_and_the_first_keeps_its_answer() -> None:
    bench = Bench()
    first = bench.requested(1, "tools/call", name="slow")
    bench.receive(id=1, method="tools/call", params={"name": "fast"})
    assert error_of(bench)[:2] == (-32600, 1)
    bench.engine.finish(first, {"content": []})
    assert bench.answer() == {"jsonrpc": "2.0", "id": 1, "result": {"content": []}}


def test_one_as_a_number_and_as_a_text_are_two_ids() -> None:
    bench = Bench()
    number, text = bench.requested(1), bench.requested("1")
    bench.engine.finish(text, {})
    bench.engine.finish(number, {})
    assert [answer["id"] for answer in bench.sent()] == ["1", 1]


def test_an_id_is_free_again_after_its_answer() -> None:
    bench = Bench()
    bench.engine.finish(bench.requested(1), {})
    bench.engine.finish(bench.requested(1), {})
    assert len(bench.sent()) == 2


def test_beyond_the_limit_requests_fail_and_notifications_are_counted() -> None:
    bench = Bench(limits=Limits(in_flight=2))
    first = bench.requested(1)
    bench.receive(method="notifications/initialized")
    bench.receive(id=2, method="ping")
    bench.receive(method="notifications/initialized")
    assert error_of(bench)[:2] == (-32000, 2)
    assert bench.engine.counts.dropped_notifications == 1
    bench.engine.finish(first, {})
    bench.requested(3)


class TestCancelled:
    """notifications/cancelled."""

    def test_stops_the_handler_and_no_answer_follows(self) -> None:
        bench = Bench()
        work = bench.requested(1)
        bench.receive(method="notifications/cancelled", params={"requestId": 1})
        assert (bench.stopped, work.cancelled) == ([work], True)
        bench.engine.fail(work, RuntimeError("stopped"))
        assert bench.sent() == []

    def test_a_handler_that_finishes_nonetheless_is_not_heard(self) -> None:
        bench = Bench()
        work = bench.requested(1)
        bench.receive(method="notifications/cancelled", params={"requestId": 1})
        bench.engine.finish(work, {})
        assert bench.sent() == []

    def test_twice_stops_once(self) -> None:
        bench = Bench()
        bench.requested(1)
        bench.receive(method="notifications/cancelled", params={"requestId": 1})
        bench.receive(method="notifications/cancelled", params={"requestId": 1})
        assert len(bench.stopped) == 1

    def test_the_id_is_taken_until_the_handler_has_ended(self) -> None:
        bench = Bench()
        work = bench.requested(1)
        bench.receive(method="notifications/cancelled", params={"requestId": 1})
        bench.receive(id=1, method="ping")
        assert error_of(bench)[:2] == (-32600, 1)
        bench.engine.fail(work, RuntimeError("stopped"))
        bench.engine.finish(bench.requested(1), {})
        assert bench.answer()["result"] == {}

    @pytest.mark.parametrize("id", [2, "1", True, 1.0, None, [1], {}])
    def test_of_something_else_is_ignored(self, id: object) -> None:
        bench = Bench()
        bench.engine.finish(bench.requested("done"), {})
        work = bench.requested(1)
        bench.receive(method="notifications/cancelled", params={"requestId": id})
        assert (bench.stopped, work.cancelled) == ([], False)

    def test_after_the_answer_is_ignored(self) -> None:
        bench = Bench()
        bench.engine.finish(bench.requested(1), {})
        bench.receive(method="notifications/cancelled", params={"requestId": 1})
        assert (bench.stopped, len(bench.sent())) == ([], 1)

    def test_does_not_touch_the_handshake(self) -> None:
        bench = Bench()
        bench.requested(
            1,
            "initialize",
            protocolVersion="2024-11-05",
            capabilities={},
            clientInfo={"name": "x", "version": "1"},
        )
        bench.receive(method="notifications/cancelled", params={"requestId": 1})
        assert bench.stopped == []


class TestFailures:
    """What a handler raises or returns."""

    def test_an_error_of_a_protocol_goes_out_as_it_is_and_says_which(self) -> None:
        bench = Bench()
        error = mcp.ResourceNotFoundError("gone", data={"uri": "file:///x"})
        bench.engine.fail(bench.requested(1), error)
        assert bench.answer()["error"] == {
            "code": -32002,
            "message": "gone",
            "data": {"uri": "file:///x", "protocol": "mcp", "name": "ResourceNotFound"},
        }

    def test_data_of_another_shape_stay_as_they_are(self) -> None:
        bench = Bench()
        bench.engine.fail(bench.requested(1), InvalidParamsError(data=["x", None]))
        assert bench.answer()["error"]["data"] == ["x", None]

    def test_an_undeclared_error_has_no_data_of_ours(self) -> None:
        bench = Bench()
        bench.engine.fail(bench.requested(1), RpcError("own", code=7))
        assert bench.answer()["error"] == {"code": 7, "message": "own"}

    @pytest.mark.parametrize(
        "ending",
        [
            pytest.param(lambda e, w: e.fail(w, ValueError("secret")), id="an exception"),
            pytest.param(lambda e, w: e.finish(w, None), id="no result"),
            pytest.param(lambda e, w: e.finish(w, [1]), id="a list"),
            pytest.param(lambda e, w: e.finish(w, {"a": "\ud800"}), id="no JSON"),
            pytest.param(
                lambda e, w: e.fail(w, RpcError("\ud800")), id="an error that is not JSON"
            ),
        ],
    )
    def test_a_fault_shows_a_number_that_the_log_has_too(
        self, ending: Any, caplog: pytest.LogCaptureFixture
    ) -> None:
        bench = Bench()
        ending(bench.engine, bench.requested(1))
        answer = bench.answer()
        assert (answer["id"], answer["error"]["code"]) == (1, -32603)
        assert "secret" not in str(answer)
        correlation = answer["error"]["data"]["correlationId"]
        assert answer["error"]["message"].startswith("Internal error. The reason is in the log of ")
        assert answer["error"]["message"].endswith(f", with correlation id {correlation}.")
        assert [correlation in record.getMessage() for record in caplog.records] == [True]

    def test_a_notification_that_fails_is_logged_and_not_answered(
        self, caplog: pytest.LogCaptureFixture
    ) -> None:
        bench = Bench()
        bench.receive(method="notifications/initialized")
        bench.engine.fail(bench.started[0], ValueError("x"))
        assert bench.sent() == []
        assert [record.levelno for record in caplog.records] == [logging.ERROR]

    def test_a_validator_that_fails_in_its_own_way_is_a_fault(self) -> None:
        class Broken(mcp.RequestParams):
            def __init_subclass__(cls) -> None: ...

        row = replace(methods.PING, params=Broken)
        object.__setattr__(row, "decode_params", lambda value: 1 / 0)
        bench = Bench(routes={"ping": route(row)})
        bench.receive(id=1, method="ping")
        assert error_of(bench)[:2] == (-32603, 1)


def test_what_acts_ahead_waits_for_nothing_and_is_never_dropped() -> None:
    def take(params: Any, request: Request) -> None:
        taken.append(params.data)

    async def around(params: Any, request: Request, go_on: Any) -> Any:
        return await go_on(params)

    taken: list[Any] = []
    ahead = Route(replace(methods.NOTIFICATIONS_MESSAGE, name="x"), handler, take, ahead=True)
    in_turn = Route(replace(methods.NOTIFICATIONS_MESSAGE, name="y"), handler, take)
    bench = Bench(routes={**SERIAL_ROUTES, "x": ahead, "y": in_turn}, limits=Limits(in_flight=2))
    bench.session.intercept_inbound(around)
    bench.receive(method="x/serial", params={"level": "info", "data": "held"})
    for name in "xyx":
        bench.receive(method=name, params={"level": "info", "data": name})
    bench.receive(id=1, method="tools/call", params={"name": "one"})
    bench.receive(method="x", params={"level": "info", "data": "past the limit"})
    assert taken == ["x", "x", "past the limit"]
    assert bench.engine.counts.dropped_notifications == 0
    bench.receive(method="y", params={"level": "info", "data": "dropped"})
    assert bench.engine.counts.dropped_notifications == 1


def test_a_request_that_is_answered_ahead_waits_for_nothing_and_is_never_refused_as_busy() -> None:
    def answer(params: Any, request: Request) -> dict[str, Any]:
        return {"at": request.id}

    async def around(params: Any, request: Request, go_on: Any) -> Any:
        return await go_on(params)

    ahead = Route(replace(methods.PING, name="x"), handler, answer, ahead=True)
    in_turn = Route(replace(methods.PING, name="y"), handler, answer)
    bench = Bench(routes={**SERIAL_ROUTES, "x": ahead, "y": in_turn}, limits=Limits(in_flight=2))
    bench.session.intercept_inbound(around)
    bench.receive(method="x/serial", params={"level": "info", "data": "held"})
    bench.receive(id=1, method="y")
    for identifier in (2, 3):
        bench.receive(id=identifier, method="x")
        assert bench.answer()["result"] == {"at": identifier}
    bench.receive(id=4, method="y")
    assert error_of(bench)[:2] == (-32000, 4)
    assert len(bench.engine.inbound.under_way) == 2


class TestProgress:
    """Reports of a handler to the sender."""

    @pytest.mark.parametrize("token", [0, 7, "", "p", 2**60])
    def test_carries_the_token_with_its_type(self, token: int | str) -> None:
        bench = Bench()
        work = bench.requested(1, _meta={"progressToken": token})
        bench.engine.inbound.progress(work, 1, 4, "a quarter")
        assert bench.answer()["params"] == {
            "progressToken": token,
            "progress": 1,
            "total": 4,
            "message": "a quarter",
        }

    @pytest.mark.parametrize("meta", [{}, {"progressToken": None}, {"other": 1}])
    def test_without_a_token_nothing_is_sent(self, meta: dict[str, Any]) -> None:
        bench = Bench()
        bench.engine.inbound.progress(bench.requested(1, _meta=meta), 1, None, None)
        assert bench.sent() == []

    def test_values_rise(self) -> None:
        bench = Bench()
        work = bench.requested(1, _meta={"progressToken": 0})
        for value in (float("nan"), 0, 0, 1, 0.5, float("nan"), 1.5, float("inf")):
            bench.engine.inbound.progress(work, value, None, None)
        assert [one["params"]["progress"] for one in bench.sent()] == [0, 1, 1.5]

    def test_ends_with_the_answer(self) -> None:
        bench = Bench()
        work = bench.requested(1, _meta={"progressToken": 0})
        bench.engine.finish(work, {})
        bench.engine.inbound.progress(work, 1, None, None)
        assert [one.get("id") for one in bench.sent()] == [1]

    def test_ends_with_the_cancellation(self) -> None:
        bench = Bench()
        work = bench.requested(1, _meta={"progressToken": 0})
        bench.receive(method="notifications/cancelled", params={"requestId": 1})
        bench.engine.inbound.progress(work, 1, None, None)
        assert bench.sent() == []


class TestSerial:
    """Rows whose arrivals must not overtake, nor be overtaken."""

    def arrive(self, bench: Bench) -> Request:
        bench.receive(method="x/serial", params={"level": "info", "data": 1})
        return bench.started[-1]

    def test_later_messages_wait_and_keep_their_order(self) -> None:
        bench = Bench(routes=SERIAL_ROUTES)
        first = self.arrive(bench)
        bench.receive(id=1, method="ping")
        self.arrive(bench)
        bench.receive(id=2, method="ping")
        assert bench.started == [first]
        bench.engine.finish(first, None)
        assert [work.id for work in bench.started] == [None, 1, None]
        bench.engine.finish(bench.started[2], None)
        assert [work.id for work in bench.started] == [None, 1, None, 2]

    def test_what_began_before_runs_on(self) -> None:
        bench = Bench(routes=SERIAL_ROUTES)
        work = bench.requested(1)
        self.arrive(bench)
        bench.engine.finish(work, {})
        assert bench.answer()["id"] == 1

    def test_its_own_calls_are_still_answered(self) -> None:
        bench = Bench(routes=SERIAL_ROUTES)
        self.arrive(bench)
        call = bench.called()
        bench.receive(id=call.id, result={"content": []})
        assert bench.settled[call.id].result == {"content": []}

    def test_one_that_waits_can_be_cancelled(self) -> None:
        bench = Bench(routes=SERIAL_ROUTES)
        first = self.arrive(bench)
        bench.receive(id=1, method="ping")
        bench.receive(method="notifications/cancelled", params={"requestId": 1})
        bench.engine.finish(first, None)
        assert (bench.started, bench.stopped, bench.sent()) == ([first], [], [])
        bench.requested(1)

    def test_a_failure_lets_the_next_go_on(self) -> None:
        bench = Bench(routes=SERIAL_ROUTES)
        first = self.arrive(bench)
        bench.receive(id=1, method="ping")
        bench.engine.fail(first, ValueError("x"))
        assert [work.id for work in bench.started] == [None, 1]

    def test_waiting_ones_count_as_in_flight(self) -> None:
        bench = Bench(routes=SERIAL_ROUTES, limits=Limits(in_flight=2))
        self.arrive(bench)
        bench.receive(id=1, method="ping")
        bench.receive(id=2, method="ping")
        assert error_of(bench)[:2] == (-32000, 2)


class TestRoutesThatActAtOnce:
    """Without a task: the answer is queued before the next message is read."""

    @staticmethod
    def bench(act: Callable[[Any, Any], Any]) -> Bench:
        row = replace(methods.PING, serial=True)
        return Bench(routes={**SERIAL_ROUTES, "ping": Route(row, handler, act)})

    def test_a_request_is_answered_when_it_arrives(self) -> None:
        bench = self.bench(lambda params, request: {"id": request.id})
        bench.receive(id=7, method="ping")
        assert (bench.started, bench.answer()["result"]) == ([], {"id": 7})
        bench.receive(id=7, method="ping")  # the id is free again, and nothing is held back
        assert bench.answer()["result"] == {"id": 7}
        bench.requested(8, "tools/call", name="echo")

    @pytest.mark.parametrize(
        ("error", "code"), [(InvalidParamsError("no"), -32602), (ValueError("secret"), -32603)]
    )
    def test_what_it_raises_is_the_answer(self, error: Exception, code: int) -> None:
        def fail(params: Any, request: Any) -> Any:
            raise error

        bench = self.bench(fail)
        bench.receive(id=1, method="ping")
        answer = bench.answer()
        assert (answer["id"], answer["error"]["code"], bench.started) == (1, code, [])
        assert "secret" not in str(answer)

    def test_it_waits_behind_what_is_serial(self) -> None:
        bench = self.bench(lambda params, request: {})
        bench.receive(method="x/serial", params={"level": "info", "data": 1})
        bench.receive(id=1, method="ping")
        assert (len(bench.started), bench.sent()) == (1, [])
        bench.engine.finish(bench.started[0], None)
        assert [work.id for work in bench.started] == [None, 1]  # its handler, in its turn

    def test_interceptors_are_not_passed_by(self) -> None:
        async def watch(params: Any, request: Any, go_on: Any) -> Any:
            return await go_on(params)

        bench = self.bench(lambda params, request: {})
        bench.session.intercept_inbound(watch)
        bench.requested(1)
        assert bench.sent() == []


def test_a_route_added_later_is_served() -> None:
    routes = dict(ROUTES)
    del routes["ping"]
    bench = Bench(routes=routes)
    bench.receive(id=1, method="ping")
    routes["ping"] = ROUTES["ping"]
    bench.requested(2)
    assert error_of(bench)[:2] == (-32601, 1)
