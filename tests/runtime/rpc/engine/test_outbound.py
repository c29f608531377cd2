"""Requests sent: one id each, one answer each, whatever else arrives; and how all end."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from kinwire.rpc.calls import Outbound
from kinwire.rpc.errors import (
    ConnectionClosedError,
    InvalidResponseError,
    RpcError,
    UnsendableError,
)
from kinwire_protocols import mcp
from kinwire_protocols.mcp import methods
from tests.each import each
from tests.runtime.rpc.engine.fixtures_engine import Bench, Settled

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


@each("frame", [b"<html>", b'{"jsonrpc":"2.0","id":1,"result":', b"[]"])
def test_an_invalid_reply_fails_the_request_that_it_replies_to(frame: bytes) -> None:
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


@each("id", ["1", True, 1.0])
def test_an_answer_under_the_id_in_another_type_fails_its_call(id: object) -> None:
    bench = Bench()
    call = bench.called()
    bench.receive(id=id, result={})
    error = bench.settled[call.id].error
    assert isinstance(error, InvalidResponseError)
    assert f"its id is {json.dumps(id)}, expected 1" in str(error)
    bench.receive(id=id, result={})
    assert bench.engine.counts.late_replies == 1


@each("id", [None, 2, "2", 1.5, "01", [1], "x"])
def test_an_answer_under_an_id_of_another_value_is_nobodys(id: object) -> None:
    bench = Bench()
    call = bench.called()
    bench.receive(id=id, result={})
    bench.receive(id=None, error={"code": -32600, "message": "batch"})
    assert (bench.settled, bench.engine.counts.late_replies) == ({}, 2)
    bench.receive(id=call.id, result=RESULT)
    assert bench.settled[call.id].result == RESULT


@each(
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
def test_an_invalid_response_fails_that_call_only(members: dict[str, Any]) -> None:
    bench = Bench()
    call, other = bench.called(), bench.called()
    bench.receive(id=call.id, **members)
    assert isinstance(bench.settled[call.id].error, InvalidResponseError)
    assert bench.sent() == []
    bench.receive(id=other.id, result=RESULT)
    assert bench.settled[other.id].result == RESULT


UNREADABLE = [
    (b'{"jsonrpc":"2.0","id":1,"result":{"x":NaN}}', "expected value"),
    (b'{"jsonrpc":"2.0","id":1,"result":{"x":"\\ud800"}}', "half of a surrogate pair"),
    (b'\xef\xbb\xbf{"jsonrpc":"2.0","id":1,"result":{}}', "expected JSON, got a byte order mark"),
    pytest.param(b'{"jsonrpc":"2.0","id":1,"result":%b}' % (b"[" * 2000), "limit", id="too deep"),
    pytest.param(b'{"jsonrpc":"2.0","id":1,"result":{"x":"a', "EOF", id="torn"),
    pytest.param(b'{"jsonrpc":"2.0","id":1,"result":{"x":"\xc0"}}', "unicode", id="no UTF-8"),
]


@each(("frame", "why"), UNREADABLE)
def test_an_unreadable_answer_fails_its_call_and_is_not_answered(frame: bytes, why: str) -> None:
    bench = Bench()
    call = bench.called()
    bench.engine.feed(frame)
    error = bench.settled[call.id].error
    assert isinstance(error, InvalidResponseError)
    assert re.match(rf"{call.name}: the answer cannot be read: .*{why}", str(error))
    assert bench.sent() == []


def test_params_that_json_cannot_hold_leave_nothing_pending() -> None:
    bench = Bench()
    with pytest.raises(UnsendableError):
        bench.call(name="\ud800", timeout=1)
    bench.engine.close(ConnectionClosedError("end"))
    assert (bench.settled, bench.sent(), bench.rings_at) == ({}, [], [])


def test_an_outbound_error_is_decoded_by_its_row() -> None:
    bench = Bench()
    call: Outbound = bench.called(method=methods.RESOURCES_READ)
    bench.receive(id=call.id, error={"code": -32002, "message": "gone", "data": {"uri": "x"}})
    error = bench.settled[call.id].error
    assert isinstance(error, mcp.ResourceNotFoundError)
    assert isinstance(error, RpcError)


class TestEnd:
    """The connection ends."""

    def test_every_call_fails_immediately_with_an_error_of_its_own(self) -> None:
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
