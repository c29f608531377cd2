"""TLS on both sides: whom a client trusts, on asyncio and on trio."""

from __future__ import annotations

import shutil
import ssl
import subprocess
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest

from kinwire import ConnectionClosedError, Host, Server, connect, serve_websocket
from kinwire.support.background import background
from kinwire.transports.guarded_fetch.fetch import SystemNetwork
from kinwire.transports.tcp.streams import client_context

OPENSSL = shutil.which("openssl")

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(OPENSSL is None, reason="openssl, which makes the certificate, is missing"),
]


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with a key and a certificate for `localhost`."""
    folder = tmp_path_factory.mktemp("tls")
    key, file = folder / "key.pem", folder / "both.pem"
    kind = ["-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    names = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-days", "2"]
    command = [str(OPENSSL), "req", *kind, *names, "-keyout", str(key), "-out", str(file)]
    subprocess.run(command, check=True, capture_output=True)
    file.write_bytes(file.read_bytes() + key.read_bytes())
    return file


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
                with pytest.raises(ConnectionClosedError, match="is not to be trusted: "):
                    await host.connect(f"{scheme}://{name}:{port}")
            tasks.cancel_scope.cancel()


async def test_websocket_trusts_and_shows_the_certificates_of_the_option(certificate: Path) -> None:
    mutual = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=str(certificate))
    mutual.load_cert_chain(certificate)
    mutual.verify_mode = ssl.CERT_REQUIRED
    ours = ssl.create_default_context(cafile=str(certificate))
    ours.load_cert_chain(certificate)
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
