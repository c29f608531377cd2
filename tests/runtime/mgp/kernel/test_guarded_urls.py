"""Servers of URLs that somebody else has named: every connection goes where it was checked."""

from __future__ import annotations

import anyio
import pytest

from kinwire import Host
from kinwire.mgp import MgpKernel, ServerSpec
from kinwire.transports.guarded_fetch.fetch import SystemNetwork
from tests.runtime.mcp.http_client.fake_server import RawServer, polite
from tests.runtime.transports.guarded_fetch.fake_network import PUBLIC, TestNetwork

pytestmark = pytest.mark.anyio

HOST = "tools.example.com"


def put_in(monkeypatch: pytest.MonkeyPatch, port: int) -> TestNetwork:
    """Replace the network; a server of this machine is behind all of its addresses."""
    network = TestNetwork(port, {HOST: [[PUBLIC]]})
    for name in ("resolve", "connect"):
        monkeypatch.setattr(SystemNetwork, name, staticmethod(getattr(network, name)))
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:1")  # it would look names up itself
    return network


async def test_a_registered_url_is_connected_to_only_at_addresses_that_were_checked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A name that is public at first leads nowhere else later, nor does one of two addresses."""
    async with RawServer.serving(polite()) as raw:
        network = put_in(monkeypatch, raw.port)
        kernel = MgpKernel()
        async with Host("h", "1", extensions=[kernel]) as host, kernel.supervise(host) as running:
            await kernel.registry.register("web", url=f"https://{HOST}/mcp")
            with anyio.fail_after(20), running.changes() as changes:
                while not running.servers:
                    await anext(changes)
                await running["web"].wait_connected()
            assert set(network.connected) == {(PUBLIC, 443, HOST)}
            asked = len(network.connected)
            for address in ("10.0.0.1", "127.0.0.1"):
                network._names[HOST] = [[PUBLIC, address]]
                await running.restart("web")
                assert (
                    f"{HOST} leads to {address}, which is not public" in running["web"].status.note
                )
            assert len(network.connected) == asked
        assert raw.asked[0].headers["host"] == HOST


async def test_a_spec_that_is_public_only_refuses_this_machine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with RawServer.serving(polite()) as raw:
        kernel = MgpKernel()
        for only in (False, True):
            spec = ServerSpec("s", url=raw.url, public_only=only, ping_interval=None)
            async with (
                Host("h", "1", extensions=[kernel]) as host,
                kernel.supervise(host, [spec]) as running,
            ):
                await running.start("s")
                status = running["s"].status
                assert (status.state, "not public" in status.note) == (
                    ("restarting", True) if only else ("connected", False)
                )
