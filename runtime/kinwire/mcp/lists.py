"""The lists of a server, item by item over all pages (MCP, Pagination).

`rules/pagination.py` decides when a list ends.
"""

from __future__ import annotations

__all__ = ("for_checks", "is_for_checks", "prompts", "resource_templates", "resources", "tools")

from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Generator, Hashable, Iterable
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Generic, Protocol, Self, TypeVar

from kinwire.mcp.rules.pagination import Pages
from kinwire_protocols import mcp
from kinwire_protocols.mcp import methods

T = TypeVar("T")

_for_checks: ContextVar[bool] = ContextVar("kinwire.mcp.lists.for_checks", default=False)


@contextmanager
def for_checks() -> Generator[None]:
    """List whole lists inside the block, for an extension's own checks of calls.

    An extension that hides entries from some users hides nothing then: another extension may keep
    what it finds for all of them.
    """
    token = _for_checks.set(True)
    try:
        yield
    finally:
        _for_checks.reset(token)


def is_for_checks() -> bool:
    """Return whether a list is asked for inside `for_checks`."""
    return _for_checks.get()


class _Page(Protocol):
    @property
    def next_cursor(self) -> str | None: ...


G = TypeVar("G", bound=_Page)
G_co = TypeVar("G_co", bound=_Page, covariant=True)


class _Fetch(Protocol[G_co]):
    def __call__(self, *, cursor: str | None) -> Awaitable[G_co]: ...


class _Items(AsyncIterator[T], Generic[T, G]):
    """An iterator that fetches pages when needed. A loop over it may be left without closing it."""

    def __init__(
        self, pages: Pages[T], fetch: _Fetch[G], items_of: Callable[[G], Iterable[T]]
    ) -> None:
        self._pages = pages
        self._fetch = fetch
        self._items_of = items_of
        self._waiting: deque[T] = deque()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> T:
        while not self._waiting:
            if not self._pages.has_next():
                raise StopAsyncIteration
            page = await self._fetch(cursor=self._pages.cursor)
            self._waiting.extend(self._pages.accept(self._items_of(page), page.next_cursor))
        return self._waiting.popleft()


def tools(server: mcp.ServerStub) -> AsyncIterator[mcp.Tool]:
    """Yield the tools of all pages."""
    pages = Pages[mcp.Tool](methods.TOOLS_LIST.name, lambda tool: tool.name)
    return _Items(pages, server.tools_list, lambda page: page.tools)


def prompts(server: mcp.ServerStub) -> AsyncIterator[mcp.Prompt]:
    """Yield the prompts of all pages."""
    pages = Pages[mcp.Prompt](methods.PROMPTS_LIST.name, lambda prompt: prompt.name)
    return _Items(pages, server.prompts_list, lambda page: page.prompts)


def resources(server: mcp.ServerStub) -> AsyncIterator[mcp.Resource]:
    """Yield the resources of all pages; an address may be listed under several names."""

    def key(resource: mcp.Resource) -> Hashable:
        return resource.uri, resource.name

    pages = Pages[mcp.Resource](methods.RESOURCES_LIST.name, key)
    return _Items(pages, server.resources_list, lambda page: page.resources)


def resource_templates(server: mcp.ServerStub) -> AsyncIterator[mcp.ResourceTemplate]:
    """Yield the resource templates of all pages."""

    def key(template: mcp.ResourceTemplate) -> Hashable:
        return template.uri_template, template.name

    pages = Pages[mcp.ResourceTemplate](methods.RESOURCES_TEMPLATES_LIST.name, key)
    return _Items(pages, server.resources_templates_list, lambda page: page.resource_templates)
