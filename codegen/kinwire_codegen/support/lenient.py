"""The lenient readings: what is accepted although it is not exactly what a peer should have sent.

Only reading is lenient. A value is validated strictly first; only if that fails is it corrected
here and validated once more, so values that are correct cost nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any, Literal, TypeVar, cast

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from .base import UnreadVariant
from .problems import Path, Problem, problem_of

__all__ = (
    "ABSENT_PARAMS",
    "EMPTY_ARRAY",
    "INTEGRAL_NUMBER",
    "IN_ARGUMENTS",
    "IN_VALUES",
    "NULL_ERROR",
    "NULL_RESULT",
    "OTHER_VERSION",
    "READINGS",
    "UNKNOWN_VARIANT",
    "LenientReading",
    "Noticed",
    "read_again",
)

T = TypeVar("T")

_MOST = 1000  # corrections of one value: a peer chooses how many it needs, each costs time

_OBJECT_EXPECTED = {
    "dict_type",
    "mapping_type",
    "model_type",
    "model_attributes_type",
    "dataclass_type",
}
_INTEGER_EXPECTED = {"int_type", "int_from_float"}
_VARIANT_EXPECTED = {"unknown_variant"}


@dataclass(frozen=True, slots=True)
class LenientReading:
    """One row of the table of lenient readings."""

    name: str
    read: str
    """What arrives."""
    understood: str
    """What it is read as."""
    logged: Literal["debug", "warning"] = "debug"
    """The level at which it is logged, once per connection."""

    def __str__(self) -> str:
        return f"{self.name}: {self.read} is read as {self.understood}"


NULL_ERROR = LenientReading(
    "null-error", 'a response with a result and `"error": null`', "the result"
)
NULL_RESULT = LenientReading(
    "null-result", 'a response with an error and `"result": null`', "the error"
)
ABSENT_PARAMS = LenientReading("absent-params", '`"params": null` or `"params": []`', "no params")
INTEGRAL_NUMBER = LenientReading(
    "integral-number", "a number such as `5.0` where an integer is expected", "the integer"
)
EMPTY_ARRAY = LenientReading(
    "empty-array", "an empty array where an object is expected", "an empty object"
)
UNKNOWN_VARIANT = LenientReading(
    "unknown-variant",
    "an object of a tagged union with an unknown tag",
    "an `UnknownVariant` with all its fields",
)
OTHER_VERSION = LenientReading(
    "other-version",
    "an `MCP-Protocol-Version` header with another version than the session's",
    "the session's version",
    "warning",
)

READINGS = (
    NULL_ERROR,
    NULL_RESULT,
    ABSENT_PARAMS,
    INTEGRAL_NUMBER,
    EMPTY_ARRAY,
    UNKNOWN_VARIANT,
    OTHER_VERSION,
)
"""Every lenient reading."""

IN_VALUES = (INTEGRAL_NUMBER, EMPTY_ARRAY, UNKNOWN_VARIANT)
"""Those inside a value, as opposed to a whole message."""

IN_ARGUMENTS = (INTEGRAL_NUMBER, EMPTY_ARRAY)
"""Those inside the arguments of a user's function, which are of the user's own types."""

Noticed = Callable[[LenientReading, str, Problem], None]
"""Is called once for each correction: with its row, the type that was read, and the place."""


def read_again(
    error: ValidationError,
    value: object,
    validate: Callable[[Any], T],
    noticed: Noticed | None = None,
    readings: Collection[LenientReading] = IN_VALUES,
) -> T:
    """Correct `value`, which `error` refused, by `readings` and return what `validate` makes of it.

    `value` itself is not changed.

    Raises:
        pydantic.ValidationError: `error`: there is nothing to correct, or the rest does not fit.
    """
    corrections = _corrections(error, value, readings)
    if not corrections:
        raise error
    try:
        made = validate(_corrected(value, {path: new for path, new, _, _ in corrections}))
    except ValidationError:
        raise error from None
    if noticed is not None:
        for _, _, reading, problem in corrections:
            noticed(reading, error.title, problem)
    return made


def _corrections(
    error: ValidationError, value: object, readings: Collection[LenientReading]
) -> list[tuple[Path, object, LenientReading, Problem]]:
    if error.error_count() > _MOST:
        return []
    found: list[tuple[Path, object, LenientReading, Problem]] = []
    for details in error.errors(include_url=False):
        reading = _reading(details)
        if reading in readings:
            problem, path = problem_of(details, value)
            found.append((path, _CORRECT[reading.name](details["input"]), reading, problem))
    return found


def _reading(details: ErrorDetails) -> Any:
    kind, got = details["type"], cast(object, details["input"])
    if kind in _INTEGER_EXPECTED:
        return INTEGRAL_NUMBER if type(got) is float and got.is_integer() else None
    if kind in _OBJECT_EXPECTED:
        return EMPTY_ARRAY if got == [] else None
    if kind in _VARIANT_EXPECTED and isinstance(got, dict):
        tag = cast("dict[str, object]", got).get(details.get("ctx", {})["discriminator"])
        return UNKNOWN_VARIANT if type(tag) is str else None
    return None


_CORRECT: dict[str, Callable[[Any], object]] = {
    INTEGRAL_NUMBER.name: int,
    EMPTY_ARRAY.name: lambda _: {},
    UNKNOWN_VARIANT.name: UnreadVariant,
}


def _corrected(value: Any, corrections: dict[Path, object]) -> Any:
    """Return a copy of `value` with new values at some paths; the rest is shared with it."""
    copies: dict[Path, Any] = {}
    for path in sorted(corrections, key=len, reverse=True):
        if path in copies:  # one branch of a union accepts it with corrections inside
            continue
        if not path:
            return corrections[path]
        _parent(value, path, copies)[path[-1]] = corrections[path]
    return copies[()]


def _parent(value: Any, path: Path, copies: dict[Path, Any]) -> Any:
    """Return the copy of the container of `path`, made together with those around it."""
    inner: Any = None
    for depth in range(len(path) - 1, -1, -1):
        at = path[:depth]
        known = at in copies
        if not known:
            copies[at] = _at(value, at).copy()
        if inner is not None:
            copies[at][path[depth]] = inner
        if known:
            break
        inner = copies[at]
    return copies[path[:-1]]


def _at(value: Any, path: Path) -> Any:
    for step in path:
        value = value[step]
    return value
