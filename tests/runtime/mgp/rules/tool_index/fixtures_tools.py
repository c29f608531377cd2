"""Entries of an index for tests."""

from __future__ import annotations

__all__ = ("catalog", "catalog_queries", "indexed")

from kinwire.mgp.rules.tool_index.entry import IndexedTool
from tests.absent import shared
from tests.bench import tool_catalog


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


def catalog() -> list[IndexedTool]:
    """Return the tools of real servers; ends the test if they are not next to the project."""
    shared("corpora/tool-catalog")
    return tool_catalog.indexed(tool_catalog.real_tools())


def catalog_queries() -> list[tuple[str, list[str]]]:
    """Return steps of tasks, each with the names of the tools that do it."""
    shared("corpora/tool-catalog")
    return tool_catalog.queries()
