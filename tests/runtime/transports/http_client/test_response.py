"""Responses of HTTP/1.1: what is read of them, however they are cut, and what is refused."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import h11
import pytest
from hypothesis import example, given, strategies as st

from kinwire.transports.http_client.response import (
    Headers,
    MalformedResponseError,
    ResponseReader,
    media_type,
)
from tests.each import each


class RecordingReceiver:
    """Records the calls of a response."""

    def __init__(self) -> None:
        self.status = 0
        self.headers: Headers = {}
        self.text = b""

    def head(self, status: int, headers: Headers, /) -> None:
        self.status, self.headers = status, headers

    def body(self, chunk: bytes, /) -> None:
        self.text += chunk

    def end(self) -> None: ...
    def broken(self, error: Exception, /) -> None: ...


GOOD = [
    pytest.param(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", id="counted"),
    pytest.param(b"HTTP/1.1 200 \r\ncontent-length:5\r\n\r\nhello", id="no reason"),
    pytest.param(b"HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n", id="nothing"),
    pytest.param(
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n002;x=y\r\nlo\r\n"
        b"0\r\nX-Trailer: 1\r\n\r\n",
        id="chunked",
    ),
    pytest.param(b"HTTP/1.1 204 No Content\r\nX: a\r\nX: b\r\n\r\n", id="no content"),
    pytest.param(
        b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 102 x\r\n\r\nHTTP/1.1 404 x\r\n"
        b"Content-Length: 1\r\n\r\n!",
        id="interim responses before",
    ),
    pytest.param(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nhello", id="to the end"),
    pytest.param(b"HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nhello", id="old"),
    pytest.param(
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\nhello", id="said twice"
    ),
    pytest.param(b"HTTP/1.1 200 OK\nA: b\nContent-Length: 5\n\nhello", id="line ends without CR"),
    pytest.param(b"HTTP/1.1 100 x\n\nHTTP/1.1 200 OK\nContent-Length: 5\n\nhello", id="both"),
    pytest.param(
        b"HTTP/1.1 200 OK\r\nX: a\r\n\t b\r\nContent-Length:\r\n 5\r\n\r\nhello", id="folded"
    ),
    pytest.param(
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5 \r\nhello\r\n0\r\n\r\n",
        id="a space behind a size",
    ),
    pytest.param(b"HTTP/1.1 304 x\r\nContent-Length: 5\r\n\r\n", id="not modified"),
]


def as_h11_reads(data: bytes) -> tuple[int, bytes, bool]:
    """Return status, body and whether the connection can be used again."""
    connection = h11.Connection(h11.CLIENT)
    connection.send(h11.Request(method="GET", target="/", headers=[("Host", "x")]))
    connection.send(h11.EndOfMessage())
    connection.receive_data(data)
    connection.receive_data(b"")
    status, body = 0, b""
    while True:
        event: Any = connection.next_event()
        if isinstance(event, h11.Response):
            status = event.status_code
        elif isinstance(event, h11.Data):
            body += bytes(event.data)
        elif isinstance(event, h11.EndOfMessage):
            return status, body, connection.their_state is h11.DONE


@each("data", GOOD)
def test_it_is_read_as_h11_reads_it_however_it_is_cut(data: bytes) -> None:
    expected = as_h11_reads(data)
    for size in range(1, len(data) + 1):
        received, reader = RecordingReceiver(), ResponseReader()
        reader.expect(received)
        over = False
        for at in range(0, len(data), size):
            over = reader.feed(data[at : at + size])
        assert over or reader.ended()
        assert (received.status, received.text, reader.reusable) == expected


BAD = [
    pytest.param(b"HTTP/2 200 OK\r\n\r\n", "does not begin", id="version"),
    pytest.param(b"\x15\x03\x01\x00\r\n\r\n", "does not begin", id="TLS"),
    pytest.param(b"HTTP/1.1 20 OK\r\n\r\n", "Invalid status code", id="short status"),
    pytest.param(b"HTTP/1.1 101 Go\r\n\r\n", "switches to a protocol", id="upgrade"),
    pytest.param(b"HTTP/1.1 200 OK\r\n folded\r\n\r\n", "head is malformed", id="folded"),
    pytest.param(b"HTTP/1.1 200 OK\r\nA : b\r\n\r\n", "Invalid header token", id="space"),
    pytest.param(b"HTTP/1.1 200 OK\r\nA: b\rc\r\n\r\n", "head is malformed", id="bare CR"),
    pytest.param(b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", "Length", id="negative"),
    pytest.param(
        b"HTTP/1.1 200 OK\r\nContent-Length: 1_0\r\n\r\n", "in Content-Length", id="underscore"
    ),
    pytest.param(
        b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", "Duplicate", id="two"
    ),
    pytest.param(
        b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
        "two places",
        id="length and chunks",
    ),
    pytest.param(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", "two", id="gzip"),
    pytest.param(
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n", "in chunk size", id="size"
    ),
    pytest.param(
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n",
        "body is malformed",
        id="chunk",
    ),
    pytest.param(
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;" + b"x" * 90_000,
        "line",
        id="line",
    ),
    pytest.param(b"HTTP/1.1 200 OK\r\nX: " + b"x" * 90_000, "headers of more than", id="headers"),
    pytest.param(
        b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nab", "more came than was asked", id="more"
    ),
]


@each(("data", "why"), BAD)
def test_what_could_be_read_in_two_ways_is_refused(data: bytes, why: str) -> None:
    reader = ResponseReader()
    reader.expect(RecordingReceiver())
    with pytest.raises(MalformedResponseError, match=why):
        feed_in_pieces(reader, data)


def feed_in_pieces(reader: ResponseReader, data: bytes) -> None:
    for at in range(0, len(data), 4096):
        reader.feed(data[at : at + 4096])


def test_one_connection_has_many_responses() -> None:
    reader = ResponseReader()
    for number in range(3):
        received = RecordingReceiver()
        reader.expect(received)
        assert reader.feed(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n%d" % number)
        assert received.text == b"%d" % number


def test_a_cut_off_response_is_not_whole() -> None:
    for data in (b"", b"HTTP/1.1 2", b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\na"):
        reader = ResponseReader()
        reader.expect(RecordingReceiver())
        reader.feed(data)
        assert not reader.ended()


def test_a_media_type_has_no_parameters_and_no_case() -> None:
    assert media_type({"content-type": "Text/Event-Stream; charset=utf-8"}) == "text/event-stream"
    assert media_type({}) == ""


CHUNKED = b"HTTP/1.1 200 \r\nTransfer-Encoding: chunked\r\n\r\n"


@each(
    ("begun", "piece"),
    [
        pytest.param(CHUNKED, b"1\r\nx\r\n", id="chunks"),
        pytest.param(CHUNKED + b"0\r\n", b"X: y\r\n", id="trailers"),
        pytest.param(b"", b"HTTP/1.1 102 \r\n\r\n", id="interim responses"),
    ],
)
def test_what_comes_in_one_read_is_copied_but_once(begun: bytes, piece: bytes) -> None:
    """However many pieces it has: else an evil server could keep the loop busy."""
    copied = 0

    class Counted(bytes):
        def __getitem__(self, key: Any) -> Any:
            nonlocal copied
            part = super().__getitem__(key)
            copied += len(part)
            return Counted(part)

    reader = ResponseReader()
    reader.expect(RecordingReceiver())
    reader.feed(begun)
    data = Counted(piece * 1000)
    assert not reader.feed(data)
    assert copied <= len(data)


def test_what_is_not_http_is_refused_immediately_behind_a_response() -> None:
    reader = ResponseReader()
    for _ in range(2):
        reader.expect(RecordingReceiver())
        assert reader.feed(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
    reader.expect(RecordingReceiver())
    with pytest.raises(MalformedResponseError, match="does not begin as HTTP"):
        reader.feed(b"SSH-2.0-x")


PIECES = [
    b"HTTP/1.1 200 OK\r\n",
    b"HTTP/1.1 101 x\r\n",
    b"HTTP/1.1 103 x\r\n\r\n",
    b"HTTP/1.0 ",
    b"HTTP/2 200\r\n",
    b"Content-Length: 5\r\n",
    b"Content-Length: ",
    b"Transfer-Encoding: chunked\r\n",
    b"Connection: close\r\n",
    b"X: y\r\n",
    b"\r\n",
    b"\n",
    b"5\r\nhello\r\n",
    b"0\r\n\r\n",
    b"hello",
    b"-1\r\n",
    b" ",
    b"\t",
    b":",
    b"\x00",
    b"\xff",
]


@given(
    data=st.lists(st.sampled_from(PIECES), max_size=14).map(b"".join),
    step=st.sampled_from([1, 3, 1000]),
    bodiless=st.booleans(),
)
@example(data=b"HTTP/1.1 101 x\r\nX: y\r\n\t\r\n\r\n", step=1000, bodiless=False)
@example(
    data=b"HTTP/1.1 200 OK\nConnection: close\nContent-Length: 5\n\nhellohello",
    step=1000,
    bodiless=False,
)
def test_any_bytes_are_read_or_refused_as_malformed(data: bytes, step: int, bodiless: bool) -> None:
    reader, receiver = ResponseReader(), RecordingReceiver()
    reader.expect(receiver, bodiless=bodiless)
    with suppress(MalformedResponseError):
        for at in range(0, len(data), step):
            if reader.feed(data[at : at + step]):
                return
        reader.ended()
