"""A list that peers read page by page while it changes.

Every entry has a number, and numbers rise; a cursor names the number after which its page begins.
So an entry that is added or removed between two pages does not make another entry appear twice or
not at all. A page is encoded when it is first asked for, and kept until the list changes.
"""

from __future__ import annotations

__all__ = ("Listing",)

from bisect import bisect_right
from collections.abc import Mapping, Set
from hashlib import blake2b
from itertools import count
from operator import attrgetter
from typing import NamedTuple

from kinwire.rpc.codec import EncodedObject, encode
from kinwire.rpc.errors import UnsendableError
from kinwire.support.bounded import LruDict
from kinwire_protocols.base import JsonObject

_PAGE_SIZE = 1024 * 1024  # bytes; a page holds one entry at least
_MAX_CACHED = 1000  # pages; peers may come back with old cursors


class _Listed(NamedTuple):
    number: int
    entry: JsonObject
    size: int  # in bytes


_number_of = attrgetter("number")


class Listing:
    """The entries of one list by name, in the order in which they were added."""

    def __init__(self, method: str, member: str, *, size: int, key: bytes) -> None:
        """Make an empty list: the field `member` of the result of `method`.

        A page holds `size` entries at most. `key` is a secret of this server; only its holder can
        make a cursor.
        """
        self.method = method
        self._member = member
        self._size = size
        self._key = key
        self._next = count(1)
        self._entries: dict[str, _Listed] = {}  # numbers rise
        self._order: list[_Listed] | None = None
        self._pages = LruDict[int, EncodedObject](_MAX_CACHED)

    def replace(self, gone: Set[str], come: Mapping[str, JsonObject]) -> bool:
        """Remove the entries named in `gone`, add those in `come`; return whether anything changed.

        An entry of both keeps its place, and counts as unchanged if its definition is the same. The
        others come at the end, in the order of `come`. If it raises, nothing has changed.

        Raises:
            KeyError: `gone` has a name that is neither in the list nor in `come`.
            UnsendableError: JSON cannot hold an entry of `come`; the message begins with its name.
        """
        removed = {name: self._entries[name] for name in gone - come.keys()}
        added = {name: size for name, entry in come.items() if (size := self._news(name, entry))}
        for name in removed:
            del self._entries[name]
        for name, size in added.items():
            before = self._entries.get(name)
            number = next(self._next) if before is None else before.number
            self._entries[name] = _Listed(number, come[name], size)
        if removed or added:
            self._order = None
            self._pages.clear()
        return bool(removed or added)

    def _news(self, name: str, entry: JsonObject) -> int | None:
        """Return the size of an entry in bytes; None if it is in the list as it is."""
        try:
            data = encode(entry)
        except UnsendableError as error:
            raise UnsendableError(f"{name!r}: {error}") from None
        before = self._entries.get(name)
        return len(data) if before is None or encode(before.entry) != data else None

    def page(self, cursor: str | None) -> EncodedObject:
        """Return the page that `cursor` stands for, the first one if it is None.

        Raises:
            ValueError: this list gave no such cursor.
        """
        after = 0 if cursor is None else self._number(cursor)
        page = self._pages.get(after)
        if page is None:
            page = self._built(after)
            self._pages.put(after, page)
        return page

    def _built(self, after: int) -> EncodedObject:
        if self._order is None:
            self._order = list(self._entries.values())
        start = bisect_right(self._order, after, key=_number_of)
        end = self._end(self._order, start)
        page: JsonObject = {self._member: [one.entry for one in self._order[start:end]]}
        if end < len(self._order):
            page["nextCursor"] = self._cursor(self._order[end - 1].number)
        return EncodedObject(page)

    def _end(self, order: list[_Listed], start: int) -> int:
        """Return where the page ends that begins at `start`."""
        room, most = _PAGE_SIZE, min(len(order), start + self._size)
        for at in range(start, most):
            room -= order[at].size
            if room < 0 and at > start:
                return at
        return most

    def _cursor(self, number: int) -> str:
        seal = blake2b(f"{self.method} {number}".encode(), key=self._key, digest_size=8)
        return f"{number:x}.{seal.hexdigest()}"

    def _number(self, cursor: str) -> int:
        head = cursor.partition(".")[0]
        try:
            number = int(head, 16) if len(head) <= 16 else 0
        except ValueError:
            number = 0
        if self._cursor(number) != cursor:
            raise ValueError(
                f"{self.method}#/cursor: expected a cursor that this list gave, "
                f"got {cursor!r:.60}. Leave it out to begin with the first page."
            )
        return number
