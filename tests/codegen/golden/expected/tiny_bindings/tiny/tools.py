# pyright: reportDeprecated=false
# mypy: disable-error-code=deprecated
"""The tools that Tiny defines. Generated from tiny.json by `kinwire generate`: do not edit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from tiny_bindings import lazy
from tiny_bindings.tiny import errors
from tiny_bindings.tinybase import errors as tinybase_errors, methods as caller_methods
from tiny_bindings.tool_methods import ToolMethod

if TYPE_CHECKING:
    from tiny_bindings.tiny.models import DustParams, DustResult
    from tiny_bindings.tinybase.models import CallResult

DUST: Final[ToolMethod[DustParams, DustResult]] = ToolMethod(
    name="dust",
    protocol="tiny",
    attribute="dust",
    params=lazy.Lazy("tiny_bindings.tiny.models.DustParams"),
    result=lazy.Lazy("tiny_bindings.tiny.models.DustResult"),
    caller=caller_methods.TOOLS_CALL,
    errors=(
        errors.NoSuchBookError,
        tinybase_errors.LockedError,
    ),
    section="4.1",
    aliases=("dust_off",),
    definition={
        "name": "dust",
        "description": "Dust the shelf. Not on Sundays.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "shelf": {"type": "string", "description": "Which one; absent for all."},
                "tools": {
                    "type": "array",
                    "items": {"$ref": "#/$defs/Lamp"},
                    "description": "What to dust with.",
                },
            },
            "$defs": {
                "Lamp": {
                    "description": "Something that shines.",
                    "deprecated": True,
                    "type": "object",
                    "properties": {
                        "name": {"type": "string", "description": "What it is called."},
                        "watts": {"type": "integer", "description": "How brightly it shines."},
                    },
                    "required": ["name"],
                }
            },
        },
        "@type": "chore",
    },
)
"""Dust the shelf."""

BOOKS_FIND_TOOL: Final[ToolMethod[DustParams, CallResult]] = ToolMethod(
    name="books/find",
    protocol="tiny",
    attribute="books_find_tool",
    params=lazy.Lazy("tiny_bindings.tiny.models.DustParams"),
    result=lazy.Lazy("tiny_bindings.tinybase.models.CallResult"),
    caller=caller_methods.TOOLS_CALL,
    whole=True,
    section="4.2",
    status="deprecated",
    definition={
        "name": "books/find",
        "description": "Find books by a tool.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "shelf": {"type": "string", "description": "Which one; absent for all."},
                "tools": {
                    "type": "array",
                    "items": {"$ref": "#/$defs/Lamp"},
                    "description": "What to dust with.",
                },
            },
            "$defs": {
                "Lamp": {
                    "description": "Something that shines.",
                    "deprecated": True,
                    "type": "object",
                    "properties": {
                        "name": {"type": "string", "description": "What it is called."},
                        "watts": {"type": "integer", "description": "How brightly it shines."},
                    },
                    "required": ["name"],
                }
            },
        },
    },
)
"""Find books by a tool. Deprecated."""

REBIND: Final[ToolMethod[DustParams, DustResult]] = ToolMethod(
    name="rebind",
    protocol="tiny",
    attribute="rebind",
    params=lazy.Lazy("tiny_bindings.tiny.models.DustParams"),
    result=lazy.Lazy("tiny_bindings.tiny.models.DustResult"),
    caller=caller_methods.TOOLS_CALL,
    section="8",
    status="considered",
    definition={
        "name": "rebind",
        "description": "Rebind a book.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "shelf": {"type": "string", "description": "Which one; absent for all."},
                "tools": {
                    "type": "array",
                    "items": {"$ref": "#/$defs/Lamp"},
                    "description": "What to dust with.",
                },
            },
            "$defs": {
                "Lamp": {
                    "description": "Something that shines.",
                    "deprecated": True,
                    "type": "object",
                    "properties": {
                        "name": {"type": "string", "description": "What it is called."},
                        "watts": {"type": "integer", "description": "How brightly it shines."},
                    },
                    "required": ["name"],
                }
            },
        },
    },
)
"""Rebind a book."""

TOOLS: Final[Mapping[str, ToolMethod[Any, Any]]] = {
    "dust": DUST,
    "books/find": BOOKS_FIND_TOOL,
    "rebind": REBIND,
}
"""The tools by wire name."""
