"""The parts of a document that have words of their own, and the words that rules know.

Whatever a part says in another word is reported as a change that no rule knows (`leftover.py`).
"""

from __future__ import annotations

__all__ = (
    "INNER",
    "KNOWN",
    "WORDS",
    "Construct",
    "Node",
    "Renamed",
    "known_only",
    "paired_constructs",
)

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from kinwire_codegen.load.document import Document, all_types
from kinwire_codegen.load.findings import Place

Node = Mapping[str, Any]
Renamed = Mapping[tuple[str, str], str]
"""The new names of entries by table and old name."""

WORDS = {
    **dict.fromkeys(("description", "summary", "title", "message", "when"), "description-changed"),
    **dict.fromkeys(("roles", "steps"), "description-changed"),
    "section": "section-moved",
    "x-decision": "decision-changed",
    **dict.fromkeys(("examples", "since", "$schema"), "annotation-only"),
    "version": "version-changed",
}
"""Words for readers, with the rule of a change. All others that begin with `x-` are of vendors."""

_TEXTS = frozenset({"section", "summary", "description"})
_ROW = _TEXTS | {"params", "result", "errors", "since", "aliases", "status", "deprecated"}

KNOWN: dict[str, frozenset[str]] = {
    "document": frozenset(
        {
            *("$schema", "protocol", "title", "version", "description", "roles", "extends"),
            *(
                "capability",
                "capabilityAliases",
                "offers",
                "methods",
                "tools",
                "errors",
                "augments",
            ),
            *("augments", "tables", "machines", "sequences", "limits", "records", "http", "grpc"),
            *("$defs", "include"),
        }
    ),
    "methods": _ROW
    | {"kind", "from", "paramsBy", "gate", "order", "partialResult"}
    | {"registrationOptions", "registrationMethod"},
    "tools": _ROW | {"entry"},
    "errors": frozenset(
        {"code", "message", "description", "data", "section", "since", "deprecated"}
    ),
    "augments": _TEXTS | {"to", "member", "schema", "from", "errors"},
    "tables": _TEXTS | {"type", "key", "rows"},
    "machines": _TEXTS | {"states", "initial", "final", "transitions"},
    "transitions": _TEXTS | {"from", "on", "to"},
    "sequences": _TEXTS | {"steps"},
    "limits": _TEXTS | {"value", "unit", "error"},
    "records": _TEXTS | {"type", "format", "places"},
    "http": _TEXTS | {"base", "verb", "contentType", "paths", "events", "statuses"},
    "paths": _TEXTS | {"method", "envelope", "request", "response", "aliases", "status"},
    "events": _TEXTS | {"data"},
    "statuses": _TEXTS | {"status", "when"},
    "grpc": _TEXTS | {"package", "service", "rpcs", "messages", "enums", "codes"},
    "rpcs": _TEXTS | {"method", "request", "response", "stream", "status"},
    "messages": _TEXTS | {"of", "fields"},
    "fields": _TEXTS | {"number", "type", "repeated", "member"},
    "enums": _TEXTS | {"of", "values"},
    "values": _TEXTS | {"number", "value"},
    "codes": _TEXTS | {"code", "error"},
    "type": frozenset(
        {
            *("$ref", "type", "properties", "required", "additionalProperties", "items"),
            *("anyOf", "oneOf", "allOf", "discriminator", "enum", "const", "shorthand"),
            *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "minLength"),
            *("maxLength", "pattern", "minItems", "maxItems", "uniqueItems", "format"),
            *("description", "default", "since", "deprecated", "examples", "enumValues"),
        }
    ),
    "enumValues": frozenset({"name", "description", "since", "deprecated"}),
}
"""The words of each kind of part that a rule looks at."""

INNER = {
    "document": ("methods", "tools", "errors", "augments", "tables", "machines", "sequences",
                 "limits", "records"),
    "machines": ("transitions",),
    "http": ("paths", "events", "statuses"),
    "grpc": ("rpcs", "messages", "enums", "codes"),
    "messages": ("fields",),
    "enums": ("values",),
    "type": ("enumValues",),
}  # fmt: skip
"""Which words of a part hold parts of their own, by name or in a list."""


class Construct(NamedTuple):
    """A part of a document."""

    kind: str
    place: Place
    node: Node


def paired_constructs(
    before: Document, after: Document, renamed: Renamed
) -> Iterator[tuple[Construct, Construct]]:
    """Yield the parts that are on both sides, the outer ones first."""
    olds = dict(_constructs(before.content, renamed))
    for key, new in _constructs(after.content, {}):
        if key in olds:
            yield olds[key], new


def known_only(kind: str, node: Node) -> dict[str, Any]:
    """Return what a part says in words that rules know, except those for readers."""
    return {key: value for key, value in node.items() if key in KNOWN[kind] and key not in WORDS}


def _constructs(content: Node, renamed: Renamed) -> Iterator[tuple[Place, Construct]]:
    """Yield every part of a document with what identifies it on both sides."""
    yield from _part("document", (), (), content, renamed)
    for binding in ("http", "grpc"):
        if content.get(binding):
            yield from _part(binding, (binding,), (binding,), content[binding], renamed)
    for name, definition in content["$defs"].items():
        key = ("$defs", renamed.get(("$defs", name), name))
        for node, place in all_types(definition, ("$defs", name)):
            yield from _part("type", place, (*key, *place[2:]), node, renamed)


def _part(
    kind: str, place: Place, key: Place, node: Node, renamed: Renamed
) -> Iterator[tuple[Place, Construct]]:
    yield key, Construct(kind, place, node)
    for table in INNER.get(kind, ()):
        for name, inner in _entries(node.get(table, {})):
            here = (*place, table, name)
            there = (*key, table, _identity(table, name, inner, renamed))
            yield from _part(table, here, there, inner, renamed)


def _entries(node: Any) -> Iterator[tuple[str | int, Node]]:
    found = node.items() if isinstance(node, dict) else enumerate(node)
    yield from ((name, inner) for name, inner in found if isinstance(inner, dict))


def _identity(table: str, name: str | int, node: Node, renamed: Renamed) -> str | int:
    if table == "augments":
        return f"{sorted(node['to'].items())} {node['member']}"
    return renamed.get((table, name), name) if isinstance(name, str) else name
