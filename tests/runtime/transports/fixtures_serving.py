"""Servers of ours behind real sockets, in this process: uvicorn on a thread and loop of its own.

So a test runs on asyncio and on trio alike, and what is measured of it is not the server's.
"""

from __future__ import annotations

__all__ = ("NETWORK", "URLS", "Served", "served")

import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Thread
from typing import Any, NamedTuple

import uvicorn

from kinwire import Server
from tests.runtime.transports.fixtures_legacy_sse import LegacySseApp

URLS = {
    "http": "http://127.0.0.1:{}/mcp",
    "sse": "http://127.0.0.1:{}/sse",
    "ws": "ws://127.0.0.1:{}/mcp",
}
"""Where a client connects to, by transport."""

NETWORK = tuple(URLS)

_PATIENCE = 10.0  # seconds until the thread has ended


class Served(NamedTuple):
    """An application that listens."""

    port: int
    app: Any

    def url(self, transport: str) -> str:
        """Return where clients connect to."""
        return URLS[transport].format(self.port)


@contextmanager
def served(
    server: Server, *, around: Callable[[Any], Any] = LegacySseApp, **options: Any
) -> Iterator[Served]:
    """Serve on a free port of this machine; `options` are those of `Server.asgi`.

    `around` makes the application that listens of that of the server.
    """
    app = server.asgi(**options)
    config = uvicorn.Config(
        around(app),
        log_config=None,
        access_log=False,
        timeout_graceful_shutdown=2,
        ws="websockets-sansio",
    )
    running = uvicorn.Server(config)
    with socket.create_server(("127.0.0.1", 0), backlog=2048) as listener:
        thread = Thread(target=running.run, args=([listener],))
        thread.start()
        try:
            yield Served(listener.getsockname()[1], app)
        finally:
            running.should_exit = True
            thread.join(_PATIENCE)
    assert not thread.is_alive(), "the server does not end"
