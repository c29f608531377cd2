"""Lists in pages, for both roles (MCP, Pagination).

`Listing` is a server's list, which clients read page by page while it changes. Every entry has a
number, and numbers rise; a cursor names the number after which its page begins. So an entry that is
added or removed between two pages does not make another entry appear twice or not at all.

`Pages` is a client's way through a server's list: when it ends, and which items are new.
"""

from __future__ import annotations

__all__ = ("MAX_PAGES", "ListName", "Listing", "Pages", "page_of")

from bisect import bisect_right
from collections.abc import Callable, Hashable, Iterable
from hashlib import blake2b
from itertools import count
from typing import Generic, Literal, TypeVar

from kinwire.rpc.codec import EncodedObject, encode
from kinwire.rpc.errors import PaginationError
from kinwire.support.bounded import LruDict
from kinwire_protocols.base import JsonObject
from kinwire_protocols.jsonrpc.errors import InvalidParamsError
from kinwire_protocols.mcp.models import PaginatedRequestParams

T = TypeVar("T")

ListName = Literal["tools", "resources", "prompts"]
"""A list of a server that may change; resource templates belong to "resources"."""

MAX_PAGES = 1000  # of one list; the client stops reading a server that makes cursors for ever

_PAGE_SIZE = 1024 * 1024  # bytes; a page holds one entry at least
_MAX_CACHED = 1000  # pages; clients may come back with old cursors


class Listing:
    """The entries of one list by name, in the order in which they were added."""

    def __init__(self, method: str, member: str, *, size: int, key: bytes) -> None:
        """Make an empty list: the field `member` of the result of `method`.

        A page holds `size` entries at most. `key` is a secret of this server; only its holder can
        make a cursor.
        """
        self._method = method
        self._member = member
        self._size = size
        self._key = key
        self._next = count(1)
        self._entries: dict[str, tuple[int, JsonObject, int]] = {}  # numbers rise
        self._numbers: list[int] | None = None
        self._pages = LruDict[int, EncodedObject](_MAX_CACHED)

    def add(self, name: str, entry: JsonObject) -> None:
        """Add an entry at the end.

        Raises:
            UnsendableError: JSON cannot hold it.
        """
        self._entries[name] = (next(self._next), entry, len(encode(entry)))
        self._clear_cache()

    def remove(self, name: str) -> None:
        """Remove an entry.

        Raises:
            KeyError: no entry has this name.
        """
        del self._entries[name]
        self._clear_cache()

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

    def _clear_cache(self) -> None:
        self._numbers = None
        self._pages.clear()


def page_of(listing: Listing, params: PaginatedRequestParams) -> JsonObject:
    """Return the page of `listing` that a request asks for.

    Raises:
        InvalidParamsError: the list gave no such cursor.
    """
    try:
        return listing.page(params.cursor)
    except ValueError as error:
        raise InvalidParamsError(str(error)) from None


class Pages(Generic[T]):
    """One walk through a list. Cursors belong to the server: they are compared, never parsed.

    An empty cursor is a cursor; only an absent cursor, or null, ends the list.
    """

    def __init__(self, method: str, key: Callable[[T], Hashable], limit: int = MAX_PAGES) -> None:
        """Begin at the first page. `key` returns the identity of an item."""
        self._method = method
        self._key = key
        self._limit = limit
        self._count = 0
        self._used: set[int] = set()  # hashes: a cursor may be megabytes long
        self._known: set[Hashable] = set()
        self.cursor: str | None = None
        """The start of the next page; None for the first."""

    def has_next(self) -> bool:
        """Return whether a page is left.

        Raises:
            PaginationError: the server repeats a cursor, or the list has too many pages.
        """
        if self.cursor is None:
            return self._count == 0
        if hash(self.cursor) in self._used:
            raise PaginationError(
                f"{self._method}#/nextCursor: expected a new cursor, got {self.cursor!r:.40} "
                "again. The server's pages go round in a circle: fix the server."
            )
        if self._count == self._limit:
            raise PaginationError(
                f"{self._method}: expected at most {self._limit} pages, got another cursor. "
                "Have the server make its pages larger."
            )
        return True

    def accept(self, items: Iterable[T], next_cursor: str | None) -> list[T]:
        """Return the items of a page that were not on an earlier page.

        A list that changes while it is read can show an item on two pages.
        """
        if self.cursor is not None:
            self._used.add(hash(self.cursor))
        self._count += 1
        self.cursor = next_cursor
        return [item for item in items if self._is_new(item)]

    def _is_new(self, item: T) -> bool:
        key = self._key(item)
        if key in self._known:
            return False
        self._known.add(key)
        return True
