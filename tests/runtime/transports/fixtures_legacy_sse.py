"""Servers of ours that speak HTTP+SSE alone at `/sse`, as those of 2024-11-05 did.

A client of ours asks for Streamable HTTP first, and a server of ours has both at its one path.

usage: python -m tests.runtime.transports.fixtures_legacy_sse FILE.py PORT
"""

from __future__ import annotations

__all__ = ("LegacySseApp",)

import runpy
import sys
from typing import Any

from kinwire import Server
from kinwire.mcp.http.app import HttpApp
from kinwire.transports.http.replies import HttpResponse, Receive, Scope, Send, send_response
from kinwire.transports.http.running import bound, run_on


class LegacySseApp:
    """An application that takes no POST at `/sse` but those of an open stream."""

    def __init__(self, app: HttpApp) -> None:
        self._app = app

    def __getattr__(self, name: str) -> Any:
        return getattr(self._app, name)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See `HttpApp`."""
        legacy = scope["path"] == "/sse" if "path" in scope else False
        post = legacy and scope["type"] == "http" and scope["method"] == "POST"
        if post and b"session_id=" not in scope["query_string"]:
            await send_response(send, HttpResponse(405))
        else:
            here = {**scope, "path": "/mcp"} if legacy else scope
            await self._app(here, receive, send)


def main(file: str, port: str) -> None:
    """Serve the server of a file until asked to end."""
    found = runpy.run_path(file).values()
    server = next(value for value in found if isinstance(value, Server))
    with bound("127.0.0.1", int(port)) as listener:
        line = f"serving at http://127.0.0.1:{listener.getsockname()[1]}/sse"
        app = LegacySseApp(server.asgi())
        run_on(app, listener, started=lambda: print(line, file=sys.stderr, flush=True))


if __name__ == "__main__":
    main(*sys.argv[1:])
