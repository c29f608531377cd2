"""A client of MCPE in raw JSON, written from the specification alone."""

from __future__ import annotations

__all__ = ("OFFER", "SUBSCRIPTION", "Json", "RawClient", "said", "subscription")

import json
from typing import Any

import anyio.lowlevel

from tests.runtime.raw_end import Json, RawEnd

_TURNS = 60
OFFER: Json = {"experimental": {"mcpe": {"protocolVersion": "2025-01-01", "protocolName": "mcpe"}}}
"""What a client of MCPE offers in `capabilities`."""

SUBSCRIPTION: Json = {
    "filter": {"eventTypes": ["github.*"]},
    "delivery": {"channels": ["realtime"]},
}
"""Arguments of `events_subscribe`."""


def subscription(*types: str, **more: Any) -> Json:
    """Return arguments of `events_subscribe` for types, in real time."""
    return {**SUBSCRIPTION, "filter": {"eventTypes": list(types)}, **more}


def said(result: Json) -> Json:
    """Return what a result of `tools/call` says; its text says the same."""
    structured: Json = result["structuredContent"]
    assert json.loads(result["content"][0]["text"]) == structured
    return structured


class RawClient(RawEnd):
    """A client, as a transport: `tasks.start_soon(server.serve, raw)`."""

    def __init__(self, address: str | None = None) -> None:
        super().__init__()
        self.address = address
        self.meta: Json = {}
        """What it writes into `_meta` of its calls."""
        self._asked = 0

    def reply_to(self, message: Json) -> Json | None:
        return {"error": {"code": -32601, "message": "Method not found"}}

    async def settle(self) -> None:
        """Wait until nothing in memory is under way: without sleeps, as the other way has."""
        for _ in range(_TURNS):
            await anyio.lowlevel.checkpoint()

    async def greet(self, capabilities: Json = OFFER) -> Json:
        """Shake hands, and return the capabilities of the server."""
        reply = await self.ask(
            "hello",
            "initialize",
            {
                "protocolVersion": "2024-11-05",
                "capabilities": capabilities,
                "clientInfo": {"name": "elsewhere", "version": "0"},
            },
        )
        self.say(method="notifications/initialized")
        found: Json = reply["result"]["capabilities"]
        return found

    async def call(self, tool: str, **arguments: Any) -> Json:
        """Call a tool, and return its result or the error of the response."""
        self._asked += 1
        params: Json = {"name": tool, "arguments": arguments}
        if self.meta:
            params["_meta"] = self.meta
        reply = await self.ask(f"call-{self._asked}", "tools/call", params)
        found: Json = reply.get("result") or reply["error"]
        return found

    async def subscribe(self, *types: str, **more: Any) -> Json:
        """Subscribe in real time, and return the subscription."""
        return said(await self.call("events_subscribe", **subscription(*types, **more)))

    async def refused(self, tool: str, **arguments: Any) -> tuple[int, Json]:
        """Call a tool that fails, and return the code and the data of the error."""
        result = await self.call(tool, **arguments)
        assert result["isError"] is True
        error = said(result)["error"]
        return error["code"], error.get("data", {})

    def events(self) -> list[str]:
        """Return the types of the events that came, in order."""
        return [one["event"]["type"] for one in self.of("events/event")]
