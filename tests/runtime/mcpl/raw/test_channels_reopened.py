"""Channels that a host has opened are opened again after a reconnect, without records too."""

from __future__ import annotations

from typing import Any

import pytest

from kinwire import Host
from kinwire.mcpl import Channels, McplHost
from tests.runtime.mcpl.raw.peer import RawServer
from tests.runtime.mcpl.raw.scenarios import ConnectServer, against_raw_server


@against_raw_server
@pytest.mark.parametrize("options", [{"server_id": "chat"}, {}])
@pytest.mark.spec("mcpl-14.3-4")
async def test_open_channels_are_opened_again_after_a_reconnect(
    connect: ConnectServer, options: Any
) -> None:
    raw = RawServer({"version": "0.4", "channels": {"lifecycle": True}})
    raw.answers["channels/open"] = lambda params: {
        "channel": {
            "id": params["address"]["name"],
            "type": "chat",
            "label": "A channel",
            "direction": "bidirectional",
        }
    }
    raw.answers["channels/close"] = {"closed": True}
    live = McplHost(channels=Channels())
    opened = list[list[str]]()
    async with Host("h", "1", extensions=[live]) as host:
        for _connection in range(2):
            connection = await connect(host, raw, **options)
            server = live.of(connection)
            assert server is not None
            opened.append([one.id for one in await server.channels.reopen()])
            for name in ("a", "b"):
                await server.channels.open("chat", {"name": name})
            await server.channels.close("b")
            is_known = not server.session.identity.transient  # in memory, by server_id only
            await connection.session.aclose()
            await raw.gone()
    assert opened == [[], ["a"] if is_known else []]
