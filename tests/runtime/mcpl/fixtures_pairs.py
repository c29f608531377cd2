"""Both ends of MCPL for tests: two of ours, or one of ours and a scripted one."""

from __future__ import annotations

__all__ = ("MEMORY", "RawServer", "feature", "live_pair", "raw_server", "sent")

import json
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

import anyio

from kinwire.mcp.host import Host
from kinwire.mcp.profile import PROFILE
from kinwire.mcp.server import Server
from kinwire.mcpl import McplHost, McplServer, ServerPeer
from kinwire.rpc.routes import Handler, Route
from kinwire.rpc.session import Session
from kinwire.testing import PairedConnection, pair
from kinwire.transports.memory import MemoryTransport, memory_pair
from kinwire_protocols.base import JsonObject
from kinwire_protocols.mcp.methods import INITIALIZE, NOTIFICATIONS_INITIALIZED
from kinwire_protocols.mcpl import FeatureSet
from kinwire_protocols.peer import Method


def feature(*uses: str, scoped: bool | None = None, rollback: bool | None = None) -> FeatureSet:
    return FeatureSet(description="A set", uses=list(uses), scoped=scoped, rollback=rollback)


MEMORY = {
    "memory.retrieval": feature("contextHooks.beforeInference"),
    "memory.extraction": feature("contextHooks.afterInference"),
    "memory.consolidation": feature("inferenceRequest"),
    "memory.proactive": feature("pushEvents"),
}
"""The sets of the memory server of the specification (6.1)."""


class Lives(NamedTuple):
    connection: PairedConnection
    server: ServerPeer


@asynccontextmanager
async def live_pair(
    mcpl_server: McplServer, mcpl_host: McplHost, server: Server | None = None
) -> AsyncGenerator[Lives]:
    """Yield a connection on which both sides speak MCPL."""
    serving = server or Server("memory", "1", extensions=[mcpl_server])
    with anyio.fail_after(20):
        async with pair(serving, Host("h", "1", extensions=[mcpl_host])) as connection:
            live = mcpl_host.of(connection)
            assert live is not None
            yield Lives(connection, live)


def sent(connection: PairedConnection, sender: str, method: str) -> list[JsonObject]:
    """Return the params of the messages of that method that a side sent, oldest first."""
    received = [json.loads(frame.data) for frame in connection.frames if frame.sender == sender]
    return [one.get("params", {}) for one in received if one.get("method") == method]


class RawServer(NamedTuple):
    """A server that says just what a test has it say, and hears everything."""

    transport: MemoryTransport
    session: Session
    heard: list[JsonObject]

    def received(self, method: str) -> list[JsonObject]:
        """Return the params of what the host sent of that method."""
        return [one.get("params", {}) for one in self.heard if one.get("method") == method]


async def _nothing(params: Any, request: Any) -> JsonObject:
    return {}


@asynccontextmanager
async def raw_server(
    mcpl: Any, /, routes: Mapping[Method[Any, Any], Handler] | None = None, **capabilities: Any
) -> AsyncGenerator[RawServer]:
    """Yield a server that offers `mcpl`, whatever that is, and serves these methods."""
    heard: list[JsonObject] = []

    async def initialize(params: Any, request: Any) -> JsonObject:
        return {
            "protocolVersion": "2024-11-05",
            "capabilities": {"experimental": {"mcpl": mcpl}, **capabilities},
            "serverInfo": {"name": "raw", "version": "0"},
        }

    served: dict[Method[Any, Any], Handler] = {
        INITIALIZE: initialize,
        NOTIFICATIONS_INITIALIZED: _nothing,
        **(routes or {}),
    }
    host_end, server_end = memory_pair(
        lambda end, frame: heard.append(json.loads(frame)) if end == 0 else None
    )
    table = {row.name: Route(row, handler) for row, handler in served.items()}
    with anyio.fail_after(20):
        async with Session(server_end, profile=PROFILE, routes=table) as session:
            yield RawServer(host_end, session, heard)
