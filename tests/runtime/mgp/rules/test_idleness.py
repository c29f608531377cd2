"""When a server was idle for too long."""

from __future__ import annotations

from kinwire.mgp.rules.idleness import Idleness


def watched(timeout: float, *looks: tuple[float, float, bool]) -> list[float | None]:
    """Return how long each look says to wait; a look is the time, the last use, and `busy`."""
    idleness = Idleness(timeout, 0.0)
    return [idleness.wait(now, used, busy=busy) for now, used, busy in looks]


def test_a_server_without_calls_is_idle_after_its_time() -> None:
    assert watched(100, (0, 0, False)) == [25]
    assert watched(100, (0, 0, False), (25, 0, False), (99, 95, False))[:2] == [25, 25]
    assert watched(8, (0, 0, False), (5, 0, False), (8, 0, False)) == [5, 3, None]
    assert watched(1, (0, 0, False), (1, 0, False)) == [1, None]


def test_calls_count_while_they_are_under_way_and_when_they_end() -> None:
    assert watched(1, (0, 0, True), (1, 0, True), (2, 0, True)) == [1, 1, 1]
    assert watched(1, (0, 0, False), (1, 0.75, False), (1.75, 0.75, False)) == [1, 0.75, None]


def test_time_in_which_the_program_stood_still_does_not_count() -> None:
    """Two hours by SIGSTOP: no server is shut down immediately then."""
    assert watched(60, (0, 0, False), (7200, 0, False), (7215, 0, False))[1:] == [15, 15]
    looks = [(7200.0 + 15 * one, 0.0, False) for one in range(5)]
    assert watched(60, (0, 0, False), *looks) == [15, 15, 15, 15, 15, None]
