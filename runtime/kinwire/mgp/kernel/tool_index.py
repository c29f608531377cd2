"""The index of the tools of all connected servers, kept as they come, change and go (MGP 16.4)."""

from __future__ import annotations

__all__ = ("ToolIndexManager",)

from kinwire.mgp.kernel.guarded_server import GuardedServer
from kinwire.mgp.kernel.tool_discovery_options import ToolDiscovery


class ToolIndexManager:
    """The tools of all connected servers. Get it from `MgpKernel.tool_index`."""

    def __init__(self, options: ToolDiscovery) -> None:
        self._options = options

    def join(self, server: GuardedServer) -> None:
        """Follow the list of a server."""

    async def negotiate(self, server: GuardedServer) -> None:
        """Do nothing: the tools are listed when the server is connected."""

    def left(self, server: GuardedServer) -> None:
        """Take the tools of a server that is gone out."""
