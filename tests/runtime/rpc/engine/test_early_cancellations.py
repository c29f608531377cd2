"""Cancellations that have overtaken their requests are remembered, some of them, for a while."""

from __future__ import annotations

from kinwire.rpc.engine.early_cancellations import LONGEST_ID, REMEMBERED, EarlyCancellations


def test_a_request_that_comes_later_is_known_once() -> None:
    early = EarlyCancellations()
    early.add(1, 100.0)
    assert not early.has("1", 101.0)
    assert early.has(1, 129.0)
    assert not early.has(1, 129.0)


def test_it_is_forgotten_after_a_while_and_among_many() -> None:
    early = EarlyCancellations()
    early.add("a", 100.0)
    assert not early.has("a", 130.0)
    early.add("a", 100.0)
    for number in range(REMEMBERED):
        early.add(number, 100.0)
    assert not early.has("a", 100.0)
    assert early.has(0, 100.0)
    early.add("x" * (LONGEST_ID + 1), 100.0)
    assert not early.has("x" * (LONGEST_ID + 1), 100.0)
