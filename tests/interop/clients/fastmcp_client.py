"""A client on PyPI's `fastmcp`: goes through `flow.py`, prints what came of it as JSON.

usage: fastmcp_client.py MODE SERVER UNKNOWN; the last two are commands as JSON lists, of the server
of the tests and of the one that sends unknown members.
"""

from __future__ import annotations

import json
import sys
import warnings
from typing import Any

import anyio
import mcp_types as types
from fastmcp import Client
from fastmcp.client.transports import StdioTransport
from fastmcp.exceptions import ToolError
from flow import MODEL, ROOT, SAID, kept, use
from mcp import MCPError

TIMEOUT = 30.0  # seconds

warnings.simplefilter("ignore")  # it calls what 2026-07-28 has no more deprecated


class Session:
    subscribes = True

    def __init__(self) -> None:
        self.news: list[str] = []
        self.progress: list[list[float | None]] = []
        self.logs: list[list[Any]] = []

    def open(self, command: str, mode: Any) -> Client:
        program, *arguments = json.loads(command)
        self.client = Client(
            StdioTransport(program, arguments, keep_alive=False),
            mode=mode,
            timeout=TIMEOUT,
            roots=[ROOT],
            sampling_handler=self.on_sampling,
            log_handler=self.on_log,
            message_handler=self.on_message,
            progress_handler=self.on_progress,
        )
        return self.client

    async def on_sampling(self, messages: Any, params: Any, context: Any) -> Any:
        content = types.TextContent(type="text", text=SAID)
        return types.CreateMessageResult(role="assistant", content=content, model=MODEL)

    async def on_log(self, message: Any) -> None:
        self.logs.append([message.level, message.data])

    async def on_message(self, message: Any) -> None:
        method = getattr(message, "method", "")
        if method.endswith(("list_changed", "updated")):
            self.news.append(method)

    async def on_progress(self, done: float, total: float | None, message: str | None) -> None:
        self.progress.append([done, total])

    async def server(self) -> dict[str, str]:
        return {"server": self.client.server_info.name, "version": self.client.protocol_version}

    async def tools(self) -> list[str]:
        return [tool.name for tool in await self.client.list_tools()]

    async def resources(self) -> list[str]:
        return [str(one.uri) for one in await self.client.list_resources()]

    async def templates(self) -> list[str]:
        return [one.uri_template for one in await self.client.list_resource_templates()]

    async def prompts(self) -> list[str]:
        return [one.name for one in await self.client.list_prompts()]

    async def read(self, uri: str) -> str:
        return (await self.client.read_resource(uri))[0].text

    async def prompt(self, name: str, argument: str, value: str) -> str:
        return (await self.client.get_prompt(name, {argument: value})).messages[0].content.text

    async def complete(self, prompt: str, argument: str, value: str) -> list[str]:
        ref = types.PromptReference(type="ref/prompt", name=prompt)
        return (await self.client.complete(ref, {"name": argument, "value": value})).values

    async def call(self, tool: str, arguments: dict[str, Any]) -> str:
        result = await self.client.call_tool(tool, arguments)
        return result.content[0].text if result.content else ""

    async def failure(self, tool: str, arguments: dict[str, Any]) -> int | str | None:
        try:
            await self.client.call_tool(tool, arguments)
        except MCPError as error:
            return error.code
        except ToolError:
            return "isError"
        return None

    async def give_up(self, tool: str) -> None:
        with anyio.CancelScope() as scope:

            async def stop(*report: Any) -> None:
                scope.cancel()

            await self.client.call_tool(tool, {}, progress_handler=stop)

    async def ping(self) -> None:
        await self.client.ping()

    async def set_level(self, level: Any) -> None:
        await self.client.set_logging_level(level)

    async def subscribe(self, uri: str) -> None:
        await self.client.session.subscribe_resource(uri)  # it has no method of its own for this

    async def unsubscribe(self, uri: str) -> None:
        await self.client.session.unsubscribe_resource(uri)

    async def roots_changed(self) -> None:
        await self.client.send_roots_list_changed()


def plain(model: Any) -> Any:
    return model.model_dump(by_alias=True, mode="json", exclude_none=True)


async def main(mode: str, server: str, unknown: str) -> None:
    session, other = Session(), Session()
    with anyio.fail_after(2 * TIMEOUT):
        async with session.open(server, mode):
            found = await use(session)
        async with other.open(unknown, mode) as client:
            tool = (await client.list_tools())[0]
            found["unknown members"] = kept(plain(client.server_capabilities), plain(tool))
    print(json.dumps(found))


if __name__ == "__main__":
    anyio.run(main, *sys.argv[1:])
