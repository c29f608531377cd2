"""`k=v` words of a command line as JSON members, typed by the schema that they are for.

`k=v` takes the type that the schema gives `k`: text stays text wherever text is allowed, or where
the schema says nothing; `k:=JSON` is taken as it stands; `a.b=v` is the member `b` of `a`.
"""

from __future__ import annotations

__all__ = ("members_from",)

from collections.abc import Iterable, Iterator
from typing import Any, cast

from pydantic_core import from_json

from kinwire.cli.failure import UsageError
from kinwire_protocols.base import JsonObject

_TYPES: dict[str, tuple[type, ...]] = {
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
    "array": (list,),
    "object": (dict,),
    "string": (str,),
}


def members_from(words: Iterable[str], schema: JsonObject) -> JsonObject:
    """Return the object that `words` spell.

    Raises:
        UsageError: a word is no `k=v`, its value does not fit, or two words contradict each other.
    """
    members: JsonObject = {}
    for word in words:
        key, equals, text = word.partition("=")
        path = key.removesuffix(":").split(".")
        if not equals or not all(path):
            raise UsageError(f"{word}: expected NAME=VALUE or NAME:=JSON.")
        raw = key.endswith(":")
        value = _json(word, text) if raw else _typed(word, text, _kinds(path, schema))
        _put(members, path, value, word)
    return members


def _put(members: JsonObject, path: list[str], value: object, word: str) -> None:
    for step in path[:-1]:
        members = members.setdefault(step, {})
        if not isinstance(cast(object, members), dict):
            raise UsageError(f"{word}: {step!r} was given a value that has no members.")
    if path[-1] in members:
        raise UsageError(f"{word}: {'.'.join(path)!r} was given before.")
    members[path[-1]] = value


def _typed(word: str, text: str, kinds: set[str]) -> object:
    if not kinds or "string" in kinds:
        return text
    value = _json(word, text, " or ".join(sorted(kinds)))
    if not any(type(value) in _TYPES.get(kind, ()) for kind in kinds):
        raise UsageError(f"{word}: expected {' or '.join(sorted(kinds))}.")
    return value


def _json(word: str, text: str, expected: str = "JSON") -> object:
    try:
        return from_json(text, allow_inf_nan=False)
    except ValueError:
        hint = "Text in JSON has quotes: 'k:=\"text\"'." if expected == "JSON" else ""
        raise UsageError(f"{word}: expected {expected}.", hint) from None


def _kinds(path: list[str], schema: JsonObject) -> set[str]:
    """Return the JSON types that the member at `path` may have, none if the schema is silent."""
    places = [schema]
    for step in path:
        places = [inner for place in places for inner in _inside(place, schema, step)]
    return {
        kind for place in places for branch in _branches(place, schema) for kind in _own(branch)
    }


def _inside(place: JsonObject, root: JsonObject, name: str) -> Iterator[JsonObject]:
    for branch in _branches(place, root):
        inner = branch.get("properties", {}).get(name, branch.get("additionalProperties"))
        if isinstance(inner, dict):
            yield cast(JsonObject, inner)


def _branches(place: JsonObject, root: JsonObject, depth: int = 8) -> Iterator[JsonObject]:
    """Yield the schema itself and those that it refers to or combines."""
    yield place
    if depth == 0:  # a schema of a peer may refer to itself
        return
    reference = place.get("$ref")
    if isinstance(reference, str) and reference.startswith("#/"):
        yield from _branches(_at(root, reference), root, depth - 1)
    for word in ("anyOf", "oneOf", "allOf"):
        for branch in place.get(word, ()):
            yield from _branches(branch, root, depth - 1)


def _at(root: JsonObject, reference: str) -> JsonObject:
    found: Any = root
    for step in reference[2:].split("/"):
        name = step.replace("~1", "/").replace("~0", "~")
        found = cast(JsonObject, found).get(name) if isinstance(found, dict) else None
    return cast(JsonObject, found) if isinstance(found, dict) else {}


def _own(schema: JsonObject) -> Iterator[str]:
    kinds = schema.get("type", ())
    yield from [kinds] if isinstance(kinds, str) else kinds
    for value in [schema["const"]] if "const" in schema else schema.get("enum", ()):
        yield from (kind for kind, types in _TYPES.items() if type(value) in types)
