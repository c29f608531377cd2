"""`k=v` words of a command line as JSON members, typed by the schema that they are for.

`k=v` takes the type that the schema gives `k`: text stays text wherever text is allowed, or where
the schema says nothing; `a.b=v` is the member `b` of `a`. `k:=JSON` is taken as it stands, also
where the schema has no `k`.
"""

from __future__ import annotations

__all__ = ("members_from", "members_from_file")

import sys
from collections.abc import Iterable, Iterator
from copy import deepcopy
from math import isinf
from pathlib import Path
from typing import Any, cast

from pydantic_core import from_json

from kinwire.cli.failure import UsageError, did_you_mean
from kinwire.cli.layout import printable
from kinwire.cli.schema_places import Place
from kinwire.json_pointer import pointer_below
from kinwire.messages.jsonrpc import is_object, kind_of
from kinwire_protocols.base import JsonObject

_IN_WORDS = {"boolean": "true or false"}


def members_from(
    words: Iterable[str],
    schema: JsonObject,
    *,
    closed: bool = False,
    given: JsonObject | None = None,
) -> JsonObject:
    """Return the object that `words` spell, with what is `given`; `closed` is that of `Place`.

    Raises:
        UsageError: a word is no `k=v`, its value does not fit, there is no such member, or two
            words contradict each other.
    """
    members: JsonObject = deepcopy(given or {})
    root = Place([schema], schema, closed=closed)
    for word in words:
        key, equals, text = word.partition("=")
        path = key.removesuffix(":").split(".")
        if not equals or not all(path):
            raise UsageError(f"{word}: expected NAME=VALUE or NAME:=JSON.", _known(root))
        if any("\ud800" <= sign <= "\udfff" for sign in word):  # how Python keeps such bytes
            hint = f"This command reads its words as {sys.getfilesystemencoding()}."
            raise UsageError(f"{word}: expected text, got bytes that are none.", hint)
        raw = key.endswith(":")
        value = _json(word, text) if raw else _typed(word, text, _place(word, path, root))
        _put(members, path, value, word)
    return members


def members_from_file(path: str) -> JsonObject:
    """Return the JSON object in a file, `-` for what comes on stdin.

    Raises:
        UsageError: it cannot be read, or holds no JSON object.
    """
    where = "stdin" if path == "-" else path
    try:
        content = sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes()
    except OSError as error:
        raise UsageError(f"--json {where}: {error.strerror}.") from None
    try:
        value = _from_json(f"--json {where}", content)
    except ValueError as error:
        raise UsageError(f"--json {where}: expected JSON, {error}.") from None
    if not is_object(value):
        raise UsageError(f"--json {where}: expected a JSON object, got {kind_of(value)}.")
    return value


def _put(members: JsonObject, path: list[str], value: object, word: str) -> None:
    for step in path[:-1]:
        members = members.setdefault(step, {})
        if not isinstance(cast(object, members), dict):
            raise UsageError(f"{word}: {step!r} was given a value that has no members.")
    if path[-1] in members:
        raise UsageError(f"{word}: {'.'.join(path)!r} was given before.")
    members[path[-1]] = value


def _place(word: str, path: list[str], root: Place) -> Place:
    place = root
    for step in path:
        if not place.may_have(step):
            hint = printable(did_you_mean(step, place.names)) or _known(place)
            raise UsageError(f"{word}: there is no member {step!r}.", hint)
        place = place.member(step)
    return place


def _known(place: Place) -> str:
    return printable(f"It has: {', '.join(place.names)}.") if place.names else ""


def _typed(word: str, text: str, place: Place) -> object:
    kinds = place.kinds
    if not kinds or "string" in kinds:
        return text
    expected = " or ".join(_IN_WORDS.get(kind, kind) for kind in sorted(kinds))
    try:
        value = _from_json(word, text)
    except ValueError:
        value = text  # which is not allowed here
    if not place.allows(value):
        raise UsageError(f"{word}: expected {expected}.", _how_to_write(word, place))
    return value


def _how_to_write(word: str, place: Place) -> str:
    key, first = word.partition("=")[0], place.names[:1]
    if first:
        return printable(f"Write {key}.{first[0]}=... for its members, or {key}:=JSON.")
    return f"Write {key}:=JSON." if {"object", "array"} & place.kinds else ""


def _json(word: str, text: str) -> object:
    try:
        return _from_json(word, text)
    except ValueError:
        hint = "Text in JSON has quotes: 'k:=\"text\"'."
        raise UsageError(f"{word}: expected JSON.", hint) from None


def _from_json(word: str, text: str | bytes) -> object:
    value = from_json(text, allow_inf_nan=False)
    place = next(_infinite(value, ""), None)
    if place is not None:  # it would go out as null
        where = f" at {place}" if place else ""
        raise UsageError(
            f"{word}: expected a number of at most 1.8e308{where}.",
            "Larger ones can be sent as text, in quotes.",
        )
    return value


def _infinite(value: Any, place: str) -> Iterator[str]:
    """Yield where in `value` a number was too large to be read."""
    if isinstance(value, float) and isinf(value):
        yield place
    elif isinstance(value, dict):
        for name, inner in cast("JsonObject", value).items():
            yield from _infinite(inner, pointer_below(place, name))
    elif isinstance(value, list):
        for index, inner in enumerate(cast("list[Any]", cast(object, value))):
            yield from _infinite(inner, f"{place}/{index}")
