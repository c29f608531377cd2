"""The tools of a server as lines of a terminal: each as a call, with what is said of it."""

from __future__ import annotations

__all__ = ("tool_lines",)

import json
from collections.abc import Iterable, Iterator
from typing import Any

from kinwire_cli.layout import first_line
from kinwire_cli.shapes import whole_shape
from kinwire_protocols import mcp
from kinwire_protocols.base import to_wire

_SIGNATURE_WIDTH = 60  # beside what is longer no description fits: it has the next line


def tool_lines(tools: Iterable[mcp.Tool]) -> Iterator[str]:
    """Yield a line a tool, and an indented one for each parameter that is described."""
    listed = [(_signature(tool), tool) for tool in tools]
    widths = (len(signature) for signature, _ in listed)
    width = max((width for width in widths if width <= _SIGNATURE_WIDTH), default=0)
    for signature, tool in listed:
        between = "\n    " if len(signature) > _SIGNATURE_WIDTH else "  "
        text = first_line(tool.description or "")
        yield from f"{signature:<{width}}{between}{text}".rstrip().split("\n")
        for name, schema in (tool.input_schema.properties or {}).items():
            description = schema.get("description")
            if isinstance(description, str) and description.strip():
                yield f"    {first_line(name)}: {first_line(description)}"


def _signature(tool: mcp.Tool) -> str:
    required = tool.input_schema.required or ()
    root = to_wire(tool.input_schema)
    shown = [
        f"{name}: {whole_shape(schema, root)}"
        + ("" if name in required else " = " + _default(schema))
        for name, schema in (tool.input_schema.properties or {}).items()
    ]
    return first_line(f"{tool.name}({', '.join(shown)})")


def _default(schema: dict[str, Any]) -> str:
    return json.dumps(schema["default"], ensure_ascii=False) if "default" in schema else "..."
