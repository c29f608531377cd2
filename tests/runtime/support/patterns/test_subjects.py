"""Which subjects a pattern means."""

from __future__ import annotations

from kinwire.support.patterns.subjects import subject_matcher
from tests.each import each

SUBJECTS = ["a", "a.b", "a.b.c", "b", "b.b", "ä.b", "a-b.c=d"]


@each(
    ("pattern", "means"),
    [
        (">", SUBJECTS),
        ("*", ["a", "b"]),
        ("a.>", ["a.b", "a.b.c"]),
        ("*.b", ["a.b", "b.b", "ä.b"]),
        ("a.*.c", ["a.b.c"]),
    ],
)
def test_a_star_is_one_word_and_a_last_angle_one_or_more(pattern: str, means: list[str]) -> None:
    assert [subject for subject in SUBJECTS if subject_matcher(pattern)(subject)] == means
