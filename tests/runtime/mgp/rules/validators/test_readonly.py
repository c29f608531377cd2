"""What `readonly` refuses: tools that say that they write, statements, commands, methods."""

from __future__ import annotations

from typing import Any

from hypothesis import given, strategies as st

from tests.runtime.mgp.rules.validators.fixtures_vectors import known, reasons, vectors

MORE = vectors("more_readonly.json")
SQL_BLOCKED: list[str] = MORE["sql_blocked"]


def test_statements_are_separated_into_reading_and_writing() -> None:
    for tool, name in (("query", "sql"), ("sqlite_query", "query"), ("tool", "statement")):
        judged = known(tool)
        missed = [one for one in SQL_BLOCKED if not reasons("readonly", {name: one}, judged)]
        falsely = [one for one in MORE["sql_allowed"] if reasons("readonly", {name: one}, judged)]
        assert (missed, falsely) == ([], [])


def test_commands_are_separated_into_reading_and_writing() -> None:
    tool = known("run_command")
    for one in MORE["shell_blocked"]:
        assert reasons("readonly", {"command": one}, tool), one
        assert reasons("readonly", {"a": [{"cmd": one}]}, tool), one
    for one in MORE["shell_allowed"]:
        assert not reasons("readonly", {"command": one}, tool), one


def call(tool: str, arguments: dict[str, Any], effects: list[str] | None = None) -> list[str]:
    return reasons("readonly", arguments, known(tool, effects))


def test_names_declarations_and_arguments_say_what_a_call_does() -> None:
    assert [one for one in MORE["calls_blocked"] if not call(*one)] == []
    assert [(one, call(*one)) for one in MORE["calls_allowed"] if call(*one)] == []


def test_hints_of_a_tool_count() -> None:
    for hints, passes in (
        ({"readOnlyHint": False}, False),
        ({"destructiveHint": True}, False),
        ({"readOnlyHint": True}, True),
        ({}, True),
    ):
        tool = known("thing", annotations=hints)
        assert bool(reasons("readonly", {"path": "a"}, tool)) is not passes
    reader = known("thing", annotations={"readOnlyHint": True})
    assert not reasons("readonly", {"content": "x"}, reader)
    assert reasons("readonly", {"content": "x"}, "thing")


STATEMENTS = [one for one in SQL_BLOCKED if one.replace(" ", "").isalpha() and " " in one]


@given(st.sampled_from(STATEMENTS), st.data())
def test_blocked_statements_stay_blocked_when_they_are_spelled_differently(
    statement: str, data: st.DataObject
) -> None:
    cased = "".join(data.draw(st.sampled_from([one.upper(), one.lower()])) for one in statement)
    blank = data.draw(st.sampled_from(["  ", "\n", "\t", "/**/", "/* select */ ", " -- x\n"]))
    before = data.draw(st.sampled_from(["", " ", "\n", "-- select\n", "/* a */", "select 1;", "("]))
    after = data.draw(st.sampled_from(["", ";", " -- x", "; select 1"]))
    made = before + cased.replace(" ", blank) + after
    assert call("query", {"sql": made}), made
    assert call("query", {"a": [{"sql": [made]}]}), made
