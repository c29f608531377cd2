"""Frames that arrive in any pieces mean the same when long ones are split."""

from __future__ import annotations

from itertools import cycle, pairwise
from operator import xor
from typing import NamedTuple

from hypothesis import given, strategies as st

from kinwire.transports.websocket.splitting import LONGEST_PIECE, FrameSplitter, HeadReader
from tests.each import each

KEY = b"\x01\x23\x45\x67"
PAYLOAD = bytes(range(251)) * 800
SIZES = [0, 1, 125, 126, 127, 65_535, 65_536, 65_537, 200_000]


class Sent(NamedTuple):
    """A frame."""

    first: int
    masked: bool
    data: bytes


def masked(data: bytes, key: bytes) -> bytes:
    return bytes(map(xor, data, cycle(key))) if key else data


def written(frame: Sent) -> bytes:
    size, bit = len(frame.data), 0x80 if frame.masked else 0
    length = bytes([bit | size])[:1] if size < 126 else b""
    if size > 125:
        length = bytes([bit | 126]) + size.to_bytes(2) if size < 1 << 16 else b""
    if size >= 1 << 16:
        length = bytes([bit | 127]) + size.to_bytes(8)
    head = bytes([frame.first]) + length
    return head + (KEY + masked(frame.data, KEY) if frame.masked else frame.data)


def read(data: bytes) -> list[Sent]:
    """Return the frames in `data`, unmasked."""
    found = []
    while data:
        size, at = data[1] & 0x7F, 2
        if size > 125:
            at = 4 if size == 126 else 10
            size = int.from_bytes(data[2:at])
        bit = data[1] & 0x80
        key, at = (data[at : at + 4], at + 4) if bit else (b"", at)
        assert len(data) >= at + size
        found.append(Sent(data[0], bool(bit), masked(data[at : at + size], key)))
        data = data[at + size :]
    return found


def joined(frames: list[Sent]) -> list[Sent]:
    """Return the frames with the pieces of each message put together; control frames come first."""
    found: list[Sent] = []
    begun: Sent | None = None
    for frame in frames:
        opcode = frame.first & 0x0F
        if opcode > 7:
            found.append(frame)
            continue
        begun = frame if begun is None else begun._replace(data=begun.data + frame.data)
        if frame.first & 0x80:
            found.append(begun._replace(first=begun.first | 0x80))
            begun = None
    return found if begun is None else [*found, begun]


@st.composite
def messages(draw: st.DrawFn) -> list[Sent]:
    frames: list[Sent] = []
    is_masked = draw(st.booleans())
    for _ in range(draw(st.integers(1, 3))):
        opcode = draw(st.sampled_from([1, 2]))
        pieces = draw(st.lists(st.sampled_from(SIZES), min_size=1, max_size=3))
        for number, size in enumerate(pieces):
            final = 0x80 if number == len(pieces) - 1 else 0
            frames.append(Sent(final | (0 if number else opcode), is_masked, PAYLOAD[:size]))
            if draw(st.booleans()):
                frames.append(Sent(0x89, is_masked, b"ping"))
    return frames


@given(frames=messages(), cuts=st.lists(st.integers(0, 400_000), max_size=6))
def test_messages_are_the_same_however_they_are_cut(frames: list[Sent], cuts: list[int]) -> None:
    sent = b"".join(map(written, frames))
    splitter = FrameSplitter()
    places = sorted({0, len(sent), *(cut for cut in cuts if cut < len(sent))})
    parts = [splitter.feed(sent[start:end]) for start, end in pairwise(places)]
    assert joined(read(b"".join(parts))) == joined(frames)


def test_a_long_frame_is_passed_on_as_it_arrives() -> None:
    splitter = FrameSplitter()
    head = b"\x81\x7f" + (LONGEST_PIECE * 4).to_bytes(8)
    assert splitter.feed(head[:7]) == b""
    assert splitter.feed(head[7:]) == b""
    for number in range(4):
        (piece,) = read(splitter.feed(bytes(LONGEST_PIECE)))
        assert piece.first == (1 if number == 0 else 0x80 if number == 3 else 0)
    assert splitter.feed(b"\x81\x01x") == b"\x81\x01x"


@each("first", [0x89, 0x83, 0x8F])
def test_frames_that_break_the_rules_are_left_as_they_are(first: int) -> None:
    frame = Sent(first, False, bytes(70_000))
    assert FrameSplitter().feed(written(frame)) == written(frame)


def test_one_byte_at_a_time_is_enough() -> None:
    frames = [Sent(0x81, True, b"a" * 130), Sent(0x8A, True, b""), Sent(0x81, True, b"b")]
    splitter = FrameSplitter()
    sent = b"".join(map(written, frames))
    parts = [splitter.feed(sent[at : at + 1]) for at in range(len(sent))]
    assert read(b"".join(parts)) == frames


@each("step", [1, 2, 3, 5, 100])
def test_what_comes_behind_a_head_is_kept(step: int) -> None:
    data, reader = b"HTTP/1.1 101 x\r\nA: b\r\n\r\n\x81\x01x\r\n\r\n", HeadReader()
    parts = [reader.feed(data[at : at + step]) for at in range(0, len(data), step)]
    assert b"".join(parts) == b"HTTP/1.1 101 x\r\nA: b\r\n\r\n"
    assert reader.rest == b"\x81\x01x\r\n\r\n"
