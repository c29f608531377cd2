"""The application where other people run it: under hypercorn on trio, and mounted in Starlette."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import anyio
import pytest
import trio
from hypercorn.config import Config
from hypercorn.trio import serve
from starlette.applications import Starlette
from starlette.routing import Mount, Route

from kinwire import Server, connect
from kinwire_protocols import mcp
from tests.runtime.mcp.http.conftest import Tools
from tests.runtime.mcp.http.fake_asgi_client import Client, message
from tests.runtime.transports.fixtures_serving import served

pytestmark = pytest.mark.anyio


@pytest.mark.slow
@pytest.mark.parametrize("anyio_backend", ["trio"], indirect=True)
async def test_hypercorn_serves_it_on_trio(tools: Tools) -> None:
    config, stop = Config(), anyio.Event()
    config.bind = ["127.0.0.1:0"]
    app: Any = tools.server.asgi()
    reports: list[float] = []
    all_reported = anyio.Event()

    def on_progress(report: mcp.ProgressNotificationParams) -> None:
        reports.append(report.progress)
        if len(reports) == 3:
            all_reported.set()

    async with trio.open_nursery() as nursery:
        (url,) = await nursery.start(partial(serve, app, config, shutdown_trigger=stop.wait))
        async with connect(f"{url}/mcp") as tools_there:
            call = tools_there.with_options(on_progress=on_progress)
            async with anyio.create_task_group() as tasks:
                wait = partial(call.mcp.tools_call, name="wait", arguments={"steps": 3})
                tasks.start_soon(wait)
                with anyio.fail_after(10):
                    await all_reported.wait()
                tools.go_on.set()
            result = await tools_there.mcp.tools_call(name="echo", arguments={"text": "hi"})
        stop.set()
    assert reports == [1, 2, 3]
    assert getattr(result.content[0], "text", None) == "hi"
    assert len(app.sessions._open) == 0


@pytest.mark.parametrize(
    ("route", "path"),
    [
        (lambda server: Mount("/tools", server.asgi()), "/tools/"),
        (lambda server: Mount("/tools", server.asgi()), "/tools/mcp"),
        (lambda server: Mount("/a", routes=[Mount("/b", server.asgi())]), "/a/b/"),
        (lambda server: Mount("/tools", server.asgi(path="/x")), "/tools/x"),
        (lambda server: Mount("/", server.asgi()), "/mcp"),
        (lambda server: Route("/tools", endpoint=server.asgi(path="/tools")), "/tools"),
    ],
)
async def test_it_is_mounted_without_anything_else(
    tools: Tools, route: Callable[[Server], Any], path: str
) -> None:
    outer: Any = Starlette(routes=[route(tools.server)])

    async def at_path(scope: dict[str, Any], receive: Any, send: Any) -> None:
        await outer({**scope, "path": path, "raw_path": path.encode()}, receive, send)

    client = await Client(at_path).begin()  # type: ignore[arg-type]
    assert (await client.post(message("ping"))).json["result"] == {}
    async with client.open("GET") as own:
        assert own.status == 200
    assert (await client.request("DELETE")).status == 204


MOUNTED = ["http://{}/tools", "http://{}/tools/", "http://{}/tools/mcp", "ws://{}/tools/"]


async def test_a_mounted_application_is_reached_below_its_prefix(tools: Tools) -> None:
    def site(app: Any) -> Starlette:
        return Starlette(routes=[Mount("/tools", app)])

    with served(tools.server, around=site) as there:
        for url in MOUNTED:
            async with connect(url.format(f"127.0.0.1:{there.port}")) as peer:
                result = await peer.mcp.tools_call(name="echo", arguments={"text": url})
                assert getattr(result.content[0], "text", None) == url
