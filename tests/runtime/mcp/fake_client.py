"""A client that says just what a test has it say, and hears everything."""

from __future__ import annotations

__all__ = ("RawClient", "raw_client")

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

from kinwire.mcp.profile import PROFILE
from kinwire.mcp.server import Server
from kinwire.rpc.routes import Route
from kinwire.rpc.session import Session
from kinwire.support.background import background
from kinwire.transports.memory import memory_pair


class RawClient:
    """One end of a session with a server."""

    def __init__(self, session: Session, heard: list[dict[str, Any]]) -> None:
        self.session = session
        self.heard = heard
        """What the server has sent so far, replies too."""

    async def greet(self, capabilities: dict[str, Any] | None = None, *, done: bool = True) -> Any:
        """Shake hands and return the answer; unless `done`, leave out `initialized`."""
        answer = await self.session.raw(
            "initialize",
            {
                "protocolVersion": "2024-11-05",
                "capabilities": capabilities or {},
                "clientInfo": {"name": "test", "version": "0"},
            },
        )
        if done:
            await self.session.raw_notify("notifications/initialized")
            await self.session.raw("ping")
        return answer

    def received(self, method: str) -> list[dict[str, Any]]:
        """Return the params of the notifications and requests of that name."""
        return [one.get("params", {}) for one in self.heard if one.get("method") == method]


@asynccontextmanager
async def raw_client(
    server: Server, routes: dict[str, Route] | None = None
) -> AsyncGenerator[RawClient]:
    """Yield a client of `server` that has said nothing yet."""
    heard: list[dict[str, Any]] = []

    def record(end: int, frame: bytes) -> None:
        if end == 1:
            heard.append(json.loads(frame))

    client_end, server_end = memory_pair(record)
    async with (
        background() as tasks,
        Session(client_end, profile=PROFILE, routes=routes or {}) as session,
    ):
        tasks.start_soon(server.serve, server_end)
        yield RawClient(session, heard)
