"""The methods of a specification, without those that were added to its document."""

from __future__ import annotations

__all__ = ("OURS", "specified")

from typing import Any

from kinwire_protocols.peer import Method, ProtocolTable

OURS = "Ours"
"""The section of a method that no specification has, as schema/README.md says."""


def specified(table: ProtocolTable) -> dict[str, Method[Any, Any]]:
    """Return the methods of `table` that stand in the specification, by wire name."""
    return {name: row for name, row in table.methods.items() if row.section != OURS}
