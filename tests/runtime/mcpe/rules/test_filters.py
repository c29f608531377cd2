"""Which filters a server takes, and what they select."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from kinwire.mcpe.rules.features import EventFeatures
from kinwire.mcpe.rules.filters import CompiledFilter, filter_problems
from kinwire.mcpe.rules.refusals import invalid_input
from kinwire_protocols.mcpe.models import EventFilter

ALL = EventFeatures(max_filters=10)


def filter_of(**fields: Any) -> EventFilter:
    return EventFilter.model_validate(fields, by_alias=True, by_name=False)


@pytest.mark.spec("mcpe-5.2-3", "mcpe-5.2-4", "mcpe-5.2-5")
def test_all_fields_match_by_any_of_their_values() -> None:
    events = [
        ("github.push", ("main",), "high"),
        ("github.push", (), "low"),
        ("slack.message", ("main", "team"), "low"),
        ("github", ("x",), "normal"),
    ]
    table: list[tuple[dict[str, Any], list[int]]] = [
        ({}, [0, 1, 2, 3]),
        ({"eventTypes": [], "tags": [], "priority": []}, [0, 1, 2, 3]),
        ({"eventTypes": ["github.*"]}, [0, 1]),
        ({"eventTypes": ["github.*", "slack.message"]}, [0, 1, 2]),
        ({"eventTypes": ["*", "x"]}, [0, 1, 2, 3]),
        ({"tags": ["team", "x"]}, [2, 3]),
        ({"priority": ["low", "high"]}, [0, 1, 2]),
        ({"eventTypes": ["github.*"], "tags": ["main"]}, [0]),
        ({"eventTypes": ["github.*"], "priority": ["low"]}, [1]),
        ({"eventTypes": ["*"], "tags": ["main"], "priority": ["low"]}, [2]),
        ({"eventTypes": ["github.push"], "tags": ["team"]}, []),
    ]
    for fields, selected in table:
        compiled = CompiledFilter.of(filter_of(**fields))
        assert [at for at, event in enumerate(events) if compiled.selects(*event)] == selected


def test_filters_with_one_meaning_are_equal() -> None:
    first = CompiledFilter.of(
        filter_of(eventTypes=["a.*", "b", "a.b", "a.c.*", "b"], tags=["x", "y"])
    )
    second = CompiledFilter.of(
        filter_of(eventTypes=["b", "a.*"], tags=["y", "x", "x"], priority=[])
    )
    assert first == second
    assert CompiledFilter.of(filter_of(eventTypes=["a", "*"])) == CompiledFilter.of(filter_of())


@pytest.mark.spec("mcpe-3.2-8", "mcpe-3.2-9", "mcpe-3.2-10")
def test_what_the_server_does_not_support_is_refused_with_its_place() -> None:
    table: list[tuple[str, dict[str, Any], list[str]]] = [
        (
            "wildcard_types",
            {"eventTypes": ["a", "a.*", "*"]},
            ["eventTypes/1", "eventTypes/2"],
        ),
        ("tags", {"tags": ["x"]}, ["tags"]),
        ("priorities", {"priority": ["low"]}, ["priority"]),
    ]
    for flag, fields, places in table:
        options: dict[str, Any] = {"max_filters": 10, flag: False}
        without = EventFeatures(**options)
        found = [one.pointer for one in filter_problems(filter_of(**fields), without)]
        assert found == [f"/filter/{place}" for place in places]
        assert list(filter_problems(filter_of(**fields), ALL)) == []
        empty = filter_of(**{name: [] for name in fields})
        assert list(filter_problems(empty, without)) == []


@pytest.mark.spec("mcpe-5.2-1", "mcpe-5.2-2", "mcpe-12.1-5")
def test_patterns_and_tags_that_do_not_fit_are_refused() -> None:
    filter = filter_of(eventTypes=["a.*", "*.a", "a b"], tags=["", "t" * 257])
    found = list(filter_problems(filter, ALL, at="/updates/filter"))
    assert [one.pointer for one in found] == [
        f"/updates/filter/{place}" for place in ("eventTypes/1", "eventTypes/2", "tags/0", "tags/1")
    ]
    error = invalid_input("events_update", found[:1])
    assert error.code == -32602
    assert error.data == {"problems": [found[0].to_json()]}
    assert str(error.message).startswith("events_update#/updates/filter/eventTypes/1: expected")


@pytest.mark.spec("mcpe-3.2-4")
def test_the_values_of_all_lists_are_counted_together() -> None:
    filter = filter_of(eventTypes=["a", "b"], tags=["c"], priority=["low"])
    assert list(filter_problems(filter, replace(ALL, max_filters=4))) == []
    (problem,) = filter_problems(filter, replace(ALL, max_filters=3))
    assert str(problem) == "/filter: expected at most 3 values in all lists together, got 4"
