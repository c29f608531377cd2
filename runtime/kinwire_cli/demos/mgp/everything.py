"""The servers of this folder as one: what `kinwire serve demo mgp` serves."""

from __future__ import annotations

__all__ = ("server",)

from kinwire import Server
from kinwire.mgp import MgpServer
from kinwire_cli.demos.mgp.archive import Archive
from kinwire_cli.demos.mgp.workshop import CHANNELS, PERMISSIONS, Workshop

guarded = MgpServer(
    extensions=["security", "code_safety", "audit"],
    permissions_required=PERMISSIONS,
    trust_level="standard",
    channels=CHANNELS,
)
server = Server("kinwire-demo-mgp", "1.0", extensions=[guarded])
Workshop(server, guarded)
Archive(server, guarded)
