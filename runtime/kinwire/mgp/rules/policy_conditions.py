"""What a policy file can demand of an argument.

Texts are judged so that a value cannot leave what a rule names: a rule with slashes is about paths
or URLs, and never holds for a value with a `..` step or control characters in it.
"""

from __future__ import annotations

__all__ = ("Condition", "equal_to", "in_range", "matching", "one_of_values", "within")

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import cast
from unicodedata import normalize
from urllib.parse import unquote

from kinwire.support.json_values import same
from kinwire.support.patterns.glob import Pattern
from kinwire.support.validation import is_number

_STEPS = re.compile(r"[/\\]")
_DECODED = 3  # times, as some programs decode more than once


@dataclass(frozen=True, slots=True)
class Condition:
    """One demand on the value of an argument."""

    words: str
    """After "must": `be 5`."""
    holds: Callable[[object], bool]


def equal_to(value: object) -> Condition:
    """Return the demand to be a certain JSON value."""
    return Condition(f"be {value!r:.60}", lambda given: same(given, value))


def one_of_values(values: Sequence[object]) -> Condition:
    """Return the demand to be one of several values; of a list each item must be one."""

    def holds(given: object) -> bool:
        return any(same(given, value) for value in values)

    shown = ", ".join(f"{value!r:.40}" for value in values[:5])
    more = ", ..." if len(values) > 5 else ""
    return Condition(f"be one of {shown}{more}", _of_each(holds))


def within(prefix: str) -> Condition:
    """Return the demand to begin with a text; of a list each item must.

    A prefix with a slash ends at a step: `/srv/data` takes `/srv/data` and `/srv/data/a`, and not
    `/srv/database`.
    """

    def holds(given: object) -> bool:
        if not isinstance(given, str) or not given.startswith(prefix):
            return False
        if "/" not in prefix:
            return True
        rest = given[len(prefix) :]
        return (not rest or prefix.endswith("/") or rest.startswith("/")) and _stays(given)

    return Condition(f"begin with {prefix!r:.60}", _of_each(holds))


def matching(pattern: str) -> Condition:
    """Return the demand to match a pattern; of a list each item must.

    Raises:
        ValueError: the pattern is empty or too long.
    """
    compiled = Pattern(pattern)

    def holds(given: object) -> bool:
        if not isinstance(given, str) or not compiled.matches(given):
            return False
        return "/" not in pattern or _stays(given)

    return Condition(f"match {pattern!r:.60}", _of_each(holds))


def in_range(minimum: float | None, maximum: float | None) -> Condition:
    """Return the demand to be a number in a range, with its ends; of a list each item must be."""

    def holds(given: object) -> bool:
        if not is_number(given):
            return False
        return (minimum is None or given >= minimum) and (maximum is None or given <= maximum)

    ends = [
        *([] if minimum is None else [f"from {minimum}"]),
        *([] if maximum is None else [f"up to {maximum}"]),
    ]
    return Condition(f"be a number {' '.join(ends)}", _of_each(holds))


def _of_each(holds: Callable[[object], bool]) -> Callable[[object], bool]:
    def each(given: object) -> bool:
        if isinstance(given, list):
            return all(map(holds, cast("list[object]", given)))
        return holds(given)

    return each


def _stays(text: str) -> bool:
    """Return whether a path or URL has no step upward, in any spelling, and no control sign."""
    for _ in range(_DECODED):
        text = normalize("NFKC", text)
        if not text.isprintable() or "\ufffd" in text or any(map(_is_upward, _STEPS.split(text))):
            return False
        decoded = unquote(text)
        if decoded == text:
            return True
        text = decoded
    return False


def _is_upward(step: str) -> bool:
    return step.partition(";")[0].strip() == ".."
