"""Lists of many pages, item by item."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from kinwire.mcp.server import Server
from kinwire.rpc.errors import PaginationError, RequestTimeoutError, RpcError
from kinwire.testing import PairedConnection, pair
from kinwire_protocols import mcp
from kinwire_protocols.base import JsonObject
from kinwire_protocols.jsonrpc.errors import InternalError

pytestmark = pytest.mark.anyio

TOOL = {"inputSchema": {"type": "object"}}


def serving(pages: Mapping[str | None, JsonObject]) -> Server:
    """A server whose tools/list answers a cursor with a page."""
    server = Server("pages", "1")

    @server.on.tools_list
    async def tools(params: mcp.PaginatedRequestParams) -> Any:
        return pages[params.cursor]

    return server


def page(*names: str, **members: Any) -> JsonObject:
    return {"tools": [{"name": name, **TOOL} for name in names], **members}


def asked(client: PairedConnection) -> list[bytes]:
    """The requests for pages, as bytes."""
    return [frame.data for frame in client.frames if b'"tools/list"' in frame.data]


async def names_of(client: Any) -> list[str]:
    return [tool.name async for tool in client.tools()]


async def test_a_loop_goes_over_all_pages() -> None:
    pages = {None: page("a", "b", nextCursor="2"), "2": page(nextCursor="3"), "3": page("c")}
    async with pair(serving(pages)) as client:
        assert await names_of(client) == ["a", "b", "c"]
        assert await names_of(client) == ["a", "b", "c"]


@pytest.mark.spec("mcp-tools-list-request-1")
async def test_only_the_first_page_is_requested_without_a_cursor() -> None:
    pages = {None: page("a", nextCursor='2 "\u00e9"'), '2 "\u00e9"': page("b")}
    async with pair(serving(pages)) as client:
        await names_of(client)
        first, second = asked(client)
        assert b"cursor" not in first
        assert b'"params":{"cursor":"2 \\"' in second
        assert b"null" not in first + second


@pytest.mark.spec("mcp-tools-list-response-2")
async def test_a_cursor_that_is_null_reads_as_absent() -> None:
    pages: dict[str | None, JsonObject] = {None: page("a", nextCursor=None)}
    async with pair(serving(pages)) as client:
        assert await names_of(client) == ["a"]
        assert len(asked(client)) == 1


async def test_a_repeated_cursor_ends_the_loop_and_no_tool_comes_twice() -> None:
    eight = [f"tool {count}" for count in range(8)]
    server = Server("circle", "1")

    @server.on.tools_list
    async def tools(params: mcp.PaginatedRequestParams) -> Any:
        return page(*eight, nextCursor="x")

    async with pair(server) as client:
        walk = client.tools()
        seen = [(await anext(walk)).name for _ in eight]
        with pytest.raises(PaginationError, match="got 'x' again"):
            await anext(walk)
        assert seen == eight
        assert len(asked(client)) == 2


async def test_a_loop_may_be_left_and_the_rest_is_not_fetched() -> None:
    pages: dict[str | None, JsonObject] = {None: page("a", "b", nextCursor="2")}
    async with pair(serving(pages)) as client:
        async for tool in client.tools():
            assert tool.name == "a"
            break
        assert len(asked(client)) == 1


async def test_after_an_error_the_walk_goes_on_where_it_was() -> None:
    failing = [True]
    server = Server("pages", "1")

    @server.on.tools_list
    async def tools(params: mcp.PaginatedRequestParams) -> Any:
        if params.cursor is None:
            return page("a", nextCursor="2")
        if failing.pop():
            failing.append(False)
            raise InternalError("not now")
        return page("b")

    async with pair(server) as client:
        walk = client.tools()
        assert (await anext(walk)).name == "a"
        with pytest.raises(RpcError, match="not now"):
            await anext(walk)
        assert (await anext(walk)).name == "b"
        with pytest.raises(StopAsyncIteration):
            await anext(walk)


async def test_options_go_with_every_page() -> None:
    pages = {None: page("a", nextCursor="2"), "2": page("b")}
    async with pair(serving(pages)) as client:
        marked = client.with_options(meta={"trace": "abc"})
        assert await names_of(marked) == ["a", "b"]
        assert all(b'"trace":"abc"' in request for request in asked(client))
        with pytest.raises(RequestTimeoutError):
            await names_of(client.with_options(timeout=0))


async def test_every_list_can_be_walked() -> None:
    server = Server("all", "1")

    @server.on.prompts_list
    async def prompts(params: mcp.PaginatedRequestParams) -> mcp.ListPromptsResult:
        if params.cursor is None:
            return mcp.ListPromptsResult(prompts=[mcp.Prompt(name="p")], next_cursor="2")
        return mcp.ListPromptsResult(prompts=[mcp.Prompt(name="p"), mcp.Prompt(name="q")])

    @server.on.resources_list
    async def resources(params: mcp.PaginatedRequestParams) -> mcp.ListResourcesResult:
        twice = [mcp.Resource(uri="file:///a", name=name) for name in ("one", "two")]
        if params.cursor is None:
            return mcp.ListResourcesResult(resources=twice[:1], next_cursor="2")
        return mcp.ListResourcesResult(resources=twice)

    @server.on.resources_templates_list
    async def templates(params: mcp.PaginatedRequestParams) -> mcp.ListResourceTemplatesResult:
        template = mcp.ResourceTemplate(uri_template="db://{table}", name="table")
        cursor = "2" if params.cursor is None else None
        return mcp.ListResourceTemplatesResult(resource_templates=[template], next_cursor=cursor)

    async with pair(server) as client:
        assert [prompt.name async for prompt in client.prompts()] == ["p", "q"]
        assert [resource.name async for resource in client.resources()] == ["one", "two"]
        assert [it.uri_template async for it in client.resource_templates()] == ["db://{table}"]
