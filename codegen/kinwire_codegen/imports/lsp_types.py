"""The types of a metaModel of LSP as JSON Schema."""

from __future__ import annotations

__all__ = ("LspTypes", "availability")

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from kinwire_codegen.imports.names import without_links
from kinwire_codegen.imports.reading import entry

Node = dict[str, Any]

_MOST = 2**31 - 1
_BASES: dict[str, Node] = {
    "URI": {"type": "string", "format": "uri"},
    "DocumentUri": {"type": "string", "format": "uri"},
    "RegExp": {"type": "string"},
    "string": {"type": "string"},
    "boolean": {"type": "boolean"},
    "null": {"type": "null"},
    "decimal": {"type": "number"},
    "integer": {"type": "integer", "minimum": -(2**31), "maximum": _MOST},
    "uinteger": {"type": "integer", "minimum": 0, "maximum": _MOST},
}
_ANY: dict[str, Node] = {
    "LSPAny": {},
    "LSPObject": {"type": "object", "additionalProperties": True},
    "LSPArray": {"type": "array"},
}
"""Recursive types of the metaModel that mean any JSON, any object and any array."""


class LspTypes:
    """The definitions of a metaModel."""

    def __init__(self, model: Node) -> None:
        self._structures = {one["name"]: one for one in model["structures"]}
        self._private = self._bases_of_one()
        self.became: dict[str, str] = {}
        """What became of types that are written out where they are used."""
        self.folded: list[str] = [
            f"{name} into the structure that extends it" for name in sorted(self._private)
        ]
        self.definitions: Node = {}
        """JSON Schemas by the name in the metaModel."""
        for name, structure in self._structures.items():
            if name not in self._private and name not in _ANY:
                with entry(f"the structure {name!r}"):
                    self.definitions[name] = self._structure(structure)
        for one in model["enumerations"]:
            with entry(f"the enumeration {one['name']!r}"):
                self.definitions |= self._enumeration(one)
        for one in model["typeAliases"]:
            if one["name"] in _ANY:
                self.folded.append(f"{one['name']} into the types that use it")
            else:
                with entry(f"the alias {one['name']!r}"):
                    self.definitions[one["name"]] = self._alias(one)

    def type_of(self, node: Node) -> Node:
        """Return a type as JSON Schema."""
        match node["kind"]:
            case "base":
                return _BASES[node["name"]]
            case "reference":
                known = _ANY.get(node["name"])
                return {"$ref": f"#/$defs/{node['name']}"} if known is None else known
            case "array":
                return {"type": "array", "items": self.type_of(node["element"])}
            case "map":
                values = self.type_of(node["value"])
                return {"type": "object", "additionalProperties": values or True}
            case "and" | "or" | "tuple" as kind:
                return _COMPOSED[kind]([self.type_of(one) for one in node["items"]])
            case "literal":
                return self._object(node["value"]["properties"])
            case _:  # a literal of a text, a number or a boolean
                return {"const": node["value"]}

    def _bases_of_one(self) -> set[str]:
        """Return the structures that begin with an underscore and that one structure extends."""
        uses = Counter(base["name"] for one in self._structures.values() for base in _bases(one))
        return {name for name, number in uses.items() if name.startswith("_") and number == 1}

    def _structure(self, structure: Node) -> Node:
        bases = [self._structures[base["name"]] for base in _bases(structure)]
        own = {one["name"] for one in structure["properties"]}
        if any(own & self._names(base) or base["name"] in self._private for base in bases):
            # Documents do not declare a field again, so what is inherited is written out.
            found = self._object([*self._all_properties(structure).values()])
            self.became |= {base["name"]: "the structures that extend it" for base in bases}
        elif bases:
            references = [{"$ref": f"#/$defs/{base['name']}"} for base in bases]
            found = {"allOf": [*references, self._object(structure["properties"])]}
        else:
            found = self._object(structure["properties"])
        return {**_described(structure), **found}

    def _names(self, structure: Node) -> set[str]:
        return set(self._all_properties(structure))

    def _all_properties(self, structure: Node) -> dict[str, Node]:
        found: dict[str, Node] = {}
        for base in _bases(structure):
            found |= self._all_properties(self._structures[base["name"]])
        return found | {one["name"]: one for one in structure["properties"]}

    def _object(self, properties: Sequence[Node]) -> Node:
        members = {one["name"]: self.type_of(one["type"]) | _described(one) for one in properties}
        required = [one["name"] for one in properties if not one.get("optional")]
        found: Node = {"type": "object", "properties": members}
        return found | ({"required": required} if required else {})

    def _enumeration(self, one: Node) -> Node:
        """Return the definition of an enumeration; of an open one also that of its known values."""
        name, base = one["name"], _BASES[one["type"]["name"]]
        values = list(dict.fromkeys(value["value"] for value in one["values"]))
        found: Node = {"type": base["type"], "enum": values}
        meanings = {str(value["value"]): _meaning(value) for value in one["values"]}
        meanings = {value: meaning for value, meaning in meanings.items() if meaning}
        found |= {"enumValues": meanings} if meanings else {}
        if not one.get("supportsCustomValues"):
            return {name: {**_described(one), **found}}
        known = {"description": f"The known values of `{name}`.", **found}
        branches = [{"$ref": f"#/$defs/Known{name}"}, base]
        return {name: {**_described(one), "anyOf": branches}, f"Known{name}": known}

    def _alias(self, one: Node) -> Node:
        found = self.type_of(one["type"])
        return {**found, **_described(one)}


def availability(one: Node) -> Node:
    """Return since when there is something, whether it is deprecated, and whether proposed."""
    found: Node = {}
    if one.get("since"):
        found["since"] = one["since"]
    if one.get("deprecated"):
        found["deprecated"] = {"reason": without_links(one["deprecated"])}
    if one.get("proposed"):
        found["x-lsp-proposed"] = True
    if one.get("sinceTags"):
        found["x-lsp-since-tags"] = one["sinceTags"]
    return found


def _described(one: Node) -> Node:
    text = without_links(one.get("documentation", ""))
    return ({"description": text} if text else {}) | availability(one)


def _meaning(value: Node) -> Node:
    named = {"name": value["name"]} if isinstance(value["value"], int) else {}
    return named | _described(value)


def _bases(structure: Node) -> list[Node]:
    return [*structure.get("extends", ()), *structure.get("mixins", ())]


def _either(branches: list[Node]) -> Node:
    """Return a union; single texts in it become one enum."""
    texts = [one["const"] for one in branches if set(one) == {"const"}]
    others = [one for one in branches if set(one) != {"const"}]
    if len(texts) > 1:
        others = [{"type": "string", "enum": texts}, *others]
    elif texts:
        others = branches
    return others[0] if len(others) == 1 else {"anyOf": others}


def _tuple(items: list[Node]) -> Node:
    """Return an array of a fixed length; a tuple of unlike types takes each in any place."""
    bounds = {"minItems": len(items), "maxItems": len(items)}
    if all(one == items[0] for one in items):
        return {"type": "array", "items": items[0], **bounds}
    return {"type": "array", "prefixItems": items, "items": _either(items), **bounds}


_COMPOSED: dict[str, Callable[[list[Node]], Node]] = {
    "and": lambda parts: {"allOf": parts},
    "or": _either,
    "tuple": _tuple,
}
