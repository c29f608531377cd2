"""The four lists of a server on the wire: pages, cursors, and word of changes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import anyio
import pytest

from kinwire.mcp.rules.pagination import ListName
from kinwire.mcp.server import Server
from kinwire.testing import pair
from kinwire_protocols import mcp
from kinwire_protocols.base import RpcError
from kinwire_protocols.jsonrpc.errors import InvalidParamsError
from kinwire_protocols.mcp import methods
from tests.runtime.mcp.fake_client import RawClient, raw_client

pytestmark = pytest.mark.anyio

Add = Callable[[Server, int], Any]


def text() -> str:
    return ""


def of_id(id: str) -> str:
    return id


def add_tool(server: Server, number: int) -> None:
    server.tool(name=str(number))(text)


def add_prompt(server: Server, number: int) -> None:
    server.prompt(name=str(number))(text)


def add_resource(server: Server, number: int) -> None:
    server.resource(f"x:{number}", name=str(number))(text)


def add_template(server: Server, number: int) -> None:
    server.resource(f"x:{number}/{{id}}", name=str(number))(of_id)


LISTS = [
    pytest.param("tools/list", "tools", add_tool, id="tools"),
    pytest.param("prompts/list", "prompts", add_prompt, id="prompts"),
    pytest.param("resources/list", "resources", add_resource, id="resources"),
    pytest.param("resources/templates/list", "resourceTemplates", add_template, id="templates"),
]

ALL: list[ListName] = ["tools", "prompts", "resources"]


@pytest.mark.parametrize(("method", "member", "add"), LISTS)
@pytest.mark.spec("mcp-tools-list-response-1", "mcp-tools-list-response-2")
async def test_a_list_goes_out_in_pages(method: str, member: str, add: Add) -> None:
    server = Server("s", "1", page_size=3)
    for number in range(8):
        add(server, number)
    seen, sizes = list[str](), list[int]()
    async with raw_client(server) as client:
        await client.greet()
        params: dict[str, Any] = {}
        while True:
            page = await client.session.raw(method, params)
            seen.extend(entry["name"] for entry in page[member])
            sizes.append(len(page[member]))
            if "nextCursor" not in page:
                break
            params = {"cursor": page["nextCursor"]}
    assert seen == [str(number) for number in range(8)]
    assert sizes == [3, 3, 2]


@pytest.mark.parametrize(("method", "member", "add"), LISTS)
async def test_a_cursor_that_the_list_did_not_give_is_invalid(
    method: str, member: str, add: Add
) -> None:
    server = Server("s", "1", page_size=1)
    for number in range(2):
        for parameter in LISTS:
            parameter.values[2](server, number)  # type: ignore[operator]
    async with raw_client(server) as client:
        await client.greet()
        own = (await client.session.raw(method))["nextCursor"]
        cursors = ["bogus", own[:-1], own + "0", ""]
        for parameter in LISTS:
            other = parameter.values[0]
            assert isinstance(other, str)
            if other != method:
                cursors.append((await client.session.raw(other))["nextCursor"])
        for cursor in cursors:
            with pytest.raises(RpcError, match=f"{method}#/cursor") as caught:
                await client.session.raw(method, {"cursor": cursor})
            assert caught.value.code == -32602
        assert len((await client.session.raw(method, {"cursor": own}))[member]) == 1


async def test_eight_tools_fit_on_one_page_without_any_cursor() -> None:
    server = Server("s", "1")
    for number in range(8):
        add_tool(server, number)
    async with pair(server) as client:
        page = await client.session.raw("tools/list")
        assert len(page["tools"]) == 8
        assert "nextCursor" not in page
        assert [tool.name async for tool in client.tools()] == [str(number) for number in range(8)]


async def test_an_interceptor_gets_a_kept_page_as_its_type_and_may_change_it() -> None:
    server = Server("s", "1", page_size=1)
    add_tool(server, 0)
    add_tool(server, 1)

    async def intercept(params: Any, request: Any, next: Any) -> mcp.ListToolsResult:
        result: mcp.ListToolsResult = await next(params)
        tools = [tool.model_copy(update={"description": "seen"}) for tool in result.tools]
        return result.model_copy(update={"tools": tools})

    async with pair(server) as client:
        (session,) = server._sessions
        session.intercept_inbound(intercept, methods.TOOLS_LIST)
        page = await client.mcp.tools_list()
        assert [tool.description for tool in page.tools] == ["seen"]
        assert page.next_cursor is not None


@pytest.mark.parametrize("id", [0, -1, "a", "", 'q"\\é'])
async def test_a_kept_page_answers_any_id(id: int | str) -> None:
    server = Server("s", "1")
    add_tool(server, 0)
    heard: list[bytes] = []
    async with pair(server) as client:
        # Through the peer's own door: a session of this side would choose the id.
        client.session._opened().engine.outbox.add(
            b'{"jsonrpc":"2.0","id":%b,"method":"tools/list"}' % encode_id(id)
        )
        await client.session.raw("ping")
        heard = [frame.data for frame in client.frames if frame.sender == "server"]
    assert b'{"jsonrpc":"2.0","id":%b,"result":{"tools":[' % encode_id(id) in b"".join(heard)


def encode_id(id: int | str) -> bytes:
    from kinwire.rpc.codec import encode

    return encode(id)


def test_a_page_has_one_entry_at_least() -> None:
    with pytest.raises(ValueError, match=r"page_size: expected a whole number from 1 to .*, got 0"):
        Server("s", "1", page_size=0)


# -- word of changes --

CHANGED = "notifications/{}/list_changed"


def notified_of(client: RawClient) -> dict[str, int]:
    counts = {kind: len(client.received(CHANGED.format(kind))) for kind in ALL}
    return {kind: count for kind, count in counts.items() if count}


@pytest.mark.spec("mcp-listchanged-flag-1", "mcp-resource-subscriptions-3")
async def test_one_word_goes_out_for_all_that_changes_at_a_time() -> None:
    server = Server("s", "1", offers=ALL)
    async with raw_client(server) as client:
        answer = await client.greet()
        for kind in ALL:
            assert answer["capabilities"][kind]["listChanged"] is True
        for number in range(100):
            for parameter in LISTS:
                parameter.values[2](server, number)  # type: ignore[operator]
        server.remove_tool("0")
        server.remove_resource("x:0")
        server.remove_prompt("0")
        await client.session.raw("ping")
        assert notified_of(client) == {"tools": 1, "prompts": 1, "resources": 1}
        server.remove_tool("1")
        await client.session.raw("ping")
        assert notified_of(client) == {"tools": 2, "prompts": 1, "resources": 1}
        assert client.received(CHANGED.format("tools")) == [{}, {}]


async def test_word_reaches_every_session_that_was_promised_it_and_no_other() -> None:
    server = Server("s", "1")
    add_tool(server, 0)
    async with raw_client(server) as first, raw_client(server) as second:
        await first.greet()
        await second.greet(done=False)
        add_tool(server, 1)
        add_prompt(server, 0)
        async with raw_client(server) as late:
            await late.greet()
            add_prompt(server, 1)
            for client in (first, second, late):
                await client.session.raw("ping")
            assert notified_of(first) == {"tools": 1}  # it was promised nothing of prompts
            assert notified_of(second) == {}  # it is not ready yet
            assert notified_of(late) == {"prompts": 1}
        add_tool(server, 2)
        await first.session.raw("ping")
        assert notified_of(first) == {"tools": 2}


async def test_a_tool_that_changes_the_list_from_its_thread_is_heard_of() -> None:
    server = Server("s", "1")

    @server.tool
    def grow() -> None:
        add_tool(server, 1)

    async with raw_client(server) as client:
        await client.greet()
        await client.session.raw("tools/call", {"name": "grow"})
        assert notified_of(client) == {"tools": 1}


async def test_the_list_fetched_on_the_notification_is_the_new_one() -> None:
    server = Server("s", "1")
    add_tool(server, 0)
    async with pair(server) as client:
        with client.changes() as changes:
            await client.session.raw("ping")  # the server has heard that the client is ready
            add_tool(server, 1)
            with anyio.fail_after(20):
                assert await anext(changes) == "tools"
            assert [tool.name for tool in (await client.mcp.tools_list()).tools] == ["0", "1"]


async def test_a_list_of_your_own_promises_no_word() -> None:
    server = Server("s", "1")

    @server.on.tools_list
    async def listed(params: mcp.PaginatedRequestParams) -> mcp.ListToolsResult:
        return mcp.ListToolsResult(tools=[])

    async with raw_client(server) as client:
        assert (await client.greet())["capabilities"]["tools"] == {}


async def test_a_removed_method_can_be_served_again() -> None:
    server = Server("s", "1")
    add_tool(server, 0)
    server.remove_handler(methods.TOOLS_LIST)

    @server.on.tools_list
    async def listed(params: mcp.PaginatedRequestParams) -> mcp.ListToolsResult:
        return mcp.ListToolsResult(tools=[])

    async with pair(server) as client:
        assert await client.session.raw("tools/list") == {"tools": []}
        await client.mcp.tools_call(name="0")
        with pytest.raises(InvalidParamsError):
            await client.mcp.tools_call(name="1")
