"""The names of a frame's outermost members, found in the bytes.

A parser that keeps the last of two members with one name cannot say that there were two. This
reads no more than both ends of a frame, so that what it costs does not grow with the frame.
"""

from __future__ import annotations

__all__ = ("outer_names",)

import re
from collections.abc import Iterator

_END = 256  # bytes at each end of a longer frame that are looked at

_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|["{}\[\]:]', re.DOTALL)

# The same from right to left. There a quote that belongs to a text comes before its backslash.
_MIRRORED = re.compile(rb'"(?:[^"]|"(?=\\))*"(?!\\)|["{}\[\]:]')


def outer_names(frame: bytes) -> list[bytes]:
    """Return the names of the outermost members at both ends of `frame`, which is a JSON object.

    They are as they stand there, with quotes. A frame of up to 512 bytes is read whole.
    """
    if len(frame) <= 2 * _END:
        return list(_from_the_left(frame))
    return [*_from_the_left(frame[:_END]), *_from_the_right(frame.rstrip()[-_END:])]


def _from_the_left(head: bytes) -> Iterator[bytes]:
    depth = 0
    text = b""
    for token in _TOKEN.findall(head):
        if token == b'"':  # the text that the cut went through
            return
        if token in b"{[":
            depth += 1
        elif token in b"}]":
            depth -= 1
        elif token == b":" and depth == 1:
            yield text
        text = token


def _from_the_right(tail: bytes) -> Iterator[bytes]:
    depth = 0
    named = False
    for token in _MIRRORED.findall(tail[::-1]):
        if token == b'"':
            return
        if token in b"}]":
            depth += 1
        elif token in b"{[":
            depth -= 1
        elif token != b":" and named and depth == 1:
            yield token[::-1]
        named = token == b":"
