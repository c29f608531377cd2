"""The tools of an MCP server behind MCP-lite, when their list changes."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import anyio
import pytest

from kinwire.mcplite import LiteCaller
from kinwire_cli.lite.upstream import UpstreamTools
from kinwire_protocols import mcp

pytestmark = pytest.mark.anyio

ANYONE = LiteCaller(None)


class Upstream:
    """A connection to a server whose list changes while it is read for the first time."""

    capabilities = SimpleNamespace(tools=True)

    def __init__(self) -> None:
        self.names = ["old"]
        self.changed, self.noticed = anyio.Event(), anyio.Event()
        self.lists = 0

    async def tools(self) -> AsyncGenerator[mcp.Tool]:
        self.lists += 1
        for name in list(self.names):
            yield mcp.Tool(name=name, input_schema=mcp.ToolInputSchema())
        if self.lists == 1:
            self.names.append("new")
            self.changed.set()
            await self.noticed.wait()

    @contextmanager
    def changes(self) -> Iterator[AsyncIterator[str]]:
        async def names() -> AsyncIterator[str]:
            await self.changed.wait()
            yield "tools"
            self.noticed.set()

        yield names()


async def test_a_list_that_changes_while_it_is_read_is_read_again_and_then_kept() -> None:
    server: Any = Upstream()
    source = UpstreamTools(server, None)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(source.follow)
        listed = [await source.list_tools(ANYONE) for _ in range(3)]
    assert [[tool["name"] for tool in tools] for tools in listed] == [
        ["old"],
        ["old", "new"],
        ["old", "new"],
    ]
    assert server.lists == 2
