"""A server with scoped sets, rules for them, and a person who is asked."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

from kinwire import Server
from kinwire.mcpl import (
    McplHost,
    McplServer,
    ScopeAnswer,
    ScopeRequest,
    Scopes,
)
from kinwire_protocols.base import JsonObject
from kinwire_protocols.mcpl import ScopeRules
from tests.runtime.mcpl.fixtures_pairs import Lives, feature, live_pair

SETS = {
    "files.edit": feature("tools", scoped=True),
    "discord.post": feature("tools", scoped=True),
    "plain": feature("tools"),
}
LISTS = {
    "files.edit": ScopeRules(
        whitelist=["/project/**", "/tmp/**"], blacklist=["**/.env", "**/secrets/**"]
    ),
    "discord.post": ScopeRules(whitelist=["#general", "#dev-*"], blacklist=["#admin-*"]),
}


class Person:
    """Answers what it is set to and remembers what it was asked."""

    def __init__(self, answer: ScopeAnswer | bool = True) -> None:
        self.answer = answer
        self.asked: list[ScopeRequest] = []

    async def __call__(self, request: ScopeRequest) -> ScopeAnswer | bool:
        self.asked.append(request)
        return self.answer


def scope_of(tool: str, arguments: JsonObject) -> tuple[str, str, JsonObject | None] | None:
    if tool == "edit_file":
        return "files.edit", arguments["path"], {"path": arguments["path"]}
    return None


class Files:
    """A server that edits files, and says what it was called with."""

    def __init__(self, **options: Any) -> None:
        self.mcpl = McplServer(
            feature_sets=SETS,
            tools={"edit_file": "files.edit", "format_disk": "files.edit", "look": "plain"},
            **options,
        )
        self.server = Server("files", "1", extensions=[self.mcpl])
        self.edited: list[str] = []
        self.server.tool(self.edit_file)
        self.server.tool(self.format_disk)
        self.server.tool(self.look)

    async def edit_file(self, path: str) -> str:
        """Edit a file."""
        self.edited.append(path)
        return "edited"

    async def format_disk(self, disk: str) -> str:
        """Format a disk."""
        self.edited.append(disk)
        return "formatted"

    async def look(self) -> str:
        """Look around."""
        return "seen"

    async def elevate(self, label: str, payload: Any = None, name: str = "files.edit") -> Any:
        (live,) = self.mcpl.hosts
        return await live.elevate(name, label, payload)


@asynccontextmanager
async def files(scopes: Scopes, **host: Any) -> AsyncGenerator[tuple[Files, Lives]]:
    server = Files()
    mcpl_host = McplHost(enabled=["*"], scopes=scopes, **host)
    async with live_pair(server.mcpl, mcpl_host, server.server) as lives:
        await lives.connection.mcp.ping()
        yield server, lives
