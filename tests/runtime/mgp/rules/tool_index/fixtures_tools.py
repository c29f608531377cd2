"""Entries of an index for tests."""

from __future__ import annotations

__all__ = ("catalog", "catalog_queries", "indexed")

import json
from collections.abc import Iterator
from typing import Any

from kinwire.mgp.rules.server_policy import ServerPolicy
from kinwire.mgp.rules.tool_index.entry import IndexedTool
from kinwire.mgp.rules.tool_index.labels import indexed_tool
from kinwire.mgp.rules.tools import known_tool
from tests.absent import shared


def indexed(name: str, description: str = "", *, server: str = "s", **more: object) -> IndexedTool:
    """Return a tool; its digest depends on the name and the description alone."""
    definition = {"name": name, "description": description, **more}
    return IndexedTool(
        server_id=server,
        name=name,
        description=description,
        definition=definition,
        risk="safe",
        security={"risk_level": "safe"},
        categories=(f"kind/{name[0]}",),
        keywords=(),
        category_source="derived",
        digest=f"{name} {description}",
    )


def catalog() -> Iterator[IndexedTool]:
    """Yield the tools of real servers; ends the test if they are not next to the project."""
    tools: list[Any] = json.loads(shared("corpora/tool-catalog/tools.json").read_text("utf-8"))
    for tool in tools:
        definition = {name: tool[name] for name in ("name", "description", "inputSchema")}
        known = known_tool(definition, ServerPolicy(), "standard")
        assert known is not None
        yield indexed_tool(tool["server"], definition, known)


def catalog_queries() -> list[tuple[str, list[str]]]:
    """Return steps of tasks, each with the names of the tools that do it."""
    path = shared("corpora/tool-catalog/query_tool_pairs.json")
    pairs: list[Any] = json.loads(path.read_text("utf-8"))
    return [(query, names) for query, names in pairs]
