"""An ASGI server as a WebSocket below it sees one: no socket, the messages alone."""

from __future__ import annotations

__all__ = ("HELLO", "AsgiServer", "below")

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import anyio

from kinwire import Server
from kinwire.mcp.http.app import HttpApp
from kinwire.support.background import background

HELLO: dict[str, Any] = {
    "protocolVersion": "2024-11-05",
    "capabilities": {},
    "clientInfo": {"name": "raw", "version": "1"},
}


class AsgiServer:
    """What a client would see of an ASGI server."""

    def __init__(self, *, slow: bool = False, fails: type[Exception] | None = None) -> None:
        self._fails = fails
        self._in, self.receive_in = anyio.create_memory_object_stream[dict[str, Any]](10)
        most = 0 if slow else 100
        self.send_out, self._out = anyio.create_memory_object_stream[dict[str, Any]](most)

    async def arrive(self, kind: str, **members: Any) -> None:
        await self._in.send({"type": f"websocket.{kind}", **members})

    async def take(self, message: dict[str, Any]) -> None:
        """Be the `send` of an application."""
        await self.send_out.send(message)
        if self._fails is not None and message["type"] == "websocket.send":
            raise self._fails

    async def event(self) -> dict[str, Any]:
        return await self._out.receive()

    async def ask(self, id: int, method: str = "ping", **params: Any) -> Any:
        request = {"jsonrpc": "2.0", "id": id, "method": method, "params": params}
        await self.arrive("receive", text=json.dumps(request))
        return json.loads((await self.event())["text"])

    def sent(self) -> int:
        return self._out.statistics().current_buffer_used

    def close(self) -> None:
        for end in (self._in, self.receive_in, self.send_out, self._out):
            end.close()


@asynccontextmanager
async def below(
    served: Server | HttpApp,
    *,
    headers: dict[str, str] | None = None,
    slow: bool = False,
    fails: type[Exception] | None = None,
    **scope: Any,
) -> AsyncGenerator[AsgiServer]:
    fields = {"host": "127.0.0.1:8000", **(headers or {})}
    whole = {
        "type": "websocket",
        "scheme": "ws",
        "path": "/mcp",
        "server": ("127.0.0.1", 8000),
        "headers": [(name.encode(), value.encode()) for name, value in fields.items()],
        "subprotocols": ["mcp"],
        **scope,
    }
    asgi = AsgiServer(slow=slow, fails=fails)
    with anyio.fail_after(10):
        async with background() as tasks:
            app: Any = served.asgi() if isinstance(served, Server) else served
            tasks.start_soon(app, whole, asgi.receive_in.receive, asgi.take)
            await asgi.arrive("connect")
            try:
                yield asgi
            finally:
                tasks.cancel_scope.cancel()
                asgi.close()
