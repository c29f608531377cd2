"""Peers of MGP in raw JSON, written from the specification alone: none of our code is in them."""

from __future__ import annotations

__all__ = ("NOTHING", "Json", "RawKernel", "RawServer", "codes", "tool")

from collections.abc import Callable
from typing import Any

from tests.runtime.raw_end import Json, RawEnd

NOTHING: Json = {}
"""The answer of a peer that leaves a request unanswered."""


def tool(name: str, *parameters: str, **more: Any) -> Json:
    """Return a tool whose parameters are texts."""
    properties = {one: {"type": "string"} for one in parameters}
    schema = {"type": "object", "properties": properties, "required": list(parameters)}
    return {"name": name, "description": name, "inputSchema": schema, **more}


def codes(reply: Json) -> tuple[int, Json]:
    """Return the code of an error, and what it says about recovery."""
    error = reply["error"]
    return error["code"], (error.get("data") or {}).get("_mgp") or {}


class _MgpEnd(RawEnd):
    """An end that answers with a result, or with an error if that has a code."""

    def reply_to(self, message: Json) -> Json | None:
        answer = self._answer(message["method"], message.get("params", {}))
        if answer is NOTHING:
            return None
        return {"error" if "code" in answer else "result": answer}

    def _answer(self, method: str, params: Json) -> Json:
        raise NotImplementedError


class RawServer(_MgpEnd):
    """A server, as a transport: `await host.connect(raw)`.

    `mgp` is what it answers with in `capabilities.mgp`, whatever the client has offered; None for a
    plain server. A function in `answers` gets the params; what has a `code` is sent as an error.
    """

    def __init__(
        self,
        *tools: Json,
        mgp: Json | None = None,
        capabilities: Json | None = None,
        **answers: Json | Callable[[Json], Json],
    ) -> None:
        super().__init__()
        self.tools = list(tools)
        self.silent_ping = False
        """Whether it leaves `ping` unanswered."""
        self.capabilities: Json = {"tools": {"listChanged": True}, **(capabilities or {})}
        if mgp is not None:
            self.capabilities["mgp"] = mgp
        self.answers: dict[str, Any] = {
            "tools/call": lambda params: {"content": [{"type": "text", "text": params["name"]}]},
            **{name.replace("_", "/"): answer for name, answer in answers.items()},
        }

    @property
    def calls(self) -> list[Json]:
        """The params of the calls that came."""
        return self.of("tools/call")

    def _answer(self, method: str, params: Json) -> Json:
        if method == "initialize":
            return {
                "protocolVersion": "2024-11-05",
                "capabilities": self.capabilities,
                "serverInfo": {"name": "elsewhere", "version": "0"},
            }
        if method == "tools/list":
            return {"tools": self.tools}
        if method == "ping":
            return NOTHING if self.silent_ping else {}
        answer = self.answers.get(method, {"code": -32601, "message": "Method not found"})
        made: Json = answer(params) if callable(answer) else answer
        return made


class RawKernel(_MgpEnd):
    """A kernel, as a transport: `tasks.start_soon(server.serve, raw)`."""

    async def greet(self, mgp: Json | None, **capabilities: Any) -> Json:
        """Shake hands with this offer of MGP, and return what the server can do."""
        offer = {} if mgp is None else {"mgp": mgp}
        reply = await self.ask(
            "hello",
            "initialize",
            {
                "protocolVersion": "2024-11-05",
                "capabilities": {**offer, **capabilities},
                "clientInfo": {"name": "elsewhere", "version": "0"},
            },
        )
        self.say(method="notifications/initialized")
        found: Json = reply["result"]["capabilities"]
        return found

    def _answer(self, method: str, params: Json) -> Json:
        return {"code": -32601, "message": "Method not found"}
