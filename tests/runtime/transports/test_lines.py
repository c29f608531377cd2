"""Newline framing: the same lines whatever the pieces are in which they arrive."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given, strategies as st

from kinwire.transports.lines import Lines
from tests.each import each


class Got:
    """What a splitter has handed over."""

    def __init__(self, limit: int) -> None:
        self.lines: list[bytes | None] = []  # None for one that was too long
        self.splitter = Lines(limit, self.lines.append, lambda head: self.lines.append(None))

    def receive(self, *chunks: bytes) -> list[bytes | None]:
        for chunk in chunks:
            self.splitter.receive(chunk)
        return self.lines


LINES = st.lists(st.binary(max_size=12).map(lambda line: line.replace(b"\n", b"\r")), max_size=8)


@given(lines=LINES, cuts=st.lists(st.integers(0, 100), max_size=12))
def test_lines_do_not_depend_on_the_pieces(lines: list[bytes], cuts: list[int]) -> None:
    data = b"".join(line + b"\n" for line in lines)
    edges = [0, *sorted(cut for cut in cuts if cut < len(data)), len(data)]
    pieces = [data[start:end] for start, end in pairwise(edges)]
    expected = [None if len(line) > 8 else line for line in lines]
    assert Got(8).receive(*pieces) == expected


def test_an_endless_line_is_reported_once_and_not_kept() -> None:
    got = Got(1000)
    assert got.receive(*[b"x" * 700] * 100) == [None]
    assert got.splitter.unfinished
    assert got.receive(b"x\nnext\n") == [None, b"next"]


@each(
    ("pieces", "lines"),
    [
        ([b"a\nb"], [b"a", b"b"]),
        ([b"a\n"], [b"a"]),
        ([b"", b"a", b"b"], [b"ab"]),
        ([b"x" * 20], [None]),
        ([], []),
    ],
)
def test_the_end_of_input_ends_the_last_line(
    pieces: list[bytes], lines: list[bytes | None]
) -> None:
    got = Got(10)
    got.receive(*pieces)
    got.splitter.end()
    assert got.lines == lines


@each("byte", [b"\r", b"\x0b", b"\x0c", b"\x85", "\u2028".encode()])
def test_no_other_byte_ends_a_line(byte: bytes) -> None:
    assert Got(100).receive(b"a" + byte + b"b\n") == [b"a" + byte + b"b"]


@each("cuts", [1, 7, 300, 5000])
@each("ended", [True, False])
def test_the_end_of_a_long_answer_is_handed_over_with_its_beginning(
    cuts: int, *, ended: bool
) -> None:
    begin, end = b'{"result":{"x":"', b'"},"jsonrpc":"2.0","id":7}'
    line = begin + b"x" * 3000 + end
    ends: list[bytes] = []
    lines: list[bytes] = []
    splitter = Lines(1000, lines.append, ends.append)
    data = line + b"\nnext\n" if ended else line
    for start in range(0, len(data), cuts):
        splitter.receive(data[start : start + cuts])
    if not ended:
        assert not ends or cuts == 5000
        splitter.end()
    (found,) = ends
    assert (found[:512], found[-128:]) == (line[:512], line[-128:])
    assert lines == ([b"next"] if ended else [])
