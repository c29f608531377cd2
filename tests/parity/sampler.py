"""JSON instances of a JSON Schema: valid ones, and ones that break exactly one rule.

Deterministic: one seed, one list. It knows the keywords that the official MCP schemas and our
documents use and refuses others; `format` is not looked at, as we keep such text as it comes. A
schema that contains itself is left out: it does not occur.
"""

from __future__ import annotations

__all__ = ("Broken", "Sampler", "at", "removed", "replaced")

import json
from collections.abc import Iterator, Sequence
from copy import deepcopy
from random import Random
from typing import Any, NamedTuple

from jsonschema import Draft7Validator
from jsonschema.protocols import Validator
from referencing import Registry

from tests.parity.judging import remembering

Node = dict[str, Any]
Path = tuple[str | int, ...]

KNOWN = {
    *("$ref", "additionalProperties", "anyOf", "const", "description", "enum", "exclusiveMinimum"),
    *("format", "items", "maxItems", "maximum", "minItems", "minLength", "minimum", "properties"),
    *("required", "shorthand", "type"),
}
# No 1.0 among the integers: it is one to JSON Schema, but not to us (see test_instances.py).
OF_TYPE: dict[str, tuple[Any, ...]] = {
    "null": (None,),
    "boolean": (True, False),
    "integer": (0, 2**53 + 1, -1, 7),
    "number": (0.5, 2**53 + 1, -1e300, 3),
    "string": ("text", "", "5", "Zoë \u2028 \U0001f600", "null"),
    "array": ([], [1]),
    "object": ({}, {"x-any": None}),
}
ANY: tuple[Any, ...] = (
    None,
    "any",
    [None, {"x": []}],
    {"x-any": {"null": None}},
    2**53 + 1,
    0.1,
    False,
)
# Members that no schema knows are legal everywhere; they have to survive as they are.
UNKNOWN: Node = {"x-null": None, "x-nested": {"type": "x", "list": [None, 1.5]}}


class Broken(NamedTuple):
    """An instance that breaks one rule in one place."""

    rule: str
    """The keyword; "null" for null in an optional member, "tag" and "const missing" for an absent
    constant that does or does not tell the branches of a union apart, "together" where none of the
    members is there of which some have to be, "shorthand" for text instead of a list that may be
    written so, "empty array" where an empty object is valid, "unknown tag" for a constant by which
    branches differ."""
    path: Path
    value: Any
    sound: Any
    """The valid instance that it was made from."""
    read: Any = None
    """What an empty array is read as."""


