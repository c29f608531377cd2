"""What is wrong with a message, and where."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, cast

from pydantic import ValidationError
from pydantic_core import ErrorDetails

__all__ = ("Path", "Problem", "problem_of", "problems", "shown")

Path = tuple[int | str, ...]
"""The steps from a JSON value to a part of it."""

_NOTHING = object()
_SHOWN = 60  # characters of a value: messages end up in logs
_MOST = 200  # faults that are looked at: a peer chooses how many a message has, each costs time
_WAYS = 32  # readings of one location that are followed
_OF_VARIANT = ("unknown_variant", "union_tag_invalid", "union_tag_not_found")
_EXPECTED = {
    "dict_type": "an object",
    "list_type": "an array",
    "model_attributes_type": "an object",
    "model_type": "an object",
}


@dataclass(frozen=True, slots=True)
class Problem:
    """One place in a message that does not fit its type."""

    pointer: str
    """A JSON pointer into the message."""
    expected: str
    got: str

    def __str__(self) -> str:
        return f"{self.pointer}: expected {self.expected}, got {self.got}"

    def to_json(self) -> dict[str, str]:
        """Return the members as a JSON object."""
        return asdict(self)


def problems(error: ValidationError, value: object) -> list[Problem]:
    """Return what `error` says of `value`, the JSON that was refused: at least one, one a place.

    Of a value with very many faults it says only how many they are.
    """
    count = error.error_count()
    if count > _MOST:
        return [Problem("", f"a valid {error.title}", f"{shown(value)} with {count} faults")]
    found: dict[str, Problem] = {}
    for details in error.errors(include_url=False):
        problem, _ = problem_of(details, value)
        first = found.get(problem.pointer)
        if first is not None and problem.expected != first.expected:  # the branches of a union
            problem = Problem(first.pointer, f"{first.expected} or {problem.expected}", first.got)
        found[problem.pointer] = problem
    return list(found.values())


def problem_of(details: ErrorDetails, value: object) -> tuple[Problem, Path]:
    """Return what one error says of `value`, and the path to the part that it is about."""
    kind, loc, got = details["type"], details["loc"], cast(object, details["input"])
    expected = _EXPECTED.get(kind) or _expected_in(details["msg"])
    about = path = _path(loc, value, got)
    came = shown(got)
    if kind == "missing":
        path, came, expected = (*_path(loc[:-1], value, got), loc[-1]), "nothing", "a value"
    elif kind in _OF_VARIANT:
        path, expected, came = _of_variant(path, details.get("ctx", {}), got)
    pointer = "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in path)
    return Problem(pointer, expected, came), about


def _expected_in(said: str) -> str:
    """Return what was expected, as `at least 1 item` of a list that should have one."""
    said = said.removeprefix("Input should be ").removeprefix("Input should ")
    _, has_size, size = said.partition(" should have ")
    return size.partition(" after validation")[0] if has_size else said


def _of_variant(path: Path, context: dict[str, Any], got: object) -> tuple[Path, str, str]:
    tag = str(context["discriminator"]).strip("'")
    fields = cast("dict[str, object]", got) if isinstance(got, dict) else {}
    if tag not in fields or "expected_tags" not in context:
        return (*path, tag), "a value", "nothing"
    return (*path, tag), f"one of {context['expected_tags']}", shown(fields[tag])


def _path(loc: Sequence[int | str], value: object, got: object) -> Path:
    # A location also names the branch of a union that was tried. Such a step leads nowhere, or to a
    # member of the same name that is not meant: the right reading leads to `got`, and furthest.
    reached: dict[Path, object] = {(): value}
    for step in loc:
        for path, here in list(reached.items()):
            inner = _member(here, step)
            if inner is not _NOTHING:
                reached[(*path, step)] = inner
        if len(reached) > _WAYS:
            reached = dict(sorted(reached.items(), key=lambda item: -len(item[0]))[:_WAYS])
    return max(reached, key=lambda path: (reached[path] is got, len(path)))


def _member(value: object, step: int | str) -> object:
    if isinstance(value, dict):
        return cast("dict[object, object]", value).get(step, _NOTHING)
    if isinstance(value, list) and isinstance(step, int):
        items = cast("list[object]", value)
        return items[step] if step < len(items) else _NOTHING
    return _NOTHING


def shown(value: object) -> str:
    """Return `value`, JSON, as a message may show it: containers and long texts cut."""
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return "an array"
    text = json.dumps(value, default=repr)
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "…"
