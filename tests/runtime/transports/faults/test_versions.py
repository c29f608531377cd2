"""A peer that speaks another version: a server names its own, a host takes no other.

The tests of extensions cover what extensions do then.
"""

from __future__ import annotations

from threading import Thread
from typing import Any

import pytest
from anyio.from_thread import start_blocking_portal

from kinwire import Host, ProtocolVersionError
from tests.runtime.transports.fake_clients import message
from tests.runtime.transports.faults.fake_server import GREETING
from tests.runtime.transports.faults.fake_servers import RAW_SERVERS
from tests.runtime.transports.faults.fixtures_ends import server_under_test
from tests.runtime.transports.faults.table import CLIENT, SERVER, TRANSPORTS

pytestmark = pytest.mark.faults

OLD_OFFERS = {"experimental": {"mcpl": {"version": "0.3"}, "mgp": {"version": "1.0.0"}}}


@pytest.mark.fault(37, SERVER)
@pytest.mark.parametrize("version", ["2024-11-05", "2025-11-25", "2099-01-01", "1.0", ""])
@pytest.mark.parametrize("transport", TRANSPORTS)
def test_whatever_a_client_offers_the_server_answers_its_own_version(
    transport: str, version: str
) -> None:
    who = {"name": "raw", "version": "0"}
    offer = message(
        "initialize", "first", protocolVersion=version, capabilities=OLD_OFFERS, clientInfo=who
    )
    with server_under_test(transport, initialize=offer) as client:
        assert client.greeting["result"]["protocolVersion"] == "2024-11-05"
        assert "experimental" not in client.greeting["result"]["capabilities"]
        assert client.ask(message("ping", 1)) == [{"jsonrpc": "2.0", "id": 1, "result": {}}]


@pytest.mark.fault(37, CLIENT)
@pytest.mark.parametrize("version", ["2025-11-25", "1.0", ""])
@pytest.mark.parametrize("transport", TRANSPORTS)
def test_a_server_that_names_another_is_left(transport: str, version: str) -> None:
    with start_blocking_portal() as portal:
        server = RAW_SERVERS[transport](portal)
        greeting: dict[str, Any] = {**GREETING, "protocolVersion": version}
        greeter = Thread(target=lambda: server.answer(server.next(), greeting))
        greeter.start()
        with portal.wrap_async_context_manager(host := Host("victim", "1")):
            with pytest.raises(ProtocolVersionError, match="Use a server that speaks it"):
                portal.call(host.connect, server.target)
            greeter.join()
            server.close()
        portal.call(portal.stop, True)
