"""What an unreadable frame earns, and for how long."""

from __future__ import annotations

from typing import Any

import pytest

from kinwire.rpc.limits import Limits
from tests.each import each
from tests.runtime.rpc.engine.fixtures_engine import ROUTES, Bench
from tests.runtime.rpc.fixtures_jsonrpc_vectors import BYTES, RESULT, TEXTS, Reply

VECTORS = [(text.encode(), reply) for text, reply in TEXTS] + BYTES


def replied(message: dict[str, Any]) -> Reply:
    return message["error"]["code"] if "error" in message else RESULT, message["id"]


@each(("frame", "expected"), VECTORS)
def test_every_vector_earns_its_reply_and_a_ping_is_answered_after_it(
    frame: bytes, expected: Reply
) -> None:
    bench = Bench()
    bench.engine.feed(frame)
    for work in [work for work in bench.started if work.id is not None]:
        bench.engine.finish(work, {})
    assert [replied(message) for message in bench.sent()] == (
        [] if expected is None else [expected]
    )
    bench.engine.finish(bench.requested("after"), {})
    assert replied(bench.answer()) == (RESULT, "after")


@each(
    "frame",
    [frame for frame, reply in VECTORS if reply is not None and reply[0] in (-32600, -32700)],
)
def test_nothing_of_a_refused_frame_is_executed(frame: bytes) -> None:
    bench = Bench()
    bench.engine.feed(frame)
    assert bench.started == []


def test_errors_are_answered_up_to_a_rate_and_counted_beyond() -> None:
    bench = Bench(limits=Limits(errors_per_second=100))
    for _ in range(150):
        bench.engine.feed(b"{oops")
    assert len(bench.sent()) == 100
    assert (bench.engine.counts.unreadable, bench.engine.counts.unanswered) == (150, 50)
    bench.pass_time(1)
    bench.engine.feed(b"{oops")
    assert len(bench.sent()) == 1


def test_requests_are_answered_at_any_rate() -> None:
    bench = Bench(limits=Limits(errors_per_second=1))
    for id in range(50):
        bench.receive(id=id, method="no/such")
    assert len(bench.sent()) == 50


def test_a_thousand_unreadable_frames_in_a_row_end_the_session() -> None:
    bench = Bench()
    for _ in range(999):
        bench.engine.feed(b"{oops")
    assert bench.ended is None
    bench.engine.feed(b"{oops")
    assert bench.ended is not None
    assert "1000 unreadable frames" in bench.ended.reason


def test_a_good_frame_between_them_resets_the_count() -> None:
    bench = Bench()
    for _ in range(999):
        bench.engine.feed(b"{oops")
    bench.receive(method="no/such")
    for _ in range(999):
        bench.engine.feed(b"{oops")
    assert bench.ended is None


def test_blank_frames_are_ignored() -> None:
    bench = Bench()
    for _ in range(2000):
        bench.engine.feed(b" \r")
    assert (bench.ended, bench.engine.counts.unreadable, bench.sent()) == (None, 0, [])


@each(
    ("head", "reply"),
    [
        (b"x" * 512, (-32700, None)),
        (b'{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"xxx', (-32600, 7)),
        (b'{ "id" : "a" , "method" : "x", "params":{"name":"xxx', (-32600, "a")),
        (b'{"params":{"name":"xxx', (-32700, None)),
        (b'{"jsonrpc":"2.0","method":"notifications/message","params":{"xxx', (-32700, None)),
        (b'{"jsonrpc":"2.0","id":7,"result":{"xxx', None),
    ],
)
def test_a_frame_that_was_too_long_is_answered_once(head: bytes, reply: Reply) -> None:
    bench = Bench()
    bench.engine.overlong(head)
    assert [replied(message) for message in bench.sent()] == ([] if reply is None else [reply])


def test_an_answer_that_is_too_long_fails_its_call() -> None:
    bench = Bench()
    call = bench.called()
    bench.engine.overlong(b'{"jsonrpc":"2.0","id":%d,"result":{"content":[{"text":"xxx' % call.id)
    assert "longer than 4194304 bytes" in str(bench.settled[call.id].error)
    assert bench.sent() == []


@each(
    ("end", "fails"),
    [
        (b'xx"}]},"jsonrpc":"2.0","id":%d}', True),
        (b'xx"}], "id": 9}, "id": %d, "jsonrpc": "2.0" }\r\n', True),
        (b'xx"}]},"id":%d}', True),
        (b'xx"}],"id":%d}}', False),  # a field of the result
        (b'xx\\",\\"id\\":%d}', False),  # in a string
        (b'xx"}]},"id":%d', False),  # not the end
        (b'xx"}]},"id":"%d"}', False),
    ],
)
def test_an_id_behind_an_answer_that_is_too_long_is_found(end: bytes, fails: bool) -> None:
    bench = Bench()
    call = bench.called()
    bench.engine.overlong(b'{"result":{"content":[{"text":"xxx' + end % call.id)
    assert (call.id in bench.settled) is fails


@pytest.mark.parametrize(
    "frame",
    [b"Loading model...", b"\xef\xbb\xbf", b"[1, 2]", b"7", b"{oops", b'{"level":"info"}'],
)
def test_a_peer_that_may_print_is_never_answered_for_it(
    frame: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    bench = Bench(peer_may_emit_noise=True)
    bench.engine.feed(frame)
    assert (bench.sent(), bench.engine.counts.unreadable) == ([], 1)
    assert len(caplog.records) == 1


def test_a_peer_that_may_print_is_answered_where_it_named_a_request() -> None:
    bench = Bench(peer_may_emit_noise=True)
    bench.engine.feed(b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":NaN}}')
    assert replied(bench.answer()) == (-32600, 1)


def test_the_log_shows_the_beginning_of_a_long_unreadable_frame_only(
    caplog: pytest.LogCaptureFixture,
) -> None:
    Bench().engine.feed(b"x" * 100_000)
    assert len(caplog.text) < 1000


def test_cancellation_and_progress_also_reach_a_route_of_their_own() -> None:
    from kinwire_protocols.mcp import methods
    from tests.runtime.rpc.engine.fixtures_engine import route

    bench = Bench(
        routes={**ROUTES, "notifications/cancelled": route(methods.NOTIFICATIONS_CANCELLED)}
    )
    work = bench.requested(1)
    bench.receive(method="notifications/cancelled", params={"requestId": 1})
    assert bench.stopped == [work]
    assert bench.started[-1].method is methods.NOTIFICATIONS_CANCELLED
