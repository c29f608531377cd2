"""A server of MGP with a tool that yields as much as is asked for."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator

from kinwire import Server
from kinwire.mgp import MgpServer
from kinwire_protocols.mgp import ToolSecurity
from tests.runtime.transports.fixtures_processes import peak_of

guarded = MgpServer()
server = Server("flood", "1", extensions=[guarded])


@guarded.tool(security=ToolSecurity(risk_level="safe"))
@server.tool
async def flood(pieces: int) -> AsyncIterator[str]:
    """Yield pieces of 64 KiB."""
    for number in range(pieces):
        yield f"{number:016}" * 4096


@guarded.tool(security=ToolSecurity(risk_level="safe"))
@server.tool
def peak() -> int:
    """Return how many bytes of memory this process has held at most."""
    return peak_of(os.getpid())
