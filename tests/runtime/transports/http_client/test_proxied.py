"""A host behind a proxy."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from kinwire import ConnectionClosedError, Host, RequestTimeoutError, connect
from kinwire_protocols import mcp
from tests.runtime.mcp.http_client.fake_server import (
    SESSION,
    Asked,
    Line,
    RawServer,
    polite,
    reply_to,
)

pytestmark = pytest.mark.anyio

FAR = "http://127.0.0.1:1/mcp?key=t0ken"  # nobody is there: only the proxy answers


async def test_what_is_said_goes_through_the_proxy(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("DEBUG")

    async def stream(asked: Asked, line: Line) -> None:
        await line.stream()
        await line.event({"jsonrpc": "2.0", "id": "s", "method": "ping"})
        await line.event(reply_to(asked, {"content": []}))
        await line.close()

    async with RawServer.serving(polite(tools_call=stream)) as proxy:
        through = proxy.url.replace("//", "//ann:s3cret@")
        async with connect(FAR, proxy=through, headers={"X-Key": "k"}) as peer:
            for _ in range(3):
                await peer.mcp.ping()
            assert (await peer.mcp.tools_call(name="x")).content == []
    assert {one.target for one in proxy.asked} == {FAR}
    assert {one.headers["host"] for one in proxy.asked} == {"127.0.0.1:1"}
    assert {one.headers["proxy-authorization"] for one in proxy.asked} == {"Basic YW5uOnMzY3JldA=="}
    assert proxy.asked[-1].method == "DELETE"
    for secret in ("t0ken", SESSION, "s3cret", "YW5uOnMzY3JldA=="):
        assert secret not in caplog.text


async def test_a_call_that_is_given_up_is_closed() -> None:
    closed = anyio.Event()

    async def never(asked: Asked, line: Line) -> None:
        await line.until_closed()
        closed.set()

    async with (
        RawServer.serving(polite(tools_call=never)) as proxy,
        connect(FAR, proxy=proxy.url) as peer,
    ):
        with pytest.raises(RequestTimeoutError):
            await mcp.ServerStub(peer.with_options(timeout=0.05)).tools_call(name="x")
        await closed.wait()


async def test_a_missing_proxy_is_reported() -> None:
    async with Host("h", "1") as host:
        with pytest.raises(ConnectionClosedError, match="ConnectError on the way through"):
            await host.connect("http://127.0.0.1/", proxy="http://ann:s3cret@127.0.0.1:1")


REFUSED: list[tuple[str, dict[str, Any], str]] = [
    ("http://127.0.0.1/", {"proxy": "s3cret"}, "proxy: expected a URL"),
    ("ws://127.0.0.1/", {"proxy": "http://127.0.0.1:1"}, "proxy: this option is for http"),
]


@pytest.mark.parametrize(("url", "options", "why"), REFUSED)
async def test_an_invalid_proxy_is_refused(url: str, options: dict[str, Any], why: str) -> None:
    async with Host("h", "1") as host:
        with pytest.raises(ValueError, match=why) as caught:
            await host.connect(url, **options)
    assert "s3cret" not in str(caught.value)
