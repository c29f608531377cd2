"""Random patches against a simple model of RFC 6902, which copies everything at each step."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import pytest

from kinwire.mcpl.rules.json_patch import PatchError, patched
from kinwire.support.json_values import same
from kinwire_protocols.base import JsonObject, from_wire
from kinwire_protocols.mcpl import StateUpdate
from tests.sample import rounds

pytestmark = pytest.mark.spec("mcpl-8.3-4")

STATES: list[Any] = [
    *[{"s": "x", "n": 1, "l": [1, [2], {"a": 1}], "o": {"s": "x", "l": [0]}, "a": {"a": {}}}] * 9,
    {"s": "text", "n": 1, "b": True, "z": None, "l": [1, [2], {"a": 1}], "o": {"s": "x", "l": [0]}},
    [1, "a", {"b": [[]]}],
    {"a": {"a": {"a": {}}}, "l": []},
    *("text", 7, None, True, 1.5),
]
NAMES = ("s", "n", "b", "z", "l", "o", "a", "0", "1", "2", "-", "length", "")
VALUES: list[Any] = [1, "v", [], {"a": [1]}, None, True]


KEPT = object()
PLACES = (
    "",
    "/s",
    "/n",
    "/l",
    "/l/0",
    "/l/1",
    "/l/-",
    "/l/2/a",
    "/o",
    "/o/l",
    "/o/s",
    "/a",
    "/a/a",
)


class ImpossibleError(Exception):
    """The model cannot do it."""


def random_patch(chosen: random.Random) -> list[JsonObject]:
    return [random_operation(chosen) for _ in range(chosen.randrange(1, 6))]


def random_operation(chosen: random.Random) -> JsonObject:
    kind = chosen.choice(("add", "add", "remove", "replace", "move", "copy", "test"))
    operation: JsonObject = {"op": kind, "path": random_pointer(chosen)}
    if kind in ("move", "copy"):
        operation["from"] = random_pointer(chosen)
    elif kind != "remove":
        operation["value"] = deepcopy(chosen.choice(VALUES))
    return operation


def random_pointer(chosen: random.Random) -> str:
    if chosen.random() < 0.6:  # a place that most states have
        return chosen.choice(PLACES)
    return "".join(f"/{chosen.choice(NAMES)}" for _ in range(chosen.choice((0, 1, 1, 1, 2, 2, 3))))


def by_the_model(document: Any, operations: list[JsonObject]) -> Any:
    root = {"": deepcopy(document)}
    for operation in deepcopy(operations):
        act(root, operation)
    return root[""]


def act(root: Any, operation: JsonObject) -> None:
    kind, path = operation["op"], operation["path"].split("/")
    if kind in ("move", "copy"):
        value = taken(root, kind, operation["from"].split("/"), path)
        if value is not KEPT:
            put_in(root, path, value)
    elif kind == "test":
        must(same(read(root, path), operation["value"]))
    elif kind == "remove":
        must(path != [""])
        take_out(root, path)
    else:
        if kind == "replace":
            read(root, path)
            take_out(root, path)
        put_in(root, path, operation["value"])


def taken(root: Any, kind: str, source: list[str], path: list[str]) -> Any:
    value = deepcopy(read(root, source))
    if kind == "move":
        if source == path:
            return KEPT
        must(path[: len(source)] != source and source != [""])
        take_out(root, source)
    return value


def must(condition: bool) -> None:
    if not condition:
        raise ImpossibleError


def key_of(container: Any, token: str) -> Any:
    if isinstance(container, dict) and token in container:
        return token
    if isinstance(container, list) and token.isdecimal() and int(token) < len(container):
        return int(token)
    raise ImpossibleError


def read(value: Any, path: list[str]) -> Any:
    for token in path:
        value = value[key_of(value, token)]
    return value


def take_out(root: Any, path: list[str]) -> None:
    container = read(root, path[:-1])
    del container[key_of(container, path[-1])]


def put_in(root: Any, path: list[str], value: Any) -> None:
    container, token = read(root, path[:-1]), path[-1]
    if isinstance(container, dict):
        container[token] = value
    elif isinstance(container, list) and token == "-":
        container.append(value)
    elif isinstance(container, list) and token.isdecimal() and int(token) <= len(container):
        container.insert(int(token), value)
    else:
        raise ImpossibleError


def outcomes(seed: int, count: int) -> Iterator[str]:
    chosen = random.Random(seed)
    for _ in range(count):
        state, operations = chosen.choice(STATES), random_patch(chosen)
        before = deepcopy(state)
        patch = from_wire(StateUpdate, {"checkpoint": "c", "patch": operations}).patch or []
        try:
            expected = by_the_model(state, operations)
        except ImpossibleError:
            with pytest.raises(PatchError, match=r"^/patch/\d/(path|from|value): expected "):
                patched(state, patch)
            yield "refused"
        else:
            assert same(patched(state, patch).document, expected), operations
            yield "applied"
        assert same(state, before), operations


@pytest.mark.parametrize("count", [1500, pytest.param(rounds(60_000), marks=pytest.mark.faults)])
def test_random_patches_do_what_the_model_does_or_are_patch_errors(count: int) -> None:
    found = Counter(outcomes(18, count))
    assert found["applied"] > count // 20
    assert found["refused"] > count // 2
