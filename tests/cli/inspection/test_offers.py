"""The entries of a server's lists, apart from what breaks the schema."""

from __future__ import annotations

from typing import Any

from kinwire_cli.inspection.offers import entry_problems
from tests.each import each

GOOD = {"description": "d", "inputSchema": {"type": "object"}}


@each(
    ("method", "entries", "problems"),
    [
        ("tools/list", [{"name": "a", **GOOD}, {"name": "b", **GOOD}], []),
        ("tools/list", [{"name": "a", **GOOD}] * 2, ['error tools/list: name "a" stands there 2']),
        (
            "tools/list",
            [{"name": "my tool", **GOOD}],
            ['warning tools/list, tool "my tool": has a name that some clients'],
        ),
        ("tools/list", [{"name": "x" * 65, **GOOD}], ['warning tools/list, tool "xxx']),
        (
            "tools/list",
            [{"name": "a", **GOOD, "description": " "}],
            ['warning tools/list, tool "a": has no description.'],
        ),
        (
            "tools/list",
            [{"name": "a", **GOOD, "inputSchema": {"required": 1}}],
            ['error tools/list, tool "a", inputSchema#/required: expected a list of names'],
        ),
        (
            "prompts/list",
            [{"name": "a"}] * 3,
            ['error prompts/list: name "a" stands there 3'],
        ),
        (
            "prompts/list",
            [{"name": "a", "arguments": [{"name": "x"}, {"name": "x"}]}],
            ['error prompts/list, prompt "a", arguments: name "x" stands there 2 times.'],
        ),
        ("resources/list", [{"uri": "x:1", "name": "a"}, {"uri": "x:1", "name": "b"}], []),
        ("resources/list", [{"uri": "x:1", "name": "a"}] * 2, ['error resources/list: uri "x:1"']),
        ("resources/list", [{"uri": "a.txt"}], ['error resources/list, resource "a.txt": is no']),
        ("resources/templates/list", [{"uriTemplate": "x:{a}/{+b,c*}{?d:3}"}], []),
        (
            "resources/templates/list",
            [{"uriTemplate": "x:{a"}],
            ['error resources/templates/list, template "x:{a": is not a URI template of RFC 6570.'],
        ),
        ("tools/list", [5, None, {"name": 5}, {}], ["warning tools/list, tool 5", "warning"]),
        ("prompts/list", [{"arguments": 5}, {"name": "a", "arguments": [5]}], []),
        ("resources/list", [{"uri": None}], []),
        ("ping", [5], []),
    ],
)
def test_entries_that_break_clients_are_reported(
    method: str, entries: list[Any], problems: list[str]
) -> None:
    found = [f"{one.severity} {one.where}: {one.text}" for one in entry_problems(method, entries)]
    assert len(found) == len(problems), found
    assert all(map(str.startswith, found, problems)), found
