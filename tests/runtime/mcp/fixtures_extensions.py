"""Extensions of `fake_protocols.py` on one session in either role, and ways to observe it."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import anyio

from kinwire.mcp.context import Context
from kinwire.mcp.extension import Extension
from kinwire.mcp.host import Host
from kinwire.mcp.server import Server
from kinwire.testing import PairedConnection, pair
from kinwire_protocols import mcp
from kinwire_protocols.base import JsonObject
from tests.runtime.mcp.fake_protocols import (
    Marks,
)

INITIALIZE: JsonObject = {
    "protocolVersion": "2024-11-05",
    "capabilities": {},
    "clientInfo": {"name": "test", "version": "0"},
}


def server_with(*extensions: Extension) -> Server:
    """A server whose one tool has its client do what the client's extension serves."""
    server = Server("toys", "1", extensions=extensions)

    @server.tool
    async def echo(text: str) -> str:
        """Return the text."""
        return text

    @server.tool
    async def push(text: str, context: Context) -> str:
        """Push the text to the client and return its answer."""
        return (await Marks(context.session).marks_push(text=text)).text

    return server


@asynccontextmanager
async def paired(
    server: list[Extension], host: list[Extension]
) -> AsyncGenerator[PairedConnection]:
    """A connection on which nothing takes long."""
    with anyio.fail_after(20):
        async with pair(server_with(*server), Host("test", "1", extensions=host)) as connection:
            yield connection


def sent(connection: PairedConnection, sender: str) -> list[JsonObject]:
    return [json.loads(frame.data) for frame in connection.frames if frame.sender == sender]


def methods_sent(connection: PairedConnection, sender: str) -> list[str]:
    return [message.get("method", "reply") for message in sent(connection, sender)]


async def text_of(connection: PairedConnection, name: str, text: str) -> str:
    (block,) = (await connection.mcp.tools_call(name=name, arguments={"text": text})).content
    assert isinstance(block, mcp.TextContent)
    return block.text
