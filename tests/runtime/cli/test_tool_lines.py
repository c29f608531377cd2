"""The tools of a server in a terminal."""

from __future__ import annotations

from kinwire.cli.tool_lines import tool_lines
from kinwire_protocols import mcp
from kinwire_protocols.base import from_wire

TOOLS = [
    {
        "name": "lend",
        "description": "Lend a book.\n\nUntil a day.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "title": {"type": "string", "description": " \n"},
                "until": {"type": "string", "description": "The last day.\nIn full."},
                "times": {"type": "integer", "default": 1, "description": 5},
            },
            "required": ["title", "until"],
        },
    },
    {"name": "a\nb", "inputSchema": {"type": "object"}},
]


def test_a_tool_is_a_line_and_each_described_parameter_one_below() -> None:
    tools = [from_wire(mcp.Tool, tool) for tool in TOOLS]
    assert list(tool_lines(tools)) == [
        "lend(title: string, until: string, times: integer = 1)  Lend a book.",
        "    until: The last day.",
        "a",
    ]