class Sampler:
    """Instances of the definitions of one schema (draft 7).

    With a `registry` references lead there. `shallow`: faults stay with the definition that they
    break; what it refers to is as small as can be, and is broken where that is defined.
    """

    def __init__(
        self, schema: Node, registry: Registry[Any] | None = None, *, shallow: bool = False
    ) -> None:
        self._definitions: dict[str, Node] = schema["definitions"]
        self._registry = registry
        self._shallow = shallow
        self._judge = remembering(Draft7Validator)
        self._broken: dict[str, list[Broken]] = {}

    def valid(self, name: str, *, count: int) -> list[Any]:
        """Return the least and the fullest instances and `count` random ones, each once."""
        node = self._definitions[name]
        random = Random(name)
        found = [*self._full(name), _Draw(self._definitions, None, fullness=0, turn=0).of(node)]
        for turn in range(count):
            draw = _Draw(self._definitions, random, fullness=random.random(), turn=turn)
            found.append(draw.of(node))
        return _unique(found)

    def broken(self, name: str) -> list[Broken]:
        """Return each instance that one change to a full one makes and that the schema refuses."""
        if name not in self._broken:
            found: dict[Any, Broken] = {}
            for sound in self._full(name, shallow=self._shallow):
                for broken in self._changed(self._definitions[name], sound, (), sound):
                    found.setdefault(_fault(broken), broken)
            schema = self.validator(name)
            self._broken[name] = [
                self._as_object(name, broken)
                for broken in found.values()
                if broken.value != [] and not schema.is_valid(broken.value)  # what holds it has []
            ]
        return self._broken[name]

    def _as_object(self, name: str, broken: Broken) -> Broken:
        """Give a fault its own rule if it is an empty array where an empty object is valid.

        A constant `type` may be missing in that object, too.
        """
        if at(broken.value, broken.path) != []:
            return broken
        sound = at(broken.sound, broken.path)
        kind = {"type": sound["type"]} if isinstance(sound, dict) and "type" in sound else {}
        for empty in ({}, kind):
            read = replaced(broken.value, broken.path, empty)
            if self.is_valid(name, read):
                return broken._replace(rule="empty array", read=read)
        return broken

    def is_valid(self, name: str, value: Any) -> bool:
        """Return whether the schema's definition takes `value`."""
        return self.validator(name).is_valid(value)

    def validator(self, name: str) -> Validator:
        """Return what judges instances of a definition."""
        return self._validator(self._definitions[name])

    def _validator(self, node: Node) -> Validator:
        made: Validator
        if self._registry is not None:
            made = self._judge(node, registry=self._registry)
        else:
            made = self._judge({**node, "definitions": self._definitions})
        return made

    def _full(self, name: str, *, shallow: bool = False) -> list[Any]:
        node = self._definitions[name]
        turns = range(max(4, len(node.get("anyOf", ()))))
        full = (_Draw(self._definitions, None, fullness=1, turn=turn) for turn in turns)
        return _unique([draw.of(node, shallow=shallow) for draw in full])

    def _changed(
        self, node: Node, value: Any, path: Path, sound: Any, tags: frozenset[str] = frozenset()
    ) -> Iterator[Broken]:
        if self._shallow and path and "$ref" in node:
            others = (replaced(sound, path, other) for other in (None, True, 0.5, "x-any", [1]))
            kind = _resolved(self._definitions, node)
            rules = ((_rule_of_type(kind, at(other, path)), other) for other in others)
            yield from (Broken(rule, path, other, sound) for rule, other in rules)
            return
        node = _resolved(self._definitions, node)
        if "anyOf" in node and "properties" in node:
            apart = {name for branch in node["anyOf"] for name in branch["required"]}
            without = {name: member for name, member in value.items() if name not in apart}
            yield Broken("together", path, replaced(sound, path, without), sound)
        elif "anyOf" in node:
            branches = [_resolved(self._definitions, branch) for branch in node["anyOf"]]
            taken = next(one for one in node["anyOf"] if self._validator(one).is_valid(value))
            yield from self._changed(taken, value, path, sound, tags | _tags(branches))
            return
        for rule, wrong in _wrong_values(node, value):
            yield Broken(rule, path, replaced(sound, path, wrong), sound)
        if isinstance(value, dict):
            yield from self._members_changed(node, value, path, sound, tags)
        elif isinstance(value, list) and "items" in node:
            for index, item in enumerate(value):
                yield from self._changed(node["items"], item, (*path, index), sound)

    def _members_changed(
        self, node: Node, value: Node, path: Path, sound: Any, tags: frozenset[str]
    ) -> Iterator[Broken]:
        known, required = node.get("properties", {}), node.get("required", ())
        rest = node.get("additionalProperties")
        for name, member in value.items():
            inner, place = known.get(name, rest), (*path, name)
            if not isinstance(inner, dict):
                continue
            if name in required:
                constant = "tag" if name in tags else "const missing"
                rule = constant if "const" in inner else "required"
                yield Broken(rule, place, removed(sound, place), sound)
            for broken in self._changed(inner, member, place, sound):
                is_null = broken.path == place and at(broken.value, place) is None
                optional = name in known and name not in required
                if broken.path == place and broken.rule == "const" and name in tags:
                    yield broken._replace(rule="unknown tag")
                else:
                    yield broken._replace(rule="null") if is_null and optional else broken


class _Draw:
    """One way through a schema; without `random` the turn decides, so that all branches come."""

    def __init__(
        self, definitions: dict[str, Node], random: Random | None, *, fullness: float, turn: int
    ) -> None:
        self._definitions = definitions
        self._random = random
        self._fullness = fullness
        self._turn = turn
        self._shallow = False

    def of(self, node: Node, *, shallow: bool = False) -> Any:
        """Return an instance; `shallow`: what its members refer to is as small as can be."""
        self._shallow = shallow
        return self._of(node)

    def _of(self, node: Node) -> Any:
        node = _resolved(self._definitions, node)
        if unknown := set(node) - KNOWN:
            raise NotImplementedError(f"the sampler does not know {sorted(unknown)}")
        if "anyOf" in node and "properties" in node:
            return self._object(self._one(_alternatives(node)))
        if "anyOf" in node:
            return self._of(self._one(node["anyOf"]))
        if "const" in node:
            return node["const"]
        if "enum" in node:
            return self._one(node["enum"])
        return self._typed(node, self._one(_types(node)) if "type" in node else None)

    def _typed(self, node: Node, kind: str | None) -> Any:
        if kind == "object":
            return self._object(node)
        if kind == "array":
            return self._array(node)
        values: Sequence[Any] = ANY if kind is None else OF_TYPE[kind]
        if kind in ("integer", "number"):
            values = _above(node, _within(values, node.get("minimum"), node.get("maximum")))
        if kind == "string":
            values = [value for value in values if len(value) >= node.get("minLength", 0)]
        return deepcopy(self._one(values))

    def _object(self, node: Node) -> Node:
        required = node.get("required", ())
        found = {
            name: self._member(member)
            for name, member in node.get("properties", {}).items()
            if name in required or self._also()
        }
        rest = node.get("additionalProperties")
        if self._also():
            found |= {"a/b~c": self._member(rest)} if isinstance(rest, dict) else deepcopy(UNKNOWN)
        return found

    def _array(self, node: Node) -> list[Any]:
        items = node["items"]
        if not self._also():
            return [self._member(items) for _ in range(node.get("minItems", 0))]
        inner = _resolved(self._definitions, items)
        branches = (items, items) if "properties" in inner else inner.get("anyOf", (items, items))
        return [self._member(branch) for branch in branches][: node.get("maxItems")]

    def _member(self, node: Node) -> Any:
        if self._shallow and "$ref" in node:
            return _Draw(self._definitions, None, fullness=0, turn=self._turn).of(node)
        return self._of(node)

    def _also(self) -> bool:
        if self._random is None:
            return self._fullness == 1
        return self._random.random() < self._fullness

    def _one(self, choices: Sequence[Any]) -> Any:
        if self._random is None:
            return choices[self._turn % len(choices)]
        return self._random.choice(choices)


