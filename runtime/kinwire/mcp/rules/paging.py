"""When a list of many pages ends, and which of its items are new (MCP, Pagination)."""

from __future__ import annotations

__all__ = ("MOST_PAGES", "Pages")

from collections.abc import Callable, Hashable, Iterable
from typing import Generic, TypeVar

from kinwire.rpc.errors import PaginationError

T = TypeVar("T")

MOST_PAGES = 1000  # of one list; a server that makes cursors for ever is left here


class Pages(Generic[T]):
    """One walk through a list. Cursors are the server's: they are compared, never read.

    An empty cursor is a cursor; only one that is absent, or null, ends the list.
    """

    def __init__(self, method: str, key: Callable[[T], Hashable], limit: int = MOST_PAGES) -> None:
        """Begin at the first page. `key` tells one item from another."""
        self._method = method
        self._key = key
        self._limit = limit
        self._count = 0
        self._used: set[int] = set()  # hashes: a cursor may be megabytes long
        self._known: set[Hashable] = set()
        self.cursor: str | None = None
        """Where the next page begins; None for the first."""

    def has_next(self) -> bool:
        """Return whether a page is left.

        Raises:
            PaginationError: it must not be fetched, or the list would never end.
        """
        if self.cursor is None:
            return self._count == 0
        if hash(self.cursor) in self._used:
            raise PaginationError(
                f"{self._method}#/nextCursor: expected a new cursor, got {self.cursor!r:.40} "
                "again. The server's pages go round in a circle: mend the server."
            )
        if self._count == self._limit:
            raise PaginationError(
                f"{self._method}: expected at most {self._limit} pages, got another cursor. "
                "Have the server make its pages larger."
            )
        return True

    def accept(self, items: Iterable[T], next_cursor: str | None) -> list[T]:
        """Return those of a page's items that no page before it had.

        A list that changes while it is read shows an item on two pages; nobody wants it twice.
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
