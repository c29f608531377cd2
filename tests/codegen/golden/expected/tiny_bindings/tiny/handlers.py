"""Handlers of Tiny. Generated from tiny.json by `kinwire generate`: do not edit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from tiny_bindings.jsonrpc.errors import InvalidParamsError, MethodNotFoundError
from tiny_bindings.peer import Handlers, Method, NoParams, On, Register
from tiny_bindings.tiny import methods, tools
from tiny_bindings.tool_methods import ToolHandlers, ToolMethod

if TYPE_CHECKING:
    from tiny_bindings.tiny.models import (
        Count,
        DustParams,
        DustResult,
        FindParams,
        FindResult,
        LentParams,
        Rates,
        Rating,
    )
    from tiny_bindings.tinybase.models import CallResult, OpenResult


class ServerHandlers(Handlers):
    """What a shelf handles: override what you serve; the rest answers "method not found"."""

    rows: ClassVar[Mapping[str, Method[Any, Any]]] = {
        "books/find": methods.BOOKS_FIND,
        "books/announce": methods.BOOKS_ANNOUNCE,
        "books/rate": methods.BOOKS_RATE,
        "books/count": methods.BOOKS_COUNT,
    }

    async def books_find(self, params: FindParams) -> FindResult:
        """Find books. (`books/find`)"""
        raise MethodNotFoundError("Method not found: books/find")

    async def books_announce(self, params: LentParams) -> OpenResult:
        """Announce a book, with or without an answer. (`books/announce`) Deprecated since 2.0: Nobody listens. Use `books/lent`."""
        raise MethodNotFoundError("Method not found: books/announce")

    async def books_rate(self, params: Rating) -> Rates:
        """Rate a book, by position. (`books/rate`)"""
        raise MethodNotFoundError("Method not found: books/rate")

    async def books_count(self, params: NoParams) -> Count:
        """Count the books. (`books/count`)"""
        raise MethodNotFoundError("Method not found: books/count")


class ServerOn(On):
    """Where a shelf registers handlers: `@server.on.NAME`."""

    @property
    def books_find(self) -> Register[FindParams, FindResult]:
        """Find books. (`books/find`)"""
        return self(methods.BOOKS_FIND)

    @property
    def books_announce(self) -> Register[LentParams, OpenResult]:
        """Announce a book, with or without an answer. (`books/announce`) Deprecated since 2.0: Nobody listens. Use `books/lent`."""
        return self(methods.BOOKS_ANNOUNCE)

    @property
    def books_rate(self) -> Register[Rating, Rates]:
        """Rate a book, by position. (`books/rate`)"""
        return self(methods.BOOKS_RATE)

    @property
    def books_count(self) -> Register[NoParams, Count]:
        """Count the books. (`books/count`)"""
        return self(methods.BOOKS_COUNT)


class ClientHandlers(Handlers):
    """What a reader handles: override what you serve; the rest answers "method not found"."""

    rows: ClassVar[Mapping[str, Method[Any, Any]]] = {
        "books/lent": methods.BOOKS_LENT,
        "books/announce": methods.BOOKS_ANNOUNCE,
    }

    async def books_lent(self, params: LentParams) -> None:
        """Tell that a book was lent. (`books/lent`)"""
        # A notification that nobody handles is ignored.

    async def books_announce(self, params: LentParams) -> OpenResult:
        """Announce a book, with or without an answer. (`books/announce`) Deprecated since 2.0: Nobody listens. Use `books/lent`."""
        raise MethodNotFoundError("Method not found: books/announce")


class ClientOn(On):
    """Where a reader registers handlers: `@client.on.NAME`."""

    @property
    def books_lent(self) -> Register[LentParams, None]:
        """Tell that a book was lent. (`books/lent`)"""
        return self(methods.BOOKS_LENT)

    @property
    def books_announce(self) -> Register[LentParams, OpenResult]:
        """Announce a book, with or without an answer. (`books/announce`) Deprecated since 2.0: Nobody listens. Use `books/lent`."""
        return self(methods.BOOKS_ANNOUNCE)


class ServerTools(ToolHandlers):
    """The tools that a shelf serves: override them; the rest are unknown tools."""

    rows: ClassVar[Mapping[str, ToolMethod[Any, Any]]] = {
        "dust": tools.DUST,
        "dust_off": tools.DUST,
        "books/find": tools.BOOKS_FIND_TOOL,
    }

    async def dust(self, params: DustParams) -> DustResult:
        """Dust the shelf. (`dust`)"""
        raise InvalidParamsError("Unknown tool: dust")

    async def books_find_tool(self, params: DustParams) -> CallResult:
        """Find books by a tool. (`books/find`) Deprecated."""
        raise InvalidParamsError("Unknown tool: books/find")
