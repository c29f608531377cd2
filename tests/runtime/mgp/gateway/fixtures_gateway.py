"""A gateway between raw clients and raw servers: both ends are JSON that is written by hand."""

from __future__ import annotations

__all__ = ("RawClient", "asking", "full_server", "gateway_of", "last_id")

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest

from kinwire import Host
from kinwire.mgp import Gateway, MgpKernel
from kinwire.mgp.gateway import list_news
from kinwire.mgp.kernel import tool_index
from tests.runtime.mgp.raw_peers import NOTHING, Json, RawKernel, RawServer, tool


class RawClient(RawKernel):
    """A plain client. A function in `answers`, by method, gets the params of a question."""

    def __init__(self, **answers: Any) -> None:
        super().__init__()
        self.answers = {name.replace("_", "/"): answer for name, answer in answers.items()}

    def _answer(self, method: str, params: Json) -> Json:
        answer = self.answers.get(method, {"code": -32601, "message": "Method not found"})
        made: Json = answer(params) if callable(answer) else answer
        return made


@asynccontextmanager
async def gateway_of(
    servers: dict[str, RawServer],
    *clients: RawClient,
    kernel: MgpKernel | None = None,
    host: dict[str, Any] | None = None,
    pause: float = 0.0,
    **options: Any,
) -> AsyncGenerator[Gateway]:
    """Yield a gateway to whose servers clients are connected, with all they can do declared.

    `pause` is in seconds, between two notifications about one list.
    """
    used = kernel or MgpKernel()
    monkey = pytest.MonkeyPatch()
    monkey.setattr(tool_index, "_PAUSE", 0.0)  # between two readings of one list
    monkey.setattr(list_news, "_PAUSE", pause)
    made = Host("h", "1", extensions=[used], **(host or {}))
    gateway = Gateway(used, made, **{"level": "L0", **options})
    with anyio.fail_after(20):
        async with made, anyio.create_task_group() as tasks:
            for id, raw in servers.items():
                await made.connect(raw, server_id=id)
            for client in clients:
                tasks.start_soon(gateway.server.serve, client)
                await client.greet(None, sampling={}, roots={})
            try:
                yield gateway
            finally:
                monkey.undo()
            tasks.cancel_scope.cancel()


def full_server(*names: str, **answers: Any) -> RawServer:
    """Return a server with everything that MCP has; `names` are those of its tools."""
    prompts = {"prompts": [{"name": "p", "arguments": [{"name": "a"}]}]}
    templates = {"resourceTemplates": [{"uriTemplate": "note:{id}", "name": "T"}]}
    usual: dict[str, Any] = {
        "prompts/list": prompts,
        "prompts/get": lambda params: {"messages": [], "heard": params},
        "resources/list": {"resources": [{"uri": "note:1", "name": "R"}]},
        "resources/templates/list": templates,
        "resources/read": lambda params: {"contents": [{"uri": params["uri"], "text": "x"}]},
        "resources/subscribe": {},
        "resources/unsubscribe": {},
        "completion/complete": lambda params: {"completion": {"values": [str(params["ref"])]}},
        "logging/setLevel": {},
    }
    raw = RawServer(
        *map(tool, names or ("t",)),
        capabilities={
            "prompts": {"listChanged": True},
            "resources": {"subscribe": True, "listChanged": True},
            "logging": {},
        },
    )
    raw.answers |= usual | {name.replace("_", "/"): answer for name, answer in answers.items()}
    return raw


def asking(*names: str) -> RawServer:
    """Return a server that leaves calls of its tools unanswered: the test answers them."""
    return full_server(*names, tools_call=NOTHING)


def last_id(raw: RawServer, method: str = "tools/call") -> Any:
    """Return the id of the last request of a method that came."""
    return [one["id"] for one in raw.heard if one.get("method") == method][-1]
