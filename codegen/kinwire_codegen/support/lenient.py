"""The lenient readings: what is accepted although it is not exactly what a peer should have sent.

Only reading is lenient. A value is validated strictly first; only if that fails is it corrected
here and validated once more, so values that are correct cost nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, cast, get_args, get_origin

from pydantic import ValidationError
from pydantic_core import MISSING, ErrorDetails

from .base import UnreadVariant
from .problems import Path, Problem, problem_of

__all__ = (
    "ABSENT_PARAMS",
    "EMPTY_ARRAY",
    "INTEGRAL_NUMBER",
    "IN_ARGUMENTS",
    "IN_VALUES",
    "MISSING_CONSTANT",
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

_Correction = tuple[Path, object, "LenientReading", Problem]

_ROUNDS = 2  # an empty object that was an empty array may miss a constant
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
MISSING_CONSTANT = LenientReading(
    "missing-constant",
    "an object, not one of several, without a required field that has one value only",
    "the object with that field",
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
    MISSING_CONSTANT,
    UNKNOWN_VARIANT,
    OTHER_VERSION,
)
"""Every lenient reading."""

IN_VALUES = (INTEGRAL_NUMBER, EMPTY_ARRAY, MISSING_CONSTANT, UNKNOWN_VARIANT)
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
    kind: object = None,
) -> T:
    """Correct `value`, which `error` refused, by `readings` and return what `validate` makes of it.

    `value` itself is not changed. `kind` is what it should be; without it constants are not added.

    Raises:
        pydantic.ValidationError: `error`: there is nothing to correct, or the rest does not fit.
    """
    found: list[_Correction] = []
    refused, corrected = error, value
    for _ in range(_ROUNDS):
        more = _corrections(refused, corrected, readings, kind)
        if not more:
            break
        corrected = _corrected(corrected, {path: new for path, new, _, _ in more})
        found += more
        try:
            made = validate(corrected)
        except ValidationError as again:
            refused = again
            continue
        if noticed is not None:
            for _, _, reading, problem in found:
                noticed(reading, error.title, problem)
        return made
    raise error from None


def _corrections(
    error: ValidationError, value: object, readings: Collection[LenientReading], kind: object
) -> list[_Correction]:
    if error.error_count() > _MOST:
        return []
    found: list[_Correction] = []
    for details in error.errors(include_url=False):
        reading = _reading(details)
        if details["type"] == "missing" and MISSING_CONSTANT in readings and kind is not None:
            constant = constant_at(kind, details["loc"])
            if constant is not None:
                problem, path = problem_of(details, value)
                place = (*path, details["loc"][-1])
                found.append((place, constant, MISSING_CONSTANT, problem))
        elif reading in readings:
            problem, path = problem_of(details, value)
            found.append((path, _CORRECT[reading.name](details["input"]), reading, problem))
    return found


def constant_at(kind: Any, place: Path) -> object:
    """Return the only value of the field at `place` in a `kind`; None if it has others.

    It is also None behind a union: there it would be said which of several objects is meant.
    """
    for step in place:
        kind = _inner(kind, step)
    if get_origin(kind) is Literal and len(get_args(kind)) == 1:
        return get_args(kind)[0]
    return None


def _inner(kind: Any, step: int | str) -> Any:
    """Return the type of a field, of an item or of a value; None if several are possible."""
    kind = _plain(kind)
    fields: dict[str, Any] | None = getattr(kind, "__pydantic_fields__", None)
    if fields is not None:
        named = (one.annotation for name, one in fields.items() if (one.alias or name) == step)
        return _plain(next(named, None))
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is list and isinstance(step, int):
        return _plain(arguments[0])
    return _plain(arguments[1]) if origin is dict else None


def _plain(kind: Any) -> Any:
    """Return what a name or an annotation stands for, and `X` of what is `X` or absent."""
    while True:
        if hasattr(kind, "__value__"):
            kind = kind.__value__
        elif get_origin(kind) is Annotated:
            kind = get_args(kind)[0]
        else:
            others = [one for one in get_args(kind) if one not in (NoneType, MISSING)]
            if get_origin(kind) not in (Union, UnionType) or len(others) != 1:
                return kind
            kind = others[0]


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
