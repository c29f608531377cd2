"""Roots: which URLs are valid, and which servers get them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import pytest

from kinwire.mcp.context import Context
from kinwire.mcp.host import Host
from kinwire.mcp.roots import roots_from
from kinwire.mcp.server import Server
from kinwire.rpc.errors import HandlerDefinitionError, SessionStateError
from kinwire.support.background import background
from kinwire.testing import pair
from kinwire.transports.memory import memory_pair
from kinwire_protocols import mcp
from tests.each import each

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(
    "uri",
    [
        "file:///",
        "file:///home/ada/notes",
        "file:///home/ada/my%20notes/",
        "file://server/share",
        "file:///C:/notes",
    ],
)
async def test_an_address_of_a_file_is_a_root(uri: str) -> None:
    assert roots_from([uri]) == [mcp.Root(uri=uri)]
    named = mcp.Root(uri=uri, name="Notes")
    assert roots_from([named]) == [named]


@each(
    "uri",
    [
        "http://host/a",
        "/home/ada",
        "file:/home/ada",
        "file://",
        "file:///a b",
        "file:///a\nb",
        "file:///a?b",
        "file:///caf\u00e9",
        "FILE:///a",
        "",
    ],
)
async def test_an_invalid_file_url_is_refused(uri: str) -> None:
    with pytest.raises(ValueError, match=r"roots/1/uri: expected an address .* Pass a pathlib"):
        roots_from(["file:///fine", uri])


async def test_a_path_becomes_an_absolute_address() -> None:
    relative = Path("my notes")
    (root,) = roots_from([relative])
    assert root.uri == (Path.cwd() / "my notes").as_uri()
    assert root.uri.endswith("/my%20notes")


def server_that_reads_roots(seen: list[list[str]], asked: anyio.Event | None = None) -> Server:
    server = Server("reader", "1")

    @server.tool
    async def read(context: Context) -> None:
        listed = await mcp.ClientStub(context.session).roots_list()
        seen.append([root.uri for root in listed.roots])

    @server.on.notifications_roots_list_changed
    async def changed(params: mcp.NotificationParams, context: Any) -> None:
        listed = await mcp.ClientStub(context.session).roots_list()
        seen.append([root.uri for root in listed.roots])
        assert asked is not None
        asked.set()

    return server


@pytest.mark.spec("mcp-initialize-request-2", "mcp-client-capabilities-2")
async def test_roots_are_served_and_servers_hear_of_new_ones() -> None:
    seen: list[list[str]] = []
    asked = anyio.Event()
    host = Host("h", "1", roots=["file:///a"])
    async with pair(server_that_reads_roots(seen, asked), host) as client:
        assert b'"roots":{"listChanged":true}' in client.frames[0].data
        await client.mcp.tools_call(name="read")
        with pytest.raises(ValueError, match="roots/0"):
            await host.set_roots(["http://a"])
        with anyio.fail_after(20):
            await host.set_roots([mcp.Root(uri="file:///b", name="B"), "file:///c"])
            await asked.wait()
    assert seen == [["file:///a"], ["file:///b", "file:///c"]]


async def test_servers_hear_of_new_roots_though_one_is_unreachable(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def refuse(params: Any, method: Any, go_on: Any) -> Any:
        raise ZeroDivisionError

    seen, asked = list[list[str]](), anyio.Event()
    ends = [memory_pair(), memory_pair()]
    server = server_that_reads_roots(seen, asked)
    async with background() as tasks, Host("h", "1", roots=[]) as host:
        for client_end, server_end in ends:
            tasks.start_soon(server.serve, server_end)
            client = await host.connect(client_end)
            if client_end is ends[0][0]:
                client.session.intercept_outbound(refuse)
        with anyio.fail_after(20):
            await host.set_roots(["file:///a"])
            await asked.wait()
    assert seen == [["file:///a"]]
    assert "was not notified of changed roots" in caplog.text


async def test_a_host_without_roots_yet_says_that_it_may_have_some() -> None:
    seen: list[list[str]] = []
    host = Host("h", "1", roots=[])
    await host.set_roots([])
    async with pair(server_that_reads_roots(seen), host) as client:
        await client.mcp.tools_call(name="read")
    assert seen == [[]]


async def test_a_host_without_roots_serves_none() -> None:
    host = Host("h", "1")
    async with pair(Server("s", "1"), host) as client:
        assert b"roots" not in client.frames[0].data
        with pytest.raises(SessionStateError, match=r"Write `Host\(\.\.\., roots=\[\]\)`"):
            await host.set_roots(["file:///a"])


async def test_roots_and_a_handler_for_them_exclude_each_other() -> None:
    host = Host("h", "1", roots=[])
    with pytest.raises(HandlerDefinitionError, match="there is a handler already"):

        @host.on.roots_list
        async def roots(params: mcp.RequestParams) -> mcp.ListRootsResult:
            raise NotImplementedError
