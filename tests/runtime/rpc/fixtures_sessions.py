"""Two sessions over memory, and what tests look at them with."""

from __future__ import annotations

__all__ = (
    "EVERY_DRIVER",
    "TOOL",
    "Gate",
    "Peers",
    "connected",
    "echo",
    "for_ever",
    "routes_of",
    "tool",
    "tool_text",
)

import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

import anyio
import pytest

from kinwire.mcp.profile import PROFILE
from kinwire.rpc.limits import Limits
from kinwire.rpc.request import Request
from kinwire.rpc.routes import Handler, Route
from kinwire.rpc.session import Session
from kinwire.transports.memory import memory_pair
from kinwire_protocols import mcp
from kinwire_protocols.mcp import methods
from kinwire_protocols.peer import Method

EVERY_DRIVER = [
    pytest.mark.anyio,
    pytest.mark.parametrize(
        "anyio_backend",
        [
            "asyncio",
            "trio",
            *(
                pytest.param(loop, marks=pytest.mark.slow)
                for loop in ("uvloop", "anyio on asyncio")
            ),
        ],
        indirect=True,
    ),
]
"""The marks of tests that run on every driver; the rarer loops are slow."""

TOOL = mcp.CallToolRequestParams(name="tool")


class Peers(NamedTuple):
    """Both ends, and the messages that each has sent."""

    client: Session
    server: Session
    frames: list[tuple[int, dict[str, Any]]]

    def sent_by(self, end: int) -> list[str]:
        """Return the methods (or "reply") that an end sent: 0 is the client."""
        return [message.get("method", "reply") for sender, message in self.frames if sender == end]


def tool(handler: Callable[[mcp.CallToolRequestParams, Request], Awaitable[Any]]) -> Any:
    """Return routes in which `handler` serves tools/call."""
    return routes_of((methods.TOOLS_CALL, handler))


def routes_of(*rows: tuple[Method[Any, Any], Handler]) -> dict[str, Route]:
    async def ping(params: Any, request: Any) -> dict[str, Any]:
        return {}

    return {row.name: Route(row, serve) for row, serve in ((methods.PING, ping), *rows)}


def tool_text(text: str) -> mcp.CallToolResult:
    return mcp.CallToolResult(content=[mcp.TextContent(text=text)])


@asynccontextmanager
async def connected(
    server: Mapping[str, Route],
    client: Mapping[str, Route] | None = None,
    *,
    limits: Limits = Limits(),
    patience: float = 20,
) -> AsyncGenerator[Peers]:
    """Yield two connected sessions; what is done with them may take `patience` seconds."""
    frames: list[tuple[int, dict[str, Any]]] = []
    client_end, server_end = memory_pair(lambda end, frame: frames.append((end, json.loads(frame))))
    with anyio.fail_after(patience):
        async with (
            Session(server_end, profile=PROFILE, routes=server, limits=limits) as serving,
            Session(
                client_end, profile=PROFILE, routes=client or routes_of(), limits=limits
            ) as calling,
        ):
            yield Peers(calling, serving, frames)


async def echo(params: mcp.CallToolRequestParams, request: Request) -> mcp.CallToolResult:
    return tool_text(str((params.arguments or {})["text"]))


async def for_ever(params: Any, request: Request) -> Any:
    await anyio.sleep_forever()


class Gate:
    """A handler that says when it has begun, waits to be let go, and says how it ended."""

    def __init__(self) -> None:
        self.begun, self.let_go, self.ended = anyio.Event(), anyio.Event(), anyio.Event()
        self.outcome = ""

    async def __call__(self, params: Any, request: Request) -> mcp.CallToolResult:
        self.begun.set()
        try:
            await self.let_go.wait()
            self.outcome = "finished"
        except BaseException as error:
            self.outcome = type(error).__name__
            raise
        finally:
            self.ended.set()
        return tool_text("done")
