"""Names with signs of their own survive a pointer."""

from __future__ import annotations

from kinwire.support.json_values import pointer_below, steps_of
from tests.each import each


@each("name", ["a", "", "0", "a/b", "~", "~1", "~01/"])
def test_a_name_is_read_as_it_was_written(name: str) -> None:
    assert steps_of(pointer_below("/a", name)) == ["a", name]


def test_a_pointer_may_be_the_fragment_of_a_reference() -> None:
    assert steps_of("#/$defs/a~1b") == ["$defs", "a/b"]
    assert steps_of("#") == steps_of("") == []
