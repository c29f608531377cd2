"""How texts are cut into chunks, and which chunks of a server count."""

from __future__ import annotations

from hypothesis import example, given, strategies as st

from kinwire.mgp.rules.chunks import MOST_BYTES, ChunkOrder, parts_of
from tests.each import each

UNITS = st.sampled_from(["a", "\u00e9", "\u20ac", "\U0001f600"])


@given(st.lists(UNITS, min_size=1, max_size=4), st.integers(0, 3))
@example(["\U0001f600"], 3)
def test_parts_are_the_text_again_and_none_is_too_large(units: list[str], more: int) -> None:
    unit = "".join(units)
    text = "a" * more + unit * (2 * MOST_BYTES // len(unit.encode()))
    parts = list(parts_of(text))
    assert "".join(parts) == text
    assert all(MOST_BYTES - 3 <= len(part.encode()) <= MOST_BYTES for part in parts[:-1])
    assert 0 < len(parts[-1].encode()) <= MOST_BYTES
    assert list(parts_of(unit)) == [unit]


@each(
    ("indexes", "admitted", "missed", "dropped"),
    [
        ([0, 1, 2], [0, 1, 2], 0, 0),
        ([], [], 0, 0),
        ([0, 0, 1, 1], [0, 1], 0, 2),
        ([0, 3, 4], [0, 3, 4], 2, 0),
        ([2, 0, 1, 3], [2, 3], 2, 2),
        ([1_000_000], [1_000_000], 1_000_000, 0),
    ],
)
def test_gaps_are_counted_and_repeated_or_late_chunks_dropped(
    indexes: list[int], admitted: list[int], missed: int, dropped: int
) -> None:
    order = ChunkOrder()
    assert [one for one in indexes if order.admit(one)] == admitted
    assert (order.missed, order.dropped) == (missed, dropped)


def test_nothing_is_taken_after_the_last_chunk_and_the_end_says_what_is_missing() -> None:
    order = ChunkOrder()
    assert order.admit(0, done=True)
    assert not order.admit(1)
    for sent, missed in ((None, 0), (0, 0), (1, 0), (4, 3)):
        order = ChunkOrder()
        order.admit(0)
        order.end(sent)
        assert order.missed == missed
        assert not order.admit(1)
