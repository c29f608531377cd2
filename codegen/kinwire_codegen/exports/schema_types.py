"""Types of documents as JSON Schemas whose names survive in the code that other tools generate.

- An object has all its fields itself: generators give the branches of `allOf` names of their own.
- A reference with more next to it is in an `allOf`: otherwise json-schema-to-typescript makes a
  second type of it, `Annotations1`.
- Constants and sets of texts in a field get a definition, `TextContentType`: quicktype names one.
- Keywords that are not JSON Schema go. What they say of versions and values goes into descriptions.
"""

from __future__ import annotations

__all__ = ("SchemaTypes",)

from collections.abc import Callable, Iterable
from typing import Any

from kinwire_codegen.load.document import Documents, Reference
from kinwire_codegen.load.names import snake_name
from kinwire_codegen.load.notes import enum_values, version_notes
from kinwire_codegen.load.schemas import plain_type, reachable
from kinwire_codegen.load.shapes import ObjectShape

Schema = dict[str, Any]


class SchemaTypes:
    """The `$defs` of one schema: some types, and everything that they are made of."""

    def __init__(self, documents: Documents, home: str, kinds: Iterable[Reference]) -> None:
        """`home` is the protocol whose types keep their names, whatever else is there."""
        self._documents = documents
        self._reader = documents.shapes
        self._names: dict[Reference, str] = {}
        self._taken: set[str] = set()
        for kind in sorted(reachable(documents, *kinds), key=lambda kind: kind.protocol != home):
            prefix = pascal_name(kind.protocol) if kind.name in self._taken else ""
            self._names[kind] = f"{prefix}{kind.name}"
            self._taken.add(self._names[kind])
        self._values: dict[str, Schema] = {}

    def pointer(self, reference: Reference) -> str:
        """Return the reference to a type in this schema."""
        return f"#/$defs/{self._names[reference]}"

    def free(self, name: str) -> str:
        """Return `name`, or a longer one if it is the name of a type."""
        while name in self._values or name in self._taken:
            name += "Value"
        return name

    def definitions(self) -> dict[str, Schema]:
        """Return the types by their names, sorted."""
        made = {name: self._definition(kind, name) for kind, name in self._names.items()}
        return dict(sorted((made | self._values).items()))

    def is_optional(self, params: Reference) -> bool:
        """Return whether a message may leave params of this type out."""
        shape = self._reader.shape(params)
        return isinstance(shape, ObjectShape) and not (
            shape.alternatives or any(one.required for one in shape.members)
        )

    def by_position(self, params: Reference) -> Schema:
        """Return the array that has the fields of an object in their order."""
        shape = self._reader.shape(params)
        if not isinstance(shape, ObjectShape):
            return {"$ref": self.pointer(params)}
        return {
            "type": "array",
            "prefixItems": [self._type(one.node, one.home) for one in shape.members],
            "minItems": sum(one.required for one in shape.members),
            "maxItems": len(shape.members),
        }

    def _definition(self, kind: Reference, name: str) -> Schema:
        node = self._documents.definition(kind)
        shape = self._reader.shape(kind)
        if not isinstance(shape, ObjectShape):
            return {"title": name, **self._type(node, kind.protocol)}
        kept = ("description", "since", "deprecated")
        about: Schema = {key: node[key] for key in kept if key in node}
        made = {"title": name, **self._type(about, kind.protocol), "type": "object"}
        if shape.members:
            made["properties"] = {
                one.wire: self._named(self._type(one.node, one.home), name, one.wire)
                for one in shape.members
            }
        required = [one.wire for one in shape.members if one.required]
        if required:
            made["required"] = required
        choices = [
            {"anyOf": [{"required": list(group)} for group in groups]}
            for groups in shape.alternatives
        ]
        return made | (choices[0] if len(choices) == 1 else {"allOf": choices} if choices else {})

    def _type(self, node: Schema, home: str) -> Schema:
        plain = plain_type(_mapped(node, _with_notes), home, self.pointer)
        return _mapped(plain, _with_reference_apart)

    def _named(self, made: Schema, owner: str, field: str) -> Schema:
        """Return the type of a field; constants and sets of texts in it get a definition."""
        if isinstance(made.get("items"), dict):
            return {**made, "items": self._named(made["items"], owner, field)}
        values = made.get("enum", [made.get("const")])
        if not all(isinstance(value, str) for value in values):
            return made
        name = self.free(f"{owner}{pascal_name(field)}")
        outside = ("description", "default", "deprecated")
        inside = {key: value for key, value in made.items() if key not in outside}
        self._values[name] = {"title": name, **inside}
        around = {key: made[key] for key in outside if key in made}
        return _with_reference_apart({"$ref": f"#/$defs/{name}", **around})


def pascal_name(wire: str) -> str:
    """Return a name on the wire as the name of a type: `tools/call` is `ToolsCall`."""
    return "".join(word.capitalize() for word in snake_name(wire).split("_"))


def _mapped(node: Schema, change: Callable[[Schema], Schema]) -> Schema:
    """Return a type after `change` of it and of every type inside it."""
    made = dict(node)
    if "properties" in node:
        made["properties"] = {
            name: _mapped(inner, change) for name, inner in node["properties"].items()
        }
    for key in ("items", "additionalProperties"):
        if isinstance(node.get(key), dict):
            made[key] = _mapped(node[key], change)
    for key in ("anyOf", "oneOf", "allOf"):
        if key in node:
            made[key] = [_mapped(branch, change) for branch in node[key]]
    return change(made)


def _with_notes(node: Schema) -> Schema:
    """Return a type whose description says what JSON Schema has no keyword for."""
    said = [node.get("description"), version_notes(node)]
    said += [f"`{one.value}`: {one.text}" for one in enum_values(node) if one.text]
    text = " ".join(filter(None, said))
    return {**node, "description": text} if text else node


def _with_reference_apart(node: Schema) -> Schema:
    if "$ref" not in node or len(node) == 1:
        return node
    others = {key: value for key, value in node.items() if key != "$ref"}
    return {"allOf": [{"$ref": node["$ref"]}], **others}
