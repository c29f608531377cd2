"""A client on PyPI's `mcp` 1.x: goes through `flow.py`, prints what came of it as JSON.

usage: mcp1_client.py MODE SERVER [UNKNOWN]; MODE is "legacy", the last two are the server of the
tests and the one that sends unknown members, a command as a JSON list or a URL each.
"""

from __future__ import annotations

import json
import sys
from contextlib import AsyncExitStack
from datetime import timedelta
from typing import Any

import anyio
from flow import MODEL, ROOT, SAID, kept, use
from mcp import ClientSession, McpError, StdioServerParameters, types
from mcp.client.sse import sse_client
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client

TIMEOUT = 30.0  # seconds


class Session:
    subscribes = True

    def __init__(self) -> None:
        self.news: list[str] = []
        self.progress: list[list[float | None]] = []
        self.logs: list[list[Any]] = []
        self.ends = AsyncExitStack()

    async def open(self, server: str) -> None:
        read, write, *_ = await self.ends.enter_async_context(transport(server))
        self.client = await self.ends.enter_async_context(
            ClientSession(
                read,
                write,
                read_timeout_seconds=timedelta(seconds=TIMEOUT),
                sampling_callback=self.on_sampling,
                list_roots_callback=self.on_roots,
                logging_callback=self.on_log,
                message_handler=self.on_message,
            )
        )
        self.greeting = await self.client.initialize()

    async def on_sampling(self, context: Any, params: Any) -> types.CreateMessageResult:
        content = types.TextContent(type="text", text=SAID)
        return types.CreateMessageResult(role="assistant", content=content, model=MODEL)

    async def on_roots(self, context: Any) -> types.ListRootsResult:
        return types.ListRootsResult(roots=[types.Root(uri=types.FileUrl(ROOT))])

    async def on_log(self, params: Any) -> None:
        self.logs.append([params.level, params.data])

    async def on_message(self, message: Any) -> None:
        method = getattr(getattr(message, "root", None), "method", "")
        if method.endswith(("list_changed", "updated")):
            self.news.append(method)

    async def on_progress(self, done: float, total: float | None, message: str | None) -> None:
        self.progress.append([done, total])

    async def server(self) -> dict[str, str]:
        greeting = self.greeting
        return {"server": greeting.serverInfo.name, "version": str(greeting.protocolVersion)}

    async def tools(self) -> list[str]:
        names: list[str] = []
        cursor = None
        while True:
            page = await self.client.list_tools(params=types.PaginatedRequestParams(cursor=cursor))
            names += [tool.name for tool in page.tools]
            cursor = page.nextCursor
            if cursor is None:
                return names

    async def resources(self) -> list[str]:
        return [str(one.uri) for one in (await self.client.list_resources()).resources]

    async def templates(self) -> list[str]:
        found = (await self.client.list_resource_templates()).resourceTemplates
        return [one.uriTemplate for one in found]

    async def prompts(self) -> list[str]:
        return [one.name for one in (await self.client.list_prompts()).prompts]

    async def read(self, uri: str) -> str:
        return (await self.client.read_resource(types.AnyUrl(uri))).contents[0].text

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
        except McpError as error:
            return error.error.code
        return "isError" if result.isError else None

    async def give_up(self, tool: str) -> None:
        request = self.client._request_id  # it has no way to cancel by itself, nor to tell the id
        with anyio.CancelScope() as scope:

            async def stop(*report: Any) -> None:
                scope.cancel()

            await self.client.call_tool(tool, {}, progress_callback=stop)
        params = types.CancelledNotificationParams(requestId=request)
        note = types.CancelledNotification(method="notifications/cancelled", params=params)
        await self.client.send_notification(types.ClientNotification(note))

    async def ping(self) -> None:
        await self.client.send_ping()

    async def set_level(self, level: Any) -> None:
        await self.client.set_logging_level(level)

    async def subscribe(self, uri: str) -> None:
        await self.client.subscribe_resource(types.AnyUrl(uri))

    async def unsubscribe(self, uri: str) -> None:
        await self.client.unsubscribe_resource(types.AnyUrl(uri))

    async def roots_changed(self) -> None:
        await self.client.send_roots_list_changed()


def transport(server: str) -> Any:
    if server.startswith("["):
        program, *arguments = json.loads(server)
        return stdio_client(StdioServerParameters(command=program, args=arguments))
    return sse_client(server) if server.endswith("/sse") else streamable_http_client(server)


def plain(model: Any) -> Any:
    return model.model_dump(by_alias=True, mode="json", exclude_none=True)


async def main(mode: str, server: str, unknown: str = "") -> None:
    assert mode == "legacy"
    with anyio.fail_after(2 * TIMEOUT):
        session = Session()
        async with session.ends:
            await session.open(server)
            found = await use(session)
        if unknown:
            other = Session()
            async with other.ends:
                await other.open(unknown)
                tool = (await other.client.list_tools()).tools[0]
                found["unknown members"] = kept(plain(other.greeting.capabilities), plain(tool))
    print(json.dumps(found))


if __name__ == "__main__":
    anyio.run(main, *sys.argv[1:])
