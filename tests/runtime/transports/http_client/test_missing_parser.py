"""Without the library that parses HTTP, whatever needs it names the extra where it is made."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable
from typing import Any

import httpx2
import pytest

from kinwire import Host, connect
from kinwire.mcpl import UrlGuard
from kinwire.transports.http_client.client import HttpClient
from tests.runtime.mcp.http_client.fake_server import RawServer, polite
from tests.runtime.transports.websocket.fake_peers import raw_server
from tests.runtime.transports.websocket.test_client import greet

pytestmark = pytest.mark.anyio

URL = "http://127.0.0.1:1/mcp"


async def by_connect(url: str = URL, **options: Any) -> None:
    async with connect(url, **options):
        pass


async def by_host() -> None:
    async with Host("h", "1") as host:
        await host.connect(URL)


async def by_client() -> None:
    async with HttpClient.opened():
        pass


async def by_guard() -> None:
    UrlGuard(["cdn.example"])


async def by_proxy() -> None:
    await by_connect("ws://127.0.0.1:1/mcp", proxy="http://127.0.0.1:1")


@pytest.fixture
def no_parser(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "httptools", None)


@pytest.mark.usefixtures("no_parser")
@pytest.mark.parametrize("make", [by_connect, by_host, by_client, by_guard, by_proxy])
async def test_the_extra_is_named(make: Callable[[], Awaitable[None]]) -> None:
    with pytest.raises(ImportError, match=r"`httptools`.*Install kinwire\[http\]"):
        await make()


@pytest.mark.usefixtures("no_parser")
async def test_a_client_of_the_user_and_websocket_without_a_proxy_need_none() -> None:
    async with (
        httpx2.AsyncClient() as client,
        RawServer.serving(polite()) as server,
        connect(server.url, http=client) as peer,
    ):
        await peer.mcp.ping()
    async with raw_server(greet) as url:
        await by_connect(url)
