# pyright: reportDeprecated=false
# mypy: disable-error-code=deprecated
"""Typed calls of Tiny. Generated from tiny.json by `kinwire generate`: do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from pydantic_core import MISSING
from typing_extensions import deprecated

from tiny_bindings.peer import NoParams, Peer, given
from tiny_bindings.tiny import methods, models as _tiny_models, tools

if TYPE_CHECKING:
    from tiny_bindings.tiny.models import Bag, Binding, Count, DustResult, FindResult, Lamp, Rates
    from tiny_bindings.tinybase.models import CallResult, OpenResult


class ServerStub:
    """The shelf as the reader sees it: every method that the reader may send, and the tools."""

    def __init__(self, peer: Peer) -> None:
        self._peer = peer

    async def books_find(
        self,
        *,
        class_: str | None = None,
        sort_by: Literal["title", "year"] | None = None,
        sort_by_1: Literal[1, 2] | None = None,
        self_: bool | MISSING = MISSING,
        exact: Literal[True] | None = None,
        price: int | float | None = None,
        shelf: str | None | MISSING = MISSING,
        hint: Any | MISSING = MISSING,
        binding: Binding | None = None,
        labels: dict[str, str] | None = None,
        open: dict[str, Any] | None = None,
        meta: Bag | None = None,
    ) -> FindResult:
        """Find books.

        books/find, a request. Source: Tiny 2.1-draft, 2.1.

        Args:
            class_: A word of Python.
            sort_by: A dash.
            sort_by_1: The same name in Python.
            self_: A parameter of every method.
            exact: A constant that may be absent.
            price: A number.
            shelf: Null is not absent.
            hint: Any JSON. Since 1.1. Deprecated: Nobody reads it.
            binding: How it is bound.
            labels: A map.
            open: An open object.
            meta: An underscore.

        Raises:
            NoSuchBookError: The shelf does not hold it.
            LockedError: Nobody may open it now.
        """
        params = _tiny_models.FindParams(
            class_=class_,
            sort_by=sort_by,
            sort_by_1=sort_by_1,
            **given(self=self_),
            exact=exact,
            price=price,
            shelf=shelf,
            hint=hint,
            binding=binding,
            labels=labels,
            open=open,
            meta=meta,
        )
        return await self._peer.call(methods.BOOKS_FIND, params)

    @deprecated("Deprecated since 2.0: Nobody listens. Use `books/lent`.")
    async def books_announce(self, *, id: str | int, date: str) -> OpenResult:
        """Announce a book, with or without an answer.

        Deprecated since 2.0: Nobody listens. Use `books/lent`.

        books/announce, a request. Source: Tiny 2.1-draft, 2.3.

        Args:
            id: Which book.
            date: Stays text.
        """
        params = _tiny_models.LentParams(id=id, date=date)
        return await self._peer.call(methods.BOOKS_ANNOUNCE, params)

    @deprecated("Deprecated since 2.0: Nobody listens. Use `books/lent`.")
    async def notify_books_announce(self, *, id: str | int, date: str) -> None:
        """Announce a book, with or without an answer.

        Deprecated since 2.0: Nobody listens. Use `books/lent`.

        books/announce, a notification. Source: Tiny 2.1-draft, 2.3.

        Args:
            id: Which book.
            date: Stays text.
        """
        params = _tiny_models.LentParams(id=id, date=date)
        await self._peer.notify(methods.BOOKS_ANNOUNCE, params)

    async def books_rate(self, *, id: str, stars: int | MISSING = MISSING) -> Rates:
        """Rate a book, by position.

        books/rate, a request. Source: Tiny 2.1-draft, 2.4.

        Args:
            id: Which book.
            stars: How many.
        """
        params = _tiny_models.Rating(id=id, **given(stars=stars))
        return await self._peer.call(methods.BOOKS_RATE, params)

    async def books_count(self) -> Count:
        """Count the books.

        books/count, a request. Source: Tiny 2.1-draft, 2.5.
        """
        params = NoParams()
        return await self._peer.call(methods.BOOKS_COUNT, params)

    async def dust(
        self, *, shelf: str | None = None, tools_: list[Lamp] | None = None
    ) -> DustResult:
        """Dust the shelf.

        dust, a tool. Source: Tiny 2.1-draft, 4.1.

        Args:
            shelf: Which one; absent for all.
            tools_: What to dust with.

        Raises:
            NoSuchBookError: The shelf does not hold it.
            LockedError: Nobody may open it now.
        """
        params = _tiny_models.DustParams(shelf=shelf, tools=tools_)
        return await tools.DUST.call(self._peer, params)

    @deprecated("Deprecated.")
    async def books_find_tool(
        self, *, shelf: str | None = None, tools_: list[Lamp] | None = None
    ) -> CallResult:
        """Find books by a tool.

        Deprecated.

        books/find, a tool. Source: Tiny 2.1-draft, 4.2.

        Args:
            shelf: Which one; absent for all.
            tools_: What to dust with.
        """
        params = _tiny_models.DustParams(shelf=shelf, tools=tools_)
        return await tools.BOOKS_FIND_TOOL.call(self._peer, params)


class ClientStub:
    """The reader as the shelf sees it: every method that the shelf may send."""

    def __init__(self, peer: Peer) -> None:
        self._peer = peer

    async def books_lent(self, *, id: str | int, date: str) -> None:
        """Tell that a book was lent.

        books/lent, a notification. Source: Tiny 2.1-draft, 2.2.

        Args:
            id: Which book.
            date: Stays text.
        """
        params = _tiny_models.LentParams(id=id, date=date)
        await self._peer.notify(methods.BOOKS_LENT, params)

    @deprecated("Deprecated since 2.0: Nobody listens. Use `books/lent`.")
    async def books_announce(self, *, id: str | int, date: str) -> OpenResult:
        """Announce a book, with or without an answer.

        Deprecated since 2.0: Nobody listens. Use `books/lent`.

        books/announce, a request. Source: Tiny 2.1-draft, 2.3.

        Args:
            id: Which book.
            date: Stays text.
        """
        params = _tiny_models.LentParams(id=id, date=date)
        return await self._peer.call(methods.BOOKS_ANNOUNCE, params)

    @deprecated("Deprecated since 2.0: Nobody listens. Use `books/lent`.")
    async def notify_books_announce(self, *, id: str | int, date: str) -> None:
        """Announce a book, with or without an answer.

        Deprecated since 2.0: Nobody listens. Use `books/lent`.

        books/announce, a notification. Source: Tiny 2.1-draft, 2.3.

        Args:
            id: Which book.
            date: Stays text.
        """
        params = _tiny_models.LentParams(id=id, date=date)
        await self._peer.notify(methods.BOOKS_ANNOUNCE, params)
