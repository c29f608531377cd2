"""An ASGI application under uvicorn with httptools and uvloop, the fastest that uvicorn has.

It also runs where kinwire is not.
"""

from __future__ import annotations

__all__ = ("listen",)

import socket
from typing import Any

import uvicorn


def listen(app: Any, *, websocket: bool = False) -> None:
    """Serve until this process is asked to end; the port is the first line on stdout."""
    config = uvicorn.Config(
        app,
        loop="uvloop",
        http="httptools",
        ws="websockets-sansio" if websocket else "none",
        ws_per_message_deflate=False,
        ws_ping_interval=None,  # who drives this with bytes answers no pings
        log_level="error",
        access_log=False,
    )
    with socket.create_server(("127.0.0.1", 0), backlog=2048) as listener:
        print(listener.getsockname()[1], flush=True)
        uvicorn.Server(config).run([listener])
