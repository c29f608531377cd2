"""JSON Schemas of other makers in the part of the language that documents are written in.

Inline objects get names, every type a description, unions of tagged objects their discriminator.
"""

from __future__ import annotations

__all__ = ("DraftTypes", "Mark", "definitions_of")

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from kinwire_codegen.imports.fitting import drop_idle_bounds
from kinwire_codegen.imports.names import defined_name, pascal
from kinwire_codegen.imports.older_drafts import modern
from kinwire_codegen.imports.required_fields import with_declared_fields
from kinwire_codegen.imports.unions import name_unions, tell_apart
from kinwire_codegen.imports.weakening import weakened
from kinwire_codegen.imports.well_formed import check_keywords

Node = dict[str, Any]

KEPT = {
    *("description", "enum", "enumValues", "const", "default", "pattern", "format"),
    *("since", "deprecated"),
    *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"),
    *("minLength", "maxLength", "minItems", "maxItems", "uniqueItems", "examples"),
}
_STRUCTURE = {
    *("type", "properties", "required", "items", "additionalProperties", "anyOf", "oneOf"),
    *("allOf", "$ref", "$defs", "definitions", "$schema", "$id", "$comment", "title"),
}
_LONGEST = 80  # characters of a type's name; lint refuses names longer than 100
UNSAID = {
    *("enum", "const", "not", "if", "multipleOf", "contains", "prefixItems", "propertyNames"),
    *("patternProperties", "unevaluatedProperties", "dependentRequired", "dependentSchemas"),
    *("dependencies", "minProperties", "maxProperties", "then", "else", "additionalItems"),
    *("unevaluatedItems", "minContains", "maxContains", "$dynamicRef", "$recursiveRef"),
}
"""What says which values are taken, and has no place in a document, or not with every value."""
ANYTHING = {"JSONValue", "JSONArray"}
"""Types that mean any JSON. Official schemas list fewer kinds than they mean."""


Mark = tuple[frozenset[str], int, frozenset[str]]
"""How far the types are: what is made, how many wait, and what is kept although nothing uses it."""


def definitions_of(schema: Any) -> Node:
    """Return the definitions of a JSON Schema of any draft, which may have none."""
    for key in ("$defs", "definitions"):
        found = schema.get(key) if isinstance(schema, dict) else None
        if isinstance(found, dict) and found:
            return found
    return {}


