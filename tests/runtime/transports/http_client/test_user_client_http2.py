"""Real clients of both libraries as `http`, to a server of HTTP/2 over TLS and to one of HTTP/1."""

from __future__ import annotations

import socket
import ssl
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import httpx
import httpx2
import hypercorn.asyncio
import hypercorn.trio
import pytest
from hypercorn.config import Config
from hypercorn.typing import ASGIFramework

from kinwire import Context, Host, Server, connect, result_text
from kinwire.support.background import background, running_loop
from tests.runtime.mcp.http_client.fake_server import RawServer, polite
from tests.runtime.transports.fixtures_certificates import made_certificate, needs_openssl

pytestmark = pytest.mark.anyio

LIBRARIES: dict[str, Any] = {"httpx2": httpx2.AsyncClient, "httpx": httpx.AsyncClient}
CALLS = 20


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made_certificate(tmp_path_factory.mktemp("tls"))


class Versions:
    """An application that notes the version of each request, in front of a server."""

    def __init__(self) -> None:
        self.server = server = Server("s", "1")
        self.found: set[str] = set()

        @server.tool
        async def double(n: int, context: Context) -> int:
            await context.progress(n)
            return 2 * n

        self._app: Any = server.asgi()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            self.found.add(scope["http_version"])
        await self._app(scope, receive, send)


@asynccontextmanager
async def served_over_tls(app: Any, certificate: Path) -> AsyncGenerator[str]:
    """Yield the URL of hypercorn, which offers HTTP/2 first."""
    config, stop = Config(), anyio.Event()
    config.certfile = config.keyfile = str(certificate)
    config.graceful_timeout = 0.2
    listener = socket.create_server(("127.0.0.1", 0))
    port = listener.getsockname()[1]
    config.bind = [f"fd://{listener.detach()}"]
    serve = hypercorn.trio.serve if running_loop() is None else hypercorn.asyncio.serve
    framework: ASGIFramework = app
    async with background() as tasks:
        tasks.start_soon(partial(serve, framework, config, shutdown_trigger=stop.wait))
        yield f"https://localhost:{port}/mcp"
        stop.set()


async def calls(url: str, client: Any) -> None:
    """Make calls side by side on one connection of MCP, with progress on the way."""
    heard: list[float] = []

    async def call(number: int) -> None:
        asking = peer.with_options(on_progress=lambda report: heard.append(report.progress))
        answer = await asking.mcp.tools_call(name="double", arguments={"n": number})
        assert result_text(answer) == str(2 * number)

    async with connect(url, http=client) as peer, anyio.create_task_group() as tasks:
        for number in range(CALLS):
            tasks.start_soon(call, number)
    assert sorted(heard) == list(range(CALLS))


@needs_openssl
@pytest.mark.parametrize("library", LIBRARIES)
async def test_http2_is_spoken_through_the_client(library: str, certificate: Path) -> None:
    app = Versions()
    tls = ssl.create_default_context(cafile=str(certificate))
    with anyio.fail_after(20):
        async with (
            served_over_tls(app, certificate) as url,
            LIBRARIES[library](http2=True, verify=tls, trust_env=False) as client,
        ):
            await calls(url, client)
            await calls(url, client)  # it is not closed by the first
    assert app.found == {"2"}


@pytest.mark.parametrize("library", LIBRARIES)
async def test_both_libraries_speak_http1_and_keep_their_settings(library: str) -> None:
    async with (
        RawServer.serving(polite()) as server,
        LIBRARIES[library](headers={"X-Own": "1"}, cookies={"a": "b"}, trust_env=False) as client,
        Host("h", "1") as host,
    ):
        connection = await host.connect(server.url, http=client, headers={"X-Key": "k"})
        await connection.mcp.ping()
    for asked in server.asked:
        assert [asked.headers[name] for name in ("x-own", "x-key", "cookie")] == ["1", "k", "a=b"]
