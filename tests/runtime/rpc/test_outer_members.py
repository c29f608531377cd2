"""Names of outermost members, found in the bytes of a frame."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, strategies as st

from kinwire.rpc.outer_members import outer_names
from tests.each import each

TRICKY = st.text(alphabet='a"\\{}[]:, é\n', max_size=8)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | TRICKY,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TRICKY, inner, max_size=4),
    max_leaves=20,
)
PAD = b"x" * 2000


@given(st.dictionaries(TRICKY, VALUES, max_size=6), st.booleans())
def test_both_directions_find_the_names_that_a_parser_finds(
    message: dict[str, Any], ascii: bool
) -> None:
    def quoted(name: str) -> bytes:
        return json.dumps(name, ensure_ascii=ascii).encode()

    frame = json.dumps(message, ensure_ascii=ascii).encode()
    names = [quoted(name) for name in message]
    if len(frame) <= 250:
        assert outer_names(frame) == names
        padded = b'{"left":"%b","pad":"%b",%b' % (PAD, PAD, frame[1:])
        if message:
            assert outer_names(padded)[:0:-1] == names


@each(
    ("frame", "names"),
    [
        pytest.param('{"a":1,"b":"%s","a":2}', [b'"a"', b'"b"', b'"a"'], id="both ends"),
        pytest.param('{"a":"\\"b\\":%s","c":1}', [b'"a"', b'"c"'], id="quotes inside"),
        pytest.param('{"a":{"id":1},"b":"%s","c":[{"id":2}]}', [b'"a"', b'"b"', b'"c"'], id="deep"),
    ],
)
def test_only_outermost_names_at_the_ends_of_a_long_frame_are_found(
    frame: str, names: list[bytes]
) -> None:
    assert outer_names(frame.encode() % PAD) == names
