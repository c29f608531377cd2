"""nginx in front of two processes of a server: with sticky cookies, and without them."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from string import Template

import anyio
import pytest

from kinwire import ConnectionClosedError, connect, result_text
from kinwire.mcp.connection import Connection
from tests.absent import absent
from tests.interop.listening import HERE, free_port, listening, ours

pytestmark = [pytest.mark.interop, pytest.mark.anyio]

SERVER = HERE / "servers" / "behind_proxy.py"
CLIENTS, CALLS = 8, 25
SOON = 20.0  # seconds

CONFIG = Template("""
daemon off;
pid $folder/pid;
error_log $folder/error.log;
events {}
http {
    access_log off;
    client_body_temp_path $folder/body;
    proxy_temp_path $folder/proxy;
    fastcgi_temp_path $folder/fastcgi;
    uwsgi_temp_path $folder/uwsgi;
    scgi_temp_path $folder/scgi;

    upstream first { server 127.0.0.1:$first; }
    upstream second { server 127.0.0.1:$second; }
    upstream both { server 127.0.0.1:$first; server 127.0.0.1:$second; }
    map $$cookie_node $$node { default both; first first; second second; }
    map $$upstream_addr $$name { default first; 127.0.0.1:$second second; }

    proxy_http_version 1.1;
    proxy_set_header Connection "";
    proxy_set_header Host $$http_host;

    server {
        listen 127.0.0.1:$sticky;
        add_header Set-Cookie "node=$$name; Path=/; HttpOnly" always;
        location / { proxy_pass http://$$node; }
    }
    server {
        listen 127.0.0.1:$loose;
        location / { proxy_pass http://both; }
    }
}
""")


@contextmanager
def proxied(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield the URLs of two servers behind nginx, with and without sticky cookies."""
    nginx = shutil.which("nginx") or absent("nginx is not installed")
    sticky, loose = free_port(), free_port()
    with ExitStack() as stack:
        ports = [
            stack.enter_context(listening(ours("http", SERVER), folder)).port for _ in range(2)
        ]
        names = {"first": ports[0], "second": ports[1], "sticky": sticky, "loose": loose}
        (folder / "nginx.conf").write_text(CONFIG.substitute(names, folder=folder))
        command = (nginx, "-e", f"{folder}/error.log", "-c", f"{folder}/nginx.conf")
        stack.enter_context(listening(command, folder, port=sticky))
        yield f"http://127.0.0.1:{sticky}/mcp", f"http://127.0.0.1:{loose}/mcp"


@pytest.fixture(scope="module")
def urls(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    with proxied(tmp_path_factory.mktemp("nginx")) as found:
        yield found


async def call(connection: Connection, tool: str) -> str:
    return result_text(await connection.mcp.tools_call(name=tool, arguments={}))


async def test_sessions_stay_with_their_server(urls: tuple[str, str]) -> None:
    processes: list[set[str]] = []

    async def visit() -> None:
        async with connect(urls[0]) as connection:
            processes.append({await call(connection, "process") for _ in range(CALLS)})

    with anyio.fail_after(SOON):
        async with anyio.create_task_group() as tasks:
            for _ in range(CLIENTS):
                tasks.start_soon(visit)
    assert [len(found) for found in processes] == [1] * CLIENTS
    assert len(set.union(*processes)) == 2


async def test_events_pass_while_their_stream_is_open(urls: tuple[str, str]) -> None:
    """Two of the streams: that of a call, and that of what the server says by itself."""
    reported = anyio.Event()

    async with connect(urls[0]) as connection:
        with anyio.fail_after(SOON):
            async with (
                connection.subscription("memo://today") as updates,
                anyio.create_task_group() as tasks,
            ):
                asking = connection.with_options(on_progress=lambda report: reported.set())
                tasks.start_soon(call, asking, "wait")
                await reported.wait()
                await call(connection, "change")
                assert await anext(updates) == "memo://today"
                await call(connection, "go_on")


async def test_without_sticky_sessions_the_error_says_what_is_wrong(urls: tuple[str, str]) -> None:
    async def use() -> None:
        async with connect(urls[1]) as connection:
            for _ in range(CALLS):
                await call(connection, "process")

    with anyio.fail_after(SOON), pytest.raises(ConnectionClosedError, match="sticky sessions"):
        await use()
