"""Entries of an index for tests."""

from __future__ import annotations

__all__ = ("indexed",)

from kinwire.mgp.rules.tool_index.entry import IndexedTool


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
