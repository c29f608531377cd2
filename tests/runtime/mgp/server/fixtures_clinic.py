"""A server whose calls wait until they may go on, and a raw kernel of it."""

from __future__ import annotations

__all__ = ("OFFER", "Clinic")

import threading
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import anyio

from kinwire import Server
from kinwire.mgp import Lifecycle, MgpServer
from kinwire.support.background import background
from kinwire_protocols.mgp import ToolSecurity
from tests.runtime.mgp.raw_peers import Json, RawKernel

OFFER: Json = {"version": "0.2.0", "extensions": ["security", "audit", "streaming", "lifecycle"]}
CAMERA = ToolSecurity(risk_level="safe", permissions_required=["camera"])


class Clinic:
    """The server, and its kernel."""

    def __init__(self, lifecycle: Lifecycle | None = None, **options: Any) -> None:
        self.guarded = MgpServer(server_id="mind.cerebras", lifecycle=lifecycle)
        self.server = Server("clinic", "1", extensions=[self.guarded], **options)
        self.raw = RawKernel()
        self.go_on = anyio.Event()
        self.released = threading.Event()
        self.over = anyio.Event()
        """Set when the session has ended."""
        self.server.tool(self.wait)
        self.server.tool(self.block)
        self.guarded.tool(security=CAMERA)(photograph)
        self.server.tool(photograph)

    async def wait(self) -> str:
        await self.go_on.wait()
        return "done"

    def block(self) -> str:
        self.released.wait(20)
        return "done"

    async def _serve(self) -> None:
        await self.server.serve(self.raw)
        self.over.set()

    def call(self, name: str, *ids: object) -> None:
        for identifier in ids:
            self.raw.say(id=identifier, method="tools/call", params={"name": name})

    async def result(self, method: str, id: object = "asked", **params: Any) -> Json:
        with anyio.fail_after(5):
            reply = await self.raw.ask(id, method, params)
        found: Json = reply["result"] if "result" in reply else reply["error"]
        return found

    @asynccontextmanager
    async def open(self, offer: Json | None = OFFER) -> AsyncGenerator[Json]:
        async with background() as tasks:
            tasks.start_soon(self._serve)
            yield await self.raw.greet(offer)
            self.released.set()
            tasks.cancel_scope.cancel()


def photograph() -> str:
    return "a cat"
