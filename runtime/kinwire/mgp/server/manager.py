"""What an `MgpServer` and its managers say to each other about the kernels that come and go."""

from __future__ import annotations

__all__ = ("KernelManager",)

from typing import Protocol

from kinwire.mgp.server.kernel_peer import KernelPeer


class KernelManager(Protocol):
    """One feature of an `MgpServer`. The server calls its managers in order, for every kernel.

    A client that speaks only MCP does not come here.
    """

    def join(self, peer: KernelPeer) -> None:
        """Prepare for a kernel, before the first message after the handshake is handled."""
        ...

    def left(self, peer: KernelPeer) -> None:
        """Forget a kernel whose session is over."""
        ...
