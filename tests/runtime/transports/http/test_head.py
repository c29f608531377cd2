"""What the head of a request says."""

from __future__ import annotations

from kinwire.transports.http.head import (
    Accepted,
    accepted,
    is_json,
    is_utf8_json,
    prefers_event_stream,
    read_head,
)
from tests.each import each

ALL, JSON, STREAM, NONE = (
    Accepted(True, True),
    Accepted(True, False),
    Accepted(False, True),
    Accepted(False, False),
)


@each(
    ("header", "expected"),
    [
        (None, ALL),
        (b"*/*", ALL),
        (b"application/*, text/*", ALL),
        (b"application/json, text/event-stream;q=0.5", ALL),
        (b"APPLICATION/JSON, Text/Event-Stream", ALL),
        (b"application/json", JSON),
        (b"text/event-stream", STREAM),
        (b"text/plain", NONE),
        (b"", NONE),
        (b"application/json;q=0, text/event-stream", STREAM),
        (b"text/event-stream;q=0, application/json", JSON),
        (b"text/event-stream;q=0.000, */*;q=0.1", JSON),
        (b"*/*;q=0", NONE),
        (b"*/*, application/json;q=0", STREAM),
        (b"application/*;q=0, application/json", JSON),
        (b"application/json ; charset=utf-8 ; q = 1", JSON),
        (b",,;;q=0,", NONE),
        (b"\xff/\xff", NONE),
    ],
)
def test_what_a_client_takes_is_negotiated_as_http_does(
    header: bytes | None, expected: Accepted
) -> None:
    assert accepted(header) == expected


@each(
    ("header", "expected"),
    [
        (b"application/json", True),
        (b"Application/JSON; charset=utf-8", True),
        (None, False),
        (b"", False),
        (b"text/plain", False),
        (b"application/jsonp", False),
        (b"text/plain, application/json", False),
    ],
)
def test_only_what_is_declared_as_json_is_json(header: bytes | None, expected: bool) -> None:
    assert is_json(header) is expected
    assert is_utf8_json(header) is expected


@each(
    ("header", "expected"),
    [
        (b"application/json; charset=UTF-8", True),
        (b'application/json; charset="utf-8"', True),
        (b"application/json ;Charset = utf8; v=1", True),
        (b"application/json; v=charset", True),
        (b"application/json; charset=utf-16", False),
        (b"application/json; charset=iso-8859-1", False),
        (b"application/json; charset=", False),
        (b"application/json; charset=utf-8; charset=latin1", False),
        (b"text/plain; charset=utf-8", False),
    ],
)
def test_a_body_may_be_declared_as_utf8_alone(header: bytes, expected: bool) -> None:
    assert is_utf8_json(header) is expected


@each(
    ("header", "expected"),
    [
        (b"text/event-stream", True),
        (b"Text/Event-Stream, */*;q=0.1", True),
        (b"text/event-stream, application/json;q=0", True),
        (b"application/json, text/event-stream", False),
        (b"text/event-stream;q=0", False),
        (b"text/*", False),
        (b"*/*", False),
        (b"application/json", False),
        (None, False),
    ],
)
def test_a_stream_is_wanted_by_name_and_where_json_is_not_named(
    header: bytes | None, expected: bool
) -> None:
    assert prefers_event_stream(header) is expected


def test_headers_of_one_name_are_counted() -> None:
    head = read_head([(b"host", b"a"), (b"host", b"b"), (b"origin", b"c"), (b"x", b"yz")])
    assert head.text(b"host") == "a, b"
    assert len(head.all(b"host")) == 2
    assert head.all(b"origin") == ("c",)
    assert head.all(b"accept") == ()
    assert head.size == 5 + 5 + 7 + 3