@dataclass
class DraftTypes:
    """Types on their way into `$defs`."""

    source: Node
    """The definitions of the other schema, by name."""
    taken: frozenset[str]
    """Names that the generated code uses itself."""
    unresolved: Mapping[str, str] = field(default_factory=dict[str, str])
    """Why references lead to nothing, by reference."""
    merged: dict[str, str] = field(default_factory=dict[str, str])
    """Definitions of the source that became a part of another type, by their names."""
    made: Node = field(default_factory=dict)
    _waiting: list[str] = field(default_factory=list)
    _roots: set[str] = field(default_factory=set)
    _names: dict[str, str] = field(default_factory=dict)
    _lost: list[str] = field(default_factory=list)
    _unsaid: list[str] = field(default_factory=list)
    _notes: list[str] = field(default_factory=list)
    _idle: list[str] = field(default_factory=list)
    _weak: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        known: set[str] = set()
        for name in self.source:
            mine = pascal(name)[:_LONGEST]
            mine = f"{mine}Type" if mine in self.taken else mine
            while mine.lower() in known:  # names that differ in case alone are one file somewhere
                mine += "X"
            known.add(mine.lower())
            self._names[name] = mine

    def reference(self, name: str) -> str:
        """Return a reference to a type of the source, which is then made too, and kept."""
        self._roots.add(self.name_of(name))
        return self._inner_reference(name)

    def _inner_reference(self, name: str) -> str:
        mine = self.name_of(name)
        if mine not in self.made:
            self.made[mine] = {}
            self._waiting.append(name)
        return f"#/$defs/{mine}"

    def mark(self) -> Mark:
        """Return what is made so far, for `forget`."""
        return frozenset(self.made), len(self._waiting), frozenset(self._roots)

    def forget(self, mark: Mark) -> None:
        """Remove the types that were added or referred to since `mark`."""
        made, waiting, roots = mark
        for name in self.made.keys() - made:
            del self.made[name]
        del self._waiting[waiting:]
        self._roots &= roots

    def widened(self) -> tuple[str, ...]:
        """Return the references that became any value, and the keywords that are not in `made`."""
        lost = [
            f"{text}: {self.unresolved.get(text, 'it is not a definition in the file')}"
            for text in dict.fromkeys(self._lost)
        ]
        lost += [f"{what}: documents cannot represent it" for what in dict.fromkeys(self._unsaid)]
        return (*lost, *self._weak)

    def without_effect(self) -> tuple[str, ...]:
        """Return the keywords that are not in `made`, for which no value is refused either."""
        idle = [f"{what}: it does not apply to the values there" for what in self._idle]
        notes = [f"{what}: it refuses no value" for what in dict.fromkeys(self._notes)]
        return (*idle, *notes)

    def unused(self) -> tuple[str, ...]:
        """Return the types of the source that are not in `made`."""
        return tuple(name for name, mine in self._names.items() if mine not in self.made)

    def name_of(self, name: str) -> str:
        """Return what a type of the source is called here."""
        return self._names[name]

    def finish(self) -> None:
        """Make everything that was referred to."""
        while self._waiting:
            name = self._waiting.pop()
            mine = self.name_of(name)
            self.made[mine] = self._described(mine, self.type_of(self.source[name], mine, top=True))
        name_unions(self.made)
        tell_apart(self.made)
        idle, lost = drop_idle_bounds(self.made)
        self._idle += idle
        self._unsaid += lost
        self._weak += weakened(self.made, self.free, self._roots)

    def add(self, name: str, node: Any, *, own: bool = False) -> str:
        """Return a reference to a type that the source does not name.

        `own`: it takes the place of the source's type of that name.
        """
        mine = self.name_of(name) if own else self.free(name)
        self.made[mine] = {}
        self.made[mine] = self._described(mine, self.type_of(node, mine, top=True))
        return f"#/$defs/{mine}"

    def named(self, node: Any, name: str) -> str:
        """Return a reference to a type: the source's if it is a mere reference, else a new one."""
        if isinstance(node, dict) and node.keys() == {"$ref"}:
            known = defined_name(node["$ref"])
            if known in self.source:
                return self._inner_reference(known)
        return self.add(name, node)

    def free(self, name: str) -> str:
        """Return `name`, or one like it that no type has."""
        known = {one.lower() for one in (*self.made, *self._names.values(), *self.taken)}
        start = pascal(name)[:_LONGEST]
        found, number = start, 2
        while found.lower() in known:
            found, number = f"{start}{number}", number + 1
        return found

    def type_of(self, node: Any, owner: str, *, top: bool = False) -> Node:
        """Return a type of the source as documents write it; `owner` names what is inside it."""
        check_keywords(node, owner)
        if isinstance(node, bool):
            self._unsaid += [] if node else [f"{owner} false"]
            return {}
        node = self._without_idle_fields(modern(node), owner)
        node = with_declared_fields(node, self.source)
        kept = {key: value for key, value in node.items() if _is_kept(key, value)}
        self._unsaid += [f"{owner} {key}" for key in node if key in UNSAID and key not in kept]
        self._unsaid += [f"{owner} additionalProperties"] if _has_rules_for_others(node) else []
        self._notes += [f"{owner} {key}" for key in node if _is_note(key)]
        if "$ref" in node:
            beside = _STRUCTURE & node.keys() - {"$ref", "$defs", "definitions", "$comment", "$id"}
            self._unsaid += [f"{owner} {key} next to $ref" for key in sorted(beside)]
            return {**self._referred(node["$ref"]), **kept}
        if set(node.get("properties", ())) and not top:
            inner = {key: value for key, value in node.items() if key != "description"}
            described = {key: value for key, value in kept.items() if key == "description"}
            return {"$ref": self.add(owner, inner | described), **described}
        kept |= self._kind(node)
        kept |= self._members(node, owner, top=top)
        for key in ("anyOf", "oneOf", "allOf"):
            if node.get(key):
                kept |= self._branches(key, node, owner, top=top)
        return kept

    def _without_idle_fields(self, node: Node, owner: str) -> Node:
        """Return a type without fields if it is never an object."""
        idle = node.keys() & {"properties", "required", "additionalProperties"}
        if node.get("required") in (True, False):  # of draft 3, where a field says it itself
            idle = {"required"}
        elif node.get("type", "object") == "object" or "object" in node["type"] or not idle:
            return node
        self._notes += [f"{owner} {key}" for key in sorted(idle)]
        return {key: value for key, value in node.items() if key not in idle}

    def _referred(self, text: str) -> Node:
        name = defined_name(text)
        if name not in self.source:
            self._lost.append(text)
        if name in ANYTHING or name not in self.source:
            return {"type": "array"} if name == "JSONArray" else {}
        return {"$ref": self._inner_reference(name)}

    def _kind(self, node: Node) -> Node:
        kinds = node.get("type")
        if isinstance(kinds, list):
            kinds = list(dict.fromkeys(kinds)) if len(set(kinds)) > 1 else "".join(kinds[:1])
        if kinds and not (kinds == "object" and node.get("allOf")):
            return {"type": kinds}
        return {"type": "object"} if "properties" in node else {}

    def _members(self, node: Node, owner: str, *, top: bool) -> Node:
        found: Node = {}
        if node.get("properties"):
            found["properties"] = {
                name: self.type_of(member, owner + pascal(name))
                for name, member in node["properties"].items()
            }
        # Alone it is one of the groups of fields that may go together.
        is_group = node.keys() - {"description"} == {"required"}
        if node.get("required") and (is_group or node.keys() & {"properties", "allOf"}):
            found["required"] = node["required"]
        elif node.get("required"):
            self._unsaid.append(f"{owner} required")
        if "items" in node:
            found["items"] = self.type_of(node["items"], f"{owner}Item")
        values = node.get("additionalProperties")
        if isinstance(values, dict) and values and not node.get("properties"):
            inner = self.type_of(values, f"{owner}Value")
            found["additionalProperties"] = inner or True
        elif node.get("type") == "object" and not node.get("properties"):
            # A row carries an object with members, be there none.
            empty = top and "properties" in node
            found["properties" if empty else "additionalProperties"] = {} if empty else True
        return found

    def _branches(self, key: str, node: Node, owner: str, *, top: bool) -> Node:
        whole = top and key == "allOf"  # the type's own members may stand there
        inline = [branch for branch in node[key] if "$ref" not in branch]
        alone = len(inline if whole else node[key]) == 1
        found = [
            self.type_of(branch, owner if alone else f"{owner}{index}", top=whole)
            for index, branch in enumerate(node[key], 1)
        ]
        return {key: [{} if inner is None else inner for inner in found]}

    def _described(self, name: str, node: Node) -> Node:
        text = str(node.get("description") or f"`{name}`, as the schema has it.")
        return {"description": text, **{k: v for k, v in node.items() if k != "description"}}


def _has_rules_for_others(node: Node) -> bool:
    """Return whether an object refuses fields that it does not name, or has a type for them."""
    others = node.get("additionalProperties")
    return others is False or bool(isinstance(others, dict) and others and node.get("properties"))


def _is_kept(key: str, value: Any) -> bool:
    """Return whether documents say a keyword with that value: single values are text or whole."""
    if key == "enum":
        return bool(value) and all(type(one) in (str, int) for one in value)
    if key == "const":
        return isinstance(value, str | int)
    if key == "x-decision":  # ours, which is text
        return isinstance(value, str) and value != ""
    if key == "deprecated":
        return value is True or isinstance(value, dict)
    if key == "since":
        return isinstance(value, str) and value != ""
    if key == "examples":
        return isinstance(value, list) and value != []
    return key.startswith("x-") or (key in KEPT and value != "")


def _is_note(key: str) -> bool:
    """Return whether a keyword is for readers or other tools alone."""
    return key not in KEPT | UNSAID | _STRUCTURE and not key.startswith("x-")
