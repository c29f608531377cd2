"""Our host uses the servers that the protocol's own project publishes; each has things of its own.

A result is what came of it, by method, as far as more is to be said than that it went well.
"""

from __future__ import annotations

__all__ = ("use_everything", "use_filesystem", "use_memory")

import json
from pathlib import Path
from typing import Any

import anyio

from kinwire_protocols import mcp
from tests.interop.clients.flow import ROOT
from tests.interop.host import TIMEOUT, Session, new_host
from tests.interop.recording import Recorded

ALSO = "file:///home/ada/letters"
TEXT = "grüße, 世界 \U0001f600\u2028"
DYNAMIC = "demo://resource/dynamic/text/1"
GRAPH = "memory://knowledge-graph"


async def use_everything(server: Recorded | str) -> dict[str, Any]:
    """Go through `server-everything`."""
    host = new_host()
    session = Session(host)
    with anyio.fail_after(TIMEOUT):
        async with host:
            await session.open(server)
            await session.set_level("debug")
            return {
                "initialize": await session.server(),
                **await _lists(session),
                **await _tools(session),
                **await _news(session),
                **await _roots(session),
            }


async def _lists(session: Session) -> dict[str, Any]:
    wanted = {"echo", "get-sum", "get-tiny-image", "trigger-sampling-request"}
    # Some come when it knows the client. Over HTTP it may say so before there is a stream for it.
    while not wanted.issubset(await session.tools()):
        pass  # the caller limits the time
    return {
        "tools/list": sorted(wanted.intersection(await session.tools())),
        "resources/list": [uri for uri in await session.resources() if "architecture" in uri],
        "resources/templates/list": await session.templates(),
        "resources/read": (await session.read(DYNAMIC)).partition(":")[0],
        "prompts/list": sorted(await session.prompts()),
        "prompts/get": await session.prompt("args-prompt", "city", "Ulm"),
        "completion/complete": await session.complete("completable-prompt", "department", "S"),
    }


async def _tools(session: Session) -> dict[str, Any]:
    long = "trigger-long-running-operation"
    await session.ping()
    echoed = await session.call("echo", {"message": TEXT})
    written = await session.call("trigger-sampling-request", {"prompt": "?", "maxTokens": 5})
    await session.call(long, {"duration": 0.3, "steps": 3})
    await session.give_up(long, {"duration": 60, "steps": 600})
    image = await session.connection.mcp.tools_call(name="get-tiny-image", arguments={})
    return {
        "tools/call": [echoed, any(isinstance(one, mcp.ImageContent) for one in image.content)],
        "sampling/createMessage": json.loads(written.partition("\n")[2])["model"],
        "notifications/progress": session.progress,
    }


async def _news(session: Session) -> dict[str, Any]:
    async with session.connection.subscription(DYNAMIC) as updates:
        await session.call("toggle-subscriber-updates", {})
        updated = await anext(updates)
        await session.call("toggle-subscriber-updates", {})
    zipped = {"name": "hi.gz", "data": "data:text/plain,hi", "outputType": "resource"}
    await session.connection.mcp.tools_call(name="gzip-file-as-resource", arguments=zipped)
    await _until(session, "notifications/resources/list_changed")
    return {"notifications/resources/updated": updated}


async def _roots(session: Session) -> dict[str, Any]:
    listed = await session.call("get-roots-list", {})
    await session.host.set_roots([ROOT, ALSO])
    wanted = "Roots updated: 2 root(s) received from client"
    while all(data != wanted for _, data in session.logs):
        await session.ping()
    return {"roots/list": ROOT in listed, "notifications/message": wanted}


async def _until(session: Session, method: str) -> None:
    while method not in session.news:
        await session.ping()


async def use_filesystem(server: Recorded, folders: list[Path]) -> dict[str, Any]:
    """Go through `server-filesystem`, which was started with none of the two `folders`."""
    first, second = folders
    (first / "note.txt").write_text(TEXT, encoding="utf-8")
    host = new_host()
    session = Session(host)
    with anyio.fail_after(TIMEOUT):
        async with host:
            await host.set_roots([first])
            await session.open(server)
            await session.ping()
            tools = await session.tools()
            await _allowed(session, first)
            read = await session.call("read_text_file", {"path": str(first / "note.txt")})
            await host.set_roots([second])
            await _allowed(session, second)
            failed = await session.failure("read_text_file", {"path": str(first / "note.txt")})
            return {
                "initialize": await session.server(),
                "tools/list": len(tools),
                "tools/call": [read, failed],
            }


async def _allowed(session: Session, folder: Path) -> None:
    while str(folder) not in await session.call("list_allowed_directories", {}):
        pass  # the caller limits the time


async def use_memory(server: Recorded) -> dict[str, Any]:
    """Go through `server-memory`."""
    entity = {"name": "Ada", "entityType": "person", "observations": [TEXT]}
    host = new_host()
    session = Session(host)
    with anyio.fail_after(TIMEOUT):
        async with host:
            await session.open(server)
            await session.ping()
            tools = await session.tools()
            async with session.connection.subscription(GRAPH) as updates:
                await session.call("create_entities", {"entities": [entity]})
                updated = await anext(updates)
            return {
                "initialize": await session.server(),
                "tools/list": len(tools),
                "tools/call": json.loads(await session.call("read_graph", {}))["entities"],
                "resources/list": await session.resources(),
                "resources/templates/list": await session.templates(),
                "resources/read": json.loads(await session.read(GRAPH))["entities"],
                "notifications/resources/updated": updated,
            }
