"""A server that looks what servers there are, and registers another one: `kinwire serve FILE`."""

from __future__ import annotations

from kinwire import Context, RpcError, Server
from kinwire.mgp import MgpServer
from kinwire_protocols import mgp

server = Server("registrant", "1", extensions=[MgpServer(extensions=["discovery"])])


@server.tool
async def show_outcome(word: str, context: Context) -> str:
    """Register a server with this word as its command; show the state that it has, or the error."""
    kernel = mgp.ClientStub(context.session)
    try:
        entry = await kernel.mgp_discovery_register(
            id="dynamic.tool", command=word, args=["tool.py"]
        )
        found = await kernel.mgp_discovery_list(filter=mgp.DiscoveryFilter(status="registered"))
    except RpcError as error:
        return str(error.code)
    gone = await kernel.mgp_discovery_deregister(id=entry.id)
    return f"{entry.trust_level} {[one.id for one in found.servers]} {gone.deregistered}"
