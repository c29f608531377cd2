"""A function gets the context in the class with which its parameter is annotated."""

from __future__ import annotations

import pytest

from kinwire import Context, Server, pair, result_text
from kinwire_protocols import mcp

pytestmark = pytest.mark.anyio


class OwnContext(Context):
    """A context with more in it, as an extension has one."""

    __slots__ = ()

    @property
    def shown(self) -> str:
        return f"own {self.request_id}"


async def test_tools_resources_and_prompts_get_the_context_that_they_ask_for() -> None:
    server = Server("s", "1")

    @server.tool
    def look(own: OwnContext) -> str:
        return own.shown

    @server.resource("own://context")
    async def read(own: OwnContext) -> str:
        return own.shown

    @server.prompt
    async def ask(own: OwnContext) -> str:
        return own.shown

    @server.tool
    async def usual(context: Context) -> str:
        return OwnContext.of(context).shown

    async with pair(server) as client:
        (listed, _) = [tool async for tool in client.tools()]
        first = result_text(await client.mcp.tools_call(name="look"))
        (second,) = (await client.mcp.resources_read(uri="own://context")).contents
        (third,) = (await client.mcp.prompts_get(name="ask")).messages
        fourth = result_text(await client.mcp.tools_call(name="usual"))
    assert listed.input_schema.properties in (None, {})
    assert isinstance(second, mcp.TextResourceContents)
    assert isinstance(third.content, mcp.TextContent)
    answers = [first, second.text, third.content.text, fourth]
    ids = [int(answer.removeprefix("own ")) for answer in answers]
    assert ids == sorted(set(ids))
