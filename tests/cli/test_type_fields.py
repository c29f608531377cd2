"""The members of a type: its own, those of what it builds on, and those that others add."""

from __future__ import annotations

from typing import Any

from kinwire_cli.protocols import Documents, TypeReference, fields_of, reference_from
from tests.each import each

TEXT = {"type": "string", "description": "Text."}


def added(to: dict[str, str], member: str) -> dict[str, Any]:
    return {"to": to, "member": member, "schema": {"$ref": "#/$defs/Text"}, "summary": "More."}


DOCUMENTS: Documents = {
    "base": {
        "methods": {"ask": {"params": "#/$defs/Ask", "result": "#/$defs/Answer"}},
        "$defs": {
            "Ask": {"type": "object", "properties": {"text": TEXT}, "required": ["text"]},
            "Answer": {"type": "object"},
        },
    },
    "middle": {"extends": ["base"], "methods": {}, "$defs": {"Empty": {"type": "object"}}},
    "top": {
        "extends": ["middle"],
        "methods": {"more": {"params": "base.json#/$defs/Ask"}},
        "augments": [
            added({"def": "base#Ask"}, "always"),
            added({"method": "ask", "part": "params"}, "asked"),
            added({"method": "base#ask", "part": "result"}, "answered"),
            added({"every": "params"}, "traced"),
        ],
        "$defs": {
            "Text": TEXT,
            "More": {
                "allOf": [
                    {"$ref": "base.json#/$defs/Ask"},
                    {"properties": {"own": {"type": "integer"}}, "required": ["own"]},
                ]
            },
            "Own": {"type": "object"},
        },
    },
}


@each(
    ("kind", "method", "part", "members"),
    [
        (("base", "Ask"), "ask", "params", "text:required always asked traced"),
        (("base", "Ask"), "more", "params", "text:required always traced"),
        (("base", "Ask"), "", "", "text:required always asked"),
        (("base", "Answer"), "ask", "result", "answered"),
        (("middle", "Empty"), "none", "params", "traced"),
        (("top", "Own"), "none", "params", ""),
        (("top", "More"), "", "", "text:required own:required"),
        (("top", "Text"), "", "", ""),
    ],
)
def test_the_members_are_its_own_first_and_then_those_that_others_add(
    kind: tuple[str, str], method: str, part: str, members: str
) -> None:
    found = fields_of(DOCUMENTS, TypeReference(*kind), method, part)
    shown = [m.name if m.need == "by top" else f"{m.name}:{m.need}" for m in found]
    assert shown == members.split()


@each(
    ("text", "protocol"),
    [("#/$defs/Tool", "here"), ("mcp.json#/$defs/Tool", "mcp"), ("mcp#Tool", "mcp")],
)
def test_a_reference_names_a_type_of_a_protocol(text: str, protocol: str) -> None:
    assert reference_from(text, "here") == TypeReference(protocol, "Tool")
