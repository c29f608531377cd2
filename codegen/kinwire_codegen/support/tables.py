"""Data of a protocol outside its messages: tables, state machines, bindings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Generic, TypeVar, cast, overload

from .base import JsonObject, Message, from_wire
from .lazy import Lazy

__all__ = ("HttpBinding", "HttpPath", "KeyedTable", "Machine", "Table")

R = TypeVar("R", bound=Message)
S = TypeVar("S", bound=str)


class Table(Sequence[R]):
    """Rows in the order of the specification, made when they are first looked at."""

    def __init__(self, kind: type[R] | Lazy, rows: Sequence[JsonObject]) -> None:
        self._kind = kind
        self._rows = rows

    @cached_property
    def _made(self) -> tuple[R, ...]:
        kind = cast("type[R]", self._kind.load() if isinstance(self._kind, Lazy) else self._kind)
        return tuple(from_wire(kind, row) for row in self._rows)

    @overload
    def __getitem__(self, index: int) -> R: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[R]: ...
    def __getitem__(self, index: int | slice) -> R | Sequence[R]:
        return self._made[index]

    def __len__(self) -> int:
        return len(self._rows)


class KeyedTable(Mapping[str, R]):
    """Rows by their key, in the order of the specification."""

    def __init__(self, kind: type[R] | Lazy, key: str, rows: Sequence[JsonObject]) -> None:
        self._table = Table[R](kind, rows)
        self._places: dict[str, int] = {row[key]: place for place, row in enumerate(rows)}

    def __getitem__(self, key: str) -> R:
        return self._table[self._places[key]]

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)


@dataclass(frozen=True, kw_only=True)
class Machine(Generic[S]):
    """A state machine."""

    states: tuple[S, ...]
    initial: S
    final: frozenset[S] = frozenset()
    """The states that nothing leaves."""
    transitions: Mapping[tuple[S, str], S]
    """From a state, on an event, to a state."""

    def after(self, state: S, event: str) -> S | None:
        """Return the state that `event` leads to; None if it leads nowhere from `state`."""
        return self.transitions.get((state, event))

    def allows(self, before: S, after: S) -> bool:
        """Return whether any event leads from one state to the other."""
        return any(start == before and end == after for (start, _), end in self.transitions.items())


@dataclass(frozen=True, kw_only=True)
class HttpPath:
    """Where one method is called over HTTP."""

    path: str
    """It with its base."""
    aliases: tuple[str, ...] = ()
    """Other paths that lead to the same, below the same base."""
    method: str
    """The wire name of the method."""
    enveloped: bool
    """Whether bodies are JSON-RPC messages; else params and result stand alone in them."""


@dataclass(frozen=True, kw_only=True)
class HttpBinding:
    """The protocol over HTTP."""

    base: str
    verb: str
    content_type: str
    paths: Mapping[str, HttpPath]
    events: Mapping[str, str] = field(default_factory=dict[str, str])
    """Server-sent events and the type of their data."""
