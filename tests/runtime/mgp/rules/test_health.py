"""What a kernel concludes from the answers of a server about its health (MGP 0.2.0, 11.3)."""

from __future__ import annotations

import pytest

from kinwire.mgp.rules.health import (
    ServerHealth,
    after_answer,
    after_miss,
    after_status,
    health_word,
)
from kinwire_protocols.mgp.models import HealthStatusResult
from kinwire_protocols.mgp.tables import HEALTH_STATUSES


@pytest.mark.spec(
    "mgp-11.3-mgp-health-ping-4", "mgp-11.3-mgp-health-ping-5", "mgp-11.3-mgp-health-ping-6"
)
def test_the_three_words_count_as_they_are_and_any_other_as_degraded() -> None:
    words = list(HEALTH_STATUSES)
    assert [health_word(one) for one in words] == ["healthy", "degraded", "unhealthy"]
    assert [health_word(one) for one in ("HEALTHY", "ok", "", None)] == ["degraded"] * 4


def test_an_answer_ends_a_row_of_misses_and_a_status_that_is_missing_is_no_miss() -> None:
    health = after_miss(after_miss(ServerHealth()))
    assert (health.misses, health.status) == (2, "healthy")
    health = after_answer(health, "healthy", 7.0, 0.5)
    assert (health.misses, health.answered_at, health.round_trip) == (0, 7.0, 0.5)
    said = HealthStatusResult(status="odd", checks={"disk": False}, resources={"open": 2})
    ready = after_status(health, said)
    assert (ready.status, ready.checks, ready.resources) == (
        "degraded",
        {"disk": False},
        {"open": 2},
    )
    silent = after_status(after_answer(ready, "healthy", 8.0, 0.1), None)
    assert (silent.status, silent.checks, silent.misses) == ("degraded", {}, 0)
    assert after_status(after_answer(ready, "unhealthy", 8.0, 0.1), None).status == "unhealthy"
