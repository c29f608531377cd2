"""A client on PyPI's `mcp` 2.x: goes through `flow.py`, prints what came of it as JSON.

usage: mcp2_client.py MODE SERVER [UNKNOWN]; the last two are the server of the tests and the one
that sends unknown members, a command as a JSON list or a URL each.
"""

from __future__ import annotations

import json
import sys
import warnings
from typing import Any

import anyio
import mcp_types as types
from flow import MODEL, ROOT, SAID, kept, use
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.sse import sse_client

TIMEOUT = 30.0  # seconds

warnings.simplefilter("ignore")  # it calls what 2026-07-28 has no more deprecated


class Session:
    subscribes = True

    def __init__(self) -> None:
        self.news: list[str] = []
        self.progress: list[list[float | None]] = []
        self.logs: list[list[Any]] = []

    def open(self, server: str, mode: Any) -> Client:
        self.client = Client(
            target(server),
            mode=mode,
            read_timeout_seconds=TIMEOUT,
            sampling_callback=self.on_sampling,
            list_roots_callback=self.on_roots,
            logging_callback=self.on_log,
            message_handler=self.on_message,
        )
        return self.client

    async def on_sampling(self, context: Any, params: Any) -> types.CreateMessageResult:
        content = types.TextContent(type="text", text=SAID)
        return types.CreateMessageResult(role="assistant", content=content, model=MODEL)

    async def on_roots(self, context: Any) -> types.ListRootsResult:
        return types.ListRootsResult(roots=[types.Root(uri=ROOT)])

    async def on_log(self, params: Any) -> None:
        self.logs.append([params.level, params.data])

    async def on_message(self, message: Any) -> None:
        method = getattr(message, "method", "")
        if method.endswith(("list_changed", "updated")):
            self.news.append(method)

    async def on_progress(self, done: float, total: float | None, message: str | None) -> None:
        self.progress.append([done, total])

    async def server(self) -> dict[str, str]:
        return {"server": self.client.server_info.name, "version": self.client.protocol_version}

    async def tools(self) -> list[str]:
        names: list[str] = []
        cursor = None
        while True:
            page = await self.client.list_tools(cursor=cursor)
            names += [tool.name for tool in page.tools]
            cursor = page.next_cursor
            if cursor is None:
                return names

    async def resources(self) -> list[str]:
        return [str(one.uri) for one in (await self.client.list_resources()).resources]

    async def templates(self) -> list[str]:
        found = (await self.client.list_resource_templates()).resource_templates
        return [one.uri_template for one in found]

    async def prompts(self) -> list[str]:
        return [one.name for one in (await self.client.list_prompts()).prompts]

    async def read(self, uri: str) -> str:
        return (await self.client.read_resource(uri)).contents[0].text

    async def prompt(self, name: str, argument: str, value: str) -> str:
        return (await self.client.get_prompt(name, {argument: value})).messages[0].content.text

    async def complete(self, prompt: str, argument: str, value: str) -> list[str]:
        ref = types.PromptReference(type="ref/prompt", name=prompt)
        done = await self.client.complete(ref, {"name": argument, "value": value})
        return done.completion.values

    async def call(self, tool: str, arguments: dict[str, Any]) -> str:
        result = await self.client.call_tool(tool, arguments, progress_callback=self.on_progress)
        return result.content[0].text if result.content else ""

    async def failure(self, tool: str, arguments: dict[str, Any]) -> int | str | None:
        try:
            result = await self.client.call_tool(tool, arguments)
        except MCPError as error:
            return error.code
        return "isError" if result.is_error else None

    async def give_up(self, tool: str) -> None:
        with anyio.CancelScope() as scope:

            async def stop(*report: Any) -> None:
                scope.cancel()

            await self.client.call_tool(tool, {}, progress_callback=stop)

    async def ping(self) -> None:
        await self.client.send_ping()

    async def set_level(self, level: Any) -> None:
        await self.client.set_logging_level(level)

    async def subscribe(self, uri: str) -> None:
        await self.client.subscribe_resource(uri)

    async def unsubscribe(self, uri: str) -> None:
        await self.client.unsubscribe_resource(uri)

    async def roots_changed(self) -> None:
        await self.client.send_roots_list_changed()


async def unknown_members(server: str, mode: Any) -> dict[str, bool]:
    async with Client(target(server), mode=mode, read_timeout_seconds=TIMEOUT) as client:
        tool = (await client.list_tools()).tools[0]
        return kept(plain(client.server_capabilities), plain(tool))


def plain(model: Any) -> Any:
    return model.model_dump(by_alias=True, mode="json", exclude_none=True)


def target(server: str) -> Any:
    if not server.startswith("["):
        return sse_client(server) if server.endswith("/sse") else server
    program, *arguments = json.loads(server)
    return StdioServerParameters(command=program, args=arguments)


async def main(mode: str, server: str, unknown: str = "") -> None:
    session = Session()
    with anyio.fail_after(2 * TIMEOUT):
        async with session.open(server, mode):
            found = await use(session)
        if unknown:
            found["unknown members"] = await unknown_members(unknown, mode)
    print(json.dumps(found))


if __name__ == "__main__":
    anyio.run(main, *sys.argv[1:])
