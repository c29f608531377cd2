"""Edits of real tools: a document with tools alone is judged as the tools of a server."""

from __future__ import annotations

import json
from collections.abc import Callable
from copy import deepcopy
from functools import cache
from typing import Any

import pytest

from kinwire_codegen.compare.verdict import Category, Level
from tests.absent import shared
from tests.codegen.compare.documents import Node, against
from tests.codegen.documents import protocol

pytestmark = pytest.mark.slow


@cache
def tools() -> list[Any]:
    found: list[Any] = json.loads(
        shared("corpora/tool-catalog/tools.json").read_text(encoding="utf-8")
    )
    return found


def catalog(edit: Callable[[Node], int]) -> tuple[Node, int]:
    """Return a document with all tools after an edit of their arguments, and how many were made."""
    row = {"section": "1", "summary": "It.", "result": "mcp.json#/$defs/CallToolResult"}
    types: Node = {}
    rows: Node = {}
    count = 0
    for number, tool in enumerate(tools()):
        schema = deepcopy(tool["inputSchema"])
        count += edit(schema)
        types[f"T{number}"] = {"description": "Arguments."} | schema
        rows[f"{tool['server']}/{tool['name']}"] = row | {"params": f"#/$defs/T{number}"}
    return protocol(types=types, tools=rows), count


def unchanged(schema: Node) -> int:
    return 0


def wider(schema: Node) -> int:
    """Require nothing, and take one argument more, any value, and one more value of each set."""
    needed = schema.pop("required", [])
    members = schema.setdefault("properties", {})
    for name, node in members.items():
        members[name] = {"enum": [*node["enum"], "brand-new"]} if "enum" in node else {}
    members["brandNew"] = {"type": "string"}
    return len(members) + len(needed)


def required(schema: Node) -> int:
    members = list(schema.get("properties", {}))
    added = len(members) - len(schema.get("required", []))
    schema["required"] = members
    return added


def test_tools_that_take_more_break_nobody() -> None:
    (old, _), (new, count) = catalog(unchanged), catalog(wider)
    found = against(old, new).of(Category.WIRE)
    assert len(found) > count / 2 > 1000
    assert [change.what for change in found if change.level is Level.BREAKING] == []


def test_tools_that_require_more_break_old_callers() -> None:
    (old, _), (new, count) = catalog(unchanged), catalog(required)
    found = against(old, new).of(Category.WIRE)
    assert len(found) == count > 500
    assert {str(victim) for change in found for victim in change.breaks} == {"old senders (client)"}
