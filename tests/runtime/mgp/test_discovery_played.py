"""The JSON examples of section 15 are played with raw servers, as the text has them."""

from __future__ import annotations

from pathlib import Path

import pytest

from kinwire import Connection, Context, Host, RpcError, Server
from kinwire.mgp import MgpKernel, MgpServer, Registrations
from kinwire.support.background import background
from kinwire_protocols import mgp
from kinwire_protocols.base import to_wire
from tests.runtime.mgp.raw_peers import Json, RawKernel, RawServer, tool
from tests.runtime.mgp.test_examples_played import MESSAGES

pytestmark = pytest.mark.anyio

LIST, LISTED, REGISTER, DEREGISTER = (MESSAGES[block] for block in (38, 39, 40, 41))
OFFER: Json = {
    "version": "0.1.0",
    "extensions": ["security", "lifecycle", "streaming"],
    "permissions_required": ["network.outbound"],
}


@pytest.mark.spec("mgp-15.1-1", "mgp-15.2-1", "mgp-15.3-1")
async def test_a_registry_lists_servers_by_extensions_permissions_and_status() -> None:
    kernel = MgpKernel()
    mind = RawServer(tool("think"), tool("analyze"), mgp=OFFER)
    asking = RawServer(mgp={"version": "0.2.0", "extensions": ["discovery"]})
    async with Host("h", "1", extensions=[kernel]) as host:
        await host.connect(mind, server_id="mind.cerebras")
        await host.connect(asking, server_id="asking")
        reply = await asking.ask(LIST["id"], LIST["method"], LIST["params"])
        (found,) = reply["result"]["servers"]
        (shown,) = LISTED["result"]["servers"]
        assert {**found, "extensions": set(found["extensions"])} == {
            **shown,
            "extensions": set(shown["extensions"]),
        }


@pytest.mark.spec("mgp-15-1")
async def test_a_server_is_registered_and_taken_out_as_in_the_text(tmp_path: Path) -> None:
    (tmp_path / "scripts").mkdir()
    (tmp_path / "scripts" / "mcp_custom.py").write_text("print()", encoding="utf-8")
    kernel = MgpKernel(registrations=Registrations(folder=tmp_path))
    asking = RawServer(mgp={"version": "0.2.0", "extensions": ["discovery"]})
    async with Host("h", "1", extensions=[kernel]) as host:
        await host.connect(asking, server_id="maker")
        reply = await asking.ask(REGISTER["id"], REGISTER["method"], REGISTER["params"])
        assert reply["result"] == {
            "id": "dynamic.custom_tool",
            "status": "registered",
            "extensions": ["security"],
            "trust_level": "sandboxed",
        }
        (waiting,) = await kernel.registry.waiting()
        assert waiting.by == "maker"  # not `created_by`
        assert waiting.justification == "Agent needs custom data processing tool"
        reply = await asking.ask(DEREGISTER["id"], DEREGISTER["method"], DEREGISTER["params"])
        assert reply["result"] == {"deregistered": True}


async def test_a_server_can_be_the_registry_too() -> None:
    """Whichever end of the connection it is: a kernel asks, and a server of ours asks a kernel."""
    offer: Json = {"version": "0.2.0", "extensions": ["discovery"]}
    registry = RawServer(mgp=offer, mgp_discovery_list=LISTED["result"])
    kernel = MgpKernel()
    async with Host("h", "1", extensions=[kernel]) as host:
        connection: Connection = await host.connect(registry, server_id="registry")
        found = await mgp.ServerStub(connection).mgp_discovery_list()
        assert to_wire(found) == LISTED["result"]
    server = Server("s", "1", extensions=[MgpServer(extensions=["discovery"])])
    raw = RawKernel()

    @server.tool
    async def look(context: Context) -> str:
        try:
            await mgp.ClientStub(context.session).mgp_discovery_list()
        except RpcError as error:
            return str(error.code)
        return ""

    async with background() as tasks:
        tasks.start_soon(server.serve, raw)
        await raw.greet(offer)
        reply = await raw.ask(1, "tools/call", {"name": "look", "arguments": {}})
        assert reply["result"]["content"][0]["text"] == "-32601"  # this kernel serves nothing
        assert raw.of("mgp/discovery/list") == [{}]
        tasks.cancel_scope.cancel()
