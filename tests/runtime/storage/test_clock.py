"""A clock that never goes back."""

from __future__ import annotations

from kinwire.storage.clock import forward


def test_a_clock_that_is_put_back_stands_still_until_it_has_caught_up() -> None:
    times = iter([10.0, 12.0, 3.0, 11.0, 13.0])
    now = forward(lambda: next(times))
    assert [now() for _ in range(5)] == [10.0, 12.0, 12.0, 12.0, 13.0]
