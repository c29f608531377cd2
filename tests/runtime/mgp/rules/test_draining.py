"""How long a server that shuts down will take, as far as it can tell (MGP 0.2.0, 11.4)."""

from __future__ import annotations

import pytest

from kinwire.mgp.rules.draining import estimated_drain


@pytest.mark.spec("mgp-11.4-mgp-lifecycle-shutdown-3")
def test_the_estimate_is_what_the_slowest_call_took_and_never_more_than_the_limit() -> None:
    rows: list[tuple[list[float], float | None, int, float, float]] = [
        ([], None, 0, 30, 0),  # nothing is under way
        ([], 9.0, 0, 30, 0),
        ([1.0, 2.0], None, 2, 30, 30),  # no call has ended yet
        ([1.0, 2.0], 5.0, 2, 30, 4),  # the youngest has the longest way
        ([1.0, 2.0], 5.0, 3, 30, 5),  # one of them is not a call, and may have begun now
        ([1.0, 6.0], 5.0, 2, 30, 30),  # one takes longer than any before
        ([5.0], 5.0, 1, 30, 30),
        ([1.0], 50.0, 1, 30, 30),
        ([0.0], 50.0, 1, 0, 0),
        ([], 0.5, 1, 30, 0.5),
    ]
    for ages, longest, pending, limit, expected in rows:
        assert estimated_drain(ages, longest, pending, limit) == expected
