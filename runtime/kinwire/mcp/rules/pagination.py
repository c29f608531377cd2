"""A client's way through the pages of a server's list: when it ends, which items are new.

What a server lists is in `managers/listing.py` (MCP, Pagination).
"""

from __future__ import annotations

__all__ = ("MAX_PAGES", "ListName", "Pages")

from collections.abc import Callable, Hashable, Iterable
from typing import Generic, Literal, TypeVar

from kinwire.rpc.errors import PaginationError

T = TypeVar("T")

ListName = Literal["tools", "resources", "prompts"]
"""A list of a server that may change; resource templates belong to "resources"."""

MAX_PAGES = 1000  # of one list; the client stops reading a server that makes cursors for ever


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
