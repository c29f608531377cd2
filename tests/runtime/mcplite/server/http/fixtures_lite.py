"""A service behind the HTTP binding whose calls the test decides on, and a raw client of it."""

from __future__ import annotations

__all__ = ("DONE", "Service", "app_of", "call_of", "caller_at")

from typing import Any

import anyio

from kinwire.mcplite.rules.calls import ToolCall
from kinwire.mcplite.server.http.app import LiteHttpApp
from kinwire.mcplite.server.http.paths import LitePaths
from kinwire.mcplite.server.source import LiteCaller, Put
from kinwire.rpc.codec import EncodedObject
from kinwire.transports.http.guard import Authenticate, Guard
from kinwire.transports.http.limits import HttpLimits
from kinwire.transports.http.security import AccessRules
from kinwire_protocols.mcplite.errors import ToolNotFoundError
from tests.runtime.mcp.http.fake_asgi_client import Client

Json = dict[str, Any]

DONE: Json = {"content": [{"n": 1}], "_meta": {"response_type": "answer"}}
TOOL: Json = {"name": "echo", "description": "Echo.", "inputSchema": {"type": "object"}}


class Service:
    """What `LiteServer` is for a binding. A tool's name says what becomes of its call."""

    def __init__(self) -> None:
        self.seen: list[tuple[ToolCall, LiteCaller]] = []
        self.waits = anyio.Event()
        """Is set when a call waits."""
        self.go_on = anyio.Event()
        """A call that waits goes on when the test sets this."""
        self.cancelled = anyio.Event()
        self.made = 0
        """How many parts were made."""
        self.closed = False

    async def list_tools(self, caller: LiteCaller) -> EncodedObject:
        return EncodedObject({"tools": [TOOL]})

    async def call(self, call: ToolCall, caller: LiteCaller) -> Json:
        self.seen.append((call, caller))
        if call.name == "wait":
            await self._wait()
        elif call.name == "bug":
            raise RuntimeError("the password is hunter2")
        elif call.name == "nan":
            return {"content": [{"n": float("nan")}], "_meta": {}}
        elif call.name == "nothing":
            raise ToolNotFoundError(data={"requested_tool": "nothing"})
        return DONE

    async def stream(self, call: ToolCall, caller: LiteCaller, send: Put) -> Json:
        for number in range(call.arguments.get("parts", 0)):
            self.made += 1
            await send({"partial": f"{number}\n"})
        return await self.call(call, caller)

    async def close(self) -> None:
        self.closed = True

    async def _wait(self) -> None:
        self.waits.set()
        try:
            await self.go_on.wait()
        except anyio.get_cancelled_exc_class():
            self.cancelled.set()
            raise


def app_of(
    service: Any,
    *,
    base: str = "/mcp-lite/v1/",
    health: str | None = None,
    limits: HttpLimits | None = None,
    authenticate: Authenticate | None = None,
    frame_size: int = 4 * 2**20,
) -> LiteHttpApp:
    """Return the application that serves `service`."""
    limits = limits or HttpLimits()
    guard = Guard(
        AccessRules(),
        limits,
        insecure=False,
        authenticate=authenticate,
        resource_metadata=None,
    )
    paths = LitePaths(base, health)
    return LiteHttpApp(service, frame_size=frame_size, limits=limits, guard=guard, paths=paths)


def caller_at(app: Any, path: str = "/mcp-lite/v1/calltools", **headers: str | None) -> Client:
    """Return a raw client that sends to one path."""
    client = Client(app, **{"accept": "application/json", **headers})
    client.path = path
    return client


def call_of(name: str, id: object = 1, **arguments: Any) -> Json:
    """Return the request of A.2 for a tool."""
    params = {"name": name, "arguments": arguments}
    return {"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}
