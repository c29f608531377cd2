"""Event streams, both ways. `vectors/sse` has the streams, fed whole and cut in every place."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from kinwire.transports.http.sse import KEEP_ALIVE, Event, SseDecoder, encoded_event
from tests.each import each

FILE = Path(__file__).parents[3] / "vectors" / "sse" / "vectors.json"
VECTORS = [
    (vector["stream"].encode(), [tuple(event) for event in vector["expected"]])
    for vector in json.loads(FILE.read_text(encoding="utf-8"))["vectors"]
]


def read(*chunks: bytes, limit: int = 1000) -> list[Event]:
    decoder = SseDecoder(limit)
    return [event for chunk in chunks for event in decoder.feed(chunk)]


def in_text(events: list[Event]) -> list[tuple[str, str, str]]:
    return [(event.name, event.data.decode(), event.id) for event in events]


@each(("stream", "expected"), VECTORS)
def test_a_stream_means_the_same_however_it_is_cut(
    stream: bytes, expected: list[tuple[str, str, str]]
) -> None:
    assert in_text(read(stream)) == expected
    assert in_text(read(*(bytes([byte]) for byte in stream))) == expected
    for cut in range(len(stream)):
        assert in_text(read(stream[:cut], b"", stream[cut:])) == expected


@each(
    ("stream", "last_event_id", "retry_ms"),
    [
        pytest.param(b"id: 7\ndata:\n\n", "7", None, id="an event without data"),
        pytest.param(b"id: 7\n\n", "7", None, id="an id alone"),
        pytest.param(b"id: 7\ndata: a\n", "", None, id="an event that has not ended"),
        pytest.param(b"id: 7\n\nid\n\n", "", None, id="an empty id forgets"),
        pytest.param(b"id: 7\n\nid: a\0\n\n", "7", None, id="NUL in an id"),
        pytest.param(b"retry: 20\n", "", 20, id="a wait"),
        pytest.param("retry: ٣\n".encode(), "", None, id="digits of another script"),
        pytest.param(b"retry: " + b"9" * 5000 + b"\n", "", None, id="no wait that anybody means"),
    ],
)
def test_what_a_reader_needs_to_come_back_is_kept(
    stream: bytes, last_event_id: str, retry_ms: int | None
) -> None:
    decoder = SseDecoder(1000)
    decoder.feed(stream)
    assert (decoder.last_event_id, decoder.retry_ms) == (last_event_id, retry_ms)


@each("size", [1, 3, 7, 4000])
@each(
    ("stream", "expected"),
    [
        (b"data: " + b"x" * 1000 + b"\n\n", (b"x" * 1000, False)),
        (b"data: " + b"x" * 1001 + b"\n\n", (b"x" * 512, True)),
        (b"data: " + b"x" * 500 + b"\ndata:" + b"y" * 499 + b"\n\n", None),
        (b"data: " + b"x" * 600 + b"\ndata:" + b"y" * 600 + b"\n\n", (b"x" * 512, True)),
        (b"data: a\nevent: " + b"y" * 2000 + b"\n\n", (b"a", True)),
    ],
)
def test_an_event_beyond_the_limit_is_cut_and_the_next_one_is_whole(
    stream: bytes, expected: tuple[bytes, bool] | None, size: int
) -> None:
    stream += b"data: next\n\n"
    first, second = read(*(stream[at : at + size] for at in range(0, len(stream), size)))
    if expected is not None:
        assert first.overlong is expected[1]
        assert first.data[:512] == expected[0][:512]
    else:
        assert first.data == b"x" * 500 + b"\n" + b"y" * 499
    assert (second.data, second.overlong) == (b"next", False)


def test_a_comment_without_end_needs_no_memory() -> None:
    decoder = SseDecoder(10)
    for _ in range(100):
        assert decoder.feed(b":" + b"x" * 1000) == []
    assert decoder.feed(b"\ndata: a\n\n") == [Event(b"a")]


def test_an_endless_line_is_kept_up_to_the_limit() -> None:
    decoder = SseDecoder(10_000)
    for _ in range(1000):
        decoder.feed(b"data: " + b"x" * 1000)
    held = sum(map(len, decoder._parts)) + sum(map(len, decoder._data))
    assert held <= 10_000


@given(
    data=st.binary().map(lambda data: data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")),
    name=st.text().filter(lambda text: not set(text) & set("\r\n\0") and text),
    id=st.text(st.characters(codec="utf-8", exclude_characters="\r\n\0")),
)
def test_what_is_written_is_read_as_one_event(data: bytes, name: str, id: str) -> None:
    name = name.encode(errors="replace").decode()
    stream = encoded_event(data, name=name, id=id, retry_ms=5)
    assert read(stream) == [Event(data, name, id)]


@each("end", ["\r", "\n", "\r\n"])
def test_a_line_end_in_data_makes_no_event(end: str) -> None:
    data = f"x{end}event: done{end}{end}data: evil".encode()
    assert [event.name for event in read(encoded_event(data))] == ["message"]


@each("wrong", ["a\nb", "a\rb", "a\0b"])
def test_a_name_or_id_that_would_make_another_event_is_refused(wrong: str) -> None:
    with pytest.raises(ValueError, match="event: expected no line end"):
        encoded_event(b"", name=wrong)
    with pytest.raises(ValueError, match="id: expected no line end"):
        encoded_event(b"", id=wrong)


def test_a_keep_alive_is_not_an_event() -> None:
    assert read(KEEP_ALIVE, encoded_event(b"a")) == [Event(b"a")]


@each("cuts", [1, 50, 5000])
def test_the_end_of_a_long_answer_is_kept_with_its_beginning(cuts: int) -> None:
    begin, end = b'{"result":{"x":"', b'"},"id":7}'
    text = b"event: message\ndata: %b\n: a comment\nid: 4\n\n" % (begin + b"x" * 3000 + end)
    decoder, events = SseDecoder(1000), list[Event]()
    for start in range(0, len(text), cuts):
        events += decoder.feed(text[start : start + cuts])
    (event,) = events
    assert (event.overlong, event.id) == (True, "4")
    assert event.data.startswith(begin)
    assert event.data.endswith(end)
    assert len(event.data) <= 640
