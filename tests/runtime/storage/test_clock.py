"""A clock that never goes back."""

from __future__ import annotations

from kinwire.storage.clock import forward


def test_a_clock_that_is_put_back_continues_until_it_has_caught_up() -> None:
    times = iter([9.0, 10.0, 1000.0, 11.0, 14.0, 1006.0, 1008.0])
    paces = iter([0.0, 1.0, 2.0, 3.0, 6.0, 7.0, 8.0])
    now = forward(lambda: next(times), lambda: next(paces))
    assert [now() for _ in range(6)] == [10.0, 1000.0, 1001.0, 1004.0, 1006.0, 1008.0]
