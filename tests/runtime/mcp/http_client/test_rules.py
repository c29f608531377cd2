"""What HTTP clients decide without I/O: addresses, headers, order, and waits."""

from __future__ import annotations

from typing import Any

import pytest

from kinwire import InsecureAddressError
from kinwire.mcp.http_client.event_stream import next_wait
from kinwire.mcp.http_client.queue import SendQueue
from kinwire.rpc.codec import OutgoingFrame, encoded_notification
from kinwire.transports.http_client.address import address_of
from kinwire.transports.http_client.credentials import credentials_of
from kinwire.transports.http_client.fields import RequestHead, checked_headers
from tests.each import each

ADDRESSES = [
    ("http://127.0.0.1:8000/mcp", ("127.0.0.1:8000", "/mcp", "http://127.0.0.1:8000")),
    ("https://Example.COM", ("example.com", "/", "https://example.com")),
    ("https://example.com:443/a?b=c#d", ("example.com", "/a?b=c", "https://example.com")),
    ("http://[::1]:80/", ("[::1]", "/", "http://[::1]")),
    ("wss://example.com:8443", ("example.com:8443", "/", "wss://example.com:8443")),
]


@each(("url", "parts"), ADDRESSES)
def test_a_url_is_taken_apart(url: str, parts: tuple[str, str, str]) -> None:
    address = address_of(url, insecure=False)
    assert (address.authority, address.target, address.origin) == parts


def test_what_is_shown_of_an_address_is_its_origin() -> None:
    address = address_of("https://ann:s3%40cret@example.com/k3y?t=t0ken", insecure=False)
    assert repr(address) == "<ServerAddress https://example.com>"
    assert address.authorization == "Basic YW5uOnMzQGNyZXQ="
    head = RequestHead("POST", address, [("X", "t0ken")])
    assert repr(head) == "<RequestHead POST https://example.com>"


@pytest.mark.spec("mcp-streamable-http-transport-10")
@each("host", ["example.com", "10.0.0.1", "0.0.0.0", "127.0.0.1.evil.example"])
def test_plain_text_goes_to_this_machine_only(host: str) -> None:
    with pytest.raises(InsecureAddressError, match="Refused to connect to"):
        address_of(f"http://{host}/", insecure=False)
    assert address_of(f"http://{host}/", insecure=True).host == host


REFERENCES = [
    ("/other?x=1", "/other?x=1"),
    ("http://127.0.0.1:8000/other", "/other"),
    ("next", "/a/next"),
    ("?x=1", "/a/b?x=1"),
    ("../other?x=1", "/other?x=1"),
    ("//127.0.0.1:8000/other", "/other"),
    ("", None),
    ("http://127.0.0.1:8001/other", None),
    ("https://127.0.0.1:8000/other", None),
    ("//evil.example/other", None),
    ("http://127.0.0.1:8000@evil.example/", None),
    ("javascript:alert(1)", None),
    ("/a b", None),
    ("/a\r\nX: y", None),
]


@each(("reference", "target"), REFERENCES)
def test_a_server_refers_to_its_own_origin_only(reference: str, target: str | None) -> None:
    here = address_of("http://127.0.0.1:8000/a/b", insecure=False)
    found = here.with_target(reference)
    assert (None if found is None else found.target) == target


def test_headers_that_would_end_a_line_are_refused_without_being_shown() -> None:
    assert checked_headers({"X-Key": "a b", "Y": ""}) == (("X-Key", "a b"), ("Y", ""))
    for value in ("s3cret\n", "s3cret\r\nX: y", "s3cret\0", " s3cret", "s3cret\u20ac"):
        with pytest.raises(ValueError, match="of one line") as caught:
            checked_headers({"X-Key": value})
        assert "s3cret" not in str(caught.value)


def request(id: int) -> OutgoingFrame:
    return OutgoingFrame(b'{"jsonrpc":"2.0","id":%d,"method":"x"}' % id, "request", id, "x")


def notification(method: str = "x") -> OutgoingFrame:
    data = b'{"jsonrpc":"2.0","method":"%b"}' % method.encode()
    return OutgoingFrame(data, "notification", None, method)


REPLY = OutgoingFrame(b'{"jsonrpc":"2.0","id":"s","result":{}}', "result")


def test_replies_go_past_requests_that_wait_for_a_connection() -> None:
    queue = SendQueue(1)
    for message in (request(1), request(2), REPLY):
        queue.add(message)
    assert [queue.next(), queue.next(), queue.next()] == [request(1), REPLY, None]
    queue.done(request(1))
    assert queue.next() == request(2)
    assert queue.size == 0


@pytest.mark.parametrize(
    ("method", "follows"),
    [("notifications/initialized", False), ("notifications/progress", True)],
)
def test_what_follows_a_notification_waits_for_it(method: str, follows: bool) -> None:
    queue = SendQueue(9)
    first = notification(method)
    queue.add(first)
    queue.add(request(1))
    assert queue.next() == first
    assert (queue.next() == request(1)) == follows
    queue.done(first)
    assert (queue.next() is None) == follows


def test_a_request_that_has_not_left_is_forgotten_when_it_is_taken_back() -> None:
    queue = SendQueue(1)
    for id in (1, 2, 3):
        queue.add(request(id))
    queue.next()
    assert queue.next() is None  # 2 is parked
    assert queue.take_back(2)
    assert queue.take_back(3)
    assert not queue.take_back(1)
    assert queue.size == 0


def test_a_cancellation_is_no_request_and_is_not_waited_for() -> None:
    queue = SendQueue(1)
    cancellation = encoded_notification("notifications/cancelled", {"requestId": 1}, cancels=1)
    assert cancellation.id is None
    for message in (request(1), cancellation, REPLY):
        queue.add(message)
    assert [queue.next(), queue.next(), queue.next()] == [request(1), cancellation, REPLY]
    queue.done(cancellation)
    queue.add(request(2))
    assert queue.next() is None, "the first request is under way still"


def test_nothing_leaves_while_it_is_stopped() -> None:
    queue = SendQueue(1)
    queue.add(REPLY)
    queue.add(request(1))
    queue.stopped = True
    assert queue.next() is None
    queue.forget_requests()
    queue.stopped = False
    assert [queue.next(), queue.next()] == [REPLY, None]


@each(
    ("asked_ms", "waits"),
    [
        (None, [0.5, 1, 2, 4, 8, 16, 30, 30]),
        (100, [0.1, 0.2, 0.4, 0.8]),
        (0, [0.01, 0.02, 0.04]),
        (60_000, [60, 60]),
        (9_999_999_999, [300]),
        pytest.param(10**400, [300], id="no float can hold it"),
    ],
)
def test_waits_double_from_what_the_server_wants(asked_ms: int | None, waits: list[float]) -> None:
    found = [next_wait(failures, asked_ms, jitter=0.0) for failures in range(len(waits))]
    assert found == pytest.approx(waits)
    assert next_wait(0, asked_ms, jitter=1.0) == pytest.approx(waits[0])


def test_jitter_only_lengthens() -> None:
    assert next_wait(1, None, jitter=0.0) < next_wait(1, None, jitter=1.0) <= 1.25


def test_who_is_calling_is_said_by_a_function() -> None:
    wrong: Any = "Bearer token"
    with pytest.raises(TypeError, match="auth: expected a function") as caught:
        credentials_of(address_of("http://127.0.0.1/mcp", insecure=False), (), wrong)
    assert "token" not in str(caught.value)
