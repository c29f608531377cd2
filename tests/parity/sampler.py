"""JSON instances of a JSON Schema: valid ones, and ones that break exactly one rule.

Deterministic: one seed, one list. It knows the keywords that the official MCP schemas use and
refuses others; `format` is not looked at, as we keep such text as it comes. A schema that contains
itself is left out: the official ones have none.
"""

from __future__ import annotations

__all__ = ("Broken", "Sampler", "at", "removed")

import json
from collections.abc import Iterator, Sequence
from copy import deepcopy
from random import Random
from typing import Any, NamedTuple

from jsonschema import Draft7Validator

Node = dict[str, Any]
Path = tuple[str | int, ...]

KNOWN = {
    *("$ref", "additionalProperties", "anyOf", "const", "description", "enum", "format", "items"),
    *("maximum", "minimum", "properties", "required", "type"),
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
    constant that does or does not tell the branches of a union apart."""
    path: Path
    value: Any
    sound: Any
    """The valid instance that it was made from."""


class Sampler:
    """Instances of the definitions of one schema (draft 7)."""

    def __init__(self, schema: Node) -> None:
        self._definitions: dict[str, Node] = schema["definitions"]
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
            for sound in self._full(name):
                for broken in self._changed(self._definitions[name], sound, (), sound):
                    found.setdefault(_fault(broken), broken)
            schema = self._validator(self._definitions[name])
            self._broken[name] = [b for b in found.values() if not schema.is_valid(b.value)]
        return self._broken[name]

    def is_valid(self, name: str, value: Any) -> bool:
        """Return whether the schema's definition takes `value`."""
        return self._validator(self._definitions[name]).is_valid(value)

    def _validator(self, node: Node) -> Draft7Validator:
        return Draft7Validator({**node, "definitions": self._definitions})

    def _full(self, name: str) -> list[Any]:
        node = self._definitions[name]
        turns = max(4, len(node.get("anyOf", ())))
        draws = (_Draw(self._definitions, None, fullness=1, turn=turn) for turn in range(turns))
        return _unique([draw.of(node) for draw in draws])

    def _changed(
        self, node: Node, value: Any, path: Path, sound: Any, tags: frozenset[str] = frozenset()
    ) -> Iterator[Broken]:
        node = _resolved(self._definitions, node)
        if "anyOf" in node:
            branches = [_resolved(self._definitions, branch) for branch in node["anyOf"]]
            taken = next(one for one in branches if self._validator(one).is_valid(value))
            yield from self._changed(taken, value, path, sound, tags | _tags(branches))
            return
        for rule, wrong in _wrong_values(node, value):
            yield Broken(rule, path, _replaced(sound, path, wrong), sound)
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

    def of(self, node: Node) -> Any:
        node = _resolved(self._definitions, node)
        if unknown := set(node) - KNOWN:
            raise NotImplementedError(f"the sampler does not know {sorted(unknown)}")
        if "anyOf" in node:
            return self.of(self._one(node["anyOf"]))
        if "const" in node:
            return node["const"]
        if "enum" in node:
            return self._one(node["enum"])
        kind = self._one(_types(node)) if "type" in node else None
        if kind == "object":
            return self._object(node)
        if kind == "array":
            return self._array(node)
        low, high = node.get("minimum"), node.get("maximum")
        values = ANY if kind is None else OF_TYPE[kind]
        if low is not None and high is not None:
            values = (low, high, (low + high) / 2)
        return deepcopy(self._one(values))

    def _object(self, node: Node) -> Node:
        required = node.get("required", ())
        found = {
            name: self.of(member)
            for name, member in node.get("properties", {}).items()
            if name in required or self._also()
        }
        rest = node.get("additionalProperties")
        if self._also():
            found |= {"a/b~c": self.of(rest)} if isinstance(rest, dict) else deepcopy(UNKNOWN)
        return found

    def _array(self, node: Node) -> list[Any]:
        if not self._also():
            return []
        items = node["items"]
        branches = _resolved(self._definitions, items).get("anyOf", (items, items))
        return [self.of(branch) for branch in branches]

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
        # A fraction is no integer; a text that looks right is still a text.
        others = {**OF_TYPE, "number": (0.5,), "string": ("5",)}
        yield from (("type", other[0]) for kind, other in others.items() if kind not in kinds)
    for keyword in ("const", "enum"):
        if keyword in node:
            yield keyword, f"x-{value}"
    if "minimum" in node:
        yield from (("minimum", node["minimum"] - step) for step in (1, 0.5))
    if "maximum" in node:
        yield from (("maximum", node["maximum"] + step) for step in (1, 0.5))


def at(value: Any, path: Path) -> Any:
    """Return what stands at `path`; None also where nothing does."""
    for step in path:
        value = value.get(step) if isinstance(value, dict) else value[step]
    return value


def _fault(broken: Broken) -> Any:
    """Return what makes a fault different from others: the members beside it tell the branch."""
    holder = at(broken.sound, broken.path[:-1])
    beside = tuple(holder) if isinstance(holder, dict) else ()
    return broken.rule, broken.path, _text(at(broken.value, broken.path)), beside


def _replaced(value: Any, path: Path, new: Any) -> Any:
    if not path:
        return new
    copy = value.copy()
    copy[path[0]] = _replaced(value[path[0]], path[1:], new)
    return copy


def removed(value: Any, path: Path) -> Any:
    """Return `value` without the member at `path`."""
    holder = at(value, path[:-1])
    return _replaced(value, path[:-1], {k: v for k, v in holder.items() if k != path[-1]})


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def _unique(values: list[Any]) -> list[Any]:
    return list({_text(value): value for value in values}.values())