def _types(node: Node) -> list[str]:
    kinds = node["type"]
    return kinds if isinstance(kinds, list) else [kinds]


def _resolved(definitions: dict[str, Node], node: Node) -> Node:
    while "$ref" in node:
        node = definitions[node["$ref"].rpartition("/")[2]]
    return node


def _alternatives(node: Node) -> list[Node]:
    """Return the forms of an object whose `anyOf` says which members go together."""
    form = {key: value for key, value in node.items() if key != "anyOf"}
    return [
        {**form, "required": [*node.get("required", ()), *branch["required"]]}
        for branch in node["anyOf"]
    ]


def _within(values: Sequence[Any], low: float | None, high: float | None) -> Sequence[Any]:
    if low is not None and high is not None:
        whole = all(isinstance(value, int) for value in values)
        return (low, high, (low + high) // 2 if whole else (low + high) / 2)
    inside = [value for value in values if low is None or value >= low]
    inside = [value for value in inside if high is None or value <= high]
    return [*inside, *(bound for bound in (low, high) if bound is not None)]


def _above(node: Node, values: Sequence[Any]) -> Sequence[Any]:
    bound = node.get("exclusiveMinimum")
    return values if bound is None else [value for value in values if value > bound]


def _tags(branches: list[Node]) -> frozenset[str]:
    """Return the members whose constants differ from branch to branch."""
    constants: dict[str, list[str]] = {}
    for branch in branches:
        for name, member in branch.get("properties", {}).items():
            constants.setdefault(name, []).append(_text(member.get("const")))
    return frozenset(name for name, found in constants.items() if len(set(found)) > 1)


def _wrong_values(node: Node, value: Any) -> Iterator[tuple[str, Any]]:
    if "type" in node:
        kinds = set(_types(node)) | ({"integer"} if "number" in _types(node) else set())
        # A fraction is not an integer; a string that looks right is still a string.
        others = {**OF_TYPE, "number": (0.5,), "string": ("5",)}
        wrong = [other[0] for kind, other in others.items() if kind not in kinds]
        yield from ((_rule_of_type(node, other), other) for other in wrong)
    for keyword in ("const", "enum"):
        if keyword in node:
            yield keyword, f"x-{value}"
    yield from _wrong_sizes(node, value)
    if "minimum" in node:
        yield from (("minimum", node["minimum"] - step) for step in (1, 0.5))
    if "exclusiveMinimum" in node:
        yield from (("exclusiveMinimum", node["exclusiveMinimum"] - step) for step in (0, 0.5))
    if "maximum" in node:
        yield from (("maximum", node["maximum"] + step) for step in (1, 0.5))


def _wrong_sizes(node: Node, value: Any) -> Iterator[tuple[str, Any]]:
    for keyword, kind in (("minItems", list), ("minLength", str)):
        if keyword in node and isinstance(value, kind):
            yield keyword, value[: node[keyword] - 1]
    if "maxItems" in node and value:
        most = node["maxItems"]
        yield "maxItems", (value * (most + 1))[: most + 1]


def _rule_of_type(node: Node, wrong: Any) -> str:
    return "shorthand" if "shorthand" in node and isinstance(wrong, str) else "type"


def at(value: Any, path: Path) -> Any:
    """Return what stands at `path`; None also where nothing does."""
    for step in path:
        value = value.get(step) if isinstance(value, dict) else value[step]
    return value


def _fault(broken: Broken) -> Any:
    """Return what distinguishes a fault from others: the members next to it show the branch."""
    holder = at(broken.sound, broken.path[:-1])
    beside = tuple(holder) if isinstance(holder, dict) else ()
    return broken.rule, broken.path, _text(at(broken.value, broken.path)), beside


def replaced(value: Any, path: Path, new: Any) -> Any:
    if not path:
        return new
    copy = value.copy()
    copy[path[0]] = replaced(value[path[0]], path[1:], new)
    return copy


def removed(value: Any, path: Path) -> Any:
    """Return `value` without the member at `path`."""
    holder = at(value, path[:-1])
    return replaced(value, path[:-1], {k: v for k, v in holder.items() if k != path[-1]})


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def _unique(values: list[Any]) -> list[Any]:
    return list({_text(value): value for value in values}.values())
