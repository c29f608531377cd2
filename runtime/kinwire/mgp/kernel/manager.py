"""What a kernel and its managers say to each other about the servers that come and go."""

from __future__ import annotations

__all__ = ("ServerManager",)

from typing import Protocol

from kinwire.mgp.kernel.guarded_server import GuardedServer


class ServerManager(Protocol):
    """One feature of a kernel. The kernel calls its managers in order, for every server."""

    def join(self, server: GuardedServer) -> None:
        """Prepare for a server, before the first message after its `initialize` result is handled.

        Also servers that speak only MCP come here; `server.extensions` is empty for them.
        """
        ...

    async def negotiate(self, server: GuardedServer) -> None:
        """Do what comes before `initialized` is sent. An error refuses the server."""
        ...

    def left(self, server: GuardedServer) -> None:
        """Forget a server whose session is over."""
        ...
