"""A server on PyPI's `mcp`, 1.x or 2.x, over Streamable HTTP at /mcp and over HTTP+SSE at /sse."""

from __future__ import annotations

__all__ = ("listen",)

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import uvicorn
from mcp.server.sse import SseServerTransport
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount, Route


def listen(server: Any, options: Any) -> None:
    """Serve on a free port of this machine, which uvicorn names on stderr."""
    server.create_initialization_options = lambda *_: options
    manager = StreamableHTTPSessionManager(server)
    messages = SseServerTransport("/messages/")

    async def sse(request: Request) -> Response:
        streams = messages.connect_sse(request.scope, request.receive, request._send)
        async with streams as (read, write):
            await server.run(read, write, options)
        return Response()

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        async with manager.run():
            yield

    class Streamable:
        async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
            await manager.handle_request(scope, receive, send)

    routes = [
        Route("/mcp", Streamable()),
        Route("/sse", sse),
        Mount("/messages/", messages.handle_post_message),
    ]
    app = Starlette(routes=routes, lifespan=lifespan)
    uvicorn.run(app, host="127.0.0.1", port=0, timeout_graceful_shutdown=1)
