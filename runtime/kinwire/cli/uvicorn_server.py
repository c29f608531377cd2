"""uvicorn, which by itself waits until clients close their streams: as a rule they never do."""

from __future__ import annotations

__all__ = ("SessionsFirst",)

import socket

import anyio
import uvicorn

from kinwire.transports.http.app import HttpApp


class SessionsFirst(uvicorn.Server):
    """Ends the sessions of an application first when it is to end, and accepts nobody then."""

    def __init__(self, config: uvicorn.Config, app: HttpApp) -> None:
        super().__init__(config)
        self._app = app

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Close the listeners, the sessions and then the connections."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(super().shutdown, sockets)
            await self._app.aclose()
