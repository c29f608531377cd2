"""Named entries that a peer lists page by page, and uses by name, while they change.

What is listed, such as tools, is a matter of the protocol: `EntryKind` has the words for messages.
"""

from __future__ import annotations

__all__ = ("EntryKind", "EntryTable")

from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from kinwire.managers.listing import Listing
from kinwire.rpc.codec import EncodedObject
from kinwire.rpc.errors import UnsendableError
from kinwire_protocols.base import JsonObject
from kinwire_protocols.jsonrpc.errors import InvalidParamsError
from kinwire_protocols.nearest import nearest


class _Defined(Protocol):
    @property
    def definition(self) -> JsonObject: ...


E = TypeVar("E", bound=_Defined)


@dataclass(frozen=True, slots=True)
class EntryKind:
    """What messages call the entries of a table, and the error that a wrong one raises."""

    noun: str
    """Such as "Tool"; a message begins with it."""
    key: str
    """What an entry is found by, with its article: "a name"."""
    advice: str
    """What to do about a name in use: "Remove the other tool first."."""
    error: Callable[[str], Exception]


class EntryTable(Generic[E]):
    """The entries of one list by name; they may change while sessions are open."""

    def __init__(self, kind: EntryKind, listing: Listing, changed: Callable[[], None]) -> None:
        """Begin empty; `changed` is called after each step that changes what is listed."""
        self._kind = kind
        self._listing = listing
        self._changed = changed
        self._entries: dict[str, E] = {}
        self.entries: Mapping[str, E] = self._entries
        """By name; it follows each change."""

    def add(self, name: str, entry: E) -> None:
        """Add an entry at the end.

        Raises:
            Exception: the name is in use, or JSON cannot hold the definition (the error of the
                kind).
        """
        self.replace(frozenset(), {name: entry})

    def remove(self, name: str) -> None:
        """Remove an entry; what uses it goes on.

        Raises:
            KeyError: no entry has this name.
        """
        self.replace({name}, {})

    def replace(self, gone: Set[str], come: Mapping[str, E]) -> None:
        """Remove the entries named in `gone`, and add those in `come`, in one step.

        An entry of both keeps its place. `changed` is called once, and not at all if what is listed
        is the same as before. If it raises, nothing has changed.

        Raises:
            KeyError: `gone` has a name that is neither in the table nor in `come`.
            Exception: a name is in use, or JSON cannot hold a definition (the error of the kind).
        """
        for name in come.keys() - gone:
            if name in self._entries:
                raise self.taken(name)
        definitions = {name: entry.definition for name, entry in come.items()}
        try:
            is_changed = self._listing.replace(gone, definitions)
        except UnsendableError as error:
            raise self._kind.error(f"{self._kind.noun} {error}") from None
        for name in gone - come.keys():
            del self._entries[name]
        self._entries.update(come)
        if is_changed:
            self._changed()

    def page(self, cursor: str | None) -> EncodedObject:
        """Return the page that `cursor` stands for, the first one if it is None.

        Raises:
            InvalidParamsError: the list gave no such cursor.
        """
        try:
            return self._listing.page(cursor)
        except ValueError as error:
            raise InvalidParamsError(str(error)) from None

    def near(self, name: str) -> str:
        """Return what helps a peer that asked for a name which no entry has: a sentence."""
        found = nearest(name, self._entries)
        if found is None:
            return f"{self._listing.method} names those there are."
        return f"Did you mean {found!r}?"

    def taken(self, name: str) -> Exception:
        """Return the error for a name that is in use."""
        kind = self._kind
        return kind.error(
            f"{kind.noun} {name!r}: expected {kind.key} that is free, got one in use. {kind.advice}"
        )
