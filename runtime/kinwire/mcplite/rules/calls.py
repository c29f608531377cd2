"""A call of a tool, whatever the transport (MCP-lite 0.042 section 3.2)."""

from __future__ import annotations

__all__ = ("ToolCall",)

from dataclasses import dataclass, field
from typing import Any

from kinwire_protocols.base import JsonObject


@dataclass(slots=True)
class ToolCall:
    """A call of a tool, as it came, or as it leaves."""

    name: str
    arguments: JsonObject = field(default_factory=dict[str, Any])
    meta: JsonObject = field(default_factory=dict[str, Any])
    """The `_meta` of the request."""
