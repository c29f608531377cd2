"""Validate a value by a JSON Schema that a peer wrote: bounded, and without anything outside it.

A peer may write any schema, by mistake or to hurt. One that is too large, or that refers to another
document, is refused; nothing is ever fetched. Older drafts are read as 2020-12. Keywords that
cannot be checked, or are not valid, are left out and reported: a value is never refused because of
them. A validation that takes too many steps, or too long by the caller's clock, refuses the value.
"""

from __future__ import annotations

__all__ = ("PeerSchema", "SchemaLimits")

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from kinwire.mcp.rules.json_schema import JsonSchema
from kinwire.mcp.rules.json_schema_drafts import readable
from kinwire.mcp.rules.json_schema_flat import flat
from kinwire.rpc.codec import is_object
from kinwire_protocols.base import JsonObject
from kinwire_protocols.problems import Problem


@dataclass(frozen=True, slots=True)
class SchemaLimits:
    """How large a schema of a peer may be, and what a validation by it may cost."""

    values: int = 20_000
    """Objects, arrays and other values in the schema. The largest of 527 real tools has 231."""
    depth: int = 64
    """Objects and arrays inside each other. The deepest of them has 10."""
    references: int = 1000
    branches: int = 500
    """Schemas in one `anyOf`, `allOf` or `oneOf`."""
    steps: int = 200_000
    """Keywords that are evaluated, weighed by the size of what they compare."""
    seconds: float = 1.0
    """How long one validation may take."""


_STEPS_BETWEEN = 500  # between two looks at the clock: less than a millisecond


class _TooMuchError(Exception):
    """The validation takes too many steps, or too long."""


class PeerSchema:
    """A schema of a peer, checked when it is constructed. It is not changed afterwards."""

    def __init__(self, schema: JsonObject, limits: SchemaLimits | None = None) -> None:
        """Read a schema.

        Raises:
            ValueError: it is too large, or refers to something outside it.
        """
        self._limits: Final = limits or SchemaLimits()
        _must_fit(schema, self._limits)
        plain, self.unchecked = readable(schema)
        """Pointers to the keywords that are not checked, with the reason."""
        self._schema = JsonSchema(plain)
        self._flat = flat(plain)

    def problems(
        self, value: Any, pointer: str = "", *, clock: Callable[[], float] | None = None
    ) -> list[Problem]:
        """Return the problems of `value`, which is at `pointer`; at most 20.

        `clock` returns seconds. With it the validation ends after `SchemaLimits.seconds`, and
        without it only by the number of steps.
        """
        if self._flat is not None and is_object(value) and self._flat.holds(value):
            return []
        meter = _Meter(self._limits, clock)
        try:
            return self._schema.problems(value, pointer, spend=meter.spend)
        except _TooMuchError as error:
            return [Problem(pointer, "a value that is validated in short time", str(error))]


class _Meter:
    def __init__(self, limits: SchemaLimits, clock: Callable[[], float] | None) -> None:
        self._limits = limits
        self._clock = clock
        self._spent = 0
        self._ends = None if clock is None else clock() + limits.seconds
        self._looks_at = min(_STEPS_BETWEEN, limits.steps + 1)

    def spend(self, steps: int) -> None:
        """Count steps.

        Raises:
            _TooMuchError: they are too many, or the time is over.
        """
        self._spent += steps
        if self._spent >= self._looks_at:
            self._look()

    def _look(self) -> None:
        if self._spent > self._limits.steps:
            raise _TooMuchError(f"more than {self._limits.steps} steps")
        if self._clock is not None and self._ends is not None and self._clock() > self._ends:
            raise _TooMuchError(f"more than {self._limits.seconds:g} s")
        self._looks_at = min(self._spent + _STEPS_BETWEEN, self._limits.steps + 1)


def _must_fit(schema: JsonObject, limits: SchemaLimits) -> None:
    """Raise if a schema is too large; it is walked without recursion."""
    values = references = 0
    todo: list[tuple[Any, int]] = [(schema, 1)]
    while todo:
        value, depth = todo.pop()
        values += 1
        if depth > limits.depth:
            raise _too_large("depth", limits.depth)
        if values > limits.values:
            raise _too_large("values", limits.values)
        if is_object(value):
            references += "$ref" in value
            _must_have_few_branches(value, limits)
            todo += [(inner, depth + 1) for inner in value.values()]
        elif isinstance(value, list):
            todo += [(inner, depth + 1) for inner in value]  # pyright: ignore[reportUnknownVariableType]
        if references > limits.references:
            raise _too_large("references", limits.references)


def _must_have_few_branches(schema: JsonObject, limits: SchemaLimits) -> None:
    for keyword in ("anyOf", "allOf", "oneOf"):
        branches: Any = schema.get(keyword)
        if isinstance(branches, list) and len(branches) > limits.branches:  # pyright: ignore[reportUnknownArgumentType]
            raise _too_large(f"branches of {keyword}", limits.branches)


def _too_large(what: str, most: int) -> ValueError:
    return ValueError(f"the schema is too large: expected at most {most} {what}, got more")
