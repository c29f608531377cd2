"""Values of a TOML or JSON file that know where they stand, and refuse what does not fit."""

from __future__ import annotations

__all__ = ("ConfigNode",)

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from math import isfinite
from typing import Any, TypeVar, cast

from kinwire.mgp.rules.config_problem import ConfigError, ConfigProblem, Place
from kinwire.mgp.rules.file_places import FilePlaces, Path
from kinwire.rpc.codec import is_object
from kinwire.support.validation import LONGEST, MOST, is_count, is_number
from kinwire_protocols.nearest import nearest

T = TypeVar("T")
S = TypeVar("S", bound=str)


@dataclass(frozen=True, slots=True)
class ConfigNode:
    """A value, the path to it, and the places of its file."""

    value: object
    path: Path
    file: str
    places: FilePlaces
    is_secret: bool = False
    """Whether messages must not show it."""

    @property
    def hidden(self) -> ConfigNode:
        """The same, which messages do not show."""
        return replace(self, is_secret=True)

    @property
    def place(self) -> Place:
        """Where the value stands."""
        return Place(self.file, *self.places.of_value(self.path))

    @property
    def key_place(self) -> Place:
        """Where its key stands."""
        return Place(self.file, *self.places.of_key(self.path))

    def refused(self, expected: str) -> ConfigError:
        """Return the error for a value that is not what is expected."""
        name = self.path[-1] if self.path else "the file"
        shown = _kind(self.value) if self.is_secret else _shown(self.value)
        text = f"{name}: expected {expected}, got {shown}"
        return ConfigError(ConfigProblem(self.place, text))

    def table(self, keys: Collection[str] | None = None) -> Mapping[str, ConfigNode]:
        """Return the fields of a table; with `keys` only these may be there.

        Raises:
            ConfigError: it is not a table, or has an unknown key.
        """
        found = self._fields()
        for problem in () if keys is None else _unknown_keys(found, keys):
            raise ConfigError(problem)
        return found

    def open_table(
        self, keys: Collection[str], warn: Callable[[ConfigProblem], object]
    ) -> Mapping[str, ConfigNode]:
        """Return the fields of a table that are in `keys`; `warn` gets each other key.

        Raises:
            ConfigError: it is not a table.
        """
        found = self._fields()
        for problem in _unknown_keys(found, keys):
            warn(problem)
        return {key: node for key, node in found.items() if key in keys}

    def table_below(self, key: str) -> Mapping[str, ConfigNode]:
        """Return the fields of the table at a key of this table; empty without the key.

        Raises:
            ConfigError: this or that is not a table.
        """
        node = self.table().get(key)
        return {} if node is None else node.table()

    def items(self) -> Iterator[ConfigNode]:
        """Yield the items of an array.

        Raises:
            ConfigError: it is not an array.
        """
        listed = self.value
        if not isinstance(listed, list):
            raise self.refused("an array")
        for index, value in enumerate(cast("list[object]", listed)):
            yield self._below(index, value)

    def text(self) -> str:
        """Return a string that is not empty.

        Raises:
            ConfigError: it is another value.
        """
        if not isinstance(self.value, str) or not self.value:
            raise self.refused("a string that is not empty")
        return self.value

    def flag(self) -> bool:
        """Return true or false.

        Raises:
            ConfigError: it is another value.
        """
        if not isinstance(self.value, bool):
            raise self.refused("true or false")
        return self.value

    def count(self, least: int = 0) -> int:
        """Return a whole number from `least`.

        Raises:
            ConfigError: it is another value.
        """
        if not is_count(self.value, least):
            raise self.refused(f"a whole number from {least} to {MOST}")
        return cast(int, self.value)

    def number(self) -> float:
        """Return a number.

        Raises:
            ConfigError: it is another value, or not finite.
        """
        if not is_number(self.value) or not isfinite(self.value):
            raise self.refused("a number")
        return self.value

    def seconds(self) -> float:
        """Return a time to wait in seconds.

        Raises:
            ConfigError: it is not a number above 0, or too large.
        """
        if not 0 < self.number() <= LONGEST:
            raise self.refused(f"seconds above 0 to {LONGEST}")
        return self.number()

    def moment(self) -> float:
        """Return a date-time with a zone as seconds since 1970.

        Raises:
            ConfigError: it is another value.
        """
        if not isinstance(self.value, datetime) or self.value.tzinfo is None:
            raise self.refused("a date-time with a zone, as 2026-02-27T12:00:00Z")
        return self.value.timestamp()

    def choice(self, names: Collection[S]) -> S:
        """Return which of `names` it is.

        Raises:
            ConfigError: it is another value.
        """
        for name in names:
            if self.value == name and isinstance(self.value, str):
                return name
        near = nearest(self.value, list(names)) if isinstance(self.value, str) else None
        hint = f". Did you mean {near!r}?" if near else ""
        listed = ", ".join(map(repr, names))
        error = self.refused(f"one of {listed}")
        raise ConfigError(ConfigProblem(error.place, f"{error.text}{hint}"))

    def json(self) -> Any:
        """Return a value that JSON can hold.

        Raises:
            ConfigError: it has a date, or a number that is not finite.
        """
        if is_object(self.value):
            return {key: node.json() for key, node in self.table().items()}
        if isinstance(self.value, list):
            return [node.json() for node in self.items()]
        if isinstance(self.value, str | bool):
            return self.value
        return self.number()

    def each(self, read: Callable[[ConfigNode], T]) -> tuple[T, ...]:
        """Return what `read` returns for each item of an array.

        Raises:
            ConfigError: it is not an array, or `read` refuses an item.
        """
        return tuple(map(read, self.items()))

    def _fields(self) -> dict[str, ConfigNode]:
        if not is_object(self.value):
            raise self.refused("a table")
        return {key: self._below(key, value) for key, value in self.value.items()}

    def _below(self, key: str | int, value: object) -> ConfigNode:
        return replace(self, value=value, path=(*self.path, key))


def _unknown_keys(
    fields: Mapping[str, ConfigNode], keys: Collection[str]
) -> Iterator[ConfigProblem]:
    for key, node in fields.items():
        if key not in keys:
            yield ConfigProblem(node.key_place, _unknown(key, keys))


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


def _kind(value: object) -> str:
    """Return what kind of value a secret is, which is all that a message shows of it."""
    if isinstance(value, str):
        return "a string" if value else "an empty string"
    if isinstance(value, dict):
        return "a table"
    return "an array" if isinstance(value, list) else "another value"
