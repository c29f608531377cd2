"""Which events can be published."""

from __future__ import annotations

from typing import Any

import pytest

from kinwire.mcpe.rules.events import MOST_TAGS, PRIORITIES, TAG_SIZE, event_problems, source_of
from kinwire_protocols.mcpe.models import MCPEvent

EVENT: dict[str, Any] = {
    "id": "f47ac10b-58cc-4372-a567-0e02b2c3d479",
    "type": "github.push",
    "data": {"repository": "owner/repo", "commits": 3},
    "metadata": {"timestamp": "2025-01-15T10:30:00Z", "priority": "normal"},
}


def with_change(pointer: str, value: object) -> MCPEvent:
    """Return the event with one field that is different."""
    changed: dict[str, Any] = {**EVENT, "metadata": dict(EVENT["metadata"])}
    *way, last = pointer.split("/")[1:]
    (changed["metadata"] if way else changed)[last] = value
    return MCPEvent.model_validate(changed, by_alias=True, by_name=False)


def pointers(event: MCPEvent) -> list[str]:
    return [problem.pointer for problem in event_problems(event)]


@pytest.mark.spec("mcpe-4.1-1", "mcpe-4.1-2", "mcpe-4.2-2")
def test_fields_that_do_not_fit_are_refused_with_their_place() -> None:
    table: list[tuple[str, list[str]]] = [
        ("/id", ["", "1", "F47AC10B58CC4372A5670E02B2C3D479", "{" + EVENT["id"] + "}"]),
        ("/id", ["f47ac10b-58cc-1372-a567-0e02b2c3d479", "f47ac10b-58cc-4372-c567-0e02b2c3d479"]),
        ("/id", [EVENT["id"] + "\n", "00000000-0000-0000-0000-000000000000"]),
        ("/type", ["", ".", "github.", ".push", "github..push", "github.*", "*", "a b", "x" * 257]),
        ("/metadata/timestamp", ["", "2025-01-15", "2025-01-15T10:30:00", "yesterday"]),
        ("/metadata/timestamp", ["2025-02-30T10:30:00Z", "1736937000", "2025-01-15T25:00:00Z"]),
        ("/metadata/sourceEventId", ["", "x" * (TAG_SIZE + 1)]),
    ]
    for pointer, values in table:
        for value in values:
            assert pointers(with_change(pointer, value)) == [pointer], value


@pytest.mark.spec("mcpe-4.1-3", "mcpe-4.1-4", "mcpe-1.2-6")
def test_events_that_fit() -> None:
    table: list[tuple[str, list[object]]] = [
        ("/id", [EVENT["id"], EVENT["id"].upper()]),
        ("/type", ["github.push", "github", "github.pull_request.opened", "a.b.c.d.e"]),
        ("/data", [{}, {"type": "x", "deep": {"er": [1, None]}}]),
        ("/metadata/timestamp", ["2025-01-15T10:30:00.123456Z", "2025-01-15T11:30:00+01:00"]),
        ("/metadata/sourceEventId", ["push-18204", "x" * TAG_SIZE]),
        ("/metadata/tags", [[], ["main"], ["x" * TAG_SIZE], ["a"] * MOST_TAGS]),
    ]
    for pointer, values in table:
        for value in values:
            assert pointers(with_change(pointer, value)) == [], value


@pytest.mark.spec("mcpe-4.2-3")
def test_priorities_are_the_four() -> None:
    assert PRIORITIES == ("low", "normal", "high", "critical")
    for priority in PRIORITIES:
        assert pointers(with_change("/metadata/priority", priority)) == []
    for other in ("", "Normal", "urgent"):
        (problem,) = event_problems(with_change("/metadata/priority", other))
        assert str(problem) == (
            f'/metadata/priority: expected one of low, normal, high, critical, got "{other}"'
        )


@pytest.mark.spec("mcpe-4.2-1", "mcpe-4.2-4")
def test_tags_are_limited_in_number_and_length() -> None:
    assert pointers(with_change("/metadata/tags", ["a", "", "b"])) == ["/metadata/tags/1"]
    assert pointers(with_change("/metadata/tags", ["x" * (TAG_SIZE + 1)])) == ["/metadata/tags/0"]
    many = with_change("/metadata/tags", ["a"] * (MOST_TAGS + 1))
    assert [str(one) for one in event_problems(many)] == [
        "/metadata/tags: expected at most 100 tags, got 101"
    ]


def test_all_problems_are_named_together() -> None:
    wrong = MCPEvent.model_validate(
        {"id": "1", "type": "*", "data": {}, "metadata": {"timestamp": "t", "priority": "p"}}
    )
    assert pointers(wrong) == ["/id", "/type", "/metadata/timestamp", "/metadata/priority"]


def test_the_source_is_the_first_name() -> None:
    assert [source_of(one) for one in ("github.push", "github", "a.b.c")] == [
        "github",
        "github",
        "a",
    ]
