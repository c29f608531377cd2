"""A list that clients read page by page while it changes (MCP, Pagination).

Every entry has a number that rises; a cursor says after which one its page begins. So entries that
come or go between two pages make no other one appear twice or never.
"""

from __future__ import annotations

__all__ = ("Listing",)

from bisect import bisect_right
from hashlib import blake2b
from itertools import count

from kinwire.rpc.codec import EncodedObject, encode
from kinwire_protocols.base import JsonObject

_PAGE_SIZE = 1024 * 1024  # bytes; a page holds one entry at least
_CACHED = 1000  # pages; clients may come back with old cursors


class Listing:
    """The entries of one list, in the order in which they were added, by a name of their own."""

    def __init__(self, method: str, member: str, *, size: int, key: bytes) -> None:
        """Make an empty list, the answer to `method` and there the member `member`.

        A page holds `size` entries at most. `key` is a secret of this server: nobody else makes
        a cursor.
        """
        self._method = method
        self._member = member
        self._size = size
        self._key = key
        self._next = count(1)
        self._entries: dict[str, tuple[int, JsonObject, int]] = {}  # numbers rise
        self._numbers: list[int] | None = None
        self._pages: dict[int, EncodedObject] = {}

    def add(self, name: str, entry: JsonObject) -> None:
        """Add an entry at the end.

        Raises:
            UnsendableError: JSON cannot hold it.
        """
        self._entries[name] = (next(self._next), entry, len(encode(entry)))
        self._forget()

    def remove(self, name: str) -> None:
        """Take an entry out.

        Raises:
            KeyError: there is none of this name.
        """
        del self._entries[name]
        self._forget()

    def page(self, cursor: str | None) -> EncodedObject:
        """Return the page that `cursor` stands for, the first one if it is None.

        Raises:
            ValueError: this list gave no such cursor.
        """
        after = 0 if cursor is None else self._number(cursor)
        page = self._pages.get(after)
        if page is None:
            if len(self._pages) >= _CACHED:
                self._pages.clear()
            page = self._pages[after] = self._built(after)
        return page

    def _built(self, after: int) -> EncodedObject:
        entries = list(self._entries.values())
        if self._numbers is None:
            self._numbers = [number for number, _, _ in entries]
        start = end = bisect_right(self._numbers, after)
        room = _PAGE_SIZE
        while end < len(entries) and end - start < self._size:
            room -= entries[end][2]
            if room < 0 and end > start:
                break
            end += 1
        page: JsonObject = {self._member: [entry for _, entry, _ in entries[start:end]]}
        if end < len(entries):
            page["nextCursor"] = self._cursor(self._numbers[end - 1])
        return EncodedObject(page)

    def _cursor(self, number: int) -> str:
        seal = blake2b(f"{self._method} {number}".encode(), key=self._key, digest_size=8)
        return f"{number:x}.{seal.hexdigest()}"

    def _number(self, cursor: str) -> int:
        head = cursor.partition(".")[0]
        try:
            number = int(head, 16) if len(head) <= 16 else 0
        except ValueError:
            number = 0
        if self._cursor(number) != cursor:
            raise ValueError(
                f"{self._method}#/cursor: expected a cursor that this list gave, "
                f"got {cursor!r:.60}. Leave it out to begin with the first page."
            )
        return number

    def _forget(self) -> None:
        self._numbers = None
        self._pages.clear()
