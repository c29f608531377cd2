"""Values of a TOML file that know where they stand, and refuse what does not fit."""

from __future__ import annotations

__all__ = ("PolicyError", "TomlNode", "toml_node")

import re
import tomllib
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from math import isfinite
from typing import Any, TypeVar, cast

from kinwire.mgp.rules.policy import Place, PolicyProblem
from kinwire.mgp.rules.toml_places import Path, TomlPlaces
from kinwire.rpc.codec import is_object
from kinwire.support.errors import KinwireError
from kinwire.support.validation import LONGEST, MOST, is_count, is_number
from kinwire_protocols.nearest import nearest

T = TypeVar("T")
S = TypeVar("S", bound=str)

_AT = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")


class PolicyError(KinwireError, ValueError):
    """A policy file that cannot be used: where, and why. `str` begins with `FILE:LINE:COLUMN`."""

    def __init__(self, problem: PolicyProblem) -> None:
        super().__init__(str(problem))
        self.place = problem.place
        self.text = problem.text


@dataclass(frozen=True, slots=True)
class TomlNode:
    """A value, the path to it, and the places of its file."""

    value: object
    path: Path
    file: str
    places: TomlPlaces

    @property
    def place(self) -> Place:
        """Where the value stands."""
        return Place(self.file, *self.places.of_value(self.path))

    @property
    def key_place(self) -> Place:
        """Where its key stands."""
        return Place(self.file, *self.places.of_key(self.path))

    def refused(self, expected: str) -> PolicyError:
        """Return the error for a value that is not what is expected."""
        name = self.path[-1] if self.path else "the file"
        text = f"{name}: expected {expected}, got {_shown(self.value)}"
        return PolicyError(PolicyProblem(self.place, text))

    def table(self, keys: Collection[str] | None = None) -> Mapping[str, TomlNode]:
        """Return the fields of a table; with `keys` only these may be there.

        Raises:
            PolicyError: it is not a table, or has an unknown key.
        """
        if not is_object(self.value):
            raise self.refused("a table")
        found = {key: self._below(key, value) for key, value in self.value.items()}
        for key, node in found.items() if keys is not None else ():
            if key not in (keys or ()):
                raise PolicyError(PolicyProblem(node.key_place, _unknown(key, keys or ())))
        return found

    def table_below(self, key: str) -> Mapping[str, TomlNode]:
        """Return the fields of the table at a key of this table; empty without the key.

        Raises:
            PolicyError: this or that is not a table.
        """
        node = self.table().get(key)
        return {} if node is None else node.table()

    def items(self) -> Iterator[TomlNode]:
        """Yield the items of an array.

        Raises:
            PolicyError: it is not an array.
        """
        listed = self.value
        if not isinstance(listed, list):
            raise self.refused("an array")
        for index, value in enumerate(cast("list[object]", listed)):
            yield self._below(index, value)

    def text(self) -> str:
        """Return a string that is not empty.

        Raises:
            PolicyError: it is another value.
        """
        if not isinstance(self.value, str) or not self.value:
            raise self.refused("a string that is not empty")
        return self.value

    def flag(self) -> bool:
        """Return true or false.

        Raises:
            PolicyError: it is another value.
        """
        if not isinstance(self.value, bool):
            raise self.refused("true or false")
        return self.value

    def count(self, least: int = 0) -> int:
        """Return a whole number from `least`.

        Raises:
            PolicyError: it is another value.
        """
        if not is_count(self.value, least):
            raise self.refused(f"a whole number from {least} to {MOST}")
        return cast(int, self.value)

    def number(self) -> float:
        """Return a number.

        Raises:
            PolicyError: it is another value, or not finite.
        """
        if not is_number(self.value) or not isfinite(self.value):
            raise self.refused("a number")
        return self.value

    def seconds(self) -> float:
        """Return a time to wait in seconds.

        Raises:
            PolicyError: it is not a number above 0, or too large.
        """
        if not 0 < self.number() <= LONGEST:
            raise self.refused(f"seconds above 0 to {LONGEST}")
        return self.number()

    def moment(self) -> float:
        """Return a date-time with a zone as seconds since 1970.

        Raises:
            PolicyError: it is another value.
        """
        if not isinstance(self.value, datetime) or self.value.tzinfo is None:
            raise self.refused("a date-time with a zone, as 2026-02-27T12:00:00Z")
        return self.value.timestamp()

    def choice(self, names: Collection[S]) -> S:
        """Return which of `names` it is.

        Raises:
            PolicyError: it is another value.
        """
        for name in names:
            if self.value == name and isinstance(self.value, str):
                return name
        near = nearest(self.value, list(names)) if isinstance(self.value, str) else None
        hint = f". Did you mean {near!r}?" if near else ""
        listed = ", ".join(map(repr, names))
        error = self.refused(f"one of {listed}")
        raise PolicyError(PolicyProblem(error.place, f"{error.text}{hint}"))

    def json(self) -> Any:
        """Return a value that JSON can hold.

        Raises:
            PolicyError: it has a date, or a number that is not finite.
        """
        if is_object(self.value):
            return {key: node.json() for key, node in self.table().items()}
        if isinstance(self.value, list):
            return [node.json() for node in self.items()]
        if isinstance(self.value, str | bool):
            return self.value
        return self.number()

    def each(self, read: Callable[[TomlNode], T]) -> tuple[T, ...]:
        """Return what `read` returns for each item of an array.

        Raises:
            PolicyError: it is not an array, or `read` refuses an item.
        """
        return tuple(map(read, self.items()))

    def _below(self, key: str | int, value: object) -> TomlNode:
        return TomlNode(value, (*self.path, key), self.file, self.places)


def toml_node(text: str, file: str) -> TomlNode:
    """Return the top table of a TOML text.

    Raises:
        PolicyError: it is not TOML, or values are too deep in one another.
    """
    try:
        return TomlNode(tomllib.loads(text), (), file, TomlPlaces(text))
    except ValueError as error:  # also of a number with thousands of digits
        place = Place(file, *_place_in(str(error), text))
        said = _AT.sub("", str(error))
        raise PolicyError(PolicyProblem(place, f"not TOML: {said}")) from None
    except RecursionError:
        place = Place(file, 1, 1)
        raise PolicyError(PolicyProblem(place, "values are too deep in one another")) from None


def _place_in(message: str, text: str) -> tuple[int, int]:
    """Return the place that a message of `tomllib` ends with, else the end of the text."""
    found = _AT.search(message)
    if found is None or found[1] is None:
        return text.count("\n") + 1, len(text) - text.rfind("\n")
    return int(found[1]), int(found[2])


def _unknown(key: str, keys: Collection[str]) -> str:
    near = nearest(key, list(keys))
    listed = f"The keys here are {', '.join(sorted(keys))}."
    return f"unknown key {key!r:.60}. {f'Did you mean {near!r}?' if near else listed}"


def _shown(value: object) -> str:
    if isinstance(value, dict):
        return "a table"
    if isinstance(value, list):
        return "an array"
    return f"{value!r:.60}".lower() if isinstance(value, bool) else f"{value!r:.60}"
