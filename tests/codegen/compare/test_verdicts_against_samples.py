"""The verdict on any edit of a type, checked with samples: it names every refused peer.

An object of the old form is written and read by the new one, and the reverse. JSON Schema says what
writers may write, and what readers take.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any, NamedTuple

import pytest
from hypothesis import given, note, strategies as st
from jsonschema import Draft202012Validator

from kinwire_codegen.compare.verdict import Category, Level
from tests.codegen.compare.documents import Node, against, edited, toy


def shared(*, tagged: bool) -> Node:
    """Return what is referred to: objects of a union, which tell what they are if `tagged`."""
    required = ["kind"] if tagged else []
    return {
        "Apple": {
            "type": "object",
            "properties": {"kind": {"const": "apple"}},
            "required": required,
        },
        "Berry": {
            "type": "object",
            "properties": {"kind": {"const": "berry"}, "count": {"type": "integer"}},
            "required": required,
        },
        "Level": {"type": "string", "enum": ["x", "y"]},
    }


REFERENCES = {name: {"$ref": f"#/$defs/{name}"} for name in shared(tagged=True)}


def fruit(*, tagged: bool) -> Node:
    union = {"anyOf": [REFERENCES["Apple"], REFERENCES["Berry"]]}
    return union | ({"discriminator": {"propertyName": "kind"}} if tagged else {})


FRUITS: list[Any] = [
    *({"kind": kind} for kind in ("apple", "berry", "cherry")),
    *({"kind": "berry", "count": count} for count in (1, "1")),
    *({}, {"count": 1}, {"k": "a"}, {"k": 1}, {"k": None}),
]
VALUES: list[Any] = [
    *("", "a", "ab", "abc", "b", "x", "y", "long", 0, 1, 2, 3, 9, -1, 1.5, True, False, None),
    *([], ["a"], ["a", "b"], ["a", "b", "c"], [1], [1, 2], [None]),
    *FRUITS,
]
ABSENT = object()
GROUPS: list[Node] = [{"required": ["a"]}, {"required": ["b"]}, {"required": ["a", "b"]}]
AROUND: list[Node] = [
    *[{}] * 8,
    *({"additionalProperties": other} for other in (False, True, {"type": "string"})),
    *({key: GROUPS[:count]} for key in ("anyOf", "oneOf") for count in (1, 2, 3)),
    {"anyOf": GROUPS[::2]},
]
"""What an object says of all its fields: mostly nothing."""


def some(**bounds: st.SearchStrategy[Any]) -> st.SearchStrategy[Node]:
    return st.fixed_dictionaries({}, optional=bounds)


def texts() -> st.SearchStrategy[Node]:
    lengths, patterns = st.integers(0, 3), st.sampled_from(["a", "^a", "b$"])
    bounds = some(minLength=lengths, maxLength=lengths, pattern=patterns)
    return bounds.map(lambda found: {"type": "string", **found})


def numbers() -> st.SearchStrategy[Node]:
    edge, kinds = st.integers(0, 3), st.sampled_from(["integer", "number"])
    bounds = some(minimum=edge, maximum=edge, exclusiveMinimum=edge, exclusiveMaximum=edge)
    return st.builds(lambda kind, found: {"type": kind, **found}, kinds, bounds)


def values() -> st.SearchStrategy[Node]:
    single = st.sampled_from(["a", "x", 1, True]).map(lambda only: {"const": only})
    some = st.lists(st.sampled_from(["a", "x", "y", 1, 2]), min_size=1, max_size=3, unique=True)
    return single | some.map(lambda found: {"enum": found}) | st.just(REFERENCES["Level"])


def scalars() -> st.SearchStrategy[Node]:
    kinds = [*("boolean", "null"), ["string", "null"], ["integer", "null"], ["string", "integer"]]
    others = st.sampled_from([{}, *({"type": kind} for kind in kinds)])
    return st.one_of(texts(), numbers(), values(), others)


def objects(*, tagged: bool) -> st.SearchStrategy[Node]:
    union = fruit(tagged=tagged)
    return st.sampled_from([REFERENCES["Apple"], REFERENCES["Berry"], union])


def families(*, tagged: bool) -> list[st.SearchStrategy[Node]]:
    """Types by what they are alike in: most edits leave a type what it was, and change a bound."""
    counts = some(minItems=st.integers(0, 2), maxItems=st.integers(1, 3))
    arrays = st.builds(
        lambda items, more: {"type": "array", "items": items, **more}, scalars(), counts
    )
    maps = scalars().map(lambda inner: {"type": "object", "additionalProperties": inner})
    one = st.one_of(texts(), numbers(), values(), objects(tagged=tagged))
    unions = st.lists(one, min_size=2, max_size=3).map(lambda found: {"anyOf": found})
    return [texts(), numbers(), values(), scalars(), arrays, maps, objects(tagged=tagged), unions]


class Side(NamedTuple):
    """An object, and the types that it refers to."""

    node: Node
    shared: Node


@st.composite
def edits(draw: st.DrawFn) -> tuple[Side, Side]:
    """An object and what it becomes: one of its two members has another type, or is optional."""
    tagged = draw(st.sampled_from([(True, True), (True, False), (False, True)]))
    count = len(families(tagged=True))
    family = [draw(st.integers(0, count - 1))] * 2
    if draw(st.booleans()):
        family[1] = draw(st.integers(0, count - 1))
    kept = draw(texts())
    sides = []
    for number, is_tagged in zip(family, tagged, strict=True):
        members = {"a": draw(families(tagged=is_tagged)[number]), "b": kept}
        if draw(st.integers(0, 7)) == 7:
            del members["a"]
        required = sorted(draw(st.sets(st.sampled_from("ab"))) & members.keys())
        node = {"type": "object", "properties": members, "required": required}
        node |= draw(st.sampled_from(AROUND))
        sides.append(Side(node, shared(tagged=is_tagged)))
    return sides[0], sides[1]


def as_written(node: Any, named: Node) -> Any:
    """Return a type with what it refers to in its place."""
    if isinstance(node, list):
        return [as_written(inner, named) for inner in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        return named[node["$ref"].rpartition("/")[2]]
    return {key: as_written(inner, named) for key, inner in node.items()}


def samples(writer: Node) -> Iterator[Node]:
    """Yield what a writer may write: each member in all its values with one of the others."""
    valid = Draft202012Validator(writer).is_valid
    fits = {
        name: Draft202012Validator(node).is_valid for name, node in writer["properties"].items()
    }
    choices = {name: [*VALUES, ABSENT] for name in writer["properties"]}
    for name, values in choices.items():
        others = [other for other in choices if other != name]
        rest: list[Node] = [{}]
        for other in others:
            rest = [{} if value is ABSENT else {other: value} for value in choices[other]]
        for value in values:
            if value is ABSENT or fits[name](value):
                own = {} if value is ABSENT else {name: value}
                yield from islice(filter(valid, ({**beside, **own} for beside in rest)), 1)


def refused(writer: Side, reader: Side) -> list[Node]:
    """Return what a writer may write and a reader refuses."""
    takes = Draft202012Validator(as_written(*reader)).is_valid
    return [one for one in samples(as_written(*writer)) if not takes(one)]


@pytest.mark.slow
@given(edits())
def test_every_refused_peer_is_named(sides: tuple[Side, Side]) -> None:
    old, new = sides
    changes = against(document(old), document(new)).of(Category.WIRE)
    note("\n".join(f"{one.rule.id} {one.level.name} {one.what}" for one in changes))
    named = {victim.group for change in changes for victim in change.breaks}
    from_old, from_new = refused(old, new), refused(new, old)
    if from_old:
        assert "old senders" in named, from_old
        assert max(change.level for change in changes) is Level.BREAKING
    if from_new:
        assert "old receivers" in named, from_new


def document(side: Side) -> Node:
    def edit(content: Node) -> None:
        types = {**side.shared, "AskParams": side.node}
        content["$defs"] |= {name: {"description": "It."} | node for name, node in types.items()}

    return edited(toy(), edit)
