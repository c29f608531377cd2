"""A small server of MGP for supervisors."""

from __future__ import annotations

import os

from kinwire import Server
from kinwire.mgp import MgpServer
from kinwire_protocols.mgp import ToolSecurity

guarded = MgpServer()
server = Server("kept", "1", extensions=[guarded])


@server.tool
@guarded.tool(security=ToolSecurity(risk_level="safe"))
def process() -> int:
    """Return the id of this process."""
    return os.getpid()
