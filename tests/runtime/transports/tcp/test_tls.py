"""TLS on both sides: whom a client trusts, on asyncio and on trio."""

from __future__ import annotations

import ssl
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio.abc import ByteStream, SocketAttribute

from kinwire import ConnectionClosedError, Host, Server, connect, serve_websocket
from kinwire.support.background import background
from kinwire.transports.guarded_fetch.fetch import SystemNetwork
from kinwire.transports.tcp.streams import client_context
from tests.runtime.mcp.http_client.fake_server import RawServer, polite
from tests.runtime.transports.fixtures_certificates import (
    both_sides,
    made_certificate,
    needs_openssl,
)

pytestmark = [pytest.mark.anyio, needs_openssl]


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made_certificate(tmp_path_factory.mktemp("tls"))


@pytest.fixture(params=[True, False], ids=["trusted", "not trusted"])
def trusted(
    request: pytest.FixtureRequest, certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[bool]:
    """Whether the certificate is among those that the system trusts."""
    if request.param:
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    client_context.cache_clear()
    yield request.param
    client_context.cache_clear()


async def serve(certificate: Path, *, task_status: Any) -> None:
    tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    tls.load_cert_chain(certificate)
    await serve_websocket(Server("s", "1").serve, tls=tls, task_status=task_status)


async def test_a_server_is_trusted_by_its_certificate_and_name(
    certificate: Path, trusted: bool
) -> None:
    with anyio.fail_after(20):
        async with background() as tasks, Host("h", "1") as host:
            port = await tasks.start(serve, certificate)
            if trusted:
                async with connect(f"wss://localhost:{port}") as peer:
                    await peer.mcp.ping()
            for scheme, name in (("wss", "127.0.0.1"), ("https", "127.0.0.1")):
                with pytest.raises(ConnectionClosedError, match="is not to be trusted: ") as caught:
                    await host.connect(f"{scheme}://{name}:{port}")
                assert ("SSL_CERT_FILE" in str(caught.value)) is not trusted
            tasks.cancel_scope.cancel()


async def test_websocket_trusts_and_shows_the_certificates_of_the_option(certificate: Path) -> None:
    mutual, ours = both_sides(certificate)
    with anyio.fail_after(20):
        async with background() as tasks:
            port = await tasks.start(partial(serve_websocket, Server("s", "1").serve, tls=mutual))
            async with connect(f"wss://localhost:{port}", tls=ours) as peer:
                await peer.mcp.ping()
            tasks.cancel_scope.cancel()


async def test_an_address_that_was_checked_is_trusted_by_the_name_that_led_to_it(
    certificate: Path, trusted: bool
) -> None:
    network = SystemNetwork()
    with anyio.fail_after(20):
        async with background() as tasks:
            port = await tasks.start(serve, certificate)
            if trusted:
                await (await network.connect("127.0.0.1", port, "localhost")).aclose()
            with pytest.raises(ssl.SSLCertVerificationError):
                await network.connect("127.0.0.1", port, "elsewhere.example")
            tasks.cancel_scope.cancel()


async def tunnel(stream: ByteStream, asked: list[bytes]) -> None:
    """Connect a client to where it wants, as a proxy does for CONNECT."""
    head = await stream.receive()
    while not head.endswith(b"\r\n\r\n"):
        head += await stream.receive()
    asked.append(head)
    _, target, _ = head.split(b" ", 2)
    host, _, port = target.decode().rpartition(":")
    async with stream, await anyio.connect_tcp(host, int(port)) as server, background() as tasks:
        await stream.send(b"HTTP/1.1 200 x\r\n\r\n")
        tasks.start_soon(copied, stream, server)
        await copied(server, stream)
        tasks.cancel_scope.cancel()


async def copied(source: ByteStream, target: ByteStream) -> None:
    with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
        async for chunk in source:
            await target.send(chunk)


@pytest.mark.parametrize("anyio_backend", ["asyncio", "uvloop", "trio"], indirect=True)
@pytest.mark.parametrize("by_proxy", [False, True], ids=["direct", "through a proxy"])
async def test_http_trusts_and_shows_the_certificates_of_the_option(
    certificate: Path, by_proxy: bool
) -> None:
    mutual, ours = both_sides(certificate)
    asked: list[bytes] = []
    listener = await anyio.create_tcp_listener(local_host="127.0.0.1")
    async with (
        listener,
        RawServer.serving(polite(), tls=mutual) as server,
        background() as tasks,
    ):
        tasks.start_soon(listener.serve, partial(tunnel, asked=asked))
        port = listener.extra(SocketAttribute.local_port)
        proxy = f"http://ann:s3cret@127.0.0.1:{port}" if by_proxy else None
        async with connect(server.url, tls=ours, proxy=proxy, trust_env=False) as peer:
            await peer.mcp.ping()
        tasks.cancel_scope.cancel()
    assert "ping" in server.about()
    assert all(head.startswith(b"CONNECT localhost:") for head in asked)
    assert all(b"Proxy-Authorization: Basic YW5uOnMzY3JldA==\r\n" in head for head in asked)
    assert bool(asked) is by_proxy
