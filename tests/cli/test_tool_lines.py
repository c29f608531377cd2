"""The tools of a server in a terminal."""

from __future__ import annotations

from kinwire_cli.shapes import tool_lines
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


def test_a_long_signature_has_its_description_below_and_moves_no_other() -> None:
    long = {name * 20: {"type": "string"} for name in "abc"}
    schemas = {"short": {"type": "object"}, "wide": {"type": "object", "properties": long}}
    tools = [
        from_wire(mcp.Tool, {"name": name, "description": f"Is {name}.", "inputSchema": schema})
        for name, schema in schemas.items()
    ]
    short, wide, below = tool_lines(tools)
    assert short == "short()  Is short."
    assert wide.startswith("wide(aaaa")
    assert below == "    Is wide."


def test_a_parameter_with_certain_values_only_shows_them() -> None:
    schema = {
        "type": "object",
        "properties": {
            "color": {"$ref": "#/$defs/Color"},
            "frame": {"anyOf": [{"$ref": "#/$defs/Frame"}, {"type": "null"}], "default": None},
        },
        "required": ["color"],
        "$defs": {"Color": {"enum": ["red", "blue"]}, "Frame": {"type": "object"}},
    }
    (line,) = tool_lines([from_wire(mcp.Tool, {"name": "paint", "inputSchema": schema})])
    assert line == 'paint(color: "red" | "blue", frame: Frame | null = null)'


def test_a_parameter_that_is_an_object_shows_its_members() -> None:
    trip = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
    schema = {"type": "object", "properties": {"trip": {"$ref": "#/$defs/Trip"}}}
    tool = {"name": "plan", "inputSchema": {**schema, "$defs": {"Trip": trip}}}
    assert list(tool_lines([from_wire(mcp.Tool, tool)])) == ["plan(trip: {city: string} = ...)"]
