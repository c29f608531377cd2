"""Walk over the arguments of a call: every string with its place and the names above it."""

from __future__ import annotations

__all__ = ("MOST_VALUES", "Leaf", "TooManyValuesError", "below", "leaves", "words_of_name")

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeGuard

from kinwire_protocols.base import JsonObject

MOST_VALUES: Final = 10_000
"""More values than that in one call are refused."""

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")


class TooManyValuesError(ValueError):
    """The arguments have more values than a validator reads."""


class Leaf(NamedTuple):
    """A string, number, boolean or null among the arguments; a key counts as a string."""

    place: str
    names: tuple[str, ...]
    """The keys above it, from the outermost."""
    value: str | int | float | bool | None
    is_key: bool = False

    @property
    def name(self) -> str:
        """The key that is nearest to it."""
        return self.names[-1] if self.names else ""


def leaves(arguments: JsonObject) -> Iterator[Leaf]:
    """Yield every value that is not an object or array, and every key, without recursion.

    Raises:
        TooManyValuesError: there are more than `MOST_VALUES`.
    """
    waiting: list[tuple[str, tuple[str, ...], object]] = [("", (), arguments)]
    for _ in range(MOST_VALUES):
        if not waiting:
            return
        place, names, value = waiting.pop()
        if is_mapping(value):
            yield from (Leaf(below(place, key), (*names, key), key, True) for key in value)
            inner = [(below(place, key), (*names, key), one) for key, one in value.items()]
            waiting += reversed(inner)
        elif is_array(value):
            found = [(f"{place}[{index}]", names, one) for index, one in enumerate(value)]
            waiting += reversed(found)
        elif value is None or isinstance(value, str | int | float | bool):
            yield Leaf(place, names, value)
    raise TooManyValuesError(f"expected at most {MOST_VALUES} values in the arguments")


def is_mapping(value: object) -> TypeGuard[Mapping[str, Any]]:
    """Return whether a value is an object of JSON, as a program may pass it."""
    return isinstance(value, Mapping)


def is_array(value: object) -> TypeGuard[Sequence[Any]]:
    """Return whether a value is an array of JSON, as a program may pass it."""
    return isinstance(value, list | tuple)


def below(place: str, key: str) -> str:
    """Return the place of a key's value in the object at `place`; long keys are cut."""
    shown = key if len(key) <= 40 and key.isprintable() else f"{key[:20]!r}..."
    return f"{place}.{shown}" if place else shown


def words_of_name(name: str) -> tuple[str, ...]:
    """Return the words of a name in small letters: `runShell_cmd2` is run, shell, cmd, 2."""
    return tuple(word.lower() for word in _WORD.findall(name))
