"""A server of this process as something to connect to: `connect(server)`."""

from __future__ import annotations

__all__ = ("InProcessServer", "is_server")

from typing import TYPE_CHECKING, TypeGuard

import anyio

from kinwire.rpc.transport import SessionCallbacks
from kinwire.support.background import background
from kinwire.transports.memory import memory_pair

if TYPE_CHECKING:
    from kinwire.mcp.server import Server


def is_server(value: object) -> TypeGuard[Server]:
    """Return whether `value` is a `Server`; the module of `Server` is not loaded for this."""
    return any(
        kind.__module__ == "kinwire.mcp.server" and kind.__name__ == "Server"
        for kind in type(value).__mro__
    )


class InProcessServer:
    """The transport to a server, which serves it in memory for as long as it runs.

    The session at the server ends as with every other transport: its handlers get `Limits.drain`.
    """

    peer_may_emit_noise = False

    def __init__(self, server: Server) -> None:
        self.address: str | None = f"server:{server.info.name}"
        self._server = server
        self._near, self._far = memory_pair()
        self._served = anyio.Event()
        self.wake = self._near.wake
        self.resume = self._near.resume

    async def run(self, callbacks: SessionCallbacks, /) -> None:
        """See `Transport.run`."""
        async with background() as tasks:
            tasks.start_soon(self._serve)
            try:
                await self._near.run(callbacks)
            finally:
                with anyio.CancelScope(shield=True):
                    await self._near.aclose()
                    await self._served.wait()

    async def aclose(self) -> None:
        """See `Transport.aclose`: `run` has done it."""

    async def _serve(self) -> None:
        try:
            await self._server.serve(self._far)
        finally:
            self._served.set()
